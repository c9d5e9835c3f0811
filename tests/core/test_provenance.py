"""The provenance as the `prov` package reads it: nothing is lost, and all four parts are there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from prov.model import ProvActivity, ProvAgent, ProvDocument, ProvEntity, ProvRecord
from support.verdicts import OPENED, identity, oid

from gitgate.core.decision import Action, Decision, Reviewed, Via, title_of
from gitgate.core.decisionlog import Entry
from gitgate.core.person import Stamp
from gitgate.core.policy import Gate
from gitgate.core.provenance import Round, document, merge
from gitgate.core.request import Deliverable, Kind, Request

HOUR = 3600
PATHS = (b"docs/a b.md", b"docs/copy.md", b"\xff(x):y;[z],'=.")


def request(name: str = "R", agent: str | None = "claude code (x:1)") -> Request:
    return Request(
        id=oid(name),
        kind=Kind.APPROVAL,
        gate="main",
        subject="feature/login",
        target="refs/heads/main",
        base=oid("B"),
        work=oid("W"),
        tip=oid("B"),
        policy=oid("P"),
        agent=agent,
        nonce="0" * 32,
        opened=Stamp(identity("ada"), OPENED),
        title="Changes to main",
        summary="",
        deliverables=(
            Deliverable(PATHS[0], oid("same"), "A", ()),
            Deliverable(PATHS[1], oid("same"), "A", ()),
            Deliverable(PATHS[2], oid("other"), "", ()),
        ),
        next_steps=(),
    )


def entry(asked: Request, who: str, action: Action, at: int = OPENED + HOUR) -> Entry:
    said = Decision(
        request=asked.id,
        tag="gate/main/feature%2flogin",
        tagger=Stamp(identity(who), at),
        action=action,
        title=title_of(action, "main", "feature/login"),
        message="two\nlines with \x1b[2J and \u202e",
        via=Via.TERMINAL,
        reviewed=tuple(Reviewed(item.path) for item in asked.deliverables),
    )
    gate = Gate("main", "Changes to main")
    record = oid(f"{who} {action} {at}")
    email = identity(who).email
    return Entry(gate, asked.subject, 1, asked.work, at, email, "good", record, said)


def read(content: Any) -> ProvDocument:
    return ProvDocument.deserialize(content=json.dumps(content), format="json")


def again(doc: ProvDocument) -> ProvDocument:
    return ProvDocument.deserialize(content=doc.serialize(format="json"), format="json")


ASKED = request()
FULL = document(
    [Round(ASKED, (entry(ASKED, "bob", Action.REJECT), entry(ASKED, "ada", Action.APPROVE)))]
)


def test_prov_reads_it_without_loss() -> None:
    doc = read(FULL)
    assert again(doc) == doc
    told = {kind: len(part) for kind, part in FULL.items() if kind != "prefix"}
    assert sum(told.values()) == len(list(doc.get_records()))
    written = json.loads(doc.serialize(format="json"))
    assert {kind: len(part) for kind, part in written.items() if kind != "prefix"} == told
    for kind in ("entity", "activity", "agent"):
        assert plain(written[kind]) == plain(FULL[kind])
    for kind in set(told) - {"entity", "activity", "agent"}:
        # The names of relations are blank: they are no part of what is said.
        before, after = (sorted(map(repr, plain(one[kind]).values())) for one in (FULL, written))
        assert before == after


def plain(part: Any) -> Any:
    """Literals without the type that prov adds to a text, times without their notation."""
    if isinstance(part, dict) and "$" in part:
        return part["$"]
    if isinstance(part, dict):
        return {key: plain(value) for key, value in sorted(part.items())}
    return re.sub(r"(\d\d:\d\d:\d\d)(\+00:00|Z)$", r"\1", part)


def labels(doc: ProvDocument, kind: type[ProvRecord]) -> set[str]:
    return {str(record.label) for record in doc.get_records(kind)}


def test_artifacts_activity_people_and_the_agent_that_asked_are_there() -> None:
    doc = read(FULL)
    decisions = {"Reject main of feature/login", "Approve main of feature/login"}
    paths = {"docs/a b.md", "docs/copy.md", '"\\377(x):y;[z],\'=."'}
    assert labels(doc, ProvEntity) == decisions | paths
    [activity] = doc.get_records(ProvActivity)
    assert str(activity.label) == "main of feature/login"
    began, ended = activity.get_startTime(), activity.get_endTime()
    assert (ended - began).total_seconds() == HOUR
    agents = {str(one.label): one for one in doc.get_records(ProvAgent)}
    kinds = {name: {str(kind) for kind in one.get_asserted_types()} for name, one in agents.items()}
    assert kinds == {
        "Ada Lovelace": {"prov:Person"},
        "Bob Babbage": {"prov:Person"},
        "claude code (x:1)": {"prov:SoftwareAgent"},
    }
    roles = sorted(one["prov:role"] for one in FULL["wasAssociatedWith"].values())
    assert roles == ["asking agent", "opener", "reviewer", "reviewer"]
    [behalf] = FULL["actedOnBehalfOf"].values()
    assert behalf["prov:delegate"] == str(agents["claude code (x:1)"].identifier)
    assert behalf["prov:responsible"] == str(agents["Ada Lovelace"].identifier)
    assert len(FULL["used"]) == 3 and len(FULL["wasAttributedTo"]) == 2


# PN_LOCAL of PROV-N, less what needs a backslash: what may follow the colon of an identifier.
LOCAL = re.compile(r"(?:[A-Za-z0-9_/@~&+*?#$!-]|\.(?!$)|%[0-9A-F]{2})+")


@pytest.mark.parametrize(
    "agent", ["x.", "a b", "né", "a:b(c),d;e='f'", "\u202e", "%41", "-", "a\\b"]
)
def test_every_identifier_is_a_qualified_name(agent: str) -> None:
    asked = request(agent=agent)
    doc = document([Round(asked, (entry(asked, "bob", Action.APPROVE),))])
    named = [name for kind in ("entity", "activity", "agent") for name in doc[kind]]
    assert all(LOCAL.fullmatch(name.partition(":")[2]) for name in named), named
    assert again(read(doc)) == read(doc)


def test_a_request_that_nobody_has_decided_has_no_end() -> None:
    doc = document([Round(request(agent=None), ())])
    [activity] = doc["activity"].values()
    assert "prov:endTime" not in activity and "actedOnBehalfOf" not in doc
    assert again(read(doc)) == read(doc)


def test_a_record_of_nobody_is_attributed_to_nobody() -> None:
    stranger = replace(entry(ASKED, "bob", Action.APPROVE), user="", signature="unknown-key")
    doc = document([Round(ASKED, (stranger,))])
    assert "wasAttributedTo" not in doc
    assert labels(read(doc), ProvAgent) == {"Ada Lovelace", "claude code (x:1)"}


def test_a_deadline_is_no_decision_of_anybody() -> None:
    gate = Gate("main", "Changes to main")
    passed = Entry(gate, "feature", 1, oid("W"), OPENED + HOUR, "", "unsigned")
    doc = document([Round(ASKED, (passed,))])
    assert "wasGeneratedBy" not in doc
    [activity] = doc["activity"].values()
    assert activity["prov:endTime"] == "2025-12-01T06:00:00Z"


def test_what_is_added_round_by_round_is_what_is_drawn_at_once() -> None:
    first, later = entry(ASKED, "bob", Action.REJECT), entry(ASKED, "ada", Action.APPROVE)
    other = request("R2")
    second = Round(other, (entry(other, "bob", Action.APPROVE, OPENED + 2 * HOUR),))
    steps = [[Round(ASKED, (first,))], [Round(ASKED, (first, later))], [second]]
    grown = document([])
    for step in steps:
        grown = merge(grown, document(step))
    assert grown == document([Round(ASKED, (first, later)), second])


@pytest.mark.parametrize("junk", [[], "x", 3, None, {"entity": []}, {"entity": "x"}])
def test_what_is_no_document_is_not_added_to(junk: Any) -> None:
    with pytest.raises(ValueError, match=r"is no PROV-JSON document"):
        merge(junk, document([]))
