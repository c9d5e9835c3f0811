"""Decisions as W3C PROV-JSON: artifacts, the gate activity, the person, the agent that asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gitgate.core.decisionlog import Entry
from gitgate.core.person import format_time
from gitgate.core.quoting import path_text
from gitgate.core.request import Request

_PREFIX = {"gate": "urn:git-gate:", "git": "urn:git:"}

Document = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Round:
    """A request and the decisions on it, oldest first."""

    request: Request
    entries: tuple[Entry, ...]


def document(rounds: Iterable[Round]) -> Document:
    """The PROV-JSON document: each request is an activity that used its deliverables, and each
    decision an entity that it generated and that is attributed to a person."""
    doc: Document = {"prefix": dict(_PREFIX)}
    for one in rounds:
        _add_round(doc, one)
    return doc


def merge(one: Mapping[str, Any], other: Document) -> Document:
    """Both documents in one; ValueError where `one` is none of ours."""
    if not isinstance(one, Mapping) or not all(isinstance(part, dict) for part in one.values()):
        raise ValueError("the file is no PROV-JSON document")
    merged: Document = {}
    for kind in {**one, **other}:
        merged[kind] = {**one.get(kind, {}), **other.get(kind, {})}
    return merged


def _add_round(doc: Document, one: Round) -> None:
    request = one.request
    activity = f"gate:request/{request.id}"
    begun = format_time(request.opened.time)
    decided = [format_time(entry.at) for entry in one.entries]
    _put(
        doc,
        "activity",
        activity,
        {
            "prov:startTime": begun,
            **({"prov:endTime": max(begun, *decided)} if decided else {}),
            "prov:label": f"{request.gate} of {request.subject}",
            "gate:target": request.target,
            "gate:work": request.work,
        },
    )
    opener = _agent(doc, request.opened.person.email, "prov:Person", request.opened.person.name)
    _link(
        doc,
        "wasStartedBy",
        f"{request.id}",
        {
            "prov:activity": activity,
            "prov:time": begun,
        },
    )
    _link(
        doc,
        "wasAssociatedWith",
        f"{request.id}/opener",
        {
            "prov:activity": activity,
            "prov:agent": opener,
            "prov:role": "opener",
        },
    )
    if request.agent:
        program = _agent(doc, f"program/{request.agent}", "prov:SoftwareAgent", request.agent)
        _link(
            doc,
            "wasAssociatedWith",
            f"{request.id}/agent",
            {
                "prov:activity": activity,
                "prov:agent": program,
                "prov:role": "asking agent",
            },
        )
        _link(
            doc,
            "actedOnBehalfOf",
            f"{request.id}/agent",
            {
                "prov:delegate": program,
                "prov:responsible": opener,
                "prov:activity": activity,
            },
        )
    for item in request.deliverables:
        # Two files with the same content are two artifacts.
        artifact = f"git:blob/{item.oid}/{_local(item.path)}"
        _put(
            doc,
            "entity",
            artifact,
            {
                "prov:type": "gate:artifact",
                "prov:label": path_text(item.path),
            },
        )
        _link(
            doc,
            "used",
            f"{request.id}/{item.oid}/{_local(item.path)}",
            {
                "prov:activity": activity,
                "prov:entity": artifact,
            },
        )
    for entry in one.entries:
        _add_decision(doc, activity, entry)


def _add_decision(doc: Document, activity: str, entry: Entry) -> None:
    if entry.record is None or entry.decision is None:
        return
    record = f"gate:record/{entry.record}"
    _put(
        doc,
        "entity",
        record,
        {
            "prov:type": "gate:decision",
            "prov:label": entry.decision.title,
            "gate:action": entry.decision.action.value,
            "gate:signature": entry.signature,
            "gate:message": entry.decision.message,
        },
    )
    _link(
        doc,
        "wasGeneratedBy",
        entry.record,
        {
            "prov:entity": record,
            "prov:activity": activity,
            "prov:time": format_time(entry.at),
        },
    )
    if entry.user:
        person = _agent(doc, entry.user, "prov:Person", entry.decision.tagger.person.name)
        _link(
            doc,
            "wasAttributedTo",
            entry.record,
            {
                "prov:entity": record,
                "prov:agent": person,
            },
        )
        _link(
            doc,
            "wasAssociatedWith",
            entry.record,
            {
                "prov:activity": activity,
                "prov:agent": person,
                "prov:role": "reviewer",
            },
        )


def _agent(doc: Document, name: str, kind: str, label: str) -> str:
    identifier = f"gate:agent/{_local(name.encode())}"
    _put(
        doc,
        "agent",
        identifier,
        {
            "prov:type": {"$": kind, "type": "prov:QUALIFIED_NAME"},
            "prov:label": label,
        },
    )
    return identifier


def _local(name: bytes) -> str:
    """A name as the end of an identifier: what PROV does not allow there as %xx."""
    text = quote(name, safe="/@")
    return text[:-1] + "%2E" if text.endswith(".") else text


def _put(doc: Document, kind: str, name: str, attributes: Mapping[str, Any]) -> None:
    doc.setdefault(kind, {}).setdefault(name, dict(attributes))


def _link(doc: Document, kind: str, name: str, attributes: Mapping[str, Any]) -> None:
    doc.setdefault(kind, {})[f"_:{kind}/{name}"] = dict(attributes)
