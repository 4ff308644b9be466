"""The text of a patch as Codex has it: files added, deleted, moved, or changed in places without line numbers."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, EDIT, WRITE, Edit
from execplan.agents.guard.taking import NotUnderstoodError, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Hunk = tuple[tuple[str, ...], tuple[str, ...]]

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_LAST = "*** End of File"


def edits(patch: str) -> tuple[Edit, ...]:
    """What becomes of each file; raises NotUnderstoodError for what could be read in two ways."""
    lines = patch.strip("\n").split("\n")
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END or _BEGIN in lines[1:] or _END in lines[:-1]:
        raise NotUnderstoodError("it is no patch")
    found: list[Edit] = []
    at, last = 1, len(lines) - 1
    while at < last:
        end = at + 1
        while end < last and not lines[end].startswith((_ADD, _UPDATE, _DELETE)):
            end += 1
        found += _file(lines[at], lines[at + 1 : end])
        at = end
    return tuple(found)


def _file(header: str, body: Sequence[str]) -> list[Edit]:
    for mark, made in ((_ADD, _added), (_UPDATE, _updated), (_DELETE, _deleted)):
        if header.startswith(mark):
            return made(path({"the path of a patch": header[len(mark) :]}, "the path of a patch"), body)
    raise NotUnderstoodError("a line of the patch belongs to no file")


def _added(name: str, body: Sequence[str]) -> list[Edit]:
    if not all([line.startswith("+") for line in body]):
        raise NotUnderstoodError("a line of a new file does not begin with +")
    return [Edit(name, WRITE, content="".join([f"{line[1:]}\n" for line in body]))]


def _deleted(name: str, body: Sequence[str]) -> list[Edit]:
    if body:
        raise NotUnderstoodError("something stands behind a file to be deleted")
    return [Edit(name, DELETE)]


def _updated(name: str, body: Sequence[str]) -> list[Edit]:
    moves = bool(body) and body[0].startswith(_MOVE)
    hunks = _hunks(body[moves:])
    if moves:
        to = path({"the path of a patch": body[0][len(_MOVE) :]}, "the path of a patch")
        return [Edit(name, DELETE), Edit(to, WRITE)]  # what it holds then is not told
    if not hunks:
        raise NotUnderstoodError("a file is to be changed, and no place is")
    return [Edit(name, EDIT, hunks=tuple(hunks))]


def _hunks(body: Sequence[str]) -> list[Hunk]:
    """The places, each with its old and its new lines."""
    found: list[tuple[list[str], list[str]]] = []
    for number, line in enumerate(body):
        if line.startswith("@@"):
            if line.rstrip() != "@@":  # which may stand there twice
                raise NotUnderstoodError("a place is named by a line above it: give it by its own lines")
            found.append(([], []))
        elif line != _LAST:
            found = found or [([], [])]
            _take(line, *found[-1])
        elif body[number + 1 : number + 2] and not body[number + 1].startswith("@@"):
            raise NotUnderstoodError("something stands behind the end of a file")
    if not all([old for old, _ in found]):
        raise NotUnderstoodError("lines are to be added, and the patch does not say where")
    return [(tuple(old), tuple(new)) for old, new in found]


def _take(line: str, old: list[str], new: list[str]) -> None:
    """Put a line to the old ones, the new ones, or both; an empty one is one of both."""
    if line[:1] not in ("", " ", "-", "+"):
        raise NotUnderstoodError("a line of the patch is neither old nor new")
    if line[:1] != "+":
        old.append(line[1:])
    if line[:1] != "-":
        new.append(line[1:])
