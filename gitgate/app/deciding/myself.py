"""Whose commands these are: the person of the signing key, else of the committer's address.

Only for what a person is shown; nothing is decided by it.
"""

from __future__ import annotations

import base64

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.errors import GateError
from gitgate.signing.sign import public_key


def myself(world: World, policy: PolicyCommit) -> frozenset[str]:
    """The listed people that whoever runs this command may be; usually one, none for a stranger."""
    config, where = world.repo.config, world.repo.work_tree
    try:
        line = public_key(config, where=where)
        entries = policy.signers.listing(base64.b64decode(line.split()[1]))
    except (GateError, ValueError, IndexError):
        entries = ()
    people = {policy.signers.person(entry) for entry in entries}
    if not people:
        try:
            address = world.repo.identity().person.email
        except GateError:
            return frozenset()
        people = {policy.people.person_of(address)}
    return frozenset(person for person in people if person is not None)
