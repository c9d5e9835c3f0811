"""Edits of the signers file: what they change, what they leave alone, and what they refuse."""

from __future__ import annotations

import pytest

from gitgate.core import sshwire
from gitgate.core.signersfile import RefusedError, add, revoke
from gitgate.core.trust import parse_signers


def _key(seed: int) -> str:
    blob = sshwire.packed(b"ssh-ed25519") + sshwire.packed(bytes([seed]) * 32)
    return f"ssh-ed25519 {sshwire.encode_base64(blob)}"


ADA, BOB = _key(1), _key(2)
_ALIAS = "is an address of ada@example.com"
FILE = f"""\
# People of the project; ask Ada.

ada@example.com,ada@work.example  namespaces="git" {ADA}  laptop
\tbob@example.com {BOB}
# the end
""".encode()


def test_a_new_line_leaves_every_other_byte_alone() -> None:
    key = _key(3)
    after = add(FILE, "eve@example.com", f"{key} comment", valid_after="20260101Z")
    line = f'eve@example.com namespaces="git",valid-after="20260101Z" {key}\n'
    assert after == FILE + line.encode()
    assert add(FILE.rstrip(b"\n"), "eve@example.com", key).startswith(FILE)


@pytest.mark.parametrize(
    ("person", "key", "why"),
    [
        ("eve@example.com", ADA, "the key is listed already in line 3, for ada@example.com"),
        ("ada@example.com", ADA, "the key is listed already in line 3, for ada@example.com"),
        ("*@example.com", _key(3), "'*@example.com' names nobody: expected one address"),
        ("", _key(3), "'' names nobody: expected one address"),
        (
            "ada@work.example",
            _key(3),
            f"ada@work.example {_ALIAS} in line 3: begin with ada@example.com",
        ),
        ("eve@example.com", "nonsense", "the key is no OpenSSH public key line"),
    ],
)
def test_a_line_that_would_mislead_is_refused(person: str, key: str, why: str) -> None:
    with pytest.raises(RefusedError) as caught:
        add(FILE, person, key)
    assert str(caught.value) == why


def test_a_key_is_ended_and_not_deleted() -> None:
    after, changed = revoke(FILE, "ada@work.example", "20260301120000Z")
    old = f'namespaces="git" {ADA}'.encode()
    new = f'namespaces="git",valid-before="20260301120000Z" {ADA}'.encode()
    assert after == FILE.replace(old, new)
    assert [one.line for one in changed] == [3]
    after, _ = revoke(after, sshwire.fingerprint(parse_signers(FILE).entries[1].blob), "20260301Z")
    line = f'\tbob@example.com valid-before="20260301Z" {BOB}\n'
    assert line.encode() in after
    assert not parse_signers(after).defects


def test_an_end_moves_only_forward_to_an_earlier_moment() -> None:
    once, _ = revoke(FILE, "bob@example.com", "20260301120000Z")
    earlier, _ = revoke(once, "bob@example.com", "20260201120000Z")
    assert earlier.count(b"valid-before") == 1 and b"20260201120000Z" in earlier
    with pytest.raises(RefusedError, match=r"no key of 'bob@example.com' is still valid"):
        revoke(earlier, "bob@example.com", "20260401120000Z")
    with pytest.raises(RefusedError, match=r"no key of 'eve@example.com' is still valid"):
        revoke(FILE, "eve@example.com", "20260401120000Z")
