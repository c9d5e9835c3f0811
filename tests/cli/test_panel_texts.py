"""What people read: the whole text of the commands about one instance."""

from __future__ import annotations

from pathlib import Path

from outputs import Clock, Names, same
from support.project import SOLO, Project, make_project

RICH = SOLO.replace(
    "      approvals:",
    "      when: [docs/**]\n"
    "      deliverables: [docs/*.md, docs/deep/**]\n"
    "      next_steps: [Tell the others, Start the next phase]\n"
    "      deadline: {minutes: 90}\n"
    "      approvals:",
).replace("title: Changes to main", "title: The documents")

PAGES = {
    "docs/login.md": "# UC-001: User Login\n\n1. The user enters a password\n",
    "docs/deep/diagram.bin": "\0\1",
    "docs/empty.md": "",
    "docs/code.py": "x = 1\n",
    "src/code.py": '"""Not compared."""\n',
}

OPTIONS = """\
Options:
  git gate review main --subject feature          read it and decide, at a terminal
  git gate approve main --subject feature         approve and continue
  git gate reject main --subject feature -m TEXT  reject and provide feedback
  git gate diff main --subject feature 0..1       show what is under review
  git gate skip main --subject feature -m REASON  skip this gate, with a reason
  git gate quit main --subject feature            quit
  git gate log main --subject feature             show what happened
"""


def test_the_panel_has_its_five_sections(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, RICH)
    project.branch("feature")
    work = project.commit("Pages", PAGES)
    names = Names(project, work=work, base=project.rev("origin/main"))
    opened = project.gate("open", "--agent", "claude", "-m", "The login, first version").ok()
    panel = f"""\
Human Approval Gate
Gate: The documents (main)
Subject: feature → refs/heads/main, iteration 1, work work........
Status: open, until 2025-12-01T06:30:00Z (1 h 30 min left)
  nobody has approved it yet

Context:
  • 3 artifacts created
  • 0 validation errors
  • 0 warnings
  • iteration 1, 0 s since it was opened
  • asked by Ada Lovelace <ada@example.com> for claude at 2025-12-01T05:00:00Z
  • the asking side says: The login, first version
  • may approve: ada@example.com

Deliverables:
  ✓ docs/deep/diagram.bin
  ✓ docs/empty.md
  ✓ docs/login.md  UC-001: User Login

Next Steps (if approved):
  - Tell the others
  - Start the next phase

{OPTIONS}"""
    same(
        names(opened.out),
        f"""\
opened gate main for feature: iteration 1

{panel}
next: git gate review main --subject feature   (a person)
      git gate wait main --subject feature     (whoever asked, until then)
""",
    )
    assert opened.err == ""
    same(names(project.gate("show").ok().out), panel)
    clock.later(minutes=5)
    again = project.gate("open").ok().out
    assert again.startswith("this content was put up already and waits for a decision\n\nHuman App")
    same(
        project.gate("list").ok().out,
        "open  main  feature  iteration 1  for 5 min  until 2025-12-01T06:30:00Z"
        " (1 h 25 min left)\n",
    )


def test_how_a_decision_is_told(project: Project, clock: Clock) -> None:
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    names = Names(project, work=work, base=project.rev("origin/main"))
    project.gate("open").ok()
    key = "signed with SSH key <key> (<home>/keys/ada-at-example.com-ed25519)"

    clock.later(minutes=2)
    rejected = project.gate("reject", "-m", "No.\n\n  Two words:\n\n# wrong title").ok()
    same(
        names(rejected.out),
        f"""\
recorded: reject of main for feature, iteration 1, {key}
record <id>
the instance is now rejected
next: git gate wait main --subject feature tells the asking side; the next iteration: \
git gate open main --subject feature
""",
    )
    waited = project.gate("wait")
    assert waited.status == 11
    same(
        waited.out,
        """\
main of feature, iteration 1: rejected by ada@example.com
  No.
    Two words:
  # wrong title
next: git gate open main --subject feature
""",
    )
    nothing_new = project.gate("open")
    assert (nothing_new.status, nothing_new.out) == (1, "")
    same(
        nothing_new.err,
        "git-gate: nothing is new since main of feature was rejected: ada@example.com rejected it\n"
        "hint: change the work, commit it, then git gate open\n",
    )
    clock.later(minutes=2)
    same(
        names(project.gate("retract").ok().out),
        f"""\
recorded: retract of main for feature, iteration 1, {key}
record <id>
the instance is now open: nobody has approved it yet
next: git gate show main --subject feature
""",
    )
    clock.later(minutes=2)
    skipped = project.gate("skip", "-m", "The site is down").ok()
    same(
        skipped.err,
        """\
skipping gate main for feature, iteration 1: it lands without approval
  1 artifact, 0 validation errors, 0 warnings
  page.md
""",
    )
    same(
        names(skipped.out),
        f"""\
recorded: skip of main for feature, iteration 1, {key}
record <id>
the instance is now skipped
next: git gate land main --subject feature; git gate check says which ways pass
""",
    )
    clock.later(minutes=2)
    same(
        names(project.gate("approve", "-m", "All right").ok().out),
        f"""\
recorded: approve of main for feature, iteration 1, {key}
record <id>
the instance is now approved
next: git gate land main --subject feature; git gate check says which ways pass
""",
    )
    same(
        names(project.gate("open").ok().out),
        """\
already approved, and nothing new to ask

Human Approval Gate
Gate: Changes to main (main)
Subject: feature → refs/heads/main, iteration 1, work work........
Status: approved

Context:
  • 1 artifact created
  • 0 validation errors
  • 0 warnings
  • iteration 1, 8 min since it was opened
  • asked by Ada Lovelace <ada@example.com> at 2025-12-01T05:00:00Z

Deliverables:
  ✓ page.md  Page

Next Steps (if approved):
  - land the work

Decisions:
  ada@example.com rejected iteration 1 at 2025-12-01T05:02:00Z (does not count: \
ada@example.com has decided again since)
      No.
        Two words:
      # wrong title
  ada@example.com took back their decision on iteration 1 at 2025-12-01T05:04:00Z (does not \
count: ada@example.com has decided again since)
  ada@example.com skipped iteration 1 at 2025-12-01T05:06:00Z (does not count: \
ada@example.com has decided again since)
      The site is down
  ada@example.com approved iteration 1 at 2025-12-01T05:08:00Z
      All right

Options:
  git gate land main --subject feature       land it
  git gate check                             say how it may land
  git gate retract main --subject feature    take your own decision back
  git gate diff main --subject feature 0..1  show what is under review
  git gate log main --subject feature        show what happened

next: git gate land main --subject feature; git gate check says how it may land
""",
    )
    same(
        names(project.gate("check").ok().out),
        """\
work........ may land on refs/heads/main: satisfied
  gate main of feature, iteration 1: satisfied
  it passes as: ff, merge, squash, rebase
warning: origin is not known to have the ledger of main of feature: git gate sync origin
""",
    )
    same(
        names(project.gate("quit", "-m", "Not this year").ok().out),
        f"""\
recorded: quit of main for feature, iteration 1, {key}
record <id>
the instance is now withdrawn
next: git gate open main --subject feature begins a new one
""",
    )
    same(
        project.gate("log").ok().out,
        """\
main of feature
0001  2025-12-01T05:00:00Z  opened      Ada Lovelace <ada@example.com>
0002  2025-12-01T05:02:00Z  decided     Ada Lovelace <ada@example.com>  reject: No.
0003  2025-12-01T05:04:00Z  decided     Ada Lovelace <ada@example.com>  retract
0004  2025-12-01T05:06:00Z  decided     Ada Lovelace <ada@example.com>  skip: The site is down
0005  2025-12-01T05:08:00Z  decided     Ada Lovelace <ada@example.com>  approve: All right
0006  2025-12-01T05:08:00Z  decided     Ada Lovelace <ada@example.com>  quit: Not this year
""",
    )
    assert project.gate("list").ok().out == "nothing waits for a decision\n"
    assert project.gate("list", "--all").ok().out == (
        "withdrawn  main  feature  iteration 1  for 8 min\n"
    )


def test_lists_are_columns_and_withdrawing_all_says_which(project: Project, clock: Clock) -> None:
    for name in ("one", "the/second", "dritte-Ärger"):
        project.branch(name)
        project.commit(name, {f"{name.replace('/', '-')}.md": f"# {name}\n"})
        project.gate("open").ok()
    project.gate("reject", "--subject", "one", "-m", "no").ok()
    clock.later(minutes=61)
    same(
        project.gate("list").ok().out,
        """\
open  main  dritte-Ärger  iteration 1  for 1 h 1 min
open  main  the/second    iteration 1  for 1 h 1 min
""",
    )
    same(
        project.gate("list", "--all").ok().out,
        """\
open      main  dritte-Ärger  iteration 1  for 1 h 1 min
rejected  main  one           iteration 1  for 1 h 1 min
open      main  the/second    iteration 1  for 1 h 1 min
""",
    )
    document = project.gate("list", "--json").ok().json
    assert document["schema"] == 1
    assert [one["subject"] for one in document["instances"]] == ["dritte-Ärger", "the/second"]
    assert not {"deliverables", "next_steps"} & set(document["instances"][0])
    same(
        project.gate("withdraw", "--all", "-m", "clean slate").ok().out,
        "withdrew main of dritte-Ärger\nwithdrew main of the/second\n",
    )
    assert project.gate("withdraw", "--all").ok().out == "nothing of yours is undecided\n"


def test_check_says_first_the_answer_then_why_then_what_resolves_it(
    project: Project, clock: Clock
) -> None:
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    names = Names(project, work=work, base=project.rev("origin/main"))
    answer = project.gate("check")
    assert answer.status == 15
    same(
        names(answer.out),
        """\
work........ may not land on refs/heads/main: not-opened
  gate main: not-opened
    nothing that was approved accounts for work........ (Add a page)
    no gate `main` was opened for it
""",
    )
    assert answer.err == "hint: git gate open main\n"
    same(
        names(project.gate("check", "main..HEAD", "--ref", "other").ok().out),
        """\
work........ may land on refs/heads/other: not-needed
  no gate guards refs/heads/other
""",
    )
    hidden = project.gate("check", "HEAD..main")
    assert hidden.status == 1
    same(
        names(hidden.out + hidden.err),
        """\
base........ may not land on refs/heads/main: blocked
  refs/heads/main would move to base........, on whose first-parent chain its present commit \
work........ does not lie: commits of refs/heads/main would leave its own history
hint: git merge --no-ff the branch on top of the ref's present commit
""",
    )
