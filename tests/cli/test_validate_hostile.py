"""Validations that go wrong, and changes that try to choose what runs: harmless and reported."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from support.project import Project
from support.validations import make, one

WARN = ", on_error: warn"
LEADS_OUT = "it is a symbolic link that leads out of the tree"


def found(project: Project) -> list[str]:
    """What is said of the work as a whole once a gate is open on it."""
    document = project.gate("open", "--json").ok().json
    return [f"{one['level']}: {one['text']}" for one in document["findings"]]


def built(
    folder: Path, home: Path, script: str, run: str = '["./tool"]', more: str = WARN
) -> Project:
    project = make(folder, home, one(run, more), {"tool": script})
    project.commit("work", {"a.md": "# A\n"})
    return project


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\nexit 3\n", "failed with exit status 3"),
        ("#!/bin/sh\necho why >&2; exit 64\n", "failed with exit status 64: why"),
        ("#!/bin/sh\nno-such-command\n", "failed with exit status 127: "),
        ("#!/bin/sh\nkill -KILL $$\n", "was ended by signal SIGKILL"),
        ("#!/bin/sh\nkill -SEGV $$\n", "was ended by signal SIGSEGV"),
        ("#!/no/such/interpreter\n", "did not run: cannot run 'tool': No such file"),
        ("no program\n", "did not run: cannot run 'tool': Exec format error"),
        ("#!a.md\n", "did not run: ./tool names its interpreter without an absolute path"),
    ],
)
def test_whatever_ends_otherwise_is_an_error(
    tmp_path: Path, home: Path, script: str, said: str
) -> None:
    project = built(tmp_path, home, script)
    [text] = found(project)
    assert text.startswith(f"error: validation `check` {said}")


def test_exit_1_without_a_finding_is_a_warning(tmp_path: Path, home: Path) -> None:
    project = built(tmp_path, home, "#!/bin/sh\necho Traceback >&2; exit 1\n")
    assert found(project) == [
        "warning: validation `check` ended with exit status 1 and reported nothing: Traceback"
    ]


def test_a_failure_blocks_as_an_error_does(tmp_path: Path, home: Path) -> None:
    project = built(tmp_path, home, "#!/bin/sh\nexit 2\n", more="")
    refused = project.gate("open")
    assert refused.status == 1
    assert "  error: validation `check` failed with exit status 2\n" in refused.err


def test_one_that_hangs_is_killed_with_its_children(tmp_path: Path, home: Path) -> None:
    script = f'#!/bin/sh\ntrap "" TERM\nsleep 900 &\necho $! >{tmp_path}/pid\nsleep 900\n'
    project = built(tmp_path, home, script, more=", timeout_seconds: 1, on_error: warn")
    assert found(project) == ["error: validation `check` did not end within 1 s and was killed"]
    pid = (tmp_path / "pid").read_text().strip()
    for _ in range(100):
        if not is_running(pid):
            break
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_that_prints_megabytes_is_cut(tmp_path: Path, home: Path) -> None:
    script = """#!/bin/sh
echo "a.md:1: error: the first"
yes "a.md:2: warning: the same again" | head -c 20000000
yes "noise" | head -c 20000000 >&2
"""
    project = built(tmp_path, home, script)
    document = project.gate("open", "--json").ok().json
    assert [one["text"] for one in document["findings"] if one["level"] == "error"] == [
        "validation `check` wrote more than 1 MiB: the rest was not read"
    ]
    assert document["deliverables"][0]["messages"][0] == "line 1: error: the first"
    panel = project.gate("show").out
    assert len(panel.splitlines()) < 60


def test_forged_escapes_do_not_reach_the_terminal(tmp_path: Path, home: Path) -> None:
    script = (
        "#!/bin/sh\n"
        "printf 'a.md:1: error: \\033[2J\\033]8;;http://x\\007\\342\\200\\256 [red]'\n"
        "printf '\\rStatus: ok\\n'\n"
        "printf 'x\\033[1m.md: warning: \\302\\233 ::error::\\n'\n"
        "printf 'why \\033[31m\\n' >&2\nexit 3\n"
    )
    project = built(tmp_path, home, script)
    opened = project.gate("open").ok()
    shown = project.gate("show").out, project.gate("show", "--json").out
    for text in (opened.out, opened.err, *shown):
        assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(text)
    assert r"line 1: error: \x1b[2J\x1b]8;;http://x\x07\u202e [red]\rStatus: ok" in opened.out
    assert r"x\x1b[1m.md: \u009b ::error::" in opened.out
    assert r"exit status 3: why \x1b[31m" in opened.out


def test_the_refusal_has_no_escapes_either(tmp_path: Path, home: Path) -> None:
    script = "#!/bin/sh\nprintf 'a.md:1: error: \\033[2Jx\\rhint: fine\\n'\n"
    refused = built(tmp_path, home, script, more="").gate("open")
    assert r"  a.md:1: error: \x1b[2Jx\rhint: fine" + "\n" in refused.err
    assert "\x1b" not in refused.err


def state(project: Project) -> tuple[object, ...]:
    """The work tree, the refs and the configuration."""
    status = project.git("status", "--porcelain", "--ignored").out
    config = (project.top / ".git" / "config").read_text()
    head = (project.top / ".git" / "HEAD").read_text()
    files = sorted(str(file) for file in project.top.rglob("*") if ".git" not in file.parts)
    return status, config, head, files, project.git("for-each-ref", "refs/heads").out


def test_it_writes_neither_into_the_work_tree_nor_into_the_repository(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """#!/bin/sh
echo spoilt >a.md; echo new >new.md; rm -rf .git aiwg.yml
git config user.name Mallory; git checkout -f -b evil; git add -A; git commit -m evil
git rev-parse --git-dir && exit 9
git -C "$OLDPWD" commit --allow-empty -m evil
test -z "$GIT_DIR$GIT_WORK_TREE$GIT_INDEX_FILE$GIT_PREFIX" || exit 8
test "$PWD" = "$(pwd -P)" || exit 7
cat && touch "$TMPDIR/mine" && chmod 0 . .. "$TMPDIR" || exit 6
exit 0
"""
    project = built(tmp_path, home, script)
    # A TMPDIR inside of the work tree is the worst place that a user can choose.
    inside = project.top / ".git" / "tmp"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.top / ".git" / "index"))
    monkeypatch.setenv("GIT_PREFIX", "x/")
    before = state(project)
    document = project.gate("open", "--json").ok().json
    assert document["findings"] == []
    assert state(project) == before
    assert list(inside.iterdir()) == []


def test_the_change_does_not_choose_the_program(tmp_path: Path, home: Path) -> None:
    project = built(tmp_path, home, '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n')
    project.git("switch", "-q", "main")
    project.commit("lib", {"lib.sh": "echo 'a.md:1: error: the old one'\n"})
    project.land()
    project.git("fetch", "-q")
    project.git("switch", "-q", "feature")
    project.git("merge", "-q", "main")
    evil = f"#!/bin/sh\ntouch {tmp_path}/evil\n"
    project.commit("evil", {"tool": evil, "lib.sh": evil, "sh": evil, "a.md": "b\n"})
    document = project.gate("open", "--json").ok().json
    messages = {one["path"]: one["messages"] for one in document["deliverables"]}
    assert messages["a.md"] == ["line 1: error: the old one"]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("run", "added"),
    [
        ('["python3", "tool"]', {}),
        ('["python3", "-B", "./tool"]', {}),
        ('["sh", "-c", "cat $0 >/dev/null; echo a.md:1: error: old", "tool"]', {}),
        ('["python3", "-c", "import helper", "--config=tool"]', {"helper.py": "EVIL"}),
        ('["./tool"]', {"json.py": "EVIL", "sitecustomize.py": "EVIL", "python3": "EVIL"}),
    ],
)
def test_nor_a_script_a_module_or_a_configuration(
    tmp_path: Path, home: Path, run: str, added: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "#!/usr/bin/env python3\nimport json\nprint('a.md:1: error: old')\n"
    project = built(tmp_path, home, script, run)
    evil = f"open({str(tmp_path / 'evil')!r}, 'w')\n"
    (project.top / "tool").write_text(evil)
    project.commit("evil", dict.fromkeys(added, evil))
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    monkeypatch.setenv("PYTHONPATH", ".")
    project.gate("open", "--anyway").ok()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ('["./gone"]', "./gone is no file of the policy commit"),
        ('["./docs"]', "./docs is no file of the policy commit"),
        ('["./plain"]', "./plain is not executable in the policy commit"),
        ('["./out"]', f"./out cannot be used: {LEADS_OUT}"),
        ('["./up/tool"]', f"./up/tool cannot be used: {LEADS_OUT}"),
        ('["sh", "later"]', "later is a file of the work, and not one of the policy commit"),
        ('["sh", "--rc=sub/later"]', "sub/later is a file of the work, and not one of the policy"),
        ('["no-such-program-anywhere"]', "cannot run 'no-such-program-anywhere': No such file"),
    ],
)
def test_a_program_that_cannot_be_used(tmp_path: Path, home: Path, run: str, said: str) -> None:
    project = make(tmp_path, home, one(run, WARN))
    project.git("switch", "-q", "main")
    project.write("plain", "#!/bin/sh\n")
    project.write("docs/x", "x\n")
    (project.top / "out").symlink_to("/bin/true")
    (project.top / "up").symlink_to("../..")
    project.commit("links")
    project.land()
    project.git("fetch", "-q")
    project.git("switch", "-q", "feature")
    evil = f"#!/bin/sh\ntouch {tmp_path}/evil\n"
    for name in ("gone", "later", "sub/later"):
        project.write(name, evil)
        (project.top / name).chmod(0o755)
    project.commit("work", {"a.md": "x\n"})
    assert found(project)[0].startswith(f"error: validation `check` did not run: {said}")
    assert not (tmp_path / "evil").exists()


def test_links_of_the_work_do_not_lead_to_the_users_files(tmp_path: Path, home: Path) -> None:
    script = '#!/bin/sh\nfor file do sed "s|^|$file:1: error: |" "$file"; done\n'
    project = built(tmp_path, home, script)
    (home / "secret").write_text("very secret\n")
    (project.top / "leak.md").symlink_to(home / "secret")
    (project.top / "inside.md").symlink_to("a.md")
    project.commit("links")
    answer = project.gate("open", "--json").ok()
    messages = {one["path"]: one["messages"] for one in answer.json["deliverables"]}
    assert messages == {
        "a.md": ["line 1: error: # A"],
        "inside.md": ["line 1: error: # A"],
        "leak.md": [f"warning: it was not checked: {LEADS_OUT}"],
    }
    assert "very secret" not in answer.out


def test_secrets_of_the_environment_are_not_there(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = built(tmp_path, home, f"#!/bin/sh\nenv >{tmp_path}/env\n")
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.setenv(name, "'user.name=secret-value'")
    monkeypatch.setenv("KEPT", "kept-value")
    project.gate("open").ok()
    seen = (tmp_path / "env").read_text()
    assert "secret-value" not in seen
    assert "kept-value" in seen
