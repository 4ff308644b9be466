"""The text of a patch as Codex has it: files added, deleted, moved, or changed in places without line numbers."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, EDIT, WRITE, FileEdit
from execplan.agents.guard.taking import NotUnderstoodError, required_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Hunk = tuple[tuple[str, ...], tuple[str, ...]]

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_END_OF_FILE = "*** End of File"
_MARKS = (_ADD, _UPDATE, _DELETE, _MOVE, _END_OF_FILE, _END, "@@")


def parse_patch(patch: str) -> tuple[FileEdit, ...]:
    """What becomes of each file; raises NotUnderstoodError for what could be read in two ways."""
    if "\r" in patch:
        raise NotUnderstoodError("a line of the patch has a carriage return, which may be taken for a part of its end")
    lines = patch.strip("\n").split("\n")
    if any([line != line.strip() and line.strip().startswith(_MARKS) for line in lines]):
        raise NotUnderstoodError("a line of the patch may be a mark or not: there is white space around it")
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END or _BEGIN in lines[1:] or _END in lines[:-1]:
        raise NotUnderstoodError("it is no patch")
    edits: list[FileEdit] = []
    index, end_index = 1, len(lines) - 1
    while index < end_index:
        end = index + 1
        while end < end_index and not lines[end].startswith((_ADD, _UPDATE, _DELETE)):
            end += 1
        edits += _parse_file(lines[index], lines[index + 1 : end])
        index = end
    return tuple(edits)


def _parse_file(header: str, body: Sequence[str]) -> list[FileEdit]:
    for mark, parse in ((_ADD, _parse_added), (_UPDATE, _parse_updated), (_DELETE, _parse_deleted)):
        if header.startswith(mark):
            return parse(required_path({"the path of a patch": header[len(mark) :]}, "the path of a patch"), body)
    raise NotUnderstoodError("a line of the patch belongs to no file")


def _parse_added(name: str, body: Sequence[str]) -> list[FileEdit]:
    if not all([line.startswith("+") for line in body]):
        raise NotUnderstoodError("a line of a new file does not begin with +")
    return [FileEdit(name, WRITE, content="".join([f"{line[1:]}\n" for line in body]))]


def _parse_deleted(name: str, body: Sequence[str]) -> list[FileEdit]:
    if body:
        raise NotUnderstoodError("something stands behind a file to be deleted")
    return [FileEdit(name, DELETE)]


def _parse_updated(name: str, body: Sequence[str]) -> list[FileEdit]:
    is_move = bool(body) and body[0].startswith(_MOVE)
    hunks = _parse_hunks(body[is_move:])
    is_at_end = _END_OF_FILE in body
    if is_at_end and body[-1] != _END_OF_FILE:
        raise NotUnderstoodError("something stands behind the end of a file")
    if body[is_move : is_move + 1] and not body[is_move].strip():
        raise NotUnderstoodError("a place begins with an empty line, which may count or not")
    if is_move:
        target = required_path({"the path of a patch": body[0][len(_MOVE) :]}, "the path of a patch")
        return [FileEdit(name, DELETE), FileEdit(target, WRITE)]  # what it holds then is not told
    if not hunks:
        raise NotUnderstoodError("a file is to be changed, and no place is")
    return [FileEdit(name, EDIT, hunks=tuple(hunks), is_at_end=is_at_end)]


def _parse_hunks(body: Sequence[str]) -> list[Hunk]:
    """The places, each with its old and its new lines."""
    hunks: list[tuple[list[str], list[str]]] = []
    for line in body:
        if line.startswith("@@"):
            if line != "@@":  # which may stand there twice
                raise NotUnderstoodError("a place is named by a line above it: give it by its own lines")
            hunks.append(([], []))
        elif line != _END_OF_FILE:
            hunks = hunks or [([], [])]
            _add_line(line, *hunks[-1])
    if not all([old for old, _ in hunks]):
        raise NotUnderstoodError("lines are to be added, and the patch does not say where")
    return [(tuple(old), tuple(new)) for old, new in hunks]


def _add_line(line: str, old: list[str], new: list[str]) -> None:
    """Put a line to the old ones, the new ones, or both; an empty one is one of both."""
    if line[:1] not in ("", " ", "-", "+"):
        raise NotUnderstoodError("a line of the patch is neither old nor new")
    if line[:1] != "+":
        old.append(line[1:])
    if line[:1] != "-":
        new.append(line[1:])
