"""Request commits: R, which holds all that a person sees and that may land (design, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitgate.core import request as requests
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, REGULAR

_BASE, _WORK, _OWN = b"base", b"work", b".aiwg"


@dataclass(frozen=True, slots=True)
class Stored:
    """A request as it stands in the repository, with the ids of the trees of B and W."""

    request: Request
    base_tree: str
    work_tree: str


def write_request(repo: Repository, request: Request) -> Request:
    """Store a request's commit and give the request back with its id; no ref moves.

    Base and work have to be there. ValueError for a request that has no stored form.
    """
    message, body = requests.message(request), requests.body(request)
    folder = repo.write_tree({b"request.yml": (REGULAR, repo.write_blob(body))})
    tree = repo.write_tree(
        {
            _OWN: (DIRECTORY, nested(repo, (b"gates", request.gate.encode()), folder)),
            _BASE: (DIRECTORY, repo.commit(request.base).tree),
            _WORK: (DIRECTORY, repo.commit(request.work).tree),
        }
    )
    stamp = request.opened
    return replace(request, id=repo.write_commit(tree, _parents(request), stamp, stamp, message))


def nested(repo: Repository, folders: tuple[bytes, ...], tree: str) -> str:
    """A tree in which `tree` is the only thing, below these folders."""
    for folder in reversed(folders):
        tree = repo.write_tree({folder: (DIRECTORY, tree)})
    return tree


def _parents(request: Request) -> tuple[str, ...]:
    work, base = request.work, request.base
    return (work,) if base == work else (work, base)


def read_request(repo: Repository, oid: str, gate: str, subject: str) -> Stored:
    """A request of this instance.

    Raises GateError (untrusted), with a sentence, where an object is missing or where the commit
    is not, in every part, what `write_request` makes of what it says.
    """
    commit = repo.commit(oid)
    found = repo.entry(commit.tree, requests.body_path(gate))
    if not found or found[0] != REGULAR:
        raise _breach(oid, f"has no request.yml for the gate {gate}")
    body = repo.read(found[1], "blob", requests.MAX_REQUEST)
    try:
        request = requests.parse(oid, commit.author, commit.message, body)
    except ValueError as error:
        raise _breach(oid, f"cannot be read: {error}") from None
    if (request.gate, request.subject) != (gate, subject):
        raise _breach(oid, f"was made for {request.gate} of {request.subject}")
    if commit.parents != _parents(request):
        raise _breach(oid, "has not its work and base commits as parents")
    _check_trees(repo, oid, commit.tree, request)
    trees = repo.commit(request.base).tree, repo.commit(request.work).tree
    return Stored(request, *trees)


def _check_trees(repo: Repository, oid: str, tree: str, request: Request) -> None:
    entries = dict(repo.children(tree))
    own = entries.pop(_OWN)
    expected = {
        _BASE: (DIRECTORY, repo.commit(request.base).tree),
        _WORK: (DIRECTORY, repo.commit(request.work).tree),
    }
    gates = repo.children(own[1])
    if (
        entries != expected
        or set(gates) != {b"gates"}
        or set(repo.children(gates[b"gates"][1])) != {request.gate.encode()}
    ):
        raise _breach(oid, "does not hold exactly the trees of its base and its work commit")


def _breach(oid: str, what: str) -> GateError:
    return GateError(
        Exit.UNTRUSTED, f"request {oid} {what}", "git gate repair, or fetch the ledger again"
    )
