"""What a person is asked: a request's message and its request.yml (design, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitgate.core import ids, yamltext
from gitgate.core.person import Stamp, format_stamp
from gitgate.core.quoting import check_path, path_bytes, path_text
from gitgate.core.trailers import format_trailers, parse_trailers
from gitgate.core.yamltext import as_list, as_mapping, as_text
from gitgate.errors import GateError

MAX_REQUEST = 16 << 20
"""Bytes of a request.yml."""

MAX_LINE = 10**9


class Kind(StrEnum):
    """The four kinds of request; the names on disk never change."""

    APPROVAL = "approval"
    STEP = "step"
    QUESTION = "question"
    ACKNOWLEDGEMENT = "acknowledgement"


class Level(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a validation's report; `line` counts from 1, None is the whole file."""

    line: int | None
    level: Level
    text: str
    reported_by: str


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A file of the work commit that the gate asks for: its blob, its heading, its findings."""

    path: bytes
    oid: str
    description: str
    findings: tuple[Finding, ...] = ()

    @property
    def status(self) -> str:
        """`validated`, `warning` or `error`, by the gravest finding."""
        levels = {finding.level for finding in self.findings}
        if Level.ERROR in levels:
            return "error"
        return "warning" if levels else "validated"


@dataclass(frozen=True, slots=True)
class Request:
    """A request commit. `id` is "" before it is written; `opened` is the commit's author.

    `target` is "" where a step or a question concerns no guarded ref. `general` are findings that
    belong to no deliverable. `extra` has the one key `diagnosis` for a step, `question` for a
    question, and is empty otherwise.
    """

    id: str
    kind: Kind
    gate: str
    subject: str
    target: str
    base: str
    work: str
    tip: str | None
    policy: str | None
    agent: str | None
    nonce: str
    opened: Stamp
    title: str = ""
    summary: str = ""
    deliverables: tuple[Deliverable, ...] = ()
    next_steps: tuple[str, ...] = ()
    general: tuple[Finding, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


_ASKS = {
    Kind.APPROVAL: "Approve",
    Kind.STEP: "Resolve",
    Kind.QUESTION: "Answer",
    Kind.ACKNOWLEDGEMENT: "Acknowledge",
}
_EXTRA = {Kind.STEP: "diagnosis", Kind.QUESTION: "question"}
_NEEDS_TARGET = (Kind.APPROVAL, Kind.ACKNOWLEDGEMENT)
_TRAILERS = (
    "Kind",
    "Gate",
    "Subject",
    "Target",
    "Base",
    "Work",
    "Tip",
    "Policy",
    "Agent",
    "Nonce",
)
_OPTIONAL = frozenset(["Target", "Tip", "Policy", "Agent"])


def message(request: Request) -> str:
    """The commit message: a question as first line, and the trailers in their fixed order.

    ValueError for a request that has no such form.
    """
    _check_names(request)
    values: dict[str, str | None] = {
        "Kind": request.kind.value,
        "Gate": request.gate,
        "Subject": request.subject,
        "Target": request.target or None,
        "Base": request.base,
        "Work": request.work,
        "Tip": request.tip,
        "Policy": request.policy,
        "Agent": request.agent,
        "Nonce": request.nonce,
    }
    first = f"{_ASKS[request.kind]} {request.gate} of {request.subject}?"
    trailers = [(name, value) for name, value in values.items() if value is not None]
    return f"{first}\n\n{format_trailers(trailers)}"


def _check_names(request: Request) -> None:
    try:
        ids.check_gate(request.gate)
        ids.check_subject(request.subject)
    except GateError as error:
        raise ValueError(error.message) from None
    if request.target and not ids.is_ref(request.target):
        raise ValueError(f"the target {request.target[:80]!r} is no full ref name")
    if not request.target and request.kind in _NEEDS_TARGET:
        raise ValueError(f"a request of kind {request.kind} names no target")
    for name, value in (
        ("base", request.base),
        ("work", request.work),
        ("tip", request.tip),
        ("policy", request.policy),
    ):
        if value is not None and not ids.is_oid(value):
            raise ValueError(f"the {name} {value[:80]!r} is no object id")
    if not ids.is_nonce(request.nonce):
        raise ValueError("the nonce is not 32 digits of lower-case hex")


def body(request: Request) -> bytes:
    """The bytes of request.yml. ValueError for a request that has no such form."""
    _check_extra(request.kind, request.extra)
    data = yamltext.dump(
        {
            "title": request.title,
            "summary": request.summary,
            "deliverables": [_format_deliverable(one) for one in request.deliverables],
            "findings": format_findings(request.general),
            "next_steps": list(request.next_steps),
            **request.extra,
        }
    )
    if len(data) > MAX_REQUEST:
        raise ValueError(f"the request is larger than {MAX_REQUEST >> 20} MiB")
    return data


def _check_extra(kind: Kind, extra: Mapping[str, Any]) -> None:
    wanted = {_EXTRA[kind]} if kind in _EXTRA else set()
    if set(extra) != wanted or not all(isinstance(value, Mapping) for value in extra.values()):
        raise ValueError(f"a request of kind {kind} has {sorted(extra)}, not {sorted(wanted)}")


def _format_deliverable(one: Deliverable) -> dict[str, Any]:
    if not ids.is_oid(one.oid):
        raise ValueError(f"a deliverable's id {one.oid[:80]!r} is no object id")
    return {
        "path": path_text(check_path(one.path)),
        "oid": one.oid,
        "description": one.description,
        "findings": format_findings(one.findings),
    }


def format_findings(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as they stand in YAML. ValueError for a line that is none."""
    return [_format_finding(one) for one in findings]


def _format_finding(one: Finding) -> dict[str, Any]:
    if one.line is not None and not 1 <= one.line < MAX_LINE:
        raise ValueError(f"a finding's line {one.line} is out of range")
    return {
        "line": one.line,
        "level": Level(one.level).value,
        "text": one.text,
        "reported_by": one.reported_by,
    }


def parse(id: str, author: Stamp, message: str, body: bytes) -> Request:  # noqa: A002
    """Read a request back from its commit. ValueError, a sentence, for what is none."""
    trailers = _read_message(message)
    request = Request(
        id=id,
        kind=Kind(trailers["Kind"]),
        gate=trailers["Gate"],
        subject=trailers["Subject"],
        target=trailers.get("Target", ""),
        base=trailers["Base"],
        work=trailers["Work"],
        tip=trailers.get("Tip"),
        policy=trailers.get("Policy"),
        agent=trailers.get("Agent"),
        nonce=trailers["Nonce"],
        opened=author,
        **_read_body(body),
    )
    format_stamp(author)
    _check_same(request, message, body)
    return request


def _check_same(request: Request, text: str, data: bytes) -> None:
    if message(request) != text or body(request) != data:
        raise ValueError("the request is not in its canonical form")


def _read_message(text: str) -> dict[str, str]:
    pairs = parse_trailers(text)
    trailers = dict(pairs)
    if len(trailers) != len(pairs):
        raise ValueError("the request has one trailer twice")
    for name in trailers:
        if name not in _TRAILERS:
            raise ValueError(f"the request has an unknown trailer {name!r}")
    for name in _TRAILERS:
        if name not in trailers and name not in _OPTIONAL:
            raise ValueError(f"the request has no trailer {name}")
    return trailers


def _read_body(data: bytes) -> dict[str, Any]:
    values = yamltext.load_unchecked(data, MAX_REQUEST)
    return {
        "title": as_text(values.pop("title", None)),
        "summary": as_text(values.pop("summary", None)),
        "deliverables": tuple(map(_read_deliverable, as_list(values.pop("deliverables", None)))),
        "general": read_findings(values.pop("findings", None)),
        "next_steps": tuple(map(as_text, as_list(values.pop("next_steps", None)))),
        "extra": values,
    }


def _read_deliverable(value: Any) -> Deliverable:
    one = as_mapping(value, ("path", "oid", "description", "findings"))
    return Deliverable(
        path_bytes(as_text(one["path"])),
        as_text(one["oid"]),
        as_text(one["description"]),
        read_findings(one["findings"]),
    )


def read_findings(value: Any) -> tuple[Finding, ...]:
    """The inverse of `format_findings`; ValueError for anything else."""
    return tuple(_read_finding(one) for one in as_list(value))


def _read_finding(value: Any) -> Finding:
    one = as_mapping(value, ("line", "level", "text", "reported_by"))
    line = one["line"]
    if line is not None and (type(line) is not int or not 1 <= line < MAX_LINE):
        raise ValueError(f"a finding's line {line!r:.80} is out of range")
    level = Level(as_text(one["level"]))
    return Finding(line, level, as_text(one["text"]), as_text(one["reported_by"]))


def body_path(gate: str) -> bytes:
    """Where request.yml stands in the tree of a request."""
    return f".aiwg/gates/{gate}/request.yml".encode()
