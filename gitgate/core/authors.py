"""Whose work is under review: author, committer, co-author and opener as people.

`self_approval: false` compares people, not addresses (design, section 5): an address is a person
through the `.mailmap` and the signers file of the policy commit, a good signature on a commit
says more than an address, and identities in `bots` are nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gitgate.core.people import People
from gitgate.core.person import Person

_CO_AUTHOR = re.compile(
    r"^co-authored-by:[ \t]*(.*?)[ \t]*<([^<>\n]*)>", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Author:
    """One hand in the work: `identity` after the mailmap, `signer` where a good signature tells.

    `role` completes the sentence "Ada …": "wrote 1a2b3c4", "committed 1a2b3c4", "opened the gate".
    """

    identity: Person
    role: str
    signer: str | None = None


@dataclass(frozen=True, slots=True)
class Authors:
    """People with what they did, bots, and identities that nobody knows."""

    people: dict[str, str]
    bots: tuple[str, ...]
    unknown: tuple[tuple[str, str], ...]


def who_made_it(authors: Iterable[Author], everybody: People) -> Authors:
    """Resolve each author to a person of the signers file, a bot, or an unknown identity."""
    nobody = {address.lower() for address in everybody.policy.bots}
    people: dict[str, str] = {}
    seen_bots: dict[str, None] = {}
    unknown: dict[str, str] = {}
    for author in authors:
        address = author.identity.email
        person = author.signer or everybody.person_of(address)
        if person is not None:
            people.setdefault(person, author.role)
        elif address.lower() in nobody:
            seen_bots.setdefault(address)
        else:
            unknown.setdefault(str(author.identity), author.role)
    return Authors(people, tuple(seen_bots), tuple(unknown.items()))


def co_authors(message: str) -> tuple[Person, ...]:
    """The people that a commit message names with `Co-authored-by:`, anywhere in it."""
    return tuple(Person(name, email) for name, email in _CO_AUTHOR.findall(message))
