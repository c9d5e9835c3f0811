"""What `policy explain` and `policy test` know, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitgate.ui.sanitise import safe
from gitgate.ui.sections import counted

Document = Mapping[str, Any]

_SHOWN = 20


def explanation(doc: Document) -> list[str]:
    """What guards a ref: the whole first, then gate by gate, then what a landing needs."""
    ref = safe(doc["ref"])
    source = f"by the policy of commit {doc['policy'][:12]}"
    if doc["read_from"]:
        source += f" ({safe(doc['read_from'])})"
    if doc["own"]:
        return [f"{ref} is where decisions are kept: no gate can guard it"]
    if not doc["guarded"]:
        return [f"{ref} is not guarded {source}: it may move as it likes"]
    lines = [f"{ref} is guarded {source}."]
    if ref.startswith("refs/tags/"):
        lines.append("It is a tag: once it is there it may be neither moved nor deleted.")
    else:
        lines.append("It may not be deleted, and moves only along its own first-parent chain.")
    if not doc["exists"]:
        lines.append(
            "It is not here yet. It may be created where a guarded branch was allowed to stand;"
            " anything else is a landing from there."
        )
    if doc["phases"]:
        lines.append(_phases(doc["phases"], doc["exists"]))
    if doc["policy_files"]:
        lines.append(_policy_files(doc))
    for gate in doc["gates"]:
        lines += ["", *(f"  {line}" if number else line for number, line in enumerate(_gate(gate)))]
    return lines


def _phases(phases: Document, exists: bool) -> str:
    file, order = safe(phases["file"]), " → ".join(safe(one) for one in phases["order"])
    now = safe(phases["current"]) if phases["current"] else "not readable"
    said = f"Its phase is {now}, by {file}" if exists else f"Its phase is what {file} says"
    return f"{said} ({order}); moving it in another way than a gate below names is refused."


def _policy_files(doc: Document) -> str:
    files = ", ".join(safe(one) for one in doc["policy_files"])
    gates = [safe(gate["gate"]) for gate in doc["gates"] if gate["guards_policy"]]
    asked = f"needs {_gates(gates)}" if gates else "needs no gate, since none guards it"
    return f"It holds the policy: a landing that changes {files} {asked}; the old policy judges it."


def _gates(names: Sequence[str]) -> str:
    return f"gate {names[0]}" if len(names) == 1 else f"the gates {', '.join(names)}"


def _gate(gate: Document) -> Iterator[str]:
    title = f": {safe(gate['title'])}" if gate["title"] != gate["gate"] else ""
    yield f"gate {safe(gate['gate'])}{title}"
    yield from _asked(gate)
    yield from _approvals(gate["approvals"])
    if gate["rejections"] == "veto":
        yield ("A rejection by one of them blocks until they take it back or the content changes.")
    else:
        yield "A rejection is shown and blocks nothing."
    yield _skip(gate["skip"], gate["approvals"]["self_approval"])
    yield _deadline(gate["deadline"])
    yield from _before(gate)
    skipped = " or a skip (git gate skip)" if gate["skip"]["allowed"] else ""
    yield (
        f"So a landing needs: git gate open {safe(gate['gate'])},"
        f" {counted(gate['approvals']['required'], 'approval')} (git gate approve){skipped}, and to"
        " be the merge of just what was decided on (git gate check)."
    )


def _asked(gate: Document) -> Iterator[str]:
    paths = _patterns(gate["when"])
    if not gate["guards_ref"]:
        yield "It is asked of landings that change the policy's own files, and compares only those."
    elif gate["transition"]:
        move = f"{safe(gate['transition']['from'])} to {safe(gate['transition']['to'])}"
        yield f"It is asked of a landing that moves the phase from {move}."
        if paths:
            kept = _patterns(["the phase file", *gate["deliverables"]])
            yield f"Compared with what was approved: {paths}, {kept}."
    elif paths:
        yield f"It is asked of landings that change {paths}, and only those paths are compared."
    else:
        yield "It is asked of every landing that changes anything, and the whole tree is compared."


def _patterns(patterns: Sequence[str]) -> str:
    return ", ".join(safe(one) for one in patterns)


def _approvals(rules: Document) -> Iterator[str]:
    yield f"It takes {counted(rules['required'], 'approval')}, by {_people(rules['by'])}."
    for name in rules["unlisted"]:
        yield f"{safe(name)} is named, and has no key in .aiwg/allowed_signers."
    if not rules["possible"]:
        yield "As it stands nobody can satisfy it: too few of them are listed."
    if rules["self_approval"]:
        yield "Who worked on the change, or asked, may approve it."
    else:
        blocks = rules["unknown_authors"] == "block"
        bots = f", and who is no bot ({_people(rules['bots'])})," if rules["bots"] else ""
        yield "Who worked on the change, or asked, may not approve it."
        yield (
            f"An author whom .aiwg/allowed_signers does not list{bots}"
            f" {'keeps everybody from approving' if blocks else 'is shown'}."
        )
    if rules["require_comment"]:
        yield "An approval needs a comment."
    if rules["presence"] == "touch":
        yield "Only a signature by a hardware key that was touched counts."
    if rules["agents"] == "allow":
        yield "It may be decided inside a coding agent's environment."


def _skip(skip: Document, self_approval: bool) -> str:
    if not skip["allowed"]:
        return "It may not be skipped."
    reason = ", with a reason," if skip["require_reason"] else ""
    others = "" if self_approval or skip["named"] else ", but not by who worked on the change"
    return f"It may be skipped{reason} by {_people(skip['by'])}{others}."


def _deadline(deadline: Document | None) -> str:
    if deadline is None:
        return "A request waits without end."
    after = f"After {_spoken(deadline['minutes'])} an undecided request"
    return {
        "reject": f"{after} is rejected: the way on is a new iteration.",
        "park": f"{after} is parked, and can still be answered.",
        "none": f"{after} stays open.",
    }[deadline["action"]]


def _before(gate: Document) -> Iterator[str]:
    if gate["validations"]:
        run = [
            safe(one["name"]) + (" (its errors block)" if one["on_error"] == "block" else "")
            for one in gate["validations"]
        ]
        yield f"It is opened after {counted(len(run), 'validation')}: {', '.join(run)}."
    for tier in gate["escalation"]:
        who = _patterns(tier["notify"])
        if tier["after_minutes"]:
            after = _spoken(tier["after_minutes"])
            yield f"After {after}: {who} (this version tells nobody later)."
        else:
            yield f"Told when it is opened: {who} (git config gate.notify.<name>)."
    if gate["next_steps"]:
        yield f"Once approved: {'; '.join(safe(one) for one in gate['next_steps'])}."


def _spoken(minutes: int) -> str:
    days, rest = divmod(minutes, 24 * 60)
    hours, left = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (left, "min"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def _people(names: Sequence[str]) -> str:
    shown = [safe(name) for name in names[:_SHOWN]]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return ", ".join([*shown, *more]) or "nobody"


def rehearsal(doc: Document) -> list[str]:
    """The landings that a policy would have asked something of, newest last."""
    source = "work tree" if doc["policy"] == "work tree" else f"commit {doc['policy'][:12]}"
    where = f"{safe(doc['read_from'])} since {doc['since']}"
    if not doc["landings"]:
        return [f"nothing landed on {where}: nothing was replayed"]
    lines = [f"the policy of the {source}, over {counted(doc['landings'], 'landing')} on {where}"]
    if not doc["gates"]:
        return [*lines, f"no gate of it guards {safe(doc['ref'])}"]
    for gate, number in doc["gates"].items():
        lines.append(f"  {counted(number, 'landing')} would have needed gate {safe(gate)}")
    lines.append(
        f"  {counted(doc['blocked'], 'landing')} would have been refused, whatever the gates say"
    )
    if doc["left_out"]:
        lines.append(f"  the oldest {doc['left_out']} of them are not listed")
    for step in doc["steps"]:
        lines.append("")
        lines.append(f"{step['at']}  {step['new'][:12]}  {safe(step['title'])}")
        lines += [f"  gate {safe(g['gate'])}: {counted(g['paths'], 'path')}" for g in step["gates"]]
        lines += [f"  blocked: {safe(reason)}" for reason in step["blocked"]]
    return lines
