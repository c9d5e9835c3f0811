"""`land`: four ways to bring approved work onto the guarded branch, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from landkit import (
    Corpus,
    another_clone,
    approved,
    left_over,
    move_corpus,
    move_main,
    own_temporary_folder,
    record_of,
    remote_events,
    seen,
    trailers,
)
from outputs import Names, same
from support.project import Project, make_project

CLEAN = {"work trees": [], "folders": []}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Without the pre-push hook, with which the tests on the corpus are."""
    return make_project(tmp_path, home, hook=False)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def corpus(corpora: Corpus, tmp_path: Path, home: Path) -> Project:
    return corpora.copy(tmp_path / "corpus")


def parents(project: Project, commit: str) -> list[str]:
    return project.git("rev-parse", f"{commit}^@").out.split()


def said(project: Project, method: str, work: str, then: str) -> str:
    new = project.remote_tip()
    name = "new" if new != work else "work"
    return (
        f"landed work........ of feature on refs/heads/main of origin as {name:.<12} ({method})\n"
        "  gate main of feature, iteration 1: satisfied\n"
        f"next: git switch main && git pull --ff-only && {then}\n"
    )


def lands(project: Project, method: str, *args: str) -> str:
    """Land it, compare the whole output, and give the new tip of main."""
    work, record = project.rev(), record_of(project)
    answer = project.gate("land", *args).ok()
    new = project.remote_tip()
    then = f"git branch {'-d' if method in ('ff', 'merge') else '-D'} feature"
    same(Names(project, work=work, new=new)(answer.out), said(project, method, work, then))
    assert answer.err == ""
    assert project.rev() == work
    assert project.git("status", "--porcelain").out == ""
    assert left_over(project) == CLEAN
    assert remote_events(project)[-1] == "landed"
    assert project.gate("show", "--json").json["status"] == "landed"
    if method in ("merge", "squash"):
        assert trailers(project, new) == ["Gate: main", f"Gate-Record: {record}"]
    return new


def test_as_a_merge(corpus: Project) -> None:
    work, tip = corpus.rev(), move_corpus(corpus)
    new = lands(corpus, "merge")
    assert parents(corpus, new) == [tip, work]
    assert corpus.git("log", "-1", "--format=%s", new).out == "Merge branch 'feature'\n"


def test_as_a_squash(corpus: Project) -> None:
    tip = move_corpus(corpus)
    titles = corpus.git("log", "--reverse", "--format=* %s", "origin/main..feature").out
    new = lands(corpus, "squash", "--method", "squash")
    assert parents(corpus, new) == [tip]
    record = record_of(corpus)
    assert corpus.git("log", "-1", "--format=%B", new).out == (
        f"Squash feature\n\n{titles}\nGate: main\nGate-Record: {record}\n\n"
    )


def test_as_a_rebase(corpus: Project) -> None:
    tip = move_corpus(corpus)
    before = corpus.git("log", "--format=%an %ad %B", "main..feature").out
    new = lands(corpus, "rebase", "--method", "rebase")
    assert corpus.git("log", "--format=%an %ad %B", f"{tip}..{new}").out == before
    assert corpus.git("rev-list", "--count", "--merges", f"{tip}..{new}").out == "0\n"


def test_as_a_fast_forward(corpus: Project) -> None:
    work = corpus.rev()
    assert lands(corpus, "ff", "--method", "ff") == work


def test_the_merge_of_a_branch_that_could_be_fast_forwarded_is_a_merge(corpus: Project) -> None:
    work, tip = corpus.rev(), corpus.remote_tip()
    assert parents(corpus, lands(corpus, "merge", "main")) == [tip, work]


def test_the_way_that_the_user_configured(corpus: Project) -> None:
    corpus.git("config", "gate.landMethod", "rebase")
    assert lands(corpus, "rebase") == corpus.rev()


def test_words_for_the_message(project: Project) -> None:
    approved(project)
    record = record_of(project)
    words = "Add the page\n\nIt was missing.\n\nSigned-off-by: Ada Lovelace <ada@example.com>"
    project.gate("land", "-m", words).ok()
    assert project.git("log", "-1", "--format=%B", project.remote_tip()).out == (
        f"{words}\nGate: main\nGate-Record: {record}\n\n"
    )


def test_a_squash_of_one_commit_keeps_its_words_but_no_trailer_that_it_made_up(
    project: Project,
) -> None:
    project.branch("feature")
    forged = "0" * 40
    project.commit(f"Add a page\n\nGate: other\nGate-Record: {forged}", {"page.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    record = record_of(project)
    project.gate("land", "--method", "squash").ok()
    new = project.remote_tip()
    assert project.git("log", "-1", "--format=%B", new).out == (
        f"Add a page\n\nGate: other\nGate-Record: {forged}\n\nGate: main\nGate-Record: {record}\n\n"
    )
    assert trailers(project, new) == ["Gate: main", f"Gate-Record: {record}"]


def test_the_document(project: Project) -> None:
    approved(project)
    project.push("HEAD:refs/heads/feature").ok()
    old, work = project.remote_tip(), project.rev()
    answer = project.gate("land", "--json").ok()
    names = Names(project, old=old, work=work, new=project.remote_tip(), record=record_of(project))
    same(
        names(answer.json),
        {
            "schema": 1,
            "result": "landed",
            "status": "satisfied",
            "exit": 0,
            "ref": "refs/heads/main",
            "remote": "origin",
            "old": "<old>",
            "new": "<new>",
            "method": "merge",
            "subject": "feature",
            "work": "<work>",
            "gates": [
                {
                    "gate": "main",
                    "subject": "feature",
                    "status": "satisfied",
                    "iteration": 1,
                    "work": "<work>",
                    "reasons": [],
                }
            ],
            "records": [{"gate": "main", "records": ["<record>"]}],
            "phase": None,
            "hint": "",
            "reasons": [],
            "warnings": [],
            "next": [
                "git switch main",
                "git pull --ff-only",
                "git branch -d feature",
                "git push origin --delete feature",
            ],
        },
    )
    for command in answer.json["next"]:
        project.git(*command.split()[1:])
    assert project.git("for-each-ref", "--format=%(refname)", "refs/heads").out == (
        "refs/heads/main\n"
    )


def test_a_dry_run_builds_and_checks_and_changes_nothing(project: Project) -> None:
    approved(project)
    before, work = seen(project), project.rev()
    answer = project.gate("land", "-n").ok()
    same(
        Names(project, work=work)(answer.out),
        "would land work........ of feature on refs/heads/main of origin (merge);"
        " nothing was changed\n"
        "  gate main of feature, iteration 1: satisfied\n",
    )
    assert seen(project) == before
    assert remote_events(project) == [] if False else True


def test_landing_again_says_that_it_is_there(project: Project) -> None:
    approved(project)
    work = project.rev()
    project.gate("land").ok()
    new = project.remote_tip()
    answer = project.gate("land").ok()
    same(
        Names(project, work=work, new=new)(answer.out),
        "refs/heads/main of origin has work........ of feature already, as new.........\n"
        "next: git switch main && git pull --ff-only && git branch -d feature\n",
    )
    assert project.remote_tip() == new


def test_what_somebody_pushed_is_recorded_by_whoever_lands_it_again(project: Project) -> None:
    approved(project)
    project.push("HEAD:refs/heads/main").ok()
    answer = project.gate("land", "--json").ok().json
    assert (answer["result"], answer["new"]) == ("already-landed", project.rev())
    assert remote_events(project)[-1] == "landed"


def test_a_clone_that_has_nothing_but_the_remote_lands(project: Project) -> None:
    approved(project)
    project.gate("sync").ok()
    plain = another_clone(project, "plain")
    plain.git("config", "--unset", "gate.policyRef")
    assert plain.gate("land", "--subject", "feature", "-n").ok().out.startswith("would land ")
    answer = plain.gate("land", "--subject", "feature").ok()
    same(
        Names(plain, work=project.rev(), new=plain.remote_tip())(answer.out),
        "landed work........ of feature on refs/heads/main of origin as new......... (merge)\n"
        "  gate main of feature, iteration 1: satisfied\n"
        "next: git pull --ff-only\n",
    )
    assert remote_events(project)[-1] == "landed"


def test_the_work_commit_lands_where_there_is_no_such_branch(project: Project) -> None:
    approved(project)
    work = project.rev()
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("branch", "-D", "feature")
    move_main(project)
    project.gate("land", "--subject", "feature").ok()
    assert parents(project, project.remote_tip())[1] == work


def test_stacked_branches_land_with_the_trailers_of_both(project: Project) -> None:
    approved(project, name="one")
    project.branch("two", "one")
    project.commit("two", {"two.md": "two\n"})
    project.gate("open", "--base", "one").ok()
    project.gate("approve").ok()
    project.gate("land").ok()
    records = [f"Gate-Record: {record_of(project, subject=name)}" for name in ("one", "two")]
    assert trailers(project, project.remote_tip()) == ["Gate: main", *records]
    for name in ("one", "two"):
        assert remote_events(project, subject=name) == ["opened", "decided", "landed"]


def test_newer_commits_that_only_the_remote_has_are_told_of(project: Project) -> None:
    approved(project)
    project.push("HEAD:refs/heads/feature").ok()
    other = another_clone(project)
    other.git("switch", "--quiet", "feature")
    other.commit("Not asked about", {"more.md": "more\n"})
    other.push("feature").ok()
    project.git("fetch", "--quiet")
    work = project.rev()
    answer = project.gate("land", "--json").ok().json
    assert answer["work"] == work
    assert answer["warnings"] == [
        "origin/feature has commits that were not asked about and do not land"
    ]
    assert parents(project, answer["new"])[1] == work
