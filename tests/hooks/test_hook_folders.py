"""Hooks beside people's own scripts, and in the folders that `core.hooksPath` can name."""

from __future__ import annotations

from pathlib import Path

from sitekit import (
    LINE,
    Site,
    comes_and_goes,
    everywhere,
    is_kept_out,
    land_file,
    linked_and_submodule,
    refused_by_us,
    works,
)


def test_a_script_of_ones_own(site: Site) -> None:
    def install(there: Site) -> None:
        hook = there.hooks() / "pre-push"
        if not hook.exists():
            told = f'{{ echo "theirs $*"; cat; }} >>{there.log}; test ! -e {there.log}.no\n'
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\n{told}")
            hook.chmod(0o755)
        there.project.gate("hook", "install").ok()

    install(site)
    site.project.gate("hook", "uninstall").ok()
    before = site.files()
    comes_and_goes(site)
    works(site)
    everywhere(site, install)
    site.project.gate("hook", "uninstall").ok()
    assert site.files() == before


def test_a_hooks_folder_that_the_project_keeps(site: Site) -> None:
    project = site.project
    script = f'#!/bin/sh\necho "theirs $*" >>{site.log}\ntest ! -e {site.log}.no || exit 1\n'
    land_file(site, ".githooks/pre-push", script)
    (project.top / ".githooks/pre-push").chmod(0o755)
    project.git("config", "core.hooksPath", ".githooks")
    mend = is_kept_out(site, "is part of a project", LINE)
    site.run("sh", "-c", mend)
    project.commit("Ask git-gate")
    project.land()
    works(site)

    def install(there: Site) -> None:
        there.project.git("config", "core.hooksPath", ".githooks")

    everywhere(site, install, lines=False)


def test_a_hooks_folder_for_all_repositories(site: Site, home: Path) -> None:
    project, shared = site.project, home / "hooks"
    shared.mkdir()
    project.git("config", "--global", "core.hooksPath", "~/hooks")
    mend = is_kept_out(site, "shared by all repositories", LINE)
    site.run("sh", "-c", mend)
    works(site)
    assert (shared / "pre-push").read_text() == f"#!/bin/sh\n{LINE}\n"
    project.branch("feature")
    project.commit("x", {"x": "x\n"})
    refused_by_us(project.push("feature:main"))
    project.git("config", "core.hooksPath", ".git/hooks")  # this repository's own again
    project.gate("hook", "install").ok()
    refused_by_us(project.push("feature:main"))


def test_a_hooks_folder_of_this_repository_alone(site: Site) -> None:
    project = site.project
    project.git("config", "core.hooksPath", str(project.top / ".git" / "own"))
    before = site.state()
    project.gate("hook", "install").ok()
    works(site)
    project.gate("hook", "uninstall").ok()
    site.hooks().rmdir()
    assert site.state() == before
    project.git("config", "core.hooksPath", "local-hooks")
    said = project.gate("hook", "install").ok().out
    assert "each linked work tree has hooks of its own" in said
    works(site)
    linked, _ = linked_and_submodule(project)
    status = linked.gate("hook", "status")
    assert (status.status, "has no folder" in status.out) == (1, True)
    linked.gate("hook", "install").ok()
    linked.branch("feature")
    linked.commit("x", {"x": "x\n"})
    refused_by_us(linked.push("feature:main"))


def test_a_hooks_path_that_is_no_folder(site: Site) -> None:
    site.project.gate("hook", "install").ok()
    site.project.git("config", "core.hooksPath", "/dev/null")
    mend = is_kept_out(site, "is no folder: git runs no hook at all")
    site.run("sh", "-c", mend)
    works(site)


def test_a_hook_left_in_a_folder_that_git_no_longer_looks_into(site: Site) -> None:
    before = site.state()
    site.project.gate("hook", "install").ok()
    site.project.git("config", "core.hooksPath", str(site.project.top / ".git" / "own"))
    site.project.gate("hook", "uninstall").ok()
    site.project.git("config", "--unset", "core.hooksPath")
    assert site.state() == before


def test_a_manager_that_hands_nothing_on_is_refused(site: Site) -> None:
    answer = site.project.gate("hook", "run", "pre-push")
    assert answer.status == 129
    assert "nothing was checked" in answer.err
