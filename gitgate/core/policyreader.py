"""Reads `human_gates:` of an `aiwg.yml`, strictly (design, section 5).

What is not understood is an error, never passed over, since a policy that says less than its
author meant is a hole. All problems of a file are found in one reading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from gitgate.core import policychecks as checks
from gitgate.core.policy import (
    VERSION,
    Approvals,
    Deadline,
    Defaults,
    Display,
    Escalation,
    Gate,
    Logging,
    OnError,
    Options,
    Overdue,
    Phases,
    Policy,
    Rejections,
    Skip,
    Transition,
    Validation,
    frozen,
)
from gitgate.core.policyfields import TOP, Check, Doubt, Fields, texts
from gitgate.core.policyproblems import PolicyError, Problem, Problems, shown
from gitgate.core.policyyaml import Node, Scalar, Table, read_key

__all__ = ["KEYS", "MAX_SIZE", "PolicyError", "Problem", "parse_policy"]

MAX_SIZE = 256 * 1024  # bytes
_MAX_MINUTES = 10 * 366 * 24 * 60
_MAX_SECONDS = 7 * 24 * 60 * 60
_MAX_PEOPLE = 1000
_PHASE_FILE = ".aiwg/phase"

# By mapping: all keys that it may have.
KEYS = {
    TOP: (
        *("version", "gates", "policy_gate", "groups", "bots", "openpgp", "x509", "journal"),
        *("phases", "display", "options", "logging", "defaults"),
    ),
    "gate": (
        *("title", "transition", "guards", "when", "deliverables", "validations", "next_steps"),
        *("approvals", "rejections", "skip", "deadline", "escalation"),
    ),
    "transition": ("from", "to"),
    "validations": ("name", "run", "paths", "on_error", "timeout_seconds"),
    "approvals": (
        *("required", "by", "self_approval", "unknown_authors", "require_comment", "presence"),
        "agents",
    ),
    "skip": ("allowed", "by", "require_reason"),
    "deadline": ("minutes", "action"),
    "escalation": ("after", "notify"),
    "phases": ("file", "order"),
    "display": ("verbosity", "colors", "box_style", "auto_clear"),
    "options": ("show_edit", "show_skip", "show_diff"),
    "logging": ("log_all_decisions", "log_path"),
    "defaults": ("timeout_minutes", "require_comment"),
}


def parse_policy(data: bytes, file: str = "aiwg.yml") -> Policy | None:
    """The policy that a file holds; None where it has no `human_gates`.

    Raises PolicyError with all that is wrong; nothing else, whatever `data` is.
    """
    problems = Problems(file)
    text = _decoded(data, problems)
    problems.raise_any()
    node = read_key(text, TOP, problems)
    _refuse_newer(node, file)
    policy = None if node is None else _Reader(problems).policy(node)
    problems.raise_any()
    return policy


def _decoded(data: bytes, problems: Problems) -> str:
    if len(data) > MAX_SIZE:
        problems.add(1, f"at most {MAX_SIZE} bytes", f"{len(data)}")
    elif b"\0" in data:
        problems.add(_line_at(data, data.index(b"\0")), "a text file", "a NUL byte")
    else:
        try:
            return data.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            found = f"the byte 0x{data[error.start]:02x}"
            problems.add(_line_at(data, error.start), "UTF-8", found)
    return ""


def _line_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _refuse_newer(node: Node | None, file: str) -> None:
    """A policy of the future is not judged by the rules of today: that is its only problem."""
    for key, value in node.entries if isinstance(node, Table) else ():
        if key.text != "version" or not isinstance(value, Scalar) or not value.plain:
            continue
        number = value.text if re.fullmatch(r"[1-9][0-9]{0,8}", value.text) else "0"
        if int(number) > VERSION:
            newer = f"expected version {VERSION}, found version {number}; upgrade git-gate"
            raise PolicyError([Problem(file, value.line, newer)])


class _Reader:
    """Reads one policy. What gates refer to is read before them."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._groups: Mapping[str, tuple[str, ...]] = {}
        self._phases: Phases | None = None
        self._defaults = Defaults()

    def policy(self, node: Node) -> Policy:
        top = Fields(self._problems, TOP, node, KEYS[TOP])
        top.number("version", VERSION, VERSION, VERSION)
        self._groups = frozen(self._people(top.table("groups"), checks.group))
        self._phases = self._read_phases(top)
        self._defaults = _read_defaults(top.table("defaults", KEYS["defaults"]))
        gates = {gate.id: gate for gate in self._gates(top.table("gates"))}
        return Policy(
            gates=frozen(gates),
            policy_gate=top.text("policy_gate", "", self._one_of(gates, "a gate")) or None,
            groups=self._groups,
            bots=top.texts("bots", checks.principal),
            openpgp=frozen(self._fingerprints(top.table("openpgp"))),
            x509=frozen(self._fingerprints(top.table("x509"))),
            journal=top.flag("journal", False),
            phases=self._phases,
            display=_read_display(top.table("display", KEYS["display"])),
            options=_read_options(top.table("options", KEYS["options"])),
            logging=_read_logging(top.table("logging", KEYS["logging"])),
            defaults=self._defaults,
        )

    def _people(self, fields: Fields, name: Check) -> dict[str, tuple[str, ...]]:
        return {
            entry.key: texts(self._problems, entry.value, entry.name, checks.principal)
            for entry in fields.entries(name)
        }

    def _fingerprints(self, fields: Fields) -> dict[str, tuple[str, ...]]:
        owners: dict[str, str] = {}
        keys: dict[str, tuple[str, ...]] = {}
        for entry in fields.entries(checks.principal):
            found = texts(self._problems, entry.value, entry.name, checks.fingerprint)
            keys[entry.key] = tuple(map(checks.plain_fingerprint, found))
            for key in keys[entry.key]:
                if owners.setdefault(key, entry.key) != entry.key:
                    both = f"{key} of {owners[key]} again"
                    self._problems.add(
                        entry.value.line, f"a key of one person in {entry.name}", both
                    )
        return keys

    def _read_phases(self, top: Fields) -> Phases | None:
        if "phases" not in top:
            return None
        fields = top.table("phases", KEYS["phases"])
        fields.require("order")
        order = fields.texts("order", checks.line)
        twice = [phase for phase, times in Counter(order).items() if times > 1]
        if twice:
            found = f"{shown(twice[0])} twice"
            self._problems.add(fields.line_of("order"), "each phase once in phases.order", found)
        return Phases(fields.text("file", _PHASE_FILE, checks.relative_path), order)

    def _gates(self, fields: Fields) -> Iterator[Gate]:
        for entry in fields.entries(checks.gate_id):
            yield self._gate(
                entry.key, Fields(self._problems, entry.name, entry.value, KEYS["gate"])
            )

    def _gate(self, name: str, fields: Fields) -> Gate:
        return Gate(
            id=name,
            title=fields.text("title", name, checks.line),
            transition=self._transition(fields),
            guards=fields.texts("guards", checks.ref_pattern),
            when=fields.texts("when", checks.path_pattern),
            deliverables=fields.texts("deliverables", checks.path_pattern),
            validations=tuple(self._validations(fields)),
            next_steps=fields.texts("next_steps", checks.line),
            approvals=self._approvals(fields.table("approvals", KEYS["approvals"])),
            rejections=fields.choice("rejections", Rejections.VETO),
            skip=self._skip(fields.table("skip", KEYS["skip"])),
            deadline=self._deadline(fields.table("deadline", KEYS["deadline"])),
            escalation=tuple(self._escalation(fields)),
        )

    def _transition(self, fields: Fields) -> Transition | None:
        if "transition" not in fields:
            return None
        table = fields.table("transition", KEYS["transition"])
        table.require("from")
        table.require("to")
        if self._phases is None:
            line = fields.line_of("transition")
            self._problems.add(line, f"the key 'phases' in {TOP}, for {table.name}", "no such key")
        order = self._phases.order if self._phases else ()
        known = self._one_of(order, "a phase of phases.order") if order else checks.line
        transition = Transition(table.text("from", "", known), table.text("to", "", known))
        if transition.from_phase and transition.from_phase == transition.to_phase:
            found = f"{shown(transition.to_phase)} as both"
            self._problems.add(table.line_of("to"), f"two phases in {table.name}", found)
        return transition

    def _validations(self, fields: Fields) -> Iterator[Validation]:
        names: set[str] = set()
        for table in fields.tables("validations", KEYS["validations"]):
            table.require("name")
            table.require("run")
            name = table.text("name", "", checks.line)
            if name and name in names:
                found = f"{shown(name)} again"
                self._problems.add(
                    table.line_of("name"), f"a name of its own in {table.name}", found
                )
            names.add(name)
            run = table.texts("run", checks.argument)
            if run and (doubt := checks.program(run[0])):
                where = f"{doubt.expected} first in {table.called('run')}"
                self._problems.add(table.line_of("run"), where, shown(run[0]))
            yield Validation(
                name=name,
                run=run,
                paths=table.texts("paths", checks.path_pattern),
                on_error=table.choice("on_error", OnError.BLOCK),
                timeout_seconds=table.number("timeout_seconds", 0, 1, _MAX_SECONDS) or None,
            )

    def _approvals(self, fields: Fields) -> Approvals:
        usual = Approvals()
        required = fields.number("required", usual.required, 1, _MAX_PEOPLE)
        return Approvals(
            required=required,
            by=self._by(fields, required),
            self_approval=fields.flag("self_approval", usual.self_approval),
            unknown_authors=fields.choice("unknown_authors", usual.unknown_authors),
            require_comment=fields.flag("require_comment", self._defaults.require_comment),
            presence=fields.choice("presence", usual.presence),
            agents=fields.choice("agents", usual.agents),
        )

    def _skip(self, fields: Fields) -> Skip:
        usual = Skip()
        return Skip(
            allowed=fields.flag("allowed", usual.allowed),
            by=self._by(fields, 1),
            require_reason=fields.flag("require_reason", usual.require_reason),
        )

    def _by(self, fields: Fields, required: int) -> tuple[str, ...] | None:
        """The names under `by`, who must be `required` people at least; None where it is absent."""
        if "by" not in fields:
            return None
        before = len(self._problems.found)
        names = fields.texts("by", self._person_or_group)
        people = Policy(groups=self._groups).members(names)
        count = len({person.lower() for person in people})
        if count < required and len(self._problems.found) == before:
            expected = f"no more than {count}, the people in {fields.called('by')},"
            line = fields.line_of("required")
            self._problems.add(line, f"{expected} as {fields.called('required')}", str(required))
        return names

    def _person_or_group(self, text: str) -> Doubt | None:
        if not text.startswith("@"):
            return checks.principal(text)
        if text[1:] in self._groups:
            return None
        near = self._problems.near(text[1:], self._groups)
        return Doubt("a group of 'groups'", f"did you mean '@{near}'?" if near else "")

    def _deadline(self, fields: Fields) -> Deadline | None:
        usual = self._defaults.timeout_minutes
        minutes = fields.number("minutes", usual, 0, _MAX_MINUTES)
        action = fields.choice("action", Overdue.REJECT)
        return Deadline(minutes, action) if minutes else None

    def _escalation(self, fields: Fields) -> Iterator[Escalation]:
        latest = 0
        for table in fields.tables("escalation", KEYS["escalation"]):
            table.require("after")
            table.require("notify")
            text = table.text("after", "", checks.duration)
            after = checks.minutes(text)
            if text and after < latest:
                expected = f"no less than in the entry before as {table.called('after')}"
                self._problems.add(table.line_of("after"), expected, shown(text))
            latest = max(latest, after)
            yield Escalation(after, table.texts("notify", checks.notified))

    def _one_of(self, names: Iterable[str], what: str) -> Check:
        known = dict.fromkeys(names)

        def check(text: str) -> Doubt | None:
            if text in known:
                return None
            return Doubt(what, self._problems.meant(text, known))

        return check


def _read_defaults(fields: Fields) -> Defaults:
    usual = Defaults()
    return Defaults(
        timeout_minutes=fields.number("timeout_minutes", usual.timeout_minutes, 0, _MAX_MINUTES),
        require_comment=fields.flag("require_comment", usual.require_comment),
    )


def _read_display(fields: Fields) -> Display:
    usual = Display()
    return Display(
        verbosity=fields.choice("verbosity", usual.verbosity),
        colors=fields.flag("colors", usual.colors),
        box_style=fields.choice("box_style", usual.box_style),
        auto_clear=fields.flag("auto_clear", usual.auto_clear),
    )


def _read_options(fields: Fields) -> Options:
    usual = Options()
    return Options(
        show_edit=fields.flag("show_edit", usual.show_edit),
        show_skip=fields.flag("show_skip", usual.show_skip),
        show_diff=fields.flag("show_diff", usual.show_diff),
    )


def _read_logging(fields: Fields) -> Logging:
    usual = Logging()
    return Logging(
        log_all_decisions=fields.flag("log_all_decisions", usual.log_all_decisions),
        log_path=fields.text("log_path", usual.log_path, checks.relative_path),
    )
