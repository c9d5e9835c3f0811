"""What a person types is never lost: the editor, and the file that keeps the words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitgate.cli.env import Env
from gitgate.core.ids import encode_subject
from gitgate.errors import Exit, GateError
from gitgate.process import run_attached
from gitgate.ui import plain
from gitgate.ui.sanitise import safe

_SCISSORS = "# ------------------------ >8 ------------------------"


@contextmanager
def keeping(env: Env, gate: str, subject: str, text: str) -> Iterator[None]:
    """Keep `text` in a file while it is being recorded; where that fails, say where it is."""
    if not text.strip():
        yield
        return
    edited = place(env, gate, subject)
    path = edited.with_suffix(f".{os.getpid()}.md")
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    try:
        yield
    except GateError as error:
        hint = f"{error.hint}; " if error.hint else ""
        raise GateError(error.kind, error.message, f"{hint}your words are kept in {path}") from None
    except BaseException:
        env.say(f"your words are kept in {safe(str(path))}")
        raise
    path.unlink(missing_ok=True)
    if edited.exists() and edited.read_text(encoding="utf-8").strip() == text.strip():
        edited.unlink(missing_ok=True)


def written(env: Env, document: Mapping[str, Any], action: str) -> str:
    """What the person writes in the editor that git would use; "" for nothing.

    A draft that was kept is offered again. Raises GateError where there is no terminal.
    """
    if not env.interactive():
        raise GateError(
            Exit.USAGE,
            f"there is no terminal for an editor, and {action} needs words",
            f"git gate {action} {document['gate']} -m TEXT, or -F FILE",
        )
    path = place(env, document["gate"], document["subject"])
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    below = "\n".join(f"# {line}".rstrip() for line in plain.panel(document))
    path.write_text(
        f"{kept}\n{_SCISSORS}\n# Everything from the line above on is left out.\n#\n{below}\n",
        encoding="utf-8",
    )
    editor = env.repo.git("var", "GIT_EDITOR").text
    status = run_attached(["sh", "-c", f'{editor} "$@"', editor, str(path)])
    text = path.read_text(encoding="utf-8").split(_SCISSORS, 1)[0].strip()
    if text:
        path.write_text(text, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
    if status != 0:
        where = f"your words are kept in {path}" if text else f"git gate {action} -m TEXT"
        raise GateError(
            Exit.BLOCKED, f"the editor ended with {status}: nothing was recorded", where
        )
    return text


def place(env: Env, gate: str, subject: str) -> Path:
    """The file that keeps the words for one instance; its folder is there."""
    folder = env.repo.common_dir / "git-gate" / "drafts"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{gate}-{encode_subject(subject)}.md"
