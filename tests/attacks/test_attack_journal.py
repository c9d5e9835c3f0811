"""Hazard 2, for the journal: whoever may push rewinds it, rewrites it, or writes lies into it.

Nothing in it is signed. What it says is held against what was known and against the ledgers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from forger import blob, repository, work
from support.project import SOLO, Project, make_project

from gitgate.app.exchange import journalling
from gitgate.app.gather.world import World
from gitgate.core import ids, journal
from gitgate.errors import GateError
from gitgate.git import journal as journals
from gitgate.git.journal import Index

LOGIN = journal.file_of("main", "login").decode()
HONEST: tuple[str, ...] = ()


@pytest.fixture
def kept(tmp_path: Path, home: Path) -> Project:
    """A project with a journal that names two instances; one of them is rejected."""
    policy = SOLO.replace("  policy_gate: main\n", "  policy_gate: main\n  journal: true\n")
    project = make_project(tmp_path, home, policy)
    for branch in ("login", "docs"):
        work(project, branch)
        project.gate("open").ok()
    record(project)
    project.git("switch", "--quiet", "login")
    project.gate("reject", "-m", "no minimum length").ok()
    record(project)
    return project


def record(project: Project) -> str:
    with closing(World(repository(project), int(time.time()))) as world:
        tip = journalling.record(world, world.policy(), "origin")
    assert tip
    return tip


def tip(project: Project) -> str:
    return project.rev(ids.JOURNAL)


def found(project: Project, new: str, old: str | None = "") -> tuple[str, ...]:
    """What is wrong with a journal that somebody pushed, against the one that is known here."""
    return journals.defects(repository(project), tip(project) if old == "" else old, new)


def text(project: Project, path: str = LOGIN) -> str:
    return project.git("cat-file", "blob", f"{ids.JOURNAL}:{path}").out


def forged(
    project: Project,
    files: dict[str, str | None],
    *parents: str,
    on: str = ids.JOURNAL,
    mode: str = "100644",
) -> str:
    """A journal commit with other files, made with plain git; `files` are texts or None."""
    index = {"GIT_INDEX_FILE": str(project.top / ".git" / "forged-index")}
    project.git("read-tree", on, env=index)
    for path, content in files.items():
        if content is None:
            project.git("update-index", "--force-remove", path, env=index)
        else:
            oid = blob(project, content)
            entry = f"{mode},{oid},{path}"
            project.git("update-index", "--add", "--cacheinfo", entry, env=index)
    tree = project.git("write-tree", env=index).out.strip()
    options = [option for parent in (on, *parents) for option in ("-p", parent)]
    return project.git("commit-tree", tree, *options, "-m", "journal").out.strip()


def test_an_honest_journal_has_no_defects(kept: Project) -> None:
    old = tip(kept)
    kept.gate("retract").ok()
    assert found(kept, record(kept), old) == HONEST
    assert found(kept, tip(kept), None) == HONEST
    assert found(kept, tip(kept)) == HONEST


def test_rewound(kept: Project) -> None:
    """The branch is moved back to before the rejection was named."""
    older = kept.rev(f"{ids.JOURNAL}^1")
    assert found(kept, older) == (
        f"the journal {older} does not go on from {tip(kept)}, which was known before",
    )
    assert found(kept, tip(kept), older) == HONEST


def test_rewound_by_a_merge_that_swallows_it(kept: Project) -> None:
    """The newer journal is an ancestor still, but not on the chain: its lines are gone."""
    older = f"{ids.JOURNAL}^1"
    swallowed = forged(kept, {}, tip(kept), on=older)
    assert len(found(kept, swallowed)) == 1
    assert "does not go on from" in found(kept, swallowed)[0]


def test_rewritten_from_nothing(kept: Project) -> None:
    tree = kept.rev(f"{ids.JOURNAL}^{{tree}}")
    other = kept.git("commit-tree", tree, "-m", "journal of gates").out.strip()
    assert "does not go on from" in found(kept, other)[0]
    assert found(kept, other, None) == (
        f"the journal {other} does not begin with the first commit of all journals",
    )


def test_a_tip_that_goes_back(kept: Project) -> None:
    """On top of the honest journal, the instance is named as it was before its rejection."""
    before = kept.git("cat-file", "blob", f"{ids.JOURNAL}^1:{LOGIN}").out
    ledger = kept.ledger(subject="login")
    old, new = kept.rev(f"{ledger}^1"), kept.rev(ledger)
    back = forged(kept, {LOGIN: before}, old)
    takes = f"journal commit {back} takes main of login from {new} to {old}"
    assert found(kept, back) == (f"{takes}, which does not come after it",)
    forth = forged(kept, {LOGIN: text(kept)}, new, on=back)
    assert len(found(kept, forth)) == 1  # found as well once it is put right
    assert len(found(kept, forth, None)) == 1


def test_an_instance_that_is_forgotten(kept: Project) -> None:
    """Its file is gone, or holds another subject that belongs there."""
    number = next(n for n in range(10_000) if journal.file_of("main", f"s{n}").decode() == LOGIN)
    for content in (None, text(kept).replace("login", f"s{number}")):
        commit = forged(kept, {LOGIN: content})
        assert found(kept, commit)[0] == f"journal commit {commit} no longer names main of login"


def changed(field: int, value: str) -> Callable[[str], str]:
    def change(line: str) -> str:
        fields = line.rstrip("\n").split("\t")
        return "\t".join([*fields[:field], value, *fields[field + 1 :]]) + "\n"

    return change


@pytest.mark.parametrize(
    "lie",
    [
        changed(2, "landed"),
        changed(2, "approved"),
        changed(3, "1" * 40),
        changed(4, "2" * 40),
        changed(5, "3" * 40),
        changed(6, "4" * 40),
        lambda line: line + changed(3, "5" * 40)(line),
        lambda line: "\t".join([*line.split("\t")[:3], "-", "-", "-", "-"]) + "\n",
    ],
)
def test_a_line_that_its_ledger_does_not_give(kept: Project, lie: Callable[[str], str]) -> None:
    ledger = kept.rev(kept.ledger(subject="login"))
    lying = forged(kept, {LOGIN: lie(text(kept))}, ledger)
    said = "what the journal says of main of login is not what its ledger says"
    assert found(kept, lying) == (said,)
    kept.gate("retract").ok()
    tip = kept.rev(kept.ledger(subject="login"))
    twin = journals.append(
        repository(kept),
        kept.rev(ids.JOURNAL),
        [journals.Entry("main", "login", tip)],
        repository(kept).identity(),
    )
    assert found(kept, twin) == HONEST


def test_a_tip_that_is_no_ledger_of_the_instance(kept: Project) -> None:
    """The tip of another instance, a commit of main, and an object that is nowhere."""
    other = kept.rev(kept.ledger(subject="docs"))
    for stranger in (other, kept.rev("origin/main")):
        lying = forged(kept, {LOGIN: changed(1, stranger)(text(kept))}, stranger)
        said = found(kept, lying)
        assert f"to {stranger}, which does not come after it" in said[0]
        assert said[1].startswith("the journal names main of login, and the ledger of ")
    lying = forged(kept, {LOGIN: changed(1, "6" * 40)(text(kept))})
    said = found(kept, lying)
    assert any("further parents" in one for one in said)
    assert any(f"object {'6' * 40} is missing" in one for one in said)


def test_a_new_tip_that_the_commit_does_not_keep(kept: Project) -> None:
    """Named, but no parent: a push would not bring it, and nothing would keep it alive."""
    kept.gate("retract").ok()
    ledger = kept.rev(kept.ledger(subject="login"))
    line = changed(2, "open")(changed(1, ledger)(text(kept)))
    loose = forged(kept, {LOGIN: line})
    lacks = f"journal commit {loose} has not the ledger tips that it names"
    assert found(kept, loose) == (f"{lacks}, and those alone, as further parents",)
    more = forged(kept, {LOGIN: line}, ledger, kept.rev("origin/main"))
    assert len(found(kept, more)) == 1
    assert found(kept, forged(kept, {LOGIN: line}, ledger)) == HONEST


MALFORMED = [
    "",
    "junk\n",
    "\x1b[2J\n",
    "login\n" * 3,
    "{0}{0}",
    "{0}\n",
    "{0}\x00",
    "\u202e{0}",
    "lo\x07gin{1}",
    "lo\u0085gin{1}",
    " login{1}",
    "elsewhere{1}",
]


@pytest.mark.parametrize("form", MALFORMED)
def test_a_file_that_no_git_gate_wrote(kept: Project, form: str) -> None:
    line = text(kept)
    content = form.replace("{0}", line).replace("{1}", line.removeprefix("login"))
    check_malformed(kept, forged(kept, {LOGIN: content}, kept.rev(kept.ledger(subject="login"))))


@pytest.mark.parametrize("mode", ["100755", "120000"])
def test_a_file_of_another_kind(kept: Project, mode: str) -> None:
    check_malformed(kept, forged(kept, {LOGIN: text(kept)}, mode=mode))


def test_a_huge_file(kept: Project) -> None:
    """Its size is asked before it is read; the other instances are read as before."""
    line = text(kept)
    check_malformed(kept, forged(kept, {LOGIN: line * (journal.MAX_FILE // len(line) + 1)}))


def check_malformed(project: Project, bad: str) -> None:
    """The instances of the file are unknown, those of others are not; the next line heals it."""
    assert any(f"{LOGIN} in commit {bad} cannot be read: " in one for one in found(project, bad))
    repo = repository(project)
    with pytest.raises(GateError, match="cannot be read"):
        Index(repo, bad).tip("main", "login")
    assert Index(repo, bad).tip("main", "docs") == project.rev(project.ledger(subject="docs"))
    entry = journals.Entry("main", "login", project.rev(project.ledger(subject="login")))
    healed = journals.append(repo, bad, [entry], repo.identity())
    assert Index(repo, healed).of("main", "login") == Index(repo, tip(project)).of("main", "login")
    assert found(project, healed, bad) == HONEST


def test_a_file_in_the_place_of_a_gates_folder(kept: Project) -> None:
    paths = kept.git("ls-tree", "-r", "--name-only", ids.JOURNAL).out.split()
    gone = forged(kept, {**dict.fromkeys(paths), "main": "a file\n"})
    assert set(found(kept, gone)) == {
        f"journal commit {gone} no longer names main of {name}" for name in ("login", "docs")
    }
    beside = forged(kept, {"a-file-with-the-name-of-no-gate": "a file\n"})
    assert found(kept, beside) == HONEST


def test_lies_are_not_taken_over(kept: Project) -> None:
    """Who puts two journals together draws each line from its ledger."""
    honest, repo = tip(kept), repository(kept)
    lying = forged(kept, {LOGIN: changed(2, "landed")(text(kept))}, on=f"{ids.JOURNAL}^1")
    stranger = forged(kept, {LOGIN: changed(1, kept.rev("main"))(text(kept))}, on=lying)
    assert journals.remake(repo, honest, stranger, repo.identity()) == honest
    kept.git("switch", "--quiet", "docs")
    kept.gate("approve").ok()
    entry = journals.Entry("main", "docs", kept.rev(kept.ledger(subject="docs")))
    both = journals.append(repo, stranger, [entry], repo.identity())
    made = journals.remake(repo, honest, both, repo.identity())
    assert Index(repo, made).tip("main", "docs") == entry.tip
    assert Index(repo, made).of("main", "login") == Index(repo, honest).of("main", "login")
    assert found(kept, made) == HONEST


def test_what_a_clone_wrote_itself_is_built_on_no_lie(kept: Project) -> None:
    """`record` goes on from the remote's journal only where that one has no defects."""
    lying = forged(kept, {LOGIN: changed(2, "landed")(text(kept))}, kept.rev("main"))
    kept.git("update-ref", "refs/gitgate/origin/journal", lying)
    work(kept, "more")
    kept.gate("open").ok()
    before = tip(kept)
    after = record(kept)
    assert kept.rev(f"{after}^1") == before
    assert found(kept, after, before) == HONEST


def test_many_defects_are_cut(kept: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitgate.git.journalcheck.MAX_DEFECTS", 1)
    empty = kept.git("mktree", stdin="").out.strip()
    gone = kept.git("commit-tree", empty, "-p", ids.JOURNAL, "-m", "gone").out.strip()
    assert len(found(kept, gone)) == 2
    assert found(kept, gone)[1] == "and more"
