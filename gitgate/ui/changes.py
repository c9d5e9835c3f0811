"""What changed between two rounds, as a person reads it: the summary and the statistics.

The summary follows the display rules' diff view. Each function takes the plain values that
`--json` prints; all text from a repository goes through `safe`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitgate.core.lineage import Fate
from gitgate.ui.paint import text_of, wrap
from gitgate.ui.sanitise import safe, width
from gitgate.ui.sections import counted

Document = Mapping[str, Any]

_REMARKS_SHOWN = 6
_PATHS_SHOWN = 3
_COMMITS_SHOWN = 5
_COMMENTS_SHOWN = 5
_HANG = 6
_BESIDE_NAME = 56  # cells of a line of the statistics that are no name: numbers and signs
_SHORTEST_NAME = 20
_BAR = 40  # cells for the plus and minus signs of the largest file

_TITLES = {"modified": "Modified", "added": "Added", "deleted": "Deleted", "renamed": "Renamed"}
_ABOUT = {
    "mode": "mode changes",
    "type": "type changes",
    "symlink": "symbolic links",
    "submodule": "submodules",
    "binary": "binary files",
    "too-large": "too large to be shown",
    "empty": "empty files",
    "line-endings": "line endings change",
    "white-space": "only white space changes",
    "newline": "newline at the end",
    "encoding": "not UTF-8",
    "bidirectional": "characters that reorder what is read",
    "invisible": "invisible characters",
    "control": "control characters",
    "long-line": "very long lines",
    "attributes": "git's attributes change",
}


def summary(doc: Document, columns: int, following: str) -> list[str]:
    """The summary; `following` is the command that shows all of it."""
    lines = [*heading(doc), ""]
    if doc["policy"]:
        lines += ["The policy's own files:", *_policy(doc), ""]
    if doc["conflicts"]:
        lines += [*_conflicts(doc["conflicts"]), ""]
    for name, title in _TITLES.items():
        if doc[name] or name != "renamed":
            lines += [*_section(title, doc[name], doc["more"][name]), ""]
    if doc["unseen"]:
        lines += ["In files that are not named here:", *_unseen(doc["unseen"]), ""]
    if doc["comments"]:
        lines += ["Comments on files that did not change:"]
        lines += [*_comments(doc["comments"], with_path=True), ""]
    lines += [total(doc), "", f"next: {following}"]
    return [*_wrapped(lines, columns)]


def _wrapped(lines: Iterable[str], columns: int) -> Iterator[str]:
    for line in lines:
        # No character takes more than two cells; what surely fits needs not be measured.
        if 2 * len(line) <= columns:
            yield line
        else:
            yield from map(text_of, wrap(((line, ""),), columns, _HANG))


def heading(doc: Document) -> Iterator[str]:
    """What is compared, what the base did, and what the asking side says of it."""
    start = f"iteration {doc['from']['iteration']}" if doc["from"] else "the base"
    yield f"Changes from {start} → {'' if doc['from'] else 'iteration '}{doc['to']['iteration']}"
    if doc["base"]:
        yield base(doc["base"])
    if doc["off_target"]:
        under = counted(doc["off_target"], "commit")
        yield (
            f"note: the base has {under} that {safe(doc['target'])} lacks: what is in there is not"
            " shown here, and cannot land with this"
        )
    for warning in doc["warnings"]:
        yield f"note: {safe(warning)}"
    says = doc["says"]
    if says["summary"]:
        yield f"The asking side says: {safe(says['summary'])}"
    if says["commits"]:
        shown = ", ".join(f"“{safe(one)}”" for one in says["commits"][:_COMMITS_SHOWN])
        more = _more(len(says["commits"]), _COMMITS_SHOWN)
        yield f"Its commits say: {shown}{f' {more}' if more else ''}"


def base(doc: Document) -> str:
    """What became of the base, and whether that concerns the reviewer."""
    if doc["commits"] is None or doc["lost"] is None:
        moved = "The base moved, by how many commits is not known here"
    elif doc["lost"]:
        came = counted(doc["commits"], "commit")
        moved = f"The base was replaced: {counted(doc['lost'], 'commit')} left it, {came} came"
    else:
        moved = f"The base moved by {counted(doc['commits'], 'commit')}"
    touched = doc["touches"]
    if not touched:
        return f"{moved}; none of its changes touches what was reviewed"
    shown = ", ".join(safe(path) for path in touched[:_PATHS_SHOWN])
    more = _more(len(touched), _PATHS_SHOWN)
    what = "a reviewed file" if len(touched) == 1 else f"{len(touched)} reviewed files"
    return f"{moved}; it changed {what} too: {shown}{f' {more}' if more else ''}"


def total(doc: Document) -> str:
    """The last line of the summary."""
    stats = doc["statistics"]
    said = [f"{stats[name]} {name}" for name in ("modified", "added", "deleted")]
    said += [f"{stats['renamed']} renamed"] if stats["renamed"] else []
    return f"Summary: {', '.join(said)}"


def statistics(doc: Document, columns: int) -> list[str]:
    """A line a file with its counts, as `git diff --stat` draws it, and the totals."""
    rows = [(_name(file), _counted(file), file) for file in doc["files"]]
    room = max(columns - _BESIDE_NAME, _SHORTEST_NAME)
    names = max((size for name, _, _ in rows if (size := width(name)) <= room), default=0)
    numbers = max((len(said) for _, said, _ in rows if said.isdigit()), default=0)
    largest = max(((file["added"] or 0) + (file["deleted"] or 0) for _, _, file in rows), default=0)
    lines = [*heading(doc), ""]
    for named, said, file in rows:
        name = named
        bar = _bar(file, largest)
        if width(name) > names:  # a line of its own
            lines.append(f" {name}")
            name = ""
        gap = " " * (names - width(name))
        lines.append(f" {name}{gap} | {said:>{numbers}} {bar}".rstrip())
        lines += [f"     note: {safe(remark['text'])}" for remark in file["remarks"]]
    stats = doc["statistics"]
    lines += [
        f" {safe(one['path'])} | does not merge onto the new base" for one in doc["conflicts"]
    ]
    lines.append(
        f" {counted(stats['files'], 'file')} changed,"
        f" {counted(stats['insertions'], 'insertion')}(+),"
        f" {counted(stats['deletions'], 'deletion')}(-)"
    )
    return [*_wrapped(lines, columns)]


def _counted(file: Document) -> str:
    if file["added"] is None:
        return "binary" if file["binary"] else "too large"
    return str(file["added"] + file["deleted"])


def _bar(file: Document, largest: int) -> str:
    """Plus and minus signs; a file that changed has at least one of each kind that it has."""
    added, deleted = file["added"] or 0, file["deleted"] or 0
    if largest <= _BAR:
        return "+" * added + "-" * deleted
    return "+" * _scaled(added, largest) + "-" * _scaled(deleted, largest)


def _scaled(number: int, largest: int) -> int:
    return max(number * _BAR // largest, 1) if number else 0


def _name(file: Document) -> str:
    if file["old_path"] is not None:
        return f"{safe(file['old_path'])} → {safe(file['path'])}"
    return safe(file["path"])


def _policy(doc: Document) -> Iterator[str]:
    for file in doc["policy"]:
        yield f"  {file['status']}: {_name(file)}"
        yield from (f"  {line}" for line in _about(file))


def _section(title: str, files: Sequence[Document], more: int) -> Iterator[str]:
    if not files:
        yield f"{title}: (none)"
        return
    for file in files:
        yield f"{title}: {_name(file)}"
        yield from _about(file)
    if more:
        yield f"{title}: {counted(more, 'more file')}"


def _about(file: Document) -> Iterator[str]:
    """What is told of one file."""
    whole = file["status"] in ("added", "deleted")
    if whole and file["added"] is not None:
        lines = counted(file["added"] + file["deleted"], "line")
        yield f"  {safe(file['description'])} ({lines})" if file["description"] else f"  {lines}"
    for item in file["items"]:
        yield f"  {item['kind']} {safe(item['text'])} ({_lines(item)})"
    if file["more"]:
        yield f"  and {file['more']} more"
    elif not whole and not file["items"] and (file["added"] or file["deleted"]):
        yield f"  {counted(file['added'], 'line')} added, {file['deleted']} deleted"
    for remark in file["remarks"][:_REMARKS_SHOWN]:
        yield f"  note: {safe(remark['text'])}"
    if more := _more(len(file["remarks"]), _REMARKS_SHOWN):
        yield f"  {more}"
    yield from _comments(file["comments"], with_path=False)


def _lines(item: Document) -> str:
    first, last = item["first"], item["last"]
    said = f"line {first}" if first == last else f"line {first}-{last}"
    return f"{said} before" if item["kind"] == "-" else said


def _comments(said: Sequence[Document], *, with_path: bool) -> Iterator[str]:
    for one in said[:_COMMENTS_SHOWN]:
        place = f"{safe(one['now']['path'])}, " if with_path else ""
        yield f"  > {comment(one, place)}"
    if more := _more(len(said), _COMMENTS_SHOWN):
        yield f"  > {more}"


def comment(one: Document, place: str = "") -> str:
    """A comment of an earlier round, and what became of its line."""
    now = one["now"]
    where = became(one["line"], now["state"], now["line"])
    return f"{safe(one['by'])} on iteration {one['iteration']}, {place}{where}: {safe(one['text'])}"


def became(line: int, state: str, now: int | None) -> str:
    """What became of a commented line; line 0 is the whole file."""
    if not line:
        return "the file is gone" if state == Fate.GONE else "the file"
    if state == Fate.GONE:
        return f"line {line}, the line is gone"
    return f"line {line}, moved to line {now}" if state == Fate.MOVED else f"line {line}"


def _conflicts(found: Sequence[Document]) -> Iterator[str]:
    yield "Where the old work does not merge onto the new base (the two patches are compared):"
    for one in found:
        how = (
            "its patch changed" if one["differs"] else "the same lines are changed, on another base"
        )
        yield f"  {safe(one['path'])}: {how}"


def _unseen(found: Sequence[Document]) -> Iterator[str]:
    for one in found:
        paths = one["paths"]
        shown = ", ".join(safe(path) for path in paths[:_PATHS_SHOWN])
        more = _more(len(paths), _PATHS_SHOWN)
        yield f"  note: {_ABOUT[one['about']]}: {shown}{f' {more}' if more else ''}"


def _more(total: int, shown: int) -> str:
    return f"and {total - shown} more" if total > shown else ""
