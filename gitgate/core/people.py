"""Everybody whom a policy commit knows: the signers file's people and those with other keys.

A person is a principal of `.aiwg/allowed_signers`; one who signs with OpenPGP or x509 alone has no
line there and is a person by the policy's list of fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitgate.core.policy import Policy
from gitgate.core.trust import Signers


@dataclass(frozen=True, slots=True)
class People:
    """The people of one policy commit."""

    policy: Policy
    signers: Signers

    @property
    def everyone(self) -> frozenset[str]:
        """Each person by one name."""
        others = {self.person_of(name) or name for name in self._by_other_keys()}
        return self.signers.people | others

    def person_of(self, address: str) -> str | None:
        """The person with this address, in any case; None for nobody and for several people."""
        found = self.signers.person_of(address)
        if found is not None:
            return found
        lower = address.lower()
        return next((name for name in self._by_other_keys() if name.lower() == lower), None)

    def named(self, names: tuple[str, ...]) -> frozenset[str]:
        """The people among `names` and the members of the `@group`s there."""
        found = {self.person_of(name) or name for name in self.policy.members(names)}
        return frozenset(found) & self.everyone

    def _by_other_keys(self) -> Iterator[str]:
        yield from self.policy.openpgp
        yield from self.policy.x509
