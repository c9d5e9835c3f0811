"""What a session shows of large artifacts, of an instance that ended, and after a new iteration."""

from __future__ import annotations

from pathlib import Path

from reviewkit import agent, put_up, session, waiting
from support.project import Project
from support.terminal import Terminal

LARGE = 17 << 20


def peak(terminal: Terminal) -> int:
    """Bytes of memory that the session had at most."""
    status = Path(f"/proc/{terminal.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def test_a_file_beyond_all_limits_is_shown_and_paged(tmp_path: Path, home: Path) -> None:
    text = "0123456789abcde\n" * (LARGE // 16)
    project = waiting(tmp_path, home, files={"docs/large.txt": text})
    paged = tmp_path / "paged"
    with session(project, columns=100, env={"GIT_PAGER": f"wc -c > {paged}"}) as terminal:
        terminal.wait("[x] leave")
        screen = terminal.press(
            "v", "17.0 MiB: only the first 64.0 KiB are shown here; o shows all"
        )
        assert any("1 0123456789abcde" in line for line in screen)
        terminal.press("o", "17.0 MiB: only the first 64.0 KiB")
        assert int(paged.read_text()) == LARGE
        assert peak(terminal) < 200 << 20
        terminal.press("b", "[x] leave")
        terminal.press("a", "viewed: 1 of 1 artifact")


def test_a_large_binary_is_no_text(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files={"docs/large.bin": "\0" * (600 << 10)})
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "(binary, 600.0 KiB: git cat-file blob")


def test_a_pager_that_is_not_there_is_named(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files={"docs/a.md": "# A\n"})
    with session(project, columns=100, env={"GIT_PAGER": "no-such-pager"}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[o] pager")
        terminal.press(
            "o", "the pager 'no-such-pager' ended with 127: git config core.pager PROGRAM"
        )


def without(project: Project, path: str) -> None:
    """The next iteration, without a file."""
    project.git("switch", "--quiet", "feature")
    (project.top / path).unlink()
    project.commit("Drop one", {})
    agent(project, "open", "--agent", "claude")
    project.git("switch", "--quiet", "main")


def test_a_new_iteration_has_an_artifact_that_is_chosen(tmp_path: Path, home: Path) -> None:
    files = {f"docs/{name}.md": f"# {name}\n" for name in "abc"}
    project = waiting(tmp_path, home, files=files)
    with session(project, columns=100) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "Artifacts: 3")
        terminal.press("G", "▶ ✓ docs/c.md")
        terminal.press("\r", "(3 of 3)")
        terminal.press("b", "Artifacts: 3")
        terminal.press("b", "[x] leave")
        without(project, "docs/c.md")
        terminal.press("a", "[y] sign")
        terminal.press("y", "iteration 2 arrived")
        assert "▶ ✓ docs/a.md" in "\n".join(terminal.press("v", "Artifacts: 2"))
        terminal.press("\r", "docs/a.md (1 of 2)")


def test_an_instance_that_ended_offers_no_decision(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files={"docs/a.md": "# A\n"})
    put_up(project, {"docs/b.md": "# B\n"}, "feature2")
    with session(project, columns=130) as terminal:
        listed = terminal.wait("2 gates waiting")
        subject = next(line for line in listed if "▶" in line).split()[3]
        agent(project, "withdraw", "main", "--subject", subject)
        screen = terminal.press("\r", "[x] leave")
        assert not any("[a] " in line or "[q] " in line for line in screen)
        for key in "arsqe":
            terminal.press(
                key, f"{subject} is withdrawn: there is nothing to decide: git gate open"
            )
        terminal.press("v", "[b] back")
