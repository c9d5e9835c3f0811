"""Agents and people are told what a command wrote, by what git config names (`gate.notify.*`).

Nothing that goes wrong here changes what the command did: it comes out as sentences.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitgate import process
from gitgate.app.showing.query import following, status_of
from gitgate.core.decisionlog import DEADLINE
from gitgate.core.events import EventName
from gitgate.core.gate import Status
from gitgate.core.notice import Notice, document, headline, text
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.recording import Reminder, Written
    from gitgate.app.gather.world import World

Clean = Callable[[str], str]

_SECTION = "gate.notify."
_SECONDS = 10.0
_MOST_SECONDS = 3600.0
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

_NO_APPRISE = "it needs the package apprise: pip install 'git-gate-cli[notify]'"

# What an event says of a request that it ended, whatever the instance is by now.
_ENDS = {
    EventName.LANDED: Status.LANDED,
    EventName.WITHDRAWN: Status.WITHDRAWN,
    EventName.EXPIRED: Status.EXPIRED,
}


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody who is told: the key of git config, its value (a command or an address of apprise),
    and the name by which the policy's `escalation` asks for it."""

    key: str
    value: str
    to: str | None = None

    @property
    def scheme(self) -> str | None:
        """The scheme of an address, None for a command. The rest may be secret."""
        found = _URL.match(self.value)
        return found[1].lower() if found else None


def tell(world: World, written: Written, clean: Clean) -> list[str]:
    """Tell everybody of one event; a sentence for each of them whom that did not reach.

    `clean` makes text from a repository fit to be shown to people.
    """
    targets, failed = _targets(world, written)
    return failed + (_deliver(world, written, targets, clean) if targets else [])


def remind(world: World, reminder: Reminder, clean: Clean) -> list[str]:
    """As `tell`, those alone whom a later tier of the policy's `escalation` names."""
    targets = [one for name in reminder.names for one in _named(world, name)]
    return _deliver(world, reminder.opening, targets, clean)


def _deliver(world: World, written: Written, targets: list[Target], clean: Clean) -> list[str]:
    notice = notice_of(world, written)
    seconds, failed = _time_limit(world)
    for target in (one for one in targets if one.scheme is None):
        why = _by_command(world, target, document(notice, target.to), seconds)
        failed += [f"{target.key} was not told: {why}"] if why else []
    addresses = [one for one in targets if one.scheme is not None]
    if addresses:
        failed += _by_apprise(addresses, headline(notice, clean), text(notice, clean), seconds)
    return failed


def notice_of(world: World, written: Written) -> Notice:
    """What there is to say of an event; GateError where its instance cannot be read."""
    policy, event = written.policy, written.event
    loaded = world.load(policy, written.gate, written.subject)
    request = loaded.ledger.requests[event.request or ""]
    found = loaded.instance.find(request.id)
    status = _ENDS.get(event.name) or status_of(world, policy, loaded)
    raw = loaded.raws.get(event.record or "")
    decision = raw.decision if raw else None
    principal = next((one.person for one in loaded.records if one.id == event.record), None)
    counts = world.verdict(policy, loaded, request).count_of(raw.id).counts if raw else None
    expired = event.name is EventName.EXPIRED
    said = {
        EventName.OPENED: request.summary,
        EventName.ITERATED: request.summary,
        EventName.WITHDRAWN: str(event.fields.get("reason", "")),
    }.get(event.name, "")
    follows = following(loaded, status)
    return Notice(
        event=event.name,
        gate=written.gate,
        title=request.title,
        kind=request.kind.value,
        subject=written.subject,
        target=request.target,
        iteration=found[1].number if found else 0,
        status=status.value,
        request=request.id,
        work=request.work,
        agent=request.agent,
        by=DEADLINE if expired else (principal or "") if decision else event.by.email,
        name="" if expired else event.by.name,
        action=decision.action.value if decision else "reject" if expired else None,
        message=decision.message if decision else said,
        at=int(event.fields["deadline"]) if expired else event.at,
        record=event.record,
        counts=counts,
        comments=decision.comments if decision else (),
        commit=str(event.fields["new"]) if event.name is EventName.LANDED else None,
        next=None if follows is None else tuple(follows),
        repository=(world.repo.work_tree or world.repo.git_dir).name,
    )


def _targets(world: World, written: Written) -> tuple[list[Target], list[str]]:
    """Who is to be told, and the names of the policy for which nobody is configured."""
    repo = world.repo
    found: list[Target] = []
    command = repo.config.get(f"{_SECTION}command")
    if command:
        found.append(Target("gate.notify.command", command))
    found += [Target("gate.notify.apprise", one) for one in repo.config_all(f"{_SECTION}apprise")]
    missing: list[str] = []
    for name in _first_tier(written):
        named = _named(world, name)
        found += named
        if not named:
            missing.append(
                f"nobody is told as `{name}`, whom the policy names: git config gate.notify.{name}"
                " COMMAND, or an address of apprise"
            )
    return list(dict.fromkeys(one for one in found if one.value.strip())), missing


def _named(world: World, name: str) -> list[Target]:
    """Whom this clone's git config has for a name of the policy."""
    values = world.repo.config_all(_SECTION + name.lower())
    return [Target(f"gate.notify.{name}", value, name) for value in values if value.strip()]


def _first_tier(written: Written) -> Iterator[str]:
    """The names that the policy has told as soon as a request is there."""
    if written.event.name not in (EventName.OPENED, EventName.ITERATED):
        return
    tiers = written.policy.policy.gates[written.gate].escalation
    names = (name for tier in tiers if not tier.after_minutes for name in tier.notify)
    yield from dict.fromkeys(names)


def _time_limit(world: World) -> tuple[float, list[str]]:
    given = world.repo.config.get(f"{_SECTION}timeout")
    if given is None:
        return _SECONDS, []
    with suppress(ValueError):
        if 0 < float(given) <= _MOST_SECONDS:
            return float(given), []
    wrong = f"gate.notify.timeout is {given[:40]!r}, no number of seconds up to {_MOST_SECONDS:g}"
    return _SECONDS, [f"{wrong}: {_SECONDS:g} is used"]


def _by_command(world: World, target: Target, said: dict[str, Any], seconds: float) -> str:
    """Why a command did not take the document; empty where it did."""
    where = world.repo.work_tree or world.repo.git_dir
    data = json.dumps(said).encode() + b"\n"
    try:
        status = process.deliver(["sh", "-c", target.value], data, cwd=where, timeout=seconds)
    except GateError as error:
        return error.message
    if status is None:
        return f"its command ran longer than {seconds:g} seconds and was killed"
    return f"its command ended with {status}" if status else ""


def _by_apprise(targets: list[Target], title: str, body: str, seconds: float) -> list[str]:
    """Send to all addresses at once; a sentence for each that it did not reach."""
    try:
        import apprise
    except ImportError:
        keys = dict.fromkeys(one.key for one in targets)
        return [f"{key} was not told: {_NO_APPRISE}" for key in keys]
    # What a plug-in logs can have the secret parts of an address in it.
    logging.getLogger("apprise").addHandler(logging.NullHandler())
    answers: dict[Target, str] = {}
    threads: list[threading.Thread] = []

    def send(target: Target, service: apprise.Apprise) -> None:
        try:
            took = service.notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT)
            answers[target] = "" if took else "it was not taken"
        except Exception as error:  # whatever a plug-in raises, and never its words
            answers[target] = f"apprise failed with {type(error).__name__}"

    asset = apprise.AppriseAsset(app_id="git-gate", app_desc="git-gate", async_mode=False)
    for target in targets:
        service = apprise.Apprise(asset=asset)
        if service.add(target.value):
            threads.append(threading.Thread(target=send, args=(target, service), daemon=True))
            threads[-1].start()
        else:
            answers[target] = "apprise knows no such address"
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = f"there was no answer within {seconds:g} seconds"
    reached = {one: answers.get(one, late) for one in targets}
    return [f"{one.key} ({one.scheme}:) was not told: {why}" for one, why in reached.items() if why]
