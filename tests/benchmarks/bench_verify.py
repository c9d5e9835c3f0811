"""Compare checking decisions in process with one `git verify-tag` over the same tags.

Run it by hand: `python tests/benchmarks/bench_verify.py [tags]`. It makes a repository with that
many signed tags (200), checks them both ways a few times, and prints the best times and the ratio.
The first run in process, which loads the library and reads the signers file, is shown apart.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gitgate.core.trust import SignatureStatus, parse_signers
from gitgate.signing import ssh
from gitgate.signing.sign import make_key, signer

ADA = "ada@example.com"
KINDS = {"ed25519": ("-t", "ed25519"), "ecdsa": ("-t", "ecdsa"), "rsa": ("-t", "rsa")}


def git(where: Path, *argv: str, stdin: bytes = b"") -> bytes:
    settings = ["-c", f"gpg.ssh.allowedSignersFile={where / 'signers'}", "-c", "gpg.format=ssh"]
    who = ["-c", "user.name=Ada", "-c", f"user.email={ADA}"]
    done = subprocess.run(
        ["git", *settings, *who, "-C", str(where), *argv], input=stdin, capture_output=True
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode())
    return done.stdout


def make_tags(where: Path, count: int, kind: str) -> tuple[list[str], list[tuple[bytes, bytes]]]:
    """The tags' ids, and payload and armor of each."""
    key = where / "key"
    if kind == "ed25519":
        line = make_key(key, "bench")
    else:
        command = ["ssh-keygen", "-q", "-N", "", "-f", str(key), *KINDS[kind]]
        subprocess.run(command, check=True)
        line = Path(f"{key}.pub").read_text().strip()
    (where / "signers").write_text(f"{ADA} {line}\n")
    git(where, "init", "-q")
    git(where, "commit", "-q", "--allow-empty", "-m", "x")
    head = git(where, "rev-parse", "HEAD").decode().strip()
    signing = signer({"gpg.format": "ssh", "user.signingkey": str(key)}, where=where)
    tags, records = [], []
    for number in range(count):
        payload = (
            f"object {head}\ntype commit\ntag gate/elaboration/{number}\n"
            f"tagger Ada <{ADA}> {1_764_565_200 + number} +0000\n\n"
            f"Approve elaboration of {number}\n\nAction: approve\nVia: terminal\n"
        ).encode()
        armor = signing.sign(payload)
        tags.append(git(where, "mktag", stdin=payload + armor).decode().strip())
        records.append((payload, armor))
    return tags, records


def best(work: Callable[[], None], rounds: int) -> float:
    """Seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(count: int, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        tags, records = make_tags(where, count, kind)
        data = (where / "signers").read_bytes()

        def in_process() -> None:
            signers = parse_signers(data)
            for payload, armor in records:
                found = ssh.verify(payload, armor, signers, data, times=(1_764_565_200,))
                assert found.status is SignatureStatus.GOOD

        first = best(in_process, 1)
        ours = best(in_process, 5)
        theirs = best(lambda: git(where, "verify-tag", *tags) and None, 2)
    print(
        f"{kind:8} {count} tags: git verify-tag {theirs * 1000:7.0f} ms,"
        f" in process {ours * 1000:6.1f} ms (first {first * 1000:.1f}),"
        f" ratio {theirs / ours:.0f}x"
    )


if __name__ == "__main__":
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    for kind in KINDS:
        compare(int(sys.argv[1]) if len(sys.argv) > 1 else 200, kind)
