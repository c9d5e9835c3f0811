"""`reference-transaction`: judge the moves of guarded refs inside this repository.

A guard rail, for repositories without a remote above all (design, section 6, "Where"). Git holds
the locks of all refs in question while this runs, so nothing here writes a ref.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gitgate.app.gather.policies import PolicyRef
from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Judgement
from gitgate.app.judging.moves import judge_move
from gitgate.app.judging.prepush import Guards
from gitgate.core import ids
from gitgate.core.outcome import Outcome
from gitgate.core.patterns import compile_refs
from gitgate.core.policy import POLICY_FILE
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

_PLACES = ("refs/heads/", "refs/tags/")


class LocalWorld(World):
    """The repository as it judges itself: by the present value of its own policy ref."""

    def policy_ref(self, asked: str | None = None) -> PolicyRef | None:
        found = super().policy_ref(asked)
        return found and PolicyRef(found.name, found.name, refs.read(self.repo, found.name))

    def target_tip(self, ref: str) -> tuple[str, str | None]:
        return ref, refs.read(self.repo, ref)


@dataclass(frozen=True, slots=True)
class LocalMove:
    """A branch or tag that is about to have the value `new`, which need be no object id."""

    ref: str
    new: str


def local_moves(lines: str) -> list[LocalMove]:
    """The branches and tags among the lines that git gives the hook, deletions left out.

    The old value is not taken from there: git says zero where it does not care. Raises GateError
    (fatal) for a line that is none: what cannot be read blocks.
    """
    found: list[LocalMove] = []
    for line in filter(None, lines.split("\n")):
        parts = line.split(" ", 2)
        if len(parts) != 3:
            raise GateError(
                Exit.FATAL,
                f"git gave the reference-transaction hook a strange line: {line[:200]!r}",
            )
        _, new, ref = parts
        if ref.startswith(_PLACES) and new.strip("0"):
            found.append(LocalMove(ref, new))
    return found


def judge_local(world: LocalWorld, moves: Sequence[LocalMove]) -> Iterator[Judgement]:
    """The judgement of each move; a guarded one that cannot be judged is blocked.

    A move is judged under each name that its ref has here; git itself names a symbolic ref only
    where the move was asked of that one.
    """
    symbolic = refs.symbolic(world.repo)
    named = {move.ref for move in moves}
    for move in moves:
        also = [name for name, end in symbolic.items() if end == move.ref and name not in named]
        judged = [_judged(world, replace(move, ref=name)) for name in (move.ref, *also)]
        refused = [one for one in judged if not one.status.allowed]
        yield replace((refused or judged)[0], ref=move.ref)


def _judged(world: LocalWorld, move: LocalMove) -> Judgement:
    old = None
    try:
        old = refs.read(world.repo, move.ref)
        return _judge(world, move, old)
    except GateError as error:
        return Judgement(
            Outcome.BLOCKED,
            move.ref,
            old,
            move.new,
            None,
            reasons=(error.message,),
            hint=error.hint,
        )


def local_guards(world: LocalWorld) -> Guards | None:
    """What the hook's shell may know; None where it had better ask each time."""
    configured = world.repo.config.get("gate.policyref", "")
    ref = world.policy_ref()
    if not configured or ref is None or ref.tip is None:
        return None
    try:
        policy = world.policy_at(ref.tip)
    except GateError:
        return None
    gates = policy.policy.gates.values() if policy else ()
    blob = world.repo.entry(world.repo.commit(ref.tip).tree, POLICY_FILE)
    consulted = ((f"{ref.name}:{POLICY_FILE.decode()}", blob[1] if blob else "missing"),)
    patterns = [ref.name, *(pattern for gate in gates for pattern in gate.guards)]
    is_guarded = compile_refs(patterns)
    patterns += [end for name, end in refs.symbolic(world.repo).items() if is_guarded(name)]
    return Guards(".", configured, consulted, tuple(patterns), {ref.name: ref.tip})


def way_back(repo: Repository, judged: Judgement) -> list[str]:
    """How to keep what was made, and how index and files come back after the refused move.

    Git has changed them before it asked: measured for merge, fast-forward, pull, commit, reset,
    rebase and cherry-pick. Nothing to do for a branch that is checked out nowhere here.
    """
    new = judged.new or ""
    if not ids.is_oid(new) or not judged.ref.startswith("refs/heads/"):
        return []
    known = repo.git("for-each-ref", "--count=1", f"--contains={new}").text != ""
    keep = f"git branch BRANCH {new[:12]}"
    undo = _abort(repo, judged.ref)
    if undo:
        return [f"{undo} puts index and files back" + ("" if known else f"; {keep} keeps the work")]
    if repo.head_ref() != judged.ref:
        return [] if known else [f"{keep} keeps the work"]
    if known:
        return ["git reset --merge puts index and files back (after a plain git reset: git reset)"]
    return [f"git switch -c BRANCH && git reset {new[:12]} goes on with it on a branch of its own"]


def _abort(repo: Repository, ref: str) -> str:
    """The command that ends the operation that is under way on `ref` in this work tree."""
    for folder, command in (("rebase-merge", "rebase"), ("rebase-apply", "rebase")):
        name = repo.git_dir / folder / "head-name"
        if name.is_file() and name.read_text("utf-8", "surrogateescape").strip() == ref:
            return f"git {command} --abort"
    if repo.head_ref() != ref:
        return ""
    under_way = {
        "rebase-apply/applying": "am",
        "MERGE_HEAD": "merge",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
    }
    found = (word for name, word in under_way.items() if (repo.git_dir / name).exists())
    word = next(found, "")
    return f"git {word} --abort" if word else ""


def _judge(world: LocalWorld, move: LocalMove, old: str | None) -> Judgement:
    where = world.policy_ref(move.ref)
    if old is None or where is None:
        return _free(move, old, f"{move.ref} is created" if old is None else "nothing is gated")
    if where.name != move.ref:
        policy = world.policy_at(where.tip) if where.tip else None
        if policy is None or not policy.policy.guarding(move.ref):
            return _free(move, old, f"no gate guards {move.ref}")
    if not ids.is_oid(move.new):
        raise GateError(Exit.BLOCKED, f"{move.ref} is guarded and may not become a symbolic ref")
    if move.new == old or _stood_there(world, move, old):
        return _free(move, old, f"{move.new[:12]} is where {move.ref} is or was")
    judged = judge_move(world, move.ref, old, move.new)
    if judged.status is Outcome.NO_POLICY:
        return replace(judged, status=Outcome.NOT_NEEDED)
    return judged


def _free(move: LocalMove, old: str | None, reason: str) -> Judgement:
    return Judgement(Outcome.NOT_NEEDED, move.ref, old, move.new, None, reasons=(reason,))


def _stood_there(world: LocalWorld, move: LocalMove, old: str) -> bool:
    """Whether the branch, here or at its remote, was at the new commit before."""
    repo = world.repo
    if not move.ref.startswith("refs/heads/") or repo.kind(move.new) != "commit":
        return False
    short = move.ref.removeprefix("refs/heads/")
    remotes = dict.fromkeys((repo.config.get(f"branch.{short}.remote"), world.remote))
    names = [f"refs/remotes/{remote}/{short}" for remote in remotes if remote not in (None, ".")]
    tips = [old, *(refs.read(repo, name) for name in names)]
    return any(
        repo.is_ancestor(move.new, tip) and repo.first_parents(tip, move.new) is not None
        for tip in tips
        if tip
    )
