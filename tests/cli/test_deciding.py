"""Decisions at the command line: what is recorded, what is refused, what can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outputs import ADA, Clock, Names, same
from support.project import SOLO, Answer, Project, make_project


def start(project: Project, content: str = "one\n", *args: str) -> str:
    if project.git("branch", "--show-current").out.strip() != "feature":
        project.branch("feature")
    work = project.commit("Work", {"page.md": content})
    project.gate("open", *args).ok()
    return work


def refused(answer: Answer, status: int, message: str, hint: str = "") -> None:
    said = answer.err.split("git-gate: ", 1)[-1]
    same(said.split("; your words")[0].rstrip("\n"), message + (f"\nhint: {hint}" if hint else ""))
    assert (answer.status, answer.out) == (status, "")


def status(project: Project) -> str:
    found: str = project.gate("show", "--json").ok().json["status"]
    return found


def with_gate(tmp_path: Path, home: Path, lines: str) -> Project:
    """A project whose gate has further lines."""
    text = "".join(f"      {line}\n" for line in lines.split("\n"))
    return make_project(tmp_path, home, SOLO.replace("  policy_gate", f"{text}  policy_gate"))


def test_expect_records_only_what_was_looked_at(project: Project, clock: Clock) -> None:
    old = start(project)
    new = start(project, "two\n")
    for command in (["approve"], ["reject", "-m", "no"], ["skip", "-m", "x"]):
        refused(
            project.gate(*command, "--expect", old),
            13,
            f"the work commit of main of feature is {new[:12]}, not {old[:12]}",
            "git gate show main --subject feature",
        )
    for vague in (new[:6], "", "HEAD"):
        assert project.gate("approve", "--expect", vague).status == 13
    assert status(project) == "open"
    assert project.gate("approve", "--expect", new[:7].upper(), "--json").ok().json["work"] == new
    assert status(project) == "approved"


def test_retract_takes_back_the_newest_word_or_that_on_an_iteration(
    project: Project, clock: Clock
) -> None:
    nothing = f"{ADA} has not decided this request, so there is nothing to take back"
    start(project)
    refused(project.gate("retract"), 1, nothing, "git gate log main --subject feature")
    project.gate("reject", "-m", "no").ok()
    project.gate("retract", "-m", "I misread it").ok()
    assert status(project) == "open"
    project.gate("approve").ok()
    project.gate("retract").ok()
    assert status(project) == "open"
    project.gate("reject", "-m", "no, after all").ok()
    start(project, "two\n")
    refused(project.gate("retract"), 1, nothing, "git gate log main --subject feature")
    refused(
        project.gate("retract", "--iteration", "3"),
        15,
        "main of feature has no iteration 3",
        "git gate log main --subject feature",
    )
    back = project.gate("retract", "--iteration", "1", "--json").ok().json
    assert (back["iteration"], back["status"]) == (2, "open")
    told = [(one["action"], one["counts"], one["reason"]) for one in back["decisions"]]
    assert told[-2:] == [("reject", False, f"{ADA} took it back"), ("retract", True, "")]
    refused(
        project.gate("retract", "--iteration", "0"),
        129,
        "invalid value for '--iteration': 0 is not in the range x>=1",
        "git gate retract -h",
    )


def test_a_veto_of_an_earlier_life_can_be_lifted(project: Project, clock: Clock) -> None:
    start(project)
    project.gate("reject", "-m", "never").ok()
    start(project, "two\n")
    project.gate("quit", "-m", "over").ok()
    start(project, "three\n")
    project.gate("approve").ok()
    project.git("reset", "--quiet", "--hard", "HEAD~2")
    again = project.gate("open", "--json").ok().json
    assert (again["iteration"], again["result"]) == (2, "iterated")
    project.gate("approve").ok()
    check = project.gate("check", "--json")
    assert (check.status, check.json["status"]) == (11, "rejected")
    lift = "git gate retract main --subject feature --iteration 1"
    assert check.json["hint"] == f"{ADA} can lift it: {lift}; else change the work"
    project.gate(*lift.split()[2:]).ok()
    assert project.gate("check").ok()


def test_a_quit_ends_it_and_what_comes_later_is_late(project: Project, clock: Clock) -> None:
    start(project)
    project.gate("quit", "-m", "Not now").ok()
    for command in (["approve"], ["skip", "-m", "x"], ["reject", "-m", "no"], ["quit"]):
        refused(
            project.gate(*command),
            15,
            "main of feature is withdrawn: there is nothing to decide",
            "git gate open main --subject feature",
        )
    refused(
        project.gate("withdraw"),
        15,
        "main of feature is withdrawn: there is nothing to withdraw",
        "git gate open main --subject feature",
    )
    taken_back = project.gate("retract").ok()
    assert "the instance is now withdrawn\n" in taken_back.out
    late = "it came after the end of its life; a rejection counts all the same"
    assert project.gate("log").ok().out.endswith(f"retract  (no effect: {late})\n")


def test_what_was_decided_cannot_be_withdrawn(project: Project, clock: Clock) -> None:
    start(project)
    project.gate("approve").ok()
    refused(
        project.gate("withdraw"),
        1,
        "main of feature cannot be withdrawn: somebody has decided it, or asked anew",
        "git gate show main --subject feature",
    )
    assert project.gate("withdraw", "--all").ok().out == "nothing of yours is undecided\n"
    start(project, "two\n")
    assert project.gate("withdraw", "-m", "a mistake").ok().out == "withdrew main of feature\n"


def test_a_rejection_needs_words(project: Project, clock: Clock, tmp_path: Path) -> None:
    start(project)
    for text in ("", "  \n\t"):
        refused(
            project.gate("reject", "-m", text),
            129,
            "the feedback is empty: nothing was recorded",
            "git gate reject main -m TEXT",
        )
    refused(
        project.gate("reject"),
        129,
        "there is no terminal for an editor, and reject needs words",
        "git gate reject main -m TEXT, or -F FILE",
    )
    file = tmp_path / "feedback.md"
    file.write_text("From a file\n\n## With a heading\n\n- and a list\n")
    refused(
        project.gate("reject", "-m", "x", "-F", str(file)),
        129,
        "-m and -F exclude each other",
        "git gate reject -h",
    )
    missing = project.gate("reject", "-F", str(tmp_path / "missing"))
    assert (missing.status, missing.out) == (129, "")
    assert "No such file or directory" in missing.err
    document = project.gate("reject", "-F", str(file), "--json").ok().json
    assert document["decisions"][0]["message"] == (
        "From a file\n\n## With a heading\n\n- and a list"
    )


def test_feedback_is_kept_word_for_word(project: Project, clock: Clock) -> None:
    start(project)
    words = (
        "Ärger — 日本語 👍\n\n  indented\n# not a comment\n-----BEGIN SSH SIGNATURE-----\nx\n\n"
        "Action: approve\nPrevious: none"
    )
    document = project.gate("reject", "-m", words, "--json").ok().json
    assert document["decisions"][0]["message"] == words.replace("-----BEGIN", " -----BEGIN")
    assert project.gate("wait", "--json").json["message"] == document["decisions"][0]["message"]
    assert project.gate("repair").ok().out == "nothing to mend\n"


def test_words_that_cannot_be_recorded_are_refused(
    project: Project, clock: Clock, tmp_path: Path
) -> None:
    start(project)
    large, binary, nul = (tmp_path / name for name in ("large", "binary", "nul"))
    large.write_text("a line of words\n" * 100_000)
    binary.write_bytes(b"caf\xe9\n")
    nul.write_bytes(b"a\0b\n")
    for file in (large, binary, nul):
        answer = project.gate("reject", "-F", str(file))
        assert (answer.status, answer.out) == (129, ""), file.name
        assert "went wrong" not in answer.err, answer.err
        assert answer.err.startswith("git-gate: your words "), answer.err
        assert "; your words are kept in " in answer.err or "your words are kept in " in answer.err
    answer = project.gate("reject", "-m", "caf\udce9")
    assert (answer.status, answer.out) == (129, "")
    assert "went wrong" not in answer.err
    assert status(project) == "open"


def test_a_skip_says_why_unless_the_gate_lets_it(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = with_gate(tmp_path, home, "skip: {require_reason: false}")
    start(project)
    project.gate("skip").ok()
    assert status(project) == "skipped"
    strict = make_project(tmp_path / "strict", home)
    start(strict)
    refused(strict.gate("skip"), 129, "a skip needs a reason", "git gate skip main -m REASON")
    never = with_gate(tmp_path / "never", home, "skip: {allowed: false}")
    start(never)
    refused(
        never.gate("skip", "-m", "hurry"),
        1,
        "your skip would not count: the gate may not be skipped",
        "git gate show main --subject feature",
    )
    assert never.gate("show", "--json").ok().json["decisions"] == []


def test_an_approval_without_the_comment_that_is_required(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    policy = SOLO.replace("timeout_minutes: 0", "timeout_minutes: 0, require_comment: true")
    project = make_project(tmp_path, home, policy)
    start(project)
    for words in ([], ["-m", " "]):
        refused(
            project.gate("approve", *words),
            1,
            "your approve would not count: the gate requires a comment on an approval",
            "git gate show main --subject feature",
        )
    project.gate("approve", "-m", "Read it all").ok()
    assert status(project) == "approved"


def test_a_touch_that_was_not_made(tmp_path: Path, home: Path, clock: Clock) -> None:
    policy = SOLO.replace("self_approval: true", "self_approval: true, presence: touch")
    project = make_project(tmp_path, home, policy)
    start(project)
    refused(
        project.gate("approve"),
        1,
        "your approve would not count: the gate requires a hardware key that was touched",
        "git gate show main --subject feature",
    )
    project.gate("reject", "-m", "a rejection takes no touch").ok()
    assert status(project) == "rejected"


def test_an_advisory_rejection_is_recorded_and_blocks_nobody(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = with_gate(tmp_path, home, "rejections: advisory")
    start(project)
    answer = project.gate("reject", "-m", "rather not").ok()
    assert "it does not count: rejections of this gate are advisory\n" in answer.out
    assert "the instance is now open: nobody has approved it yet\n" in answer.out
    shown: dict[str, Any] = project.gate("show", "--json").ok().json["decisions"][0]
    assert (shown["action"], shown["counts"]) == ("reject", False)
    project.gate("approve").ok()
    assert project.gate("check").ok()


def test_each_decision_is_a_tag_object_and_a_note(project: Project, clock: Clock) -> None:
    work = start(project)
    document = project.gate("approve", "-m", "Good", "--json").ok().json
    record, names = document["record"], Names(project, request=document["request"])
    note = project.git("notes", "--ref=aiwg/gates", "show", work).out
    payload, _, armor = note.partition("-----BEGIN SSH SIGNATURE-----\n")
    same(
        names(payload),
        """\
object <request>
type commit
tag gate/main/feature
tagger Ada Lovelace <ada@example.com> 1764565200 +0000

Approve main of feature

Good

Action: approve
Via: terminal
Reviewed: "page.md"
""",
    )
    assert armor
    written = project.git("hash-object", "-t", "tag", "-w", "--stdin", stdin=note).out.strip()
    assert written == record
    signers = project.top / ".aiwg/allowed_signers"
    project.git("-c", f"gpg.ssh.allowedSignersFile={signers}", "verify-tag", written)
