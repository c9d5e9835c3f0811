"""What a policy says, and the questions that it answers (design, section 5).

The values are what the strict reader in `policyreader` makes of `human_gates:` in `aiwg.yml`, with
every default filled in. `docs/policy.md` is the reference of the keys behind the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

from gitgate.core.patterns import compile_refs

POLICY_FILE = b"aiwg.yml"
SIGNERS_FILE = b".aiwg/allowed_signers"
MAILMAP_FILE = b".mailmap"

# What a change of the rules themselves touches; the old policy judges it.
POLICY_FILES = (POLICY_FILE, SIGNERS_FILE, MAILMAP_FILE)

VERSION = 1

_V = TypeVar("_V")


class UnknownAuthors(StrEnum):
    """What an author whom nobody knows does to an approval where `self_approval` is off."""

    BLOCK = "block"
    ALLOW = "allow"


class Presence(StrEnum):
    """What a signature has to prove about the person: `touch` is a hardware key's touch flag."""

    NONE = "none"
    TOUCH = "touch"


class Agents(StrEnum):
    """Whether decisions may be made inside a known coding agent's environment."""

    REFUSE = "refuse"
    ALLOW = "allow"


class Rejections(StrEnum):
    """What a rejection by somebody in `by` does."""

    VETO = "veto"
    ADVISORY = "advisory"


class Overdue(StrEnum):
    """What becomes of a request that nobody has decided when its time is up."""

    REJECT = "reject"
    PARK = "park"
    NONE = "none"


class OnError(StrEnum):
    """What an error that a validation finds does to the request."""

    BLOCK = "block"
    WARN = "warn"


class Verbosity(StrEnum):
    """How much a gate's panel shows."""

    MINIMAL = "minimal"
    NORMAL = "normal"
    DETAILED = "detailed"


class BoxStyle(StrEnum):
    """What frames are drawn with."""

    SINGLE = "single"
    DOUBLE = "double"
    ROUND = "round"
    BOLD = "bold"


@dataclass(frozen=True, slots=True)
class Transition:
    """The phases between which a gate stands."""

    from_phase: str
    to_phase: str


@dataclass(frozen=True, slots=True)
class Validation:
    """A command that looks at the paths under review.

    `run` is the argument list, `paths` the patterns of those it gets (none: all deliverables),
    `timeout_seconds` None where the policy does not say.
    """

    name: str
    run: tuple[str, ...]
    paths: tuple[str, ...] = ()
    on_error: OnError = OnError.BLOCK
    timeout_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Approvals:
    """How many people have to approve, and who may. `by` None: everyone in the signers file.

    The names in `by` are principals and `@group`s: `Policy.members` makes people of them.
    """

    required: int = 1
    by: tuple[str, ...] | None = None
    self_approval: bool = False
    unknown_authors: UnknownAuthors = UnknownAuthors.BLOCK
    require_comment: bool = False
    presence: Presence = Presence.NONE
    agents: Agents = Agents.REFUSE


@dataclass(frozen=True, slots=True)
class Skip:
    """Whether the gate may be skipped, and by whom. `by` None: those who may approve."""

    allowed: bool = True
    by: tuple[str, ...] | None = None
    require_reason: bool = True


@dataclass(frozen=True, slots=True)
class Deadline:
    """Minutes from the request's own time (at least 1), and what happens after them."""

    minutes: int
    action: Overdue = Overdue.REJECT


@dataclass(frozen=True, slots=True)
class Escalation:
    """Who is told once a request has waited so many minutes: names of `gate.notify.<name>`."""

    after_minutes: int
    notify: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """A checkpoint, with its own values and, where it has none, those of `defaults`.

    `when` empty: landings that touch anything. `deadline` None: it waits for ever.
    """

    id: str
    title: str
    transition: Transition | None = None
    guards: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    deliverables: tuple[str, ...] = ()
    validations: tuple[Validation, ...] = ()
    next_steps: tuple[str, ...] = ()
    approvals: Approvals = Approvals()
    rejections: Rejections = Rejections.VETO
    skip: Skip = Skip()
    deadline: Deadline | None = None
    escalation: tuple[Escalation, ...] = ()

    def guards_ref(self, ref: str) -> bool:
        """Whether the gate guards the ref of this full name."""
        return _refs(self.guards)(ref)


@dataclass(frozen=True, slots=True)
class Phases:
    """The file of one line that says which phase the project is in, and all phases in order."""

    file: str
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Display:
    """How a gate is shown. A person's own settings (git config) win over it."""

    verbosity: Verbosity = Verbosity.DETAILED
    colors: bool = True
    box_style: BoxStyle = BoxStyle.ROUND
    auto_clear: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """Which of the optional keys a gate's session offers."""

    show_edit: bool = True
    show_skip: bool = True
    show_diff: bool = True


@dataclass(frozen=True, slots=True)
class Logging:
    """The derived decision log: whether it is written, and where in the work tree."""

    log_all_decisions: bool = True
    log_path: str = ".aiwg/gates/decisions.log"


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for every gate that does not say otherwise; 0 minutes: no deadline."""

    timeout_minutes: int = 60
    require_comment: bool = False


def frozen(values: Mapping[str, _V] | None = None) -> Mapping[str, _V]:
    """A mapping that nobody can change, for the fields below."""
    return MappingProxyType(dict(values or {}))


@dataclass(frozen=True, slots=True)
class Policy:
    """All that `human_gates` says. `gates` are by id and in the order of the file.

    `openpgp` and `x509` map principals to key fingerprints: capital hex digits without blanks.
    """

    gates: Mapping[str, Gate] = field(default_factory=frozen, hash=False)
    policy_gate: str | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=frozen, hash=False)
    bots: tuple[str, ...] = ()
    openpgp: Mapping[str, tuple[str, ...]] = field(default_factory=frozen, hash=False)
    x509: Mapping[str, tuple[str, ...]] = field(default_factory=frozen, hash=False)
    journal: bool = False
    phases: Phases | None = None
    display: Display = Display()
    options: Options = Options()
    logging: Logging = Logging()
    defaults: Defaults = Defaults()
    version: int = VERSION

    def members(self, names: Iterable[str]) -> frozenset[str]:
        """The principals among `names`, with the members of each `@group` in its place."""
        people: set[str] = set()
        for name in names:
            people.update(self.groups[name[1:]] if name.startswith("@") else (name,))
        return frozenset(people)

    def guarding(self, ref: str) -> tuple[Gate, ...]:
        """The gates that guard the ref of this full name, in the order of the file."""
        return tuple(gate for gate in self.gates.values() if gate.guards_ref(ref))


@lru_cache(maxsize=256)
def _refs(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    return compile_refs(patterns)
