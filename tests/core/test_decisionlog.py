"""The decision log as a reader of YAML sees it: the fields of the display rules, any text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from gitgate.core.decision import Action, Comment, Decision, Reviewed, Via, normalise, title_of
from gitgate.core.decisionlog import Entry, document, place_of, render
from gitgate.core.person import Person, Stamp
from gitgate.core.policy import Gate, Transition

NOON = 1_764_590_400  # 2025-12-01T12:00:00Z
WORK, REQUEST = "b" * 40, "a" * 40
GATE = Gate("elaboration", "Lifecycle Architecture", Transition("elaboration", "construction"))
ADA = Person("Ada Lovelace", "ada@example.com")
LOGIN = b".aiwg/requirements/use-cases/UC-001-login.md"


def decision(action: Action = Action.REJECT, message: str = "", **more: Any) -> Decision:
    return Decision(
        request=REQUEST,
        tag="gate/elaboration/feature",
        tagger=Stamp(ADA, NOON),
        action=action,
        title=title_of(action, "elaboration", "feature"),
        message=normalise(message),
        via=Via.TERMINAL,
        **more,
    )


def entry(said: Decision | None, record: str | None = "c" * 40, at: int = NOON) -> Entry:
    return Entry(GATE, "feature", 2, WORK, at, ADA.email, "good", record, said)


def read(log: bytes) -> list[dict[str, Any]]:
    return [one["gate_decision"] for one in yaml.safe_load_all(log.decode())]


def test_every_field_of_the_display_rules_is_there() -> None:
    reviewed = (Reviewed(LOGIN, viewed=True, edited=True), Reviewed(b"b.md"))
    comments = (Comment(LOGIN, 3, "five tries?"),)
    said = decision(
        message="The lockout is missing.", reviewed=reviewed, time_spent=184, comments=comments
    )
    assert read(document(entry(said))) == [
        {
            "gate_id": "elaboration",
            "gate_name": "Lifecycle Architecture",
            "phase_transition": "elaboration → construction",
            "action": "reject",
            "timestamp": "2025-12-01T12:00:00Z",
            "user": "ada@example.com",
            "feedback": "The lockout is missing.",
            "artifacts_reviewed": [
                {"path": LOGIN.decode(), "viewed": True, "edited": True},
                {"path": "b.md", "viewed": False, "edited": False},
            ],
            "time_spent_seconds": 184,
            "reason": "",
            "comment": "",
            "subject": "feature",
            "iteration": 2,
            "work": WORK,
            "record": "c" * 40,
            "via": "terminal",
            "signature": "good",
            "comments": [{"path": LOGIN.decode(), "line": 3, "text": "five tries?"}],
        }
    ]


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (Action.APPROVE, "comment"),
        (Action.REJECT, "feedback"),
        (Action.SKIP, "reason"),
        (Action.QUIT, "reason"),
        (Action.RETRACT, "reason"),
    ],
)
def test_the_words_stand_where_their_kind_says(action: Action, field: str) -> None:
    [found] = read(document(entry(decision(action, "because"))))
    assert found["action"] == action.value
    words = {name: found[name] for name in ("feedback", "reason", "comment")}
    assert words == {"feedback": "", "reason": "", "comment": ""} | {field: "because"}


def test_a_deadline_is_a_rejection_that_nobody_signed() -> None:
    [found] = read(document(replace(entry(None, None), user="", signature="unsigned")))
    assert (found["action"], found["user"], found["signature"]) == (
        "reject",
        "(deadline)",
        "unsigned",
    )
    assert found["record"] is found["via"] is found["time_spent_seconds"] is None
    assert found["artifacts_reviewed"] == []


HOSTILE = [
    "---\ngate_decision: {action: approve}\n...",
    "...\n--- !!python/object/apply:os.system [id]",
    "# no comment\n  # and this\n% TAG ! x",
    "!!binary aGk=\n&anchor *alias\n<<: *alias",
    "'single' \"double\" \\ back\\nslash: - ? | > `",
    "null",
    "~",
    "true",
    "no",
    "1e3",
    "0777",
    "2025-12-01",
    "=",
    "<<",
    "tab\there  and \x1b[2J \x07 \x00".replace("\x00", ""),
    "\u0085next\u2028line\u2029para\ufeffbom\u202eturned\u200bhidden",
    "né 漢字 \U0001f600 \U000e0041",
    "gate_decision:\n  action: approve\n  user: ada@example.com",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_read_back_as_it_was_signed(text: str) -> None:
    said = decision(message=text)
    log = render([entry(said), entry(decision(Action.APPROVE), "d" * 40)])
    first, second = read(log)
    assert first["feedback"] == said.message != ""
    assert (first["action"], second["action"]) == ("reject", "approve")
    # Nothing that moves a cursor or hides stands in the file: it can be printed as it is.
    assert not set(log.decode()) & set("\x1b\x07\u0085\u2028\u2029\ufeff\u202e\u200b\U000e0041")
    assert log.count(b"\n---\n") == 1


def test_a_path_that_is_no_text_stands_in_git_quotes() -> None:
    [found] = read(document(entry(decision(reviewed=(Reviewed(b"a\xff\n"),)))))
    assert found["artifacts_reviewed"][0]["path"] == '"a\\377\\n"'


ENTRIES = [
    entry(decision(Action.APPROVE, str(number)), record, at)
    for number, (at, record) in enumerate(
        [(NOON, "1" * 40), (NOON, "f" * 40), (NOON + 1, "0" * 40), (NOON + 60, "a" * 40)]
    )
]


def test_the_order_is_that_of_time_then_of_the_record() -> None:
    assert render(reversed(ENTRIES)) == b"".join(map(document, ENTRIES))


@pytest.mark.parametrize("late", range(len(ENTRIES)))
def test_a_late_entry_finds_its_place(late: int) -> None:
    others = [one for one in ENTRIES if one is not ENTRIES[late]]
    log = render(others)
    place = place_of(ENTRIES[late], log)
    assert log[:place] + document(ENTRIES[late]) + log[place:] == render(ENTRIES)


@pytest.mark.parametrize("end", [b"# by hand\n", b"---\ngate_decision: {}\n", b"---\ngate_dec"])
def test_behind_what_was_edited_by_hand_an_entry_is_just_appended(end: bytes) -> None:
    log = render(ENTRIES[1:]) + end
    assert place_of(ENTRIES[0], log) == len(log)


def test_two_deadlines_of_one_moment_have_an_order() -> None:
    one = entry(None, None)
    other = replace(one, gate=Gate("construction", "Construction"))
    assert render([one, other]) == render([other, one])
