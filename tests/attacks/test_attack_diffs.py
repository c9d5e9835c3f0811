"""Hazards 13 and 14, and those of diffs: what a change holds is shown, whatever it tries."""

from __future__ import annotations

import re

import pytest
from support.project import Project

# What no terminal may be given: each reorders, hides, moves the cursor, or forges a line.
HOSTILE = (
    "\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07"
    "\u202eevil\u202c\u200b\u2066\ufeff\u0085\u2028\x7f\u009b31m"
    "[red]x[/red] dict[str] a[/]b ::error::no </details> @everyone %0A"
)
FORBIDDEN = frozenset("\x1b\u202e\u202c\u200b\u2066\ufeff\u0085\u2028\x7f\u009b\r\x07\x0c\x0b")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
VIEWS = [(), ("--stat",), ("--full",), ("--full", "--color=always")]


def first(project: Project, files: dict[str, str | bytes] | None = None) -> None:
    """Iteration 1, rejected."""
    project.branch("feature")
    put(project, {"page.md": "# Page\n", **(files or {})}, "first")
    project.gate("reject", "-m", "more").ok()


def put(project: Project, files: dict[str, str | bytes], message: str = "second") -> None:
    """Commit these files and put them up."""
    for path, content in files.items():
        file = project.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    project.commit(message)
    project.gate("open", "-m", message).ok()


def full(project: Project, *args: str) -> list[str]:
    """The lines of the full diff after its heading."""
    return project.gate("diff", "--full", *args).ok().out.split("\n\n", 1)[1].splitlines()


def remarks(project: Project) -> dict[str, list[str]]:
    found = project.gate("diff", "--json").ok().json
    return {file["path"]: [one["text"] for one in file["remarks"]] for file in found["files"]}


def test_text_that_is_more_than_text(project: Project) -> None:
    """13: in content, paths, commit subjects and the asking side's words."""
    first(project)
    name = HOSTILE.replace("/", "|")[:60]
    put(project, {f"dir/{name}.md": f"# {HOSTILE}\n{HOSTILE}\r\n", "page.md": HOSTILE}, HOSTILE)
    for view in VIEWS:
        shown = project.gate("diff", *view).ok().out
        plain = COLOURS.sub("", shown) if "--color=always" in view else shown
        assert not FORBIDDEN & set(plain), view
        assert r"\x1b[2J" in plain, view
        assert "[red]x[/red] dict[str] a[/]b" in plain, view
    found = project.gate("diff", "--json").ok()
    assert found.out.isascii()
    assert not FORBIDDEN & set(found.out)


def test_a_patch_for_a_program_is_exact_and_one_for_a_person_is_not(project: Project) -> None:
    first(project)
    put(project, {"page.md": "# Page\n\x1b[2J\n"})
    assert "\x1b[2J" in project.gate("diff", "--patch").ok().out
    assert r"+\x1b[2J" in full(project)


def test_what_splits_lines_for_others_does_not_split_them_here(project: Project) -> None:
    first(project)
    text = "a\x0cb\nc\x0bd\ne\u0085f\ng\u2028h\ni\rj\nk\x1cl\n"
    put(project, {"page.md": text})
    assert full(project) == [
        "diff --git a/page.md b/page.md",
        "note: line endings change from LF to LF and CR",
        "note: control characters in lines 1, 2, 3, 4, 5 and 6",
        "--- a/page.md",
        "+++ b/page.md",
        "@@ -1 +1,6 @@",
        "-# Page",
        r"+a\x0cb",
        r"+c\x0bd",
        r"+e\u0085f",
        r"+g\u2028h",
        r"+i\rj",
        r"+k\x1cl",
    ]
    (file,) = project.gate("diff", "--json").ok().json["files"]
    assert (file["added"], file["deleted"]) == (6, 1)


def test_lines_that_look_like_a_diff_are_lines(project: Project) -> None:
    forged = "-- a/real\n++ b/real\n@@ -1 +1 @@\ndiff --git a/x b/x\n\\ No newline at end of file\n"
    first(project, {"page.md": forged})
    put(project, {"page.md": "".join(f"{line}!\n" for line in forged.split("\n")[:-1])})
    (file,) = project.gate("diff", "--json").ok().json["files"]
    assert (file["added"], file["deleted"], len(file["hunks"])) == (5, 5, 1)
    lines = full(project)
    assert lines[1:4] == ["--- a/page.md", "+++ b/page.md", "@@ -1,5 +1,5 @@"]
    assert lines[4] == "--- a/real"
    assert lines[-1] == "+\\ No newline at end of file!"


@pytest.mark.parametrize(
    "attributes", ["* -diff\n", "* binary\n", "*.md diff=hidden\n", "*.md -text\n", "* eol=crlf\n"]
)
def test_attributes_hide_nothing(project: Project, attributes: str) -> None:
    """14: an attribute, a text conversion and an external diff, all at once."""
    first(project)
    ran = project.top.parent / "ran"
    project.git("config", "diff.hidden.textconv", f"touch {ran}; true")
    project.git("config", "diff.hidden.command", f"touch {ran}; true")
    project.git("config", "diff.external", f"touch {ran}; true")
    (project.top / ".git" / "info").mkdir(exist_ok=True)
    (project.top / ".git" / "info" / "attributes").write_text(attributes)
    put(project, {".gitattributes": attributes, "page.md": "# Page\nsecret line\n"})
    said = "git's attributes change: elsewhere they can hide or convert what a diff shows"
    assert remarks(project) == {".gitattributes": [said], "page.md": []}
    assert full(project)[-2:] == [" # Page", "+secret line"]
    assert project.gate("diff", "--patch").ok().out.endswith(" # Page\n+secret line\n")
    summary = project.gate("diff").ok().out
    assert "  + Page: secret line (line 2)" in summary
    assert f"  note: {said}" in summary
    assert not ran.exists()


def test_settings_hide_nothing(project: Project) -> None:
    first(project)
    put(project, {"page.md": "# Page\n\nmore\n"})
    before = [project.gate("diff", *view).ok().out for view in VIEWS]
    for name, value in {
        "color.ui": "true",
        "diff.noprefix": "true",
        "diff.ignoreSubmodules": "all",
        "diff.orderFile": "/dev/null",
        "diff.renames": "false",
        "diff.wsErrorHighlight": "all",
        "core.pager": "false",
        "core.quotePath": "false",
        "core.attributesFile": "/dev/zero",
    }.items():
        project.git("config", name, value)
    project.git("config", "diff.external", "false")
    assert [project.gate("diff", *view).ok().out for view in VIEWS] == before


def test_what_a_diff_does_not_show_is_said(project: Project) -> None:
    first(
        project,
        {
            "run.sh": "true\n",
            "crlf.txt": "a\nb\n",
            "blank.txt": "if x:\n    y\nz\n",
            "link": "a file\n",
            "newline.txt": "a\nb",
            "picture.png": b"\x89PNG\0" + bytes(20),
        },
    )
    (project.top / "run.sh").chmod(0o755)
    (project.top / "link").unlink()
    (project.top / "link").symlink_to("../../etc/passwd\x1b")
    commit = project.rev()
    project.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    (project.top / "sub").mkdir()
    put(
        project,
        {
            "crlf.txt": "a\r\nb\r\n",
            "blank.txt": "if x:\n    y\n    z\n",
            "newline.txt": "a\nc\n",
            "picture.png": b"\x89PNG\0" + bytes(400),
            "empty.txt": "",
            "bidi.py": "ok = 1\nadmin = '\u202e' # \u2066\n",
            "zero.py": "pass\u200bword = 1\n",
            "latin.txt": b"caf\xe9\n",
            "long.txt": "x" * 3000 + "\n",
        },
    )
    assert remarks(project) == {
        "bidi.py": ["characters that reorder what is read in line 2"],
        "blank.txt": ["nothing but white space changes"],
        "crlf.txt": [
            "line endings change from LF to CRLF",
            "nothing but line endings changes",
        ],
        "empty.txt": ["the file is empty"],
        "latin.txt": [r"the text is not UTF-8: strange bytes are shown as \xff"],
        "link": [
            "a file becomes a symbolic link",
            "it is a symbolic link to ../../etc/passwd\x1b",
        ],
        "long.txt": ["more than 2,000 characters in line 1"],
        "newline.txt": ["the last line got the newline that it lacked"],
        "picture.png": ["binary: 25 bytes before, 405 now"],
        "run.sh": ["the mode changes from 100644 to 100755: it can be executed now"],
        "sub": [f"a submodule at commit {commit[:12]}"],
        "zero.py": ["invisible characters in line 1"],
    }
    shown = project.gate("diff").ok().out
    assert r"  note: it is a symbolic link to ../../etc/passwd\x1b" in shown
    assert "  ~ 2 lines" not in shown


def test_paths_that_need_quoting(project: Project) -> None:
    first(project)
    names = ['a "b"', "x b", "new\nline", "tab\t", "-rf", "\udcff\udcfe", "é", "[red]"]
    for name in names:
        (project.top / name).write_bytes(b"1\n")
    put(project, {})
    heads = [line for line in full(project) if line.startswith("diff --git")]
    assert heads == [
        "diff --git a/-rf b/-rf",
        "diff --git a/[red] b/[red]",
        r'diff --git "a/a \"b\"" "b/a \"b\""',
        r'diff --git "a/new\nline" "b/new\nline"',
        r'diff --git "a/tab\t" "b/tab\t"',
        "diff --git a/x b b/x b",
        "diff --git a/é b/é",
        r'diff --git "a/\377\376" "b/\377\376"',
    ]
    summary = project.gate("diff").ok().out
    assert r'Added: "new\nline"' in summary
    assert r'Added: "\377\376"' in summary


def test_a_line_and_a_file_beyond_all_measure(project: Project) -> None:
    first(project)
    put(project, {"huge.bin": b"a" * (100 << 20), "wide.txt": b"b" * (1 << 20) + b"\n"})
    found = remarks(project)
    assert found["huge.bin"] == ["too large to be shown: 104,857,600 bytes"]
    lines = full(project)
    assert "note: too large to be shown: 104,857,600 bytes" in lines
    assert max(map(len, lines)) < 10_100
    assert lines[-1].endswith("b… and 1,038,576 more characters")


def test_remarkable_files_are_named_where_the_summary_has_no_room(project: Project) -> None:
    first(project)
    many: dict[str, str | bytes] = {f"f{number:03}.txt": "line\n" * 9 for number in range(40)}
    put(project, {**many, "z.txt": "one \u202e line\n"})
    assert project.gate("diff").ok().out.splitlines()[-8:] == [
        "Deleted: (none)",
        "",
        "In files that are not named here:",
        "  note: characters that reorder what is read: z.txt",
        "",
        "Summary: 0 modified, 41 added, 0 deleted",
        "",
        "next: git gate diff main --subject feature 1..2 --full shows every line",
    ]


def test_the_policys_own_files_come_first(project: Project) -> None:
    """4: a change to the policy is not one file among many."""
    first(project)
    policy = (project.top / "aiwg.yml").read_text()
    signers = (project.top / ".aiwg" / "allowed_signers").read_text()
    put(
        project,
        {
            "AAA.txt": "first by name\n",
            "aiwg.yml": policy.replace("timeout_minutes: 0", "timeout_minutes: 5"),
            ".aiwg/allowed_signers": signers + "eve@example.com ssh-ed25519 AAAA\n",
        },
    )
    shown = project.gate("diff").ok().out.splitlines()
    before, after = "defaults: {timeout_minutes: 0}", "defaults: {timeout_minutes: 5}"
    assert shown[4:9] == [
        "The policy's own files:",
        "  modified: aiwg.yml",
        f"    ~ human_gates: “{before}” → “{after}” (line 9)",
        "  modified: .aiwg/allowed_signers",
        "    + eve@example.com ssh-ed25519 AAAA (line 2)",
    ]
    lines = full(project)
    assert lines[0] == "The policy's own files:"
    assert lines.index("The other files:") < lines.index("diff --git a/AAA.txt b/AAA.txt")
