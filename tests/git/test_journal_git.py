"""The journal in real repositories: what is written to the byte, who wins, what is disturbed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gitworld import STAMP, commit, git
from ledgerworld import GATE, SUBJECT, add, decide, decided, event, opened, world

from gitgate.core import ids, journal
from gitgate.core.events import EventName
from gitgate.core.journal import Line
from gitgate.errors import Exit, GateError
from gitgate.git import journal as journals
from gitgate.git import ledger, refs
from gitgate.git.journal import Entry, Index, append, changes, defects, remake
from gitgate.git.journaltree import edited
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository

ROOT = "236b69fbb58d75918ed7ec0c02e78f5730298bd7"


def start(repo: Repository, subject: str = SUBJECT, number: int = 1) -> Entry:
    """A ledger with one request, as the journal is to name it."""
    made = opened(repo, number=number)
    assert made.request
    draft = replace(made, request=replace(made.request, subject=subject))
    tip = add(repo, draft, subject).tip
    assert tip
    return Entry(GATE, subject, tip)


def step(repo: Repository, subject: str) -> Entry:
    """A ledger without a request."""
    draft = Draft(event(EventName.STARTED, attempt=1, input=repo.resolve("HEAD")), 0, "open")
    tip = add(repo, draft, subject).tip
    assert tip
    return Entry(GATE, subject, tip)


def own(repo: Repository, subject: str = SUBJECT) -> str:
    tip = refs.read(repo, ids.ledger_ref(GATE, subject))
    assert tip
    return tip


def show(repo: Repository, commit: str, path: str) -> str:
    return git(repo.git_dir, "cat-file", "blob", f"{commit}:{path}")


def test_the_first_commit_is_the_same_everywhere(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    root = journals.write_root(repo)
    assert root == ROOT
    assert git(repo.git_dir, "cat-file", "commit", root) == (
        "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
        "author git-gate <git-gate@git-gate.invalid> 946684800 +0000\n"
        "committer git-gate <git-gate@git-gate.invalid> 946684800 +0000\n"
        "\njournal of gates"
    )
    assert append(repo, None, [], STAMP) == root


def test_a_commit_to_the_byte(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    one, other = start(repo), step(repo, "run-42/plan")
    tip = append(repo, None, [other, one], STAMP)
    names = git(repo.git_dir, "ls-tree", "-r", "--name-only", tip).splitlines()
    files = [journal.file_of(GATE, each.subject).decode() for each in (one, other)]
    assert names == sorted(files)
    raw = git(repo.git_dir, "cat-file", "commit", tip)
    in_order = sorted([one, other], key=lambda each: journal.shard_of(each.subject))
    said = {one: "open", other: "open"}
    assert raw == (
        f"tree {repo.commit(tip).tree}\nparent {ROOT}\n"
        + "".join(f"parent {each.tip}\n" for each in in_order)
        + "author Ada Lovelace <ada@example.com> 1764565200 +0000\n"
        "committer Ada Lovelace <ada@example.com> 1764565200 +0000\n"
        "\njournal: 2 instances\n\n"
        + "\n".join(f"{GATE} of {each.subject}: {said[each]}" for each in in_order)
    )
    request = ledger.read(repo, GATE, SUBJECT).newest
    assert request
    trees = [repo.commit(each).tree for each in (request.base, request.work)]
    assert show(repo, tip, files[0]) == "\t".join(
        [SUBJECT, one.tip, "open", request.id, request.work, *trees]
    )
    assert show(repo, tip, files[1]) == f"run-42/plan\t{other.tip}\topen\t-\t-\t-\t-"
    git(repo.git_dir, "fsck", "--strict", "--no-dangling")


def test_each_request_keeps_the_status_it_had_as_the_newest(tmp_path: Path) -> None:
    """A line of an older request says what the last commit said while nothing newer was asked."""
    repo = world(tmp_path / "r")
    start(repo)
    first = ledger.read(repo, GATE, SUBJECT).newest
    assert first
    add(repo, Draft(decided(first.id).event, 1, "rejected", None, decided(first.id, "No.").record))
    add(repo, opened(repo, number=2, name=EventName.ITERATED))
    second = decide(repo).newest
    assert second
    tip = append(repo, None, [Entry(GATE, SUBJECT, own(repo))], STAMP)
    lines = Index(repo, tip).of(GATE, SUBJECT)
    assert [(line.request, line.status) for line in lines] == [
        (first.id, "rejected"),
        (second.id, "approved"),
    ]
    assert {line.tip for line in lines} == {own(repo)}


def test_what_it_names_already_is_not_written_again(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    older = start(repo)
    decide(repo)
    newer = Entry(GATE, SUBJECT, own(repo))
    tip = append(repo, None, [newer], STAMP)
    assert append(repo, tip, [newer], STAMP) == tip
    assert append(repo, tip, [older], STAMP) == tip
    assert Index(repo, tip).tip(GATE, SUBJECT) == newer.tip
    grown = append(repo, append(repo, None, [older], STAMP), [newer], STAMP)
    assert Index(repo, grown).tip(GATE, SUBJECT) == newer.tip
    assert repo.commit(grown).parents[1:] == (newer.tip,)


def test_an_update_rewrites_the_blobs_that_it_changes(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    entries = [step(repo, f"s{number}") for number in range(12)]
    tip = append(repo, None, entries, STAMP)
    more = step(repo, "s12")
    before = {p.name for p in (repo.git_dir / "objects").glob("??/*")}
    after = append(repo, tip, [more], STAMP)
    made = {p.name for p in (repo.git_dir / "objects").glob("??/*")} - before
    assert len(made) == 4  # a blob, two trees, the commit
    assert {entry.subject for entry in Index(repo, after).instances()} == {
        f"s{number}" for number in range(13)
    }


def test_many_tips_take_several_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_TIPS", 3)
    repo = world(tmp_path / "r")
    entries = [step(repo, f"s{number}") for number in range(8)]
    tip = append(repo, None, entries, STAMP)
    chain = repo.first_parents(tip)
    assert chain
    assert [len(commit.parents) for commit in chain] == [3, 4, 4, 0]
    named = [parent for commit in chain[::-1] for parent in commit.parents[1:]]
    assert sorted(named) == sorted(entry.tip for entry in entries)
    assert defects(repo, None, tip) == ()
    assert set(Index(repo, tip).instances()) == {one._replace(status="open") for one in entries}


def test_further_files_stay_as_they_are(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    tip = append(repo, None, [start(repo)], STAMP)
    work = tmp_path / "journal"
    git(repo.git_dir, "update-ref", ids.JOURNAL, tip)
    git(repo.work_tree or work, "worktree", "add", "-q", str(work), "aiwg/journal")
    (work / ".forge" / "workflows").mkdir(parents=True)
    (work / ".forge" / "workflows" / "gate.yml").write_text("on: push\n")
    (work / GATE / "notes.txt").write_text("beside the index\n")
    (work / "run").write_text("#!/bin/sh\n")
    (work / "run").chmod(0o755)
    git(work, "add", "--all")
    theirs = commit(work, "A workflow")
    further = {
        line
        for line in git(repo.git_dir, "ls-tree", "-r", theirs).splitlines()
        if not line.endswith(".tsv")
    }
    assert len(further) == 3
    assert defects(repo, tip, theirs) == ()
    after = append(repo, theirs, [step(repo, "more")], STAMP)
    assert further <= set(git(repo.git_dir, "ls-tree", "-r", after).splitlines())
    assert defects(repo, None, after) == ()
    assert len(list(Index(repo, after).instances())) == 2


def test_a_further_file_in_the_way_is_named(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    blob = repo.write_blob(b"mine\n")
    tree = repo.write_tree({GATE.encode(): (0o100644, blob)})
    parent = repo.write_commit(tree, (journals.write_root(repo),), STAMP, STAMP, "a file\n")
    with pytest.raises(GateError, match=f"a file '{GATE}' where a folder belongs") as caught:
        append(repo, parent, [start(repo)], STAMP)
    assert caught.value.kind is Exit.BLOCKED


def test_the_loser_of_a_race_writes_on_the_winners_tip(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    common = append(repo, None, [start(repo), step(repo, "both")], STAMP)
    winner = append(repo, common, [step(repo, "theirs")], STAMP)
    decide(repo)
    loser = append(repo, common, [Entry(GATE, SUBJECT, own(repo)), step(repo, "ours")], STAMP)
    made = remake(repo, winner, loser, STAMP)
    assert repo.commit(made).parents[0] == winner
    assert {entry.subject: entry.tip for entry in Index(repo, made).instances()} == {
        name: own(repo, name) for name in (SUBJECT, "both", "theirs", "ours")
    }
    assert defects(repo, winner, made) == ()
    assert defects(repo, common, made) == ()
    assert remake(repo, made, loser, STAMP) == made
    assert remake(repo, winner, common, STAMP) == winner
    assert remake(repo, common, winner, STAMP) == winner


def test_where_both_started_a_journal(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    winner = append(repo, None, [step(repo, "theirs")], STAMP)
    loser = append(repo, None, [step(repo, "ours")], STAMP)
    made = remake(repo, winner, loser, STAMP)
    assert {entry.subject for entry in Index(repo, made).instances()} == {"theirs", "ours"}


def test_instances_whose_ledgers_went_apart_stay_as_the_winner_has_them(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    common = append(repo, None, [start(repo)], STAMP)
    before = own(repo)
    decide(repo, "One.")
    winner = append(repo, common, [Entry(GATE, SUBJECT, own(repo))], STAMP)
    one = own(repo)
    git(repo.git_dir, "update-ref", ids.ledger_ref(GATE, SUBJECT), before)
    decide(repo, "Other.")
    loser = append(repo, common, [Entry(GATE, SUBJECT, own(repo)), step(repo, "ours")], STAMP)
    made = remake(repo, winner, loser, STAMP)
    assert Index(repo, made).tip(GATE, SUBJECT) == one
    assert Index(repo, made).tip(GATE, "ours") == own(repo, "ours")
    with pytest.raises(GateError, match="went apart from") as caught:
        append(repo, winner, [Entry(GATE, SUBJECT, own(repo))], STAMP)
    assert (caught.value.kind, caught.value.hint) == (Exit.UNTRUSTED, "git gate sync")


def further(repo: Repository, parent: str, **files: str | None) -> str:
    """A commit that changes further files only, as a person makes it."""
    entries = dict(repo.children(repo.commit(parent).tree))
    for name, text in files.items():
        if text is None:
            del entries[name.encode()]
        else:
            entries[name.encode()] = (0o100644, repo.write_blob(text.encode()))
    tree = repo.write_tree(entries)
    return repo.write_commit(tree, (parent,), STAMP, STAMP, f"Change {', '.join(files)}\n")


def test_changes_of_further_files_are_made_again(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    common = further(repo, append(repo, None, [start(repo)], STAMP), README="one\n", old="x\n")
    winner = further(repo, append(repo, common, [step(repo, "theirs")], STAMP), THEIRS="t\n")
    loser = append(repo, further(repo, common, README="two\n"), [step(repo, "ours")], STAMP)
    loser = further(repo, loser, old=None)
    made = remake(repo, winner, loser, STAMP)
    assert show(repo, made, "README") == "two"
    names = set(git(repo.git_dir, "ls-tree", "--name-only", made).splitlines())
    assert names == {GATE, "README", "THEIRS"}
    said = git(repo.git_dir, "log", "--first-parent", "--format=%s", f"{winner}..{made}")
    assert said.splitlines() == [f"{GATE} of ours: open", "Change old", "Change README"]
    assert defects(repo, common, made) == ()
    clash = further(repo, winner, README="three\n")
    with pytest.raises(GateError, match="'README' on the branch aiwg/journal was changed") as error:
        remake(repo, clash, loser, STAMP)
    assert error.value.kind is Exit.BLOCKED


def test_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    entry = start(repo)
    tip = append(repo, None, [entry, step(repo, "other")], STAMP)
    blob = git(repo.git_dir, "rev-parse", f"{tip}:{journal.file_of(GATE, 'other').decode()}")
    (repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    index = Index(Repository.open(repo.git_dir), tip)
    assert index.tip(GATE, SUBJECT) == entry.tip
    assert index.tip("another", SUBJECT) is None
    assert index.gates() == [GATE]
    with pytest.raises(GateError, match=f"object {blob} is missing"):
        list(index.instances())


def test_without_a_journal_nothing_is_named(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    index = Index(repo, None)
    assert (index.tip(GATE, SUBJECT), index.gates(), list(index.instances())) == (None, [], [])
    assert journals.newest(repo, "origin") is None


def test_the_newest_journal_of_those_known(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    first = append(repo, None, [step(repo, "a")], STAMP)
    second = append(repo, first, [step(repo, "b")], STAMP)
    third = append(repo, second, [step(repo, "c")], STAMP)
    fork = append(repo, second, [step(repo, "d")], STAMP)
    places = journals.places("origin")
    assert places == (
        ids.JOURNAL,
        "refs/gitgate/origin/journal",
        "refs/remotes/origin/aiwg/journal",
    )
    for name, tip in zip(places, (first, second, third), strict=True):
        git(repo.git_dir, "update-ref", name, tip)
        assert journals.newest(repo, "origin") == tip
    assert journals.newest(repo, None) == first
    git(repo.git_dir, "update-ref", places[0], fork)
    assert set(journals.heads(repo, "origin")) == {fork, third}
    with pytest.raises(GateError, match="went apart") as caught:
        journals.newest(repo, "origin")
    assert (caught.value.kind, caught.value.hint) == (Exit.UNTRUSTED, "git gate sync")


def test_a_journal_among_the_further_parents_is_no_earlier_journal(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    first = append(repo, None, [step(repo, "a")], STAMP)
    other = append(repo, None, [step(repo, "b")], STAMP)
    tree = repo.commit(other).tree
    joined = repo.write_commit(tree, (other, first), STAMP, STAMP, "swallowed\n")
    assert repo.is_ancestor(first, joined)
    assert not journals.goes_on_from(repo, joined, first)


def test_what_a_push_names_anew(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    before = append(repo, None, [start(repo), step(repo, "a")], STAMP)
    decide(repo)
    entries = [Entry(GATE, SUBJECT, own(repo), "approved"), step(repo, "b")._replace(status="open")]
    after = append(repo, before, entries, STAMP)
    assert set(changes(repo, before, after)) == set(entries)
    assert len(changes(repo, None, after)) == 3
    assert changes(repo, after, after) == ()


def test_a_faulty_ledger_is_not_named(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    stray = commit(repo.work_tree or tmp_path, "no ledger")
    with pytest.raises(GateError, match="the ledger of elaboration of x: ") as caught:
        append(repo, None, [Entry(GATE, "x", stray)], STAMP)
    assert caught.value.kind is Exit.UNTRUSTED
    empty = ledger.write_root(repo, GATE, "x")
    with pytest.raises(GateError, match="it has no event"):
        append(repo, None, [Entry(GATE, "x", empty)], STAMP)


def test_a_malformed_file_heals_with_the_next_line(tmp_path: Path) -> None:
    """The lines that the newest readable commit had are kept; only Malformed is healed, never a
    missing object."""
    repo = world(tmp_path / "r")
    good = append(repo, None, [start(repo)], STAMP)
    path = journal.file_of(GATE, SUBJECT)
    junk = (0o100644, repo.write_blob(b"junk"))
    tree = edited(repo, repo.commit(good).tree, {path: junk})
    bad = repo.write_commit(tree, (good,), STAMP, STAMP, "junk\n")
    with pytest.raises(journals.Malformed, match=r"elaboration/\w\w.tsv in commit \w+ cannot"):
        Index(repo, bad).tip(GATE, SUBJECT)
    assert Index(repo, bad).tip(GATE, "elsewhere") is None
    healed = append(repo, bad, [Entry(GATE, SUBJECT, own(repo))], STAMP)
    assert Index(repo, healed).of(GATE, SUBJECT) == Index(repo, good).of(GATE, SUBJECT)
    assert defects(repo, bad, healed) == ()
    decide(repo)
    healed = append(repo, bad, [Entry(GATE, SUBJECT, own(repo))], STAMP)
    assert Index(repo, healed).tip(GATE, SUBJECT) == own(repo)
    assert defects(repo, bad, healed) == ()


def test_lines_that_lie_are_written_right_again(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    entry = start(repo)
    good = append(repo, None, [entry], STAMP)
    [line] = Index(repo, good).of(GATE, SUBJECT)
    lie = journal.format_lines([Line(*line)._replace(status="landed")])
    path = journal.file_of(GATE, SUBJECT)
    tree = edited(repo, repo.commit(good).tree, {path: (0o100644, repo.write_blob(lie))})
    bad = repo.write_commit(tree, (good, entry.tip), STAMP, STAMP, "lie\n")
    assert len(defects(repo, good, bad)) == 1
    right = append(repo, bad, [entry], STAMP)
    assert Index(repo, right).of(GATE, SUBJECT) == (line,)
    assert defects(repo, bad, right) == ()
