"""What a person types is never lost: the editor, and the files that keep the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gitgate.app.reviewing import drafts
from gitgate.cli.env import Env
from gitgate.errors import Exit, GateError
from gitgate.process import run_attached
from gitgate.ui import plain
from gitgate.ui.sanitise import safe


@contextmanager
def keeping(env: Env, gate: str, subject: str, action: str, text: str) -> Iterator[None]:
    """Keep `text` in a file while it is being recorded; where that fails, say where it is."""
    if not text.strip():
        yield
        return
    words = drafts.place(env.repo, gate, subject, action)
    with _at(words):
        path = drafts.aside(words, text)
    try:
        yield
    except GateError as error:
        hint = f"{error.hint}; " if error.hint else ""
        raise GateError(error.kind, error.message, f"{hint}your words are kept in {path}") from None
    except BaseException:
        env.say(f"your words are kept in {safe(str(path))}")
        raise
    with suppress(OSError), drafts.held(words.parent):
        drafts.recorded(words, text)


@contextmanager
def _at(words: Path) -> Iterator[None]:
    """The folder of the words, held; GateError where it cannot be written."""
    try:
        with drafts.held(words.parent):
            yield
    except OSError as error:
        raise GateError(
            Exit.FATAL,
            f"your words cannot be kept in {words.parent}: {error}; nothing was recorded",
            f"make room there, or chmod u+w {words.parent}, then the same command",
        ) from None


def written(env: Env, document: Mapping[str, Any], action: str, typed: str | None = None) -> str:
    """What the person writes in the editor that git would use; "" for nothing.

    It begins with what was `typed`, else with the words that were kept, and keeps what is left in
    it. Raises GateError where there is no terminal, where the editor fails, where words were there
    and it left none, and where it left no UTF-8.
    """
    if not env.interactive():
        raise GateError(
            Exit.USAGE,
            f"there is no terminal for an editor, and {action} needs words",
            f"git gate {action} {document['gate']} -m TEXT, or -F FILE",
        )
    words = drafts.place(env.repo, document["gate"], document["subject"], action)
    with _at(words):
        drafts.recover(words.parent)
        before = drafts.read(words) if typed is None else typed.strip()
    text, status = _edited(env, document, drafts.for_editor(words), before)
    with _at(words):
        kept = drafts.change(words, before, text or before)
    _refuse(document["gate"], action, words, text, kept, status)
    return text


def _edited(env: Env, document: Mapping[str, Any], path: Path, before: str) -> tuple[str, int]:
    """The words after the editor, which was shown the panel below them, and its exit status."""
    below = "\n".join(f"# {line}".rstrip() for line in plain.panel(document))
    above = "# Everything from the line above on is left out."
    shown = f"{before}\n{drafts.SCISSORS}\n{above}\n#\n{below}\n"
    with _at(path):
        path.write_text(shown, "utf-8", errors="surrogateescape")
    editor = env.repo.git("var", "GIT_EDITOR").text
    status = run_attached(["sh", "-c", f'{editor} "$@"', editor, str(path)])
    text = drafts.edited(path)
    path.unlink(missing_ok=True)
    return text, status


def _refuse(gate: str, action: str, words: Path, text: str, kept: str, status: int) -> None:
    """Raise GateError for what an editor left that cannot be recorded."""
    where = f"your words are kept in {words}" if kept else f"git gate {action} {gate} -m TEXT"
    if status != 0:
        raise GateError(
            Exit.BLOCKED, f"the editor ended with {status}: nothing was recorded", where
        )
    if not text and kept:
        raise GateError(
            Exit.USAGE,
            "the editor left no words: those from before stay, and nothing was recorded",
            f"git gate review {gate} offers them again; {where}",
        )
    if not text.isascii() and text != text.encode("utf-8", "replace").decode("utf-8"):
        raise GateError(
            Exit.USAGE,
            "the editor left words that are not UTF-8: nothing was recorded",
            f"save them as UTF-8 in the editor, which opens with them again; {where}",
        )
