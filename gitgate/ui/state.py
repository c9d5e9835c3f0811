"""What a reviewer's session knows, and what it shows: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from gitgate.core.decision import Action
from gitgate.ui.field import Field

_EMPTY = Field()


class Screen(StrEnum):
    """What is shown."""

    LIST = "list"
    PANEL = "panel"
    ARTIFACTS = "artifacts"
    VIEW = "view"
    CHANGES = "changes"
    HELP = "help"
    WORDS = "words"
    CONFIRM = "confirm"
    TOLD = "told"


class Asked(StrEnum):
    """What is being typed on `Screen.WORDS`."""

    WORDS = "words"  # of the action that is being decided
    LINE = "line"
    REMARK = "remark"
    SEARCH = "search"


class Do(StrEnum):
    """What a key asks for beside another state."""

    NOTHING = "nothing"
    LEAVE = "leave"
    INTERRUPT = "interrupt"
    SUSPEND = "suspend"
    KEEP = "keep"  # save what was typed
    DECIDE = "decide"
    EDITOR = "editor"  # the words in the editor
    EDIT = "edit"  # the artifact in the editor
    PAGE = "page"  # the artifact in the pager
    OPEN = "open"  # the gate at `at` of the list


class Purpose(StrEnum):
    """What an artifact is chosen for."""

    VIEW = "view"
    EDIT = "edit"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A deliverable. `seen` is `viewed`, `changed` (another content of it was viewed) or ""."""

    path: str
    oid: str
    status: str
    about: str = ""
    errors: int = 0
    warnings: int = 0
    seen: str = ""
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment that is not signed yet; line 0 is the whole file. `oid` is the content that it is
    about, "" until it was kept."""

    path: str
    line: int
    text: str
    oid: str = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """One instance as the reviewer sits before it.

    `signer` is the key in words, `person` whose it is, `obstacle` why a signature would not do;
    `ended` why there is nothing to decide; `authors` says what an edit makes of its author.
    """

    doc: Mapping[str, Any]
    artifacts: tuple[Artifact, ...] = ()
    signer: str = ""
    person: str = ""
    obstacle: str = ""
    ended: str = ""
    comment_required: bool = False
    reason_required: bool = True
    skip_allowed: bool = True
    authors: str = ""
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Below:
    """A screen that is come back to, as it was."""

    screen: Screen
    top: int
    at: int


@dataclass(frozen=True, slots=True)
class State:
    """All that a session knows. `back` are the screens below this one, `begun` by path the
    comments whose text is not finished."""

    screen: Screen = Screen.PANEL
    seat: Seat | None = None
    waiting: tuple[Mapping[str, Any], ...] = ()
    back: tuple[Below, ...] = ()
    top: int = 0
    at: int = 0
    artifact: int = 0
    purpose: Purpose = Purpose.VIEW
    rendered: bool = False
    full: bool = False
    warned: bool = False
    action: Action | None = None
    asked: Asked = Asked.WORDS
    typed: Field = _EMPTY
    words: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    begun: Mapping[str, Remark] = field(default_factory=dict)
    path: str = ""  # of the file that a comment is typed on, and its line
    line: int = 0
    pointed: int = -1  # which of the lines on the screen shows that place
    searched: str = ""
    found: int = -1
    message: str = ""
    told: tuple[str, ...] = ()

    @property
    def guarded(self) -> bool:
        """Whether the next key may decide: then it has to come alone."""
        return self.screen is Screen.CONFIRM

    @property
    def chosen(self) -> Artifact | None:
        """The artifact that is looked at."""
        artifacts = self.seat.artifacts if self.seat else ()
        return artifacts[self.artifact] if self.artifact < len(artifacts) else None

    @property
    def said(self) -> str:
        """The words for the action that is being decided."""
        return self.words.get(self.action.value, "") if self.action else ""

    @property
    def words_required(self) -> bool:
        """Whether the action cannot be recorded without words."""
        seat = self.seat or Seat({})
        return {
            Action.REJECT: True,
            Action.APPROVE: seat.comment_required,
            Action.SKIP: seat.reason_required,
        }.get(self.action or Action.QUIT, False)

    @property
    def content(self) -> Below:
        """The screen whose text is seen: the one below, where a line or a search is typed."""
        if self.screen is Screen.WORDS and self.asked is not Asked.WORDS and self.back:
            return self.back[-1]
        return Below(self.screen, self.top, self.at)


Step = tuple[State, Do]
"""What a key makes of a state, and what is to be done beside it."""


def show(state: State, screen: Screen, **changes: Any) -> State:
    """`screen` on top of the present one."""
    below = Below(state.screen, state.top, state.at)
    changed: dict[str, Any] = {"top": 0, "message": "", **changes}
    return replace(state, screen=screen, back=(*state.back, below), **changed)


def back(state: State, message: str = "") -> State:
    """The screen below this one, as it was left."""
    *rest, below = state.back or (Below(Screen.PANEL, 0, 0),)
    return replace(
        state,
        screen=below.screen,
        top=below.top,
        at=below.at,
        back=tuple(rest),
        message=message,
    )
