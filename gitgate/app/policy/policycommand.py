"""A command of policy, made ready to run: never with a file of the change that it looks at."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitgate import process
from gitgate.app.telling.exports import Exports
from gitgate.errors import Exit, GateError

_MOST_ARGUMENTS = 1 << 20  # bytes of one argument list, where the system takes more
_SPARED = 8 << 10  # bytes that the system and a script's interpreter need
_A_WORD_MORE = 9  # its NUL and the pointer to it
_SHEBANG = 256


@dataclass(frozen=True)
class PolicyCommand:
    """The words of the command and the environment that it runs in."""

    words: tuple[bytes, ...]
    environment: Mapping[str, str]

    def batches(self, paths: Sequence[bytes]) -> Iterator[list[bytes]]:
        """The paths as arguments, in as few lists as the system takes."""
        room = self._room()
        batch: list[bytes] = []
        used = 0
        for path in paths:
            # A path is never an option.
            word = b"./" + path if path.startswith(b"-") else path
            size = len(word) + _A_WORD_MORE
            if batch and used + size > room:
                yield batch
                batch, used = [], 0
            batch.append(word)
            used += size
        yield batch

    def _room(self) -> int:
        limit = os.sysconf("SC_ARG_MAX")
        words = sum(len(word) + _A_WORD_MORE for word in self.words)
        variables = sum(
            len(os.fsencode(name)) + len(os.fsencode(value)) + 1 + _A_WORD_MORE
            for name, value in self.environment.items()
        )
        return min(limit if limit > 0 else _MOST_ARGUMENTS, _MOST_ARGUMENTS) - sum(
            (words, variables, _SPARED)
        )


def command_of(run: Sequence[str], exports: Exports, work: Path) -> PolicyCommand:
    """The command `run` of the policy for the current folder `work`.

    A program that is a path in the repository, and every other word that is the path of a file of
    the policy commit, is that file as exported. Raises GateError (blocked) where such a program
    is missing, is not executable or leads out of the tree, and for a word that names a file which
    only the work has.
    """
    words = [_program(run[0], exports), *(_argument(word, exports, work) for word in run[1:])]
    variables = {**exports.variables(), "PWD": str(work)}
    if _names_code(run[1:]):
        # Python then looks for modules everywhere but in the current folder.
        variables["PYTHONSAFEPATH"] = "1"
    return PolicyCommand(
        tuple(os.fsencode(word) for word in words), process.bare_environment(variables)
    )


def _program(word: str, exports: Exports) -> str:
    if "/" not in word or word.startswith("/"):
        return word
    place = _file_in(exports.policy.folder, word)
    if place is None:
        raise _refusal(f"{word} {_absence(word, exports)}")
    if not os.access(place, os.X_OK):
        raise _refusal(f"{word} is not executable in the policy commit")
    with place.open("rb") as file:
        first = file.read(_SHEBANG)
    if first.startswith(b"#!") and not first[2:].lstrip(b" \t").startswith(b"/"):
        raise _refusal(f"{word} names its interpreter without an absolute path")
    return str(place)


def _argument(word: str, exports: Exports, work: Path) -> str:
    lead, name = "", word
    if word.startswith("--"):
        option, equals, name = word.partition("=")
        lead = option + equals
    if not name or name.startswith("/"):
        return word
    if exports.may_have(name):
        place = _file_in(exports.policy.folder, name)
        if place is not None:
            return lead + str(place)
    if _file_in(work, name) is not None:
        raise _refusal(f"{name} is a file of the work, and not one of the policy commit")
    return word


def _names_code(arguments: Sequence[str]) -> bool:
    """Whether an interpreter is given code or a module, and no script."""
    options = itertools.takewhile(lambda word: word.startswith("-"), arguments)
    return any(option in ("-c", "-m") for option in options)


def _file_in(folder: Path, name: str) -> Path | None:
    place = folder / os.path.normpath(name)
    return place if os.path.isfile(place) else None  # noqa: PTH113 - no name is too long for it


def _absence(word: str, exports: Exports) -> str:
    parts = os.fsencode(os.path.normpath(word)).split(b"/")
    for end in range(1, len(parts) + 1):
        why = exports.policy.left_out.get(b"/".join(parts[:end]))
        if why:
            return f"cannot be used: {why}"
    return "is no file of the policy commit"


def _refusal(text: str) -> GateError:
    return GateError(Exit.BLOCKED, text)
