"""A process with limits, as real processes meet them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitgate.errors import Exit, GateError
from gitgate.process import Limited, bare_environment, run_limited


def limited(script: str, folder: Path, *, timeout: float = 60, limit: int = 1000) -> Limited:
    return run_limited(
        ["sh", "-c", script], cwd=folder, env=bare_environment(), timeout=timeout, limit=limit
    )


def gone(pid: int) -> bool:
    """Whether a process has ended, soon."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and _is_zombie(pid):
            return True
        time.sleep(0.05)
    return False


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("echo out; echo err >&2", Limited(0, b"out\n", b"err\n", False)),
        ("exit 3", Limited(3, b"", b"", False)),
        ("kill -SEGV $$", Limited(-11, b"", b"", False)),
        ("cat; echo read", Limited(0, b"read\n", b"", False)),
        ("exec >&- 2>&-; sleep 0.2; exit 4", Limited(4, b"", b"", False)),
        ("head -c 1000 /dev/zero", Limited(0, bytes(1000), b"", False)),
        ("head -c 1001 /dev/zero", Limited(0, bytes(1000), b"", True)),
        ("head -c 30000000 /dev/zero >&2; exit 1", Limited(1, b"", bytes(1000), True)),
    ],
)
def test_how_it_ends_and_what_it_says(tmp_path: Path, script: str, ended: Limited) -> None:
    assert limited(script, tmp_path) == ended


def test_what_is_over_its_time_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    script = 'trap "" TERM INT HUP; sleep 1000 & echo $!; (trap "" TERM; sleep 1000) & wait; wait'
    found = limited(script, tmp_path, timeout=1)
    assert found.status is None
    assert gone(int(found.stdout))


def test_what_it_leaves_behind_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    found = limited("sleep 1000 & echo $!", tmp_path)
    assert found.status == 0
    assert gone(int(found.stdout))
    noisy = limited("(while :; do echo more; done) & exit 1", tmp_path)
    assert noisy.status == 1


def test_it_has_no_terminal_and_its_watcher_is_called(tmp_path: Path) -> None:
    ticks: list[int] = []
    found = run_limited(
        ["sh", "-c", "sleep 0.5; tty; : </dev/tty"],
        cwd=tmp_path, env=bare_environment(), timeout=60, limit=1000,
        tick=lambda: ticks.append(1),
    )  # fmt: skip
    assert found.status
    assert found.stdout == b"not a tty\n"
    assert b"/dev/tty" in found.stderr
    assert ticks


def test_an_interrupt_leaves_nothing_running(tmp_path: Path) -> None:
    def interrupt() -> None:
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_limited(
            ["sh", "-c", "echo $$ >pid; sleep 1000"],
            cwd=tmp_path, env=bare_environment(), timeout=60, limit=10, tick=interrupt,
        )  # fmt: skip
    assert gone(int((tmp_path / "pid").read_text()))


def test_what_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    for program in ("gitgate-no-such-program", str(tmp_path), str(tmp_path / "text")):
        with pytest.raises(GateError, match="cannot run") as caught:
            run_limited([program], cwd=tmp_path, env=bare_environment(), timeout=9, limit=9)
        assert caught.value.kind is Exit.FATAL


def test_the_bare_environment_knows_no_secrets_and_no_places_of_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = set(bare_environment())
    for name in (
        *("GIT_DIR", "GIT_CONFIG_PARAMETERS", "GIT_ASKPASS", "GITHUB_TOKEN", "NPM_AUTHTOKEN"),
        *("AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "api_key", "SSH_AUTH_SOCK", "GPG_TTY"),
        *("PYTHONPATH", "BASH_ENV", "NODE_OPTIONS", "PERL5LIB", "OLDPWD", "PWD"),
    ):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PATH", ".:/usr/bin::bin:/bin")
    found = bare_environment({"ADDED": "1"})
    assert set(found) == before | {"ADDED"}
    assert found["PATH"] == "/usr/bin:/bin"
