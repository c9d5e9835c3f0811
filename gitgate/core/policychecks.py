"""What each kind of text in a policy has to look like."""

from __future__ import annotations

import re

from gitgate.core import ids, patterns
from gitgate.core.policy import POLICY_FILES
from gitgate.core.policyfields import Doubt
from gitgate.errors import GateError

_MAX_LINE = 1000  # characters
_LONGEST_NAMED = 120

_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CONFIG_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_NOTIFY_SETTINGS = ("command", "apprise", "timeout")
_FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")
_DURATION = re.compile(r"(0|[1-9][0-9]{0,5})([mhd])")
_MINUTES = {"m": 1, "h": 60, "d": 24 * 60}


def line(text: str) -> Doubt | None:
    """Something that is shown on one line."""
    if not text or text != text.strip() or len(text) > _MAX_LINE or patterns.has_controls(text):
        return Doubt(f"one line of 1 to {_MAX_LINE} characters without blanks at its edges")
    return None


def gate_id(text: str) -> Doubt | None:
    try:
        ids.check_gate(text)
    except GateError:
        return Doubt("a gate id (1 to 64 of a-z, 0-9 and -, not - first)")
    return None


def group(text: str) -> Doubt | None:
    if _GROUP.fullmatch(text):
        return None
    return Doubt("a name of up to 64 letters, digits, '.', '_' and '-'")


def notified(text: str) -> Doubt | None:
    """Somebody who is told: git config has a key of that name, and these have other meanings."""
    if text.lower() in _NOTIFY_SETTINGS:
        return Doubt(f"a name other than {', '.join(_NOTIFY_SETTINGS)}")
    if _CONFIG_KEY.fullmatch(text):
        return None
    return Doubt("a name of up to 64 letters, digits and '-', a letter first, as git config's keys")


def principal(text: str) -> Doubt | None:
    """A person as the signers file names one, or an identity of commits: never a pattern."""
    if text.startswith("@"):
        return Doubt("a principal and no group")
    if line(text) or re.search(r'[*?,"]', text) or text.startswith("!"):
        return Doubt("a principal as in .aiwg/allowed_signers, such as ada@example.com")
    return None


def argument(text: str) -> Doubt | None:
    return None if text else Doubt("an argument that is not empty")


def program(text: str) -> Doubt | None:
    """The first of `run`: a path in the repository stays in it."""
    return Doubt("a program, or its path without '..',") if ".." in text.split("/") else None


def relative_path(text: str) -> Doubt | None:
    """A file in the work tree that is git's and the policy's own."""
    if set(text) & set("*?[\\"):
        return Doubt("a path without wildcards and backslashes")
    wrong = patterns.objection(text, fold=True)
    if wrong or text.endswith("/"):
        return Doubt("a relative path of a file (without '.', '..' and control characters)")
    parts = [part.lower().rstrip(". ") for part in text.split("/")]
    if ".git" in parts or "git~1" in parts:
        return Doubt("a path outside of git's own folder")
    if text.lower().encode() in POLICY_FILES:
        return Doubt("a file that is no part of the policy")
    return None


def path_pattern(text: str) -> Doubt | None:
    wrong = patterns.objection(text, fold=True)
    return Doubt(wrong) if wrong else None


def ref_pattern(text: str) -> Doubt | None:
    wrong = patterns.objection(text, fold=False)
    if wrong:
        return Doubt(wrong)
    if not text.startswith("refs/"):
        near = f"did you mean {f'refs/heads/{text}'!r}?" if len(text) < _LONGEST_NAMED else ""
        return Doubt("a pattern that begins with 'refs/'", near)
    if patterns.is_own_ref(text):
        return Doubt("refs other than the journal, ledgers and notes")
    return None


def duration(text: str) -> Doubt | None:
    return None if _DURATION.fullmatch(text) else Doubt("a duration such as 0m, 4h or 2d")


def fingerprint(text: str) -> Doubt | None:
    if _FINGERPRINT.fullmatch(plain_fingerprint(text)):
        return None
    return Doubt("a whole fingerprint (40 or 64 hex digits)")


def plain_fingerprint(text: str) -> str:
    """Capital hex digits only, as programs' status lines have them."""
    return text.replace(" ", "").replace(":", "").upper()


def minutes(text: str) -> int:
    """How long a sound duration is."""
    found = _DURATION.fullmatch(text)
    return int(found[1]) * _MINUTES[found[2]] if found else 0
