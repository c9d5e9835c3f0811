"""Addresses through a `.mailmap`, as git reads it (gitmailmap): without regard to case."""

from __future__ import annotations

import pygit2

from gitgate.core.person import Person


class Mailmap:
    """The mailmap of one commit; `data` is the file's content, empty where there is none.

    A file that cannot be read maps nobody, so that its addresses stay unknown and block.
    """

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace").replace("\0", "").lower()
        try:
            self._map = pygit2.Mailmap.from_buffer(text)
        except pygit2.GitError:
            self._map = pygit2.Mailmap()

    def resolve(self, person: Person) -> Person:
        """The person under the proper address, if the mailmap knows one."""
        _, email = self._map.resolve(person.name.lower(), person.email.lower())
        return person if email == person.email.lower() else Person(person.name, email)
