"""Names on a server: those that are kept for git-gate, those that stand in the way, and several
names of one ref."""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.app.server.receivedpush import Objection, Push, Update
from gitgate.core import ids

_OURS = ("refs/aiwg", "refs/notes/aiwg", "refs/gitgate", ids.JOURNAL)


def is_ours(ref: str) -> bool:
    """Whether git-gate keeps `ref`, or the folder that it is in, for itself."""
    return any(ref == one or ref.startswith(f"{one}/") for one in _OURS)


def misnamed(push: Push, update: Update) -> Iterator[Objection]:
    """A name that stands in the way of ours, or is the same file as another ref's here."""
    ref = update.ref
    if update.new is not None and ids.JOURNAL.startswith(f"{ref}/"):
        other = ref.replace("refs/heads/aiwg", "refs/heads/another-name")
        yield Objection(
            f"a branch `aiwg` is in the way of {ids.JOURNAL}", f"git push origin {other}"
        )
    if push.ignores_case and ref not in push.listing:
        yield from _in_another_case(push, ref)


def _in_another_case(push: Push, ref: str) -> Iterator[Objection]:
    """A new name that some file system takes for one that is there, is kept, or is guarded."""
    folded = ref.lower()
    same = [one for one in push.listing if one.lower() == folded]
    kept = [folded] if folded != ref and is_ours(folded) else []
    if same or kept:
        yield Objection(
            f"on this server {ref} would be the same file as {(same or kept)[0]}",
            "choose a name that differs in more than capitals",
        )
    elif not push.guards(ref) and push.guards(ref, any_case=True):
        yield Objection(
            f"on this server {ref} would be the same file as a ref that policy guards, in other"
            " capitals",
            "spell the name as the policy does: git gate policy explain",
        )


def several_names(push: Push) -> Iterator[str]:
    """A sentence for each guarded ref that has another name on the server."""
    for name, end in sorted(push.symbolic.items()):
        if any(push.guards(one) or is_ours(one) for one in (name, end)):
            yield (
                f"{name} is a symbolic ref and stands for {end}: a push to either is judged as one"
                " to both"
            )
