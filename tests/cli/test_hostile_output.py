"""Whatever a repository or an argument holds: what a terminal is given is text, always."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from outputs import Clock
from support.project import SOLO, Answer, Project, gate, make_project

from gitgate.cli.main import cli

# ESC sequences, a link, overwriting, reordering, hiding, a forged line, markup, a C1 control.
BAD = (
    "\x1b[2J\x1b]8;;http://evil.example/\x07here\x1b]8;;\x07\r\u202egnp\u200b\u2066\u0085\u2028"
    "[red]x[/red]"
)
IN_A_REF = "\u202egnp\u200b[red]\ufeff\u00ad".replace("[", "(")
FORGED = "git-gate: FORGED"


def plain(answer: Answer) -> Answer:
    """No character that moves, hides or reorders, no forged line, and no traceback."""
    for text in (answer.out, answer.err):
        for character in set(text) - {"\n"}:
            category = unicodedata.category(character)
            assert category not in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp"), (hex(ord(character)), text)
        assert not any(line.startswith(FORGED) for line in text.split("\n")), text
        assert "Traceback" not in text
        assert "went wrong inside" not in text, text
    return answer


@pytest.fixture
def hostile(tmp_path: Path, home: Path, clock: Clock) -> Project:
    """Names and texts that are more than text, wherever git and the policy take them."""
    policy = (
        SOLO.replace("title: Changes to main", 'title: "T\\u202e\\u200b[red]"')
        .replace("approvals:", 'next_steps: ["N\\u202e\\u200b"]\n      approvals:')
        .replace("  policy_gate", '  bots: ["bot\\u202e@example.com"]\n  policy_gate')
    )
    folder = tmp_path / f"f\x1b[31m\u202e{FORGED}"
    folder.mkdir()
    project = make_project(folder, home, policy, hook=False)
    project.git("config", "user.name", f"Ada \x1b[2J\u202e\u200b {FORGED}")
    project.branch(f"feat{IN_A_REF}")
    project.commit(
        f"S\x1b[2J\u202e\r\u0085[red]\n\n{BAD}\n",
        {
            f"p\x1b[2J\r\u202e[red]\n{FORGED}.md": f"# {BAD}\n",
            "\u200b.md": "\u202e# x\n",
            "caf\udce9.md": "x\n",
        },
    )
    return project


def test_every_command_about_an_instance(hostile: Project) -> None:
    name = hostile.git("branch", "--show-current").out.strip()
    run = lambda *args: plain(hostile.gate(*args))  # noqa: E731
    assert run("check").status == 15
    run("open", "--agent", "claude\x1b[2J\u202e", "-m", BAD).ok()
    for command in (["show"], ["list"], ["log"], ["check"], ["wait", "--timeout", "0"], ["open"]):
        for form in ([], ["--json"]):
            run(*command, *form)
    run("reject", "-m", f"{BAD}\n{FORGED}\r{FORGED}\n\u202e\x1b]0;title\x07").ok()
    for command in (["show"], ["log"], ["wait"], ["check"], ["open"], ["list", "--all"]):
        for form in ([], ["--json"]):
            run(*command, *form)
    run("retract", "-m", BAD).ok()
    run("skip", "-m", BAD).ok()
    run("approve", "-m", BAD).ok()
    assert "it passes as" in run("check").ok().out
    document = run("show", "--json").ok().json
    assert document["subject"] == name
    assert document["opened_by"].startswith("Ada \x1b[2J\u202e\u200b ")
    run("quit", "-m", BAD).ok()
    run("open").ok()
    run("withdraw", "-m", BAD).ok()
    run("show").ok()
    run("export").ok()
    for command in (["repair"], ["doctor"], ["policy", "check"], ["hook", "status"], ["init"]):
        run(*command)
    for command in (["hook", "install"], ["hook", "status"], ["hook", "uninstall"]):
        run(*command)


def test_the_error_of_every_command(hostile: Project) -> None:
    subject = f"x{IN_A_REF}"
    run = lambda *args: plain(hostile.gate(*args))  # noqa: E731
    for name in cli.list_commands(cli.make_context("git gate", [], resilient_parsing=True)):
        if name == "demo":
            continue
        for args in ([f"--x{BAD}"], [BAD, BAD, BAD, BAD], [f"-{BAD}"]):
            assert run(name, *args).status in (128, 129), (name, args)
    assert run(BAD).status == 129
    for words in (
        ["show", BAD],
        ["show", "main", "--subject", BAD],
        ["show", "main", f"--subject={subject}"],
        ["approve", "main", f"--subject={subject}"],
        ["wait", "main", f"--subject={subject}"],
        ["open", "--target", BAD],
        ["open", "--base", BAD],
        ["open", "--commit", BAD],
        ["check", BAD],
        ["check", f"{BAD}..{BAD}"],
        ["check", "--ref", BAD],
        ["policy", "check", BAD],
        ["reject", "-F", BAD.replace("/", "")],
        ["hook", "run", BAD],
        ["init", "--preset", BAD],
        ["show", "--iteration", BAD],
        ["wait", "--timeout", BAD],
    ):
        answer = run(*words)
        assert answer.status not in (0, 1) or words[:2] == ["check", "--ref"], (words, answer)
        assert answer.err.startswith("git-gate: ") or answer.status == 0


def test_a_branch_whose_name_is_not_utf_8(project: Project, clock: Clock) -> None:
    project.git("switch", "--quiet", "--create", "caf\udce9", "origin/main")
    project.commit("work", {"a": "1\n"})
    for command in (["open"], ["show"], ["wait"], ["reject", "-m", "no"], ["withdraw"], ["log"]):
        answer = plain(project.gate(*command))
        assert (answer.status, answer.out) == (129, "")
        assert answer.err.startswith(r"git-gate: the subject 'caf\udce9' is not valid UTF-8")
    plain(project.gate("open", "--subject", "cafe")).ok()
    assert plain(project.gate("check")).status == 10
    project.git("switch", "--quiet", "--create", "next\u0085line", "origin/main")
    answer = plain(project.gate("show"))
    assert (answer.status, answer.out) == (129, "")
    assert "has a control character\n" in answer.err


def test_what_git_says_in_a_refused_push_is_plain(hostile: Project) -> None:
    assert plain(hostile.gate("hook", "install")).status == 0
    done = subprocess.run(
        ["git", "push", "origin", "HEAD:refs/heads/main"],
        cwd=hostile.top,
        capture_output=True,
        env={**os.environ},
        check=False,
    )
    assert done.returncode != 0
    said = done.stderr.decode("utf-8", "surrogateescape").split("error: failed to push")[0]
    plain(Answer(1, "", said))
    assert "may not move: not-opened" in said


def test_a_policy_that_is_not_valid(tmp_path: Path, home: Path) -> None:
    bad = f"human_gates:\n  '{IN_A_REF}': 1\n  \"k\\e[2J\\u202e\": 1\n  gates: {{'\u202e': {{}}}}\n"
    project = make_project(tmp_path, home, bad, hook=False)
    project.write(".aiwg/allowed_signers", f"a\x1b[2J\u202e@x ssh-ed25519 {BAD}\n")
    for command in (["policy", "check"], ["check"], ["show"], ["doctor"], ["init"]):
        assert plain(project.gate(*command)).status != 0
    assert plain(gate("list", at=project.remote)).status == 128
