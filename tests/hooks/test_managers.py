"""Hooks beside the real husky, lefthook, pre-commit and git-lfs.

For each: theirs and ours both run on a push that passes, on one that is refused, on an empty one,
from a linked work tree and from a submodule; and what is uninstalled leaves every byte as it was.
"""

from __future__ import annotations

from landingkit import approve
from sitekit import (
    LINE,
    Site,
    comes_and_goes,
    everywhere,
    is_kept_out,
    land_file,
    linked_and_submodule,
    refused_by_us,
    tool,
    works,
)

LEFTHOOK = """\
pre-push:
  jobs:
    - name: theirs
      run: '{{ echo "theirs {{0}}"; cat; }} >>{log}; test ! -e {log}.no'
      use_stdin: true
"""
LEFTHOOK_OURS = """\
    - script: git-gate
      runner: sh
      use_stdin: true
"""
PRE_COMMIT = """\
repos:
  - repo: local
    hooks:
      - id: theirs
        name: theirs
        language: system
        entry: sh -c 'echo theirs >>{log}; test ! -e {log}.no'
        always_run: true
        pass_filenames: false
        stages: [pre-push]
"""


def test_git_lfs(site: Site) -> None:
    tool("git-lfs")
    project = site.project
    project.git("lfs", "install", "--local")
    before = site.files()
    comes_and_goes(site)
    works(site)
    places = [project, *linked_and_submodule(project)]
    for number, place in enumerate(places, 1):
        if place is places[2]:
            place.be(project.people["ada"])
            place.git("lfs", "install", "--local")
            place.gate("hook", "install").ok()
        place.branch(f"large-{number}", "origin/main")
        place.commit("Large", {".gitattributes": "*.bin filter=lfs -text\n", "x.bin": str(number)})
        pointer = place.git("show", "HEAD:x.bin").out
        assert pointer.startswith("version https://git-lfs")
        refused_by_us(place.push("HEAD:main"))
        place.push(f"large-{number}").ok()
        place.push(f"large-{number}").ok()
        stored = project.remote / "lfs" / "objects"
        assert len([one for one in stored.rglob("*") if one.is_file()]) == number
    approve(project)
    project.push("HEAD:main").ok()
    project.gate("hook", "uninstall").ok()
    assert site.files() == before


def test_pre_commit_was_here_first(site: Site) -> None:
    pre_commit = tool("pre-commit")

    def install(there: Site) -> None:
        there.run(pre_commit, "install", "--hook-type", "pre-push")
        there.project.gate("hook", "install").ok()

    land_file(site, ".pre-commit-config.yaml", PRE_COMMIT.format(log=site.log))
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    before = site.files()
    comes_and_goes(site)
    # Installed once more, it puts itself before git-gate's hook, and runs once all the same.
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    assert "it is run by the hook in front of it" in site.project.gate("hook", "status").ok().out
    works(site)
    everywhere(site, install, lines=False)
    site.project.gate("hook", "uninstall").ok()
    assert site.files() == before


def test_pre_commit_came_later(site: Site) -> None:
    pre_commit = tool("pre-commit")
    land_file(site, ".pre-commit-config.yaml", PRE_COMMIT.format(log=site.log))
    before = site.state()
    site.project.gate("hook", "install").ok()
    alone = site.state()
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    works(site)
    assert "nothing" not in site.project.gate("hook", "install").ok().out
    site.run(pre_commit, "uninstall", "--hook-type", "pre-push")
    assert site.state() == alone
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    site.project.gate("hook", "uninstall").ok()
    site.run(pre_commit, "uninstall", "--hook-type", "pre-push")
    assert site.state() == before


def test_husky(site: Site) -> None:
    husky = tool("husky")
    land_file(site, ".husky/pre-push", f'echo "theirs $*" >>{site.log}\ntest ! -e {site.log}.no\n')
    site.run(husky)
    mend = is_kept_out(site, "husky writes the hooks folder", LINE)
    site.run("sh", "-c", mend)
    works(site)
    assert "nothing to install" in site.project.gate("hook", "install").ok().out
    site.project.commit("Ask git-gate")
    site.project.land()
    site.project.git("fetch", "--quiet")

    def install(there: Site) -> None:
        # A relative core.hooksPath: a work tree without the folder runs no hooks at all.
        answer = there.project.gate("hook", "status")
        if there is not site and ".husky/_" in answer.out:
            assert (answer.status, "has no folder" in answer.out) == (1, True), answer.out
            doctor = there.project.gate("doctor", "--json").json
            assert doctor["findings"][-1]["hint"] == "npx husky"
        there.run(husky)
        there.project.gate("hook", "status").ok()

    everywhere(site, install, lines=False)
    before = site.state()
    assert "take the line out" in site.project.gate("hook", "uninstall").ok().out
    assert site.state() == before


def test_lefthook(site: Site) -> None:
    lefthook = tool("lefthook")
    land_file(site, "lefthook.yml", LEFTHOOK.format(log=site.log))
    site.run(lefthook, "install")
    mend = is_kept_out(site, "lefthook writes the hook", LEFTHOOK_OURS)
    command, _, lines = mend.partition(", then add to lefthook.yml:\n")
    assert lines == f"pre-push:\n  jobs:\n{LEFTHOOK_OURS}".rstrip()
    site.run("sh", "-c", command)
    text = LEFTHOOK.format(log=site.log) + LEFTHOOK_OURS
    # The line alone is not enough: without its input git-gate has nothing to refuse.
    deaf = text.removesuffix("      use_stdin: true\n")
    site.project.write("lefthook.yml", deaf)
    assert "does not bring it to git-gate" in site.project.gate("doctor").out
    site.project.commit("Ask git-gate", {"lefthook.yml": text})
    site.project.land()
    site.project.git("fetch", "--quiet")
    works(site)

    def install(there: Site) -> None:
        there.run(lefthook, "install")
        there.project.gate("hook", "status").ok()

    everywhere(site, install, lines=False)
    # Lefthook leaves jobs with `run` out where HEAD has nothing to push, whatever is pushed.
    site.project.branch("aside")
    site.project.commit("x", {"x.md": "# X\n"})
    site.project.git("switch", "--quiet", "--detach", "origin/main")
    refused_by_us(site.project.push("aside:main"))
    assert "take the line out" in site.project.gate("hook", "uninstall").ok().out
    site.project.gate("hook", "status").ok()
    job = "    - run: git-gate hook run pre-push {0}\n"
    site.project.write("lefthook.yml", LEFTHOOK.format(log=site.log) + job)
    (site.project.top / ".lefthook/pre-push/git-gate").unlink()
    assert site.project.gate("hook", "status").status == 1
