"""What a call makes of its files: read from the call and from what is there, before anything is written."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE
from execplan.agents.guard.paths import read_regular_file, resolve_path
from execplan.execution.evaluation.unified import have_crlf_ends, split_lines
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.agents.guard.call import FileEdit


class FileChange(NamedTuple):
    """What becomes of one file."""

    path: str
    """From the root."""
    kind: str
    """WRITE, EDIT or DELETE; of several edits of one file that of the last."""
    current_data: bytes | None
    """What is there; None: nothing, or a link that is deleted."""
    new_data: bytes | None
    """What will be there."""
    problem: str = ""
    """Why nobody can say what will be there, or nothing."""


class FileChanges(NamedTuple):
    """What becomes of all files of a call."""

    file_changes: tuple[FileChange, ...] = ()
    denial_reason: str = ""
    """Why the call is denied whatever is planned, with the path that it is about; or nothing."""


def compute_file_changes(edits: Iterable[FileEdit], folder: str, root: str) -> FileChanges:
    """What a call makes of its files, each edit on what those before it leave."""
    changes_by_path: dict[str, FileChange] = {}
    for edit in edits:
        resolved_path = resolve_path(edit.path, folder, root, no_follow=edit.kind == DELETE)
        if resolved_path.denial_reason:
            return FileChanges(denial_reason=f"{edit.path!r}: {resolved_path.denial_reason}")
        path = resolved_path.path
        changes_by_path[path] = _next_change(edit, path, changes_by_path.get(path) or _current_file(path, root, edit.kind))
    return FileChanges(tuple(changes_by_path.values()))


def _current_file(path: str, root: str, kind: str) -> FileChange:
    try:
        current_data = read_regular_file(path, root)
    except ValueError as error:
        return FileChange(path, kind, None, None, "" if kind == DELETE else str(error))
    return FileChange(path, kind, current_data, current_data)


def _next_change(edit: FileEdit, path: str, previous: FileChange) -> FileChange:
    if edit.kind == DELETE:
        return previous._replace(kind=DELETE, new_data=None)
    if edit.kind == WRITE and edit.content is not None:
        return previous._replace(kind=WRITE, new_data=edit.content.encode("utf-8", "surrogatepass"))
    try:
        return previous._replace(kind=edit.kind, new_data=_edit_data(previous.new_data, edit))
    except ValueError as error:
        return previous._replace(kind=edit.kind, problem=previous.problem or f"{path}: {error}")


def _edit_data(data: bytes | None, edit: FileEdit) -> bytes:
    """A file with some of its text replaced; raises ValueError.

    In a file whose lines all end in CRLF a LF of the call stands for CRLF, as programs of agents have it.
    """
    if not edit.replacements and not edit.hunks:
        raise ValueError("the call does not say what it changes")
    lines = split_lines(data or b"")
    call_texts = [swap_text for old, new, _ in edit.replacements for swap_text in (old, new)]
    call_texts += [line for old, new in edit.hunks for line in (*old, *new)]
    uses_crlf = have_crlf_ends(lines) and not any(["\r" in call_text for call_text in call_texts])
    text = "".join(lines).replace("\r\n", "\n") if uses_crlf else "".join(lines)
    for old, new, replace_all in edit.replacements:
        text = _replace_text(text, old, new, replace_all=replace_all, file_exists=data is not None)
    text = _apply_hunks(text, edit, file_exists=data is not None) if edit.hunks else text
    return (text.replace("\n", "\r\n") if uses_crlf else text).encode("utf-8", "surrogateescape")


def _replace_text(text: str, old: str, new: str, *, replace_all: bool, file_exists: bool) -> str:
    count = text.count(old) if old else int(not text)
    if not count or not (file_exists or not old):
        raise ValueError("the text to be replaced is not there")
    if count > 1 and not replace_all:
        raise ValueError(f"the text to be replaced stands in {count} places")
    if may_remove_line_end(text, old, new):
        raise ValueError(
            "the text taken out stands at the end of a line, which goes too in some programs: name more of it"
        )
    return text.replace(old, new) if old else new


def may_remove_line_end(text: str, old: str, new: str) -> bool:
    """Whether some programs take a line end out with what is taken out, as Claude Code does."""
    return bool(old) and not new and not old.endswith("\n") and f"{old}\n" in text


def _apply_hunks(text: str, edit: FileEdit, *, file_exists: bool) -> str:
    """A text with lines replaced, place after place; lines that stand at several places are refused."""
    if not file_exists:
        raise ValueError("there is no such file")
    lines = text.removesuffix("\n").split("\n") if text else []
    position = 0
    for old, new in edit.hunks:
        stop = len(lines) - len(old) + 1
        indexes = [index for index in range(position, stop) if old and tuple(lines[index : index + len(old)]) == old]
        if len(indexes) != 1:
            raise ValueError(
                f"the lines to be replaced {f'stand at {len(indexes)} places' if indexes else 'are not there'}"
            )
        lines[indexes[0] : indexes[0] + len(old)] = new
        position = indexes[0] + len(new)
    if edit.is_at_end and position != len(lines):
        raise ValueError("the lines to be replaced are not at the end")
    if lines and not lines[-1]:
        raise ValueError("the file would end in an empty line, which not every program leaves there")
    return "".join([f"{line}\n" for line in lines])
