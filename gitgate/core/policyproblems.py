"""What is wrong with a policy file, said so that a person can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

_MOST_SHOWN = 50
_LONGEST_SHOWN = 60
_LONGEST_NAME = 64
_MOST_COMPARED = 256


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend: the line in the file (from 1), what was expected and what was found."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class PolicyError(ValueError):
    """A policy that cannot be used. `problems` are all that are wrong with it, by line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        shown = [str(problem) for problem in self.problems[:_MOST_SHOWN]]
        more = len(self.problems) - len(shown)
        super().__init__("\n".join([*shown, f"and {more} more"] if more else shown))


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with one file while it is read."""

    file: str
    found: list[Problem] = field(default_factory=list)

    def add(self, line: int, expected: str, found: str, hint: str = "") -> None:
        """`expected` and `found` complete "expected …, found …"; `hint` follows a semicolon."""
        message = f"expected {expected}, found {found}" + (f"; {hint}" if hint else "")
        self.found.append(Problem(self.file, line, message))

    def near(self, name: str, names: Iterable[str]) -> str:
        """The one of `names` that was probably meant; empty where none is near."""
        if len(name) > _LONGEST_NAME or len(self.found) >= _MOST_SHOWN:
            return ""
        from difflib import get_close_matches  # only a wrong policy pays for it

        return next(iter(get_close_matches(name, list(names)[:_MOST_COMPARED], n=1)), "")

    def meant(self, name: str, names: Iterable[str]) -> str:
        """The hint that names the one of `names` that was probably meant; empty where none is."""
        near = self.near(name, names)
        return f"did you mean {near!r}?" if near else ""

    def raise_any(self) -> None:
        """Raises PolicyError where anything was found."""
        if self.found:
            raise PolicyError(self.found)


def shown(text: str) -> str:
    """A text of the file in quotes, on one line, shortened, nothing in it that a terminal obeys."""
    cut = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
    return repr(cut)
