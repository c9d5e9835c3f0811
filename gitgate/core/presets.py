"""The policies that `git gate init` writes, with comments for the people who keep them.

Who may approve is left out: that is everybody whom `.aiwg/allowed_signers` lists. Each preset
names a `policy_gate`, so no change of the rules slips in beside the work.
"""

from __future__ import annotations

import re

from gitgate.core.patterns import is_own_ref, objection
from gitgate.errors import Exit, GateError

_SOLO = """\
# The gates of this repository; `git gate policy check` says whether this file is sound.
# Who may sign is in .aiwg/allowed_signers. Changes to either need the gate `policy_gate`.
human_gates:
  version: 1

  gates:
    main:
      title: {title}
      guards:
        - {ref}
      approvals:
        required: 1
        self_approval: true     # you decide on your own work, and on that of your agents
      skip:
        allowed: true
        require_reason: true

  policy_gate: main             # guards aiwg.yml, .aiwg/allowed_signers and .mailmap

  journal: false                # one clone needs no shared index of its gates

  defaults:
    timeout_minutes: 0          # no deadline: a request waits until you come back to it
    require_comment: false
"""

_TEAM = """\
# The gates of this repository; `git gate policy check` says whether this file is sound.
# Who may sign is in .aiwg/allowed_signers. Changes to either need the gate `policy_gate`.
human_gates:
  version: 1

  gates:
    main:
      title: {title}
      guards:
        - {ref}
      approvals:
        required: 1
        # Left out, `by` is everybody in .aiwg/allowed_signers. To name people and groups:
        # by: [{person}]

        # Nobody approves what they had a hand in. An agent that commits in your name makes its
        # work yours: give it an identity of its own and list that under `bots`.
        self_approval: false
      skip:
        allowed: true
        require_reason: true

  policy_gate: main             # guards aiwg.yml, .aiwg/allowed_signers and .mailmap

  # bots: [agent@example.com]   # identities of commits that are nobody

  journal: true                 # keeps all decisions reachable on the branch aiwg/journal

  defaults:
    timeout_minutes: 0          # no deadline: people are not always at their desks
    require_comment: false
"""

_SDLC = """\
# The gates of this repository; `git gate policy check` says whether this file is sound.
# Who may sign is in .aiwg/allowed_signers. Changes to either need the gate `policy_gate`.
human_gates:
  version: 1

  # The phase that the project is in is the one line of this file. A gate with a `transition`
  # asks for approval where a landing moves that line; `git gate open --advance` moves it.
  phases:
    file: .aiwg/phase
    order:
      - inception
      - elaboration
      - construction
      - transition
      - released

  gates:
    inception:
      title: Lifecycle Objective
      transition:
        from: inception
        to: elaboration
      guards:
        - {ref}
      deliverables:
        - .aiwg/intake/**
        - .aiwg/requirements/**
        - .aiwg/risks/**
      next_steps:
        - Baseline the architecture
        - Retire the main risks

    elaboration:
      title: Lifecycle Architecture
      transition:
        from: elaboration
        to: construction
      guards:
        - {ref}
      deliverables:
        - .aiwg/requirements/**
        - .aiwg/architecture/**
        - .aiwg/risks/**
      next_steps:
        - Plan and start the first construction iteration

    construction:
      title: Initial Operational Capability
      transition:
        from: construction
        to: transition
      guards:
        - {ref}
      deliverables:
        - .aiwg/requirements/**
        - .aiwg/architecture/**
        - .aiwg/testing/**
      next_steps:
        - Deploy to the first users
        - Train those who operate it

    transition:
      title: Product Release
      transition:
        from: transition
        to: released
      guards:
        - {ref}
      deliverables:
        - .aiwg/testing/**
        - .aiwg/deployment/**
      next_steps:
        - Announce the release

    policy:
      title: Changes to the gates
      guards:
        - {ref}
      when:
        - aiwg.yml
        - .aiwg/allowed_signers
        - .mailmap

  policy_gate: policy

  # bots: [agent@example.com]   # identities of commits that are nobody

  journal: false                # true keeps all decisions reachable on the branch aiwg/journal

  defaults:
    timeout_minutes: 60         # what nobody has decided by then is rejected; 0: it waits
    require_comment: false
"""

_TEXTS = {"solo": _SOLO, "team": _TEAM, "aiwg-sdlc": _SDLC}

PRESETS = tuple(_TEXTS)


def preset(name: str, *, branch: str, person: str) -> str:
    """The text of the policy `name` that guards `branch`; `person` is named in an example.

    Raises GateError (usage) for a preset that does not exist, and for a branch that no policy can
    guard: the journal, or one whose name is not UTF-8.
    """
    if name not in _TEXTS:
        raise GateError(Exit.USAGE, f"there is no preset {name!r}", f"--preset {'|'.join(PRESETS)}")
    ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
    if objection(ref, fold=False) or is_own_ref(ref):
        raise GateError(
            Exit.USAGE, f"no policy can guard the branch {branch!r}", "git switch another branch"
        )
    title = f"Changes to {ref.removeprefix('refs/heads/')}"
    words = {"ref": ref, "title": title, "person": person}
    return _TEXTS[name].format_map({key: _scalar(word) for key, word in words.items()})


def _scalar(text: str) -> str:
    """`text` for YAML and for a comment: as it stands where that is safe, else in quotes."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9@._/ -]*[A-Za-z0-9]", text):
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\U{ord(char):08x}"
