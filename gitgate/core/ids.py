"""Names: gates, subjects, object ids, the refs and tag names made of them (design, section 2)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import unquote_to_bytes

from gitgate.errors import Exit, GateError

GATES = "refs/aiwg/gates/"
NOTES = "refs/notes/aiwg/gates"
JOURNAL = "refs/heads/aiwg/journal"
TRACKING = "refs/gitgate/"
ZERO = "0" * 40
MAX_SUBJECT = 1024

_LONGEST = 120
_HEAD = 78
_DIGEST = 40

_OID = re.compile(r"[0-9a-f]{40}")
_NONCE = re.compile(r"[0-9a-f]{32}")
_GATE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_TOKEN = re.compile(r"%[0-9a-f]{2}|[a-z0-9._-]")
_NAME = re.compile(rf"(?:{_TOKEN.pattern})+")
_HASHED = re.compile(rf"((?:{_TOKEN.pattern})+)%-[0-9a-f]{{{_DIGEST}}}")
_NOT_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]\Z")

_KEPT = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)


def is_oid(text: str) -> bool:
    """Whether `text` is a full SHA-1 object id in lower-case hex."""
    return _OID.fullmatch(text) is not None


def is_ref(text: str) -> bool:
    """Whether `text` is a full ref name by the rules of git check-ref-format, below `refs/`."""
    return text.startswith("refs/") and text != "refs/" and not _NOT_IN_REF.search(text)


def is_gate(text: str) -> bool:
    """Whether `text` is a gate's id."""
    return _GATE.fullmatch(text) is not None


def check_gate(text: str) -> str:
    """Give back a gate's id; GateError (usage) where it is none."""
    if not is_gate(text):
        raise GateError(
            Exit.USAGE,
            f"{text[:80]!r} is no gate id",
            "a gate id is 1 to 64 of a-z, 0-9 and -, and does not begin with -",
        )
    return text


def check_subject(text: str) -> str:
    """Give back a subject, unchanged; GateError (usage) where it is none."""
    problem = _subject_problem(text)
    if problem:
        raise GateError(
            Exit.USAGE,
            f"the subject {text[:80]!r} {problem}",
            "name the instance with --subject, such as a branch or run-42/plan",
        )
    return text


def _subject_problem(text: str) -> str:
    if not text:
        return "is empty"
    if text != text.strip():
        return "begins or ends with a blank"
    if any(unicodedata.category(character) == "Cc" for character in text):
        return "has a control character"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    return f"is longer than {MAX_SUBJECT} bytes" if size > MAX_SUBJECT else ""


def encode_subject(subject: str) -> str:
    """A subject as one component of a ref name; different subjects have different names.

    Takes what `check_subject` takes. Up to 120 bytes `%xx` decodes to the subject; beyond that
    the name is at most 78 bytes of it, cut at a token, `%-` and 40 hex digits of its SHA-256.
    """
    raw = subject.encode()
    last = len(raw) - 1
    forced = set()
    for at, byte in enumerate(raw):
        if byte == ord(".") and (at in (0, last) or raw[at - 1] == byte):
            forced.add(at)
    if raw[:1] == b"-" or subject.split(".", 1)[0] in _DEVICES:
        forced.add(0)
    if raw.endswith(b".lock"):
        forced.add(len(raw) - len(b".lock"))
    tokens = [
        chr(byte) if byte in _KEPT and at not in forced else f"%{byte:02x}"
        for at, byte in enumerate(raw)
    ]
    name = "".join(tokens)
    if len(name) <= _LONGEST:
        return name
    return _cut(tokens) + "%-" + hashlib.sha256(raw).hexdigest()[:_DIGEST]


def _cut(tokens: list[str]) -> str:
    head = ""
    for token in tokens:
        if len(head) + len(token) > _HEAD:
            break
        head += token
    return head


def is_encoded(name: str) -> bool:
    """Whether `encode_subject` can give this name (of a hashed one, as far as it shows)."""
    if len(name) > _LONGEST:
        return False
    if hashed := _HASHED.fullmatch(name):
        head = hashed[1]
        return len(head) <= _HEAD and not head.startswith((".", "-")) and ".." not in head
    return decode_subject(name) is not None


def decode_subject(name: str) -> str | None:
    """The subject whose name this is; None for a hashed name and for what is no name."""
    if not _NAME.fullmatch(name):
        return None
    try:
        subject = unquote_to_bytes(name).decode()
    except UnicodeDecodeError:
        return None
    return subject if not _subject_problem(subject) and encode_subject(subject) == name else None


def ledger_ref(gate: str, subject: str) -> str:
    """The ref of an instance's ledger."""
    return f"{GATES}{gate}/{encode_subject(subject)}"


def tag_name(gate: str, subject: str) -> str:
    """What a decision about this instance says in its `tag` header."""
    return f"gate/{gate}/{encode_subject(subject)}"


def is_tag_name(text: str) -> bool:
    """Whether `tag_name` can give this name."""
    prefix, _, rest = text.partition("/")
    gate, _, name = rest.partition("/")
    return prefix == "gate" and _GATE.fullmatch(gate) is not None and is_encoded(name)


def is_nonce(text: str) -> bool:
    """Whether `text` is 32 digits of lower-case hex."""
    return _NONCE.fullmatch(text) is not None
