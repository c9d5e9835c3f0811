"""`policy explain`: sentences that say what guards a ref, and the document behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import SOLO, Project, make_project

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))

RICH = """\
human_gates:
  gates:
    elaboration:
      title: Lifecycle Architecture
      transition: {from: elaboration, to: construction}
      guards: [refs/heads/main]
      when: [".aiwg/**"]
      deliverables: [".aiwg/requirements/**"]
      validations:
        - {name: links, run: ["./tools/check-links"]}
        - {name: style, run: ["./tools/style"], on_error: warn}
      next_steps: ["Start iteration C1", "Hand over"]
      approvals:
        required: 2
        by: [ada@example.com, "@architects"]
        require_comment: true
        presence: touch
      rejections: advisory
      skip: {by: [ada@example.com], require_reason: false}
      deadline: {minutes: 1, action: park}
      escalation: [{after: 0m, notify: [lead]}, {after: 4h, notify: [lead, owner]}]
    release:
      guards: ["refs/heads/release/*", "refs/tags/v*"]
      when: ["src/**"]
      approvals: {by: [eve@example.com], unknown_authors: allow, agents: allow}
      skip: {allowed: false}
      deadline: {minutes: 30, action: none}
    rules:
      approvals: {self_approval: true}
  policy_gate: rules
  groups: {architects: [bob@example.com, eve@example.com]}
  bots: [agent@example.com]
  phases: {order: [inception, elaboration, construction]}
"""

FREE = (
    "is not guarded by the policy of commit <policy> (refs/remotes/origin/main): it may move as it"
    " likes"
)

SOLO_SAYS = """\
refs/heads/main is guarded by the policy of commit <policy> (refs/remotes/origin/main).
It may not be deleted, and moves only along its own first-parent chain.
It holds the policy: a landing that changes aiwg.yml, .aiwg/allowed_signers, .mailmap needs gate main; the old policy judges it.

gate main: Changes to main
  It is asked of every landing that changes anything, and the whole tree is compared.
  It takes 1 approval, by ada@example.com.
  Who worked on the change, or asked, may approve it.
  A rejection by one of them blocks until they take it back or the content changes.
  It may be skipped, with a reason, by ada@example.com.
  A request waits without end.
  So a landing needs: git gate open main, 1 approval (git gate approve) or a skip (git gate skip), and to be the merge of just what was decided on (git gate check).
"""  # noqa: E501

RICH_SAYS = """\
refs/heads/main is guarded by the policy of commit <policy> (refs/remotes/origin/main).
It may not be deleted, and moves only along its own first-parent chain.
Its phase is inception, by .aiwg/phase (inception → elaboration → construction); moving it in another way than a gate below names is refused.
It holds the policy: a landing that changes aiwg.yml, .aiwg/allowed_signers, .mailmap needs gate rules; the old policy judges it.

gate elaboration: Lifecycle Architecture
  It is asked of a landing that moves the phase from elaboration to construction.
  Compared with what was approved: .aiwg/**, the phase file, .aiwg/requirements/**.
  It takes 2 approvals, by ada@example.com, bob@example.com.
  eve@example.com is named, and has no key in .aiwg/allowed_signers.
  Who worked on the change, or asked, may not approve it.
  An author whom .aiwg/allowed_signers does not list, and who is no bot (agent@example.com), keeps everybody from approving.
  An approval needs a comment.
  Only a signature by a hardware key that was touched counts.
  A rejection is shown and blocks nothing.
  It may be skipped by ada@example.com.
  After 1 min an undecided request is parked, and can still be answered.
  It is opened after 2 validations: links (its errors block), style.
  Told when it is opened: lead (git config gate.notify.<name>).
  After 4 h: lead, owner (this version tells nobody later).
  Once approved: Start iteration C1; Hand over.
  So a landing needs: git gate open elaboration, 2 approvals (git gate approve) or a skip (git gate skip), and to be the merge of just what was decided on (git gate check).

gate rules
  It is asked of landings that change the policy's own files, and compares only those.
  It takes 1 approval, by ada@example.com, bob@example.com.
  Who worked on the change, or asked, may approve it.
  A rejection by one of them blocks until they take it back or the content changes.
  It may be skipped, with a reason, by ada@example.com, bob@example.com.
  After 1 h an undecided request is rejected: the way on is a new iteration.
  So a landing needs: git gate open rules, 1 approval (git gate approve) or a skip (git gate skip), and to be the merge of just what was decided on (git gate check).
"""  # noqa: E501

TAG_SAYS = """\
refs/tags/v1.0 is guarded by the policy of commit <policy> (refs/remotes/origin/main).
It is a tag: once it is there it may be neither moved nor deleted.
It is not here yet. It may be created where a guarded branch was allowed to stand; anything else is a landing from there.
Its phase is what .aiwg/phase says (inception → elaboration → construction); moving it in another way than a gate below names is refused.

gate release
  It is asked of landings that change src/**, and only those paths are compared.
  It takes 1 approval, by nobody.
  eve@example.com is named, and has no key in .aiwg/allowed_signers.
  As it stands nobody can satisfy it: too few of them are listed.
  Who worked on the change, or asked, may not approve it.
  An author whom .aiwg/allowed_signers does not list, and who is no bot (agent@example.com), is shown.
  It may be decided inside a coding agent's environment.
  A rejection by one of them blocks until they take it back or the content changes.
  It may not be skipped.
  After 30 min an undecided request stays open.
  So a landing needs: git gate open release, 1 approval (git gate approve), and to be the merge of just what was decided on (git gate check).
"""  # noqa: E501


def explained(project: Project, ref: str) -> str:
    tip = project.rev("origin/main")[:12]
    return project.gate("policy", "explain", ref).ok().out.replace(tip, "<policy>")


def test_one_gate_for_everything(project: Project) -> None:
    assert explained(project, "main") == explained(project, "refs/heads/main")
    assert explained(project, "main") == SOLO_SAYS


def test_phases_people_and_the_policys_own_files(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, RICH, PEOPLE, hook=False)
    assert explained(project, "main") == RICH_SAYS
    assert explained(project, "refs/tags/v1.0") == TAG_SAYS
    document = project.gate("policy", "explain", "main", "--json").ok().json
    first, rules = document["gates"]
    assert first["approvals"] == {
        "required": 2,
        "by": ["ada@example.com", "bob@example.com"],
        "unlisted": ["eve@example.com"],
        "possible": True,
        "self_approval": False,
        "unknown_authors": "block",
        "bots": ["agent@example.com"],
        "require_comment": True,
        "presence": "touch",
        "agents": "refuse",
    }
    assert (rules["gate"], rules["guards_ref"], rules["guards_policy"]) == ("rules", False, True)
    assert document["phases"]["current"] == "inception"


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("feature", f"refs/heads/feature {FREE}"),
        ("refs/heads/x\u202e", f"refs/heads/x\\u202e {FREE}"),
        (
            "refs/notes/aiwg/gates",
            "refs/notes/aiwg/gates is where decisions are kept: no gate can guard it",
        ),
    ],
)
def test_what_nothing_guards(project: Project, ref: str, said: str) -> None:
    assert explained(project, ref) == f"{said}\n"


def test_the_policy_in_force_is_explained_and_not_that_of_the_work_tree(project: Project) -> None:
    before = explained(project, "main")
    project.write("aiwg.yml", SOLO.replace("self_approval: true", "required: 1"))
    assert explained(project, "main") == before


def test_without_a_policy_it_says_so(project: Project) -> None:
    project.branch("empty")
    project.git("rm", "-q", "aiwg.yml")
    project.commit("no policy")
    project.git("config", "gate.policyRef", "refs/heads/empty")
    answer = project.gate("policy", "explain", "main")
    assert (answer.status, answer.out) == (128, "")
    assert answer.err == (
        "git-gate: no policy: refs/heads/empty has no aiwg.yml with `human_gates`\n"
        "hint: git gate init\n"
    )
