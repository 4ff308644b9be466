"""Effects of a call on its files, computed from the call and the current files before anything is written."""

from __future__ import annotations

from execplan.agents.guard.path_resolution import read_regular_file, resolve_path
from execplan.agents.guard.tool_call import DELETE, WRITE, FileEdit
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import project_settings
from execplan.execution.shell.command_table import DELETIONS, MOVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.agents.guard.typed_command import TypedCommand


def has_execplan_table(path: str) -> bool:
    """Check whether a file has an `execplan` table; an unreadable file counts as having one."""
    return _parse_table(_read_settings(path)) != {}


def changes_execplan_table(path: str, edit: FileEdit) -> bool:
    """Check whether an edit changes the `execplan` table; if this is unclear, it does."""
    old = _read_settings(path)
    if old is None and edit.kind != WRITE:
        return True
    new = _edit_settings(old or b"", edit)
    before, after = _parse_table(old), _parse_table(new)
    return before is None or after is None or before != after


def _read_settings(path: str) -> bytes | None:
    try:
        return project_settings.read_settings_file(path) or b""
    except ExecplanError:
        return None


def _edit_settings(old: bytes, edit: FileEdit) -> bytes | None:
    """Return the file's bytes after an edit; None if they are unclear."""
    if edit.kind == DELETE:
        return b""
    if edit.content is not None:
        return edit.content.encode("utf-8", "surrogateescape")
    text = old.decode("utf-8", "surrogateescape")
    for old_text, new_text, replace_all in edit.replacements:
        if not old_text or old_text not in text or may_remove_line_end(text, old_text, new_text):
            return None
        text = text.replace(old_text, new_text) if replace_all else text.replace(old_text, new_text, 1)
    for old_lines, new_lines in edit.hunks:
        old_text, new_text = "\n".join(old_lines), "\n".join(new_lines)
        if not old_lines or text.count(old_text) != 1:
            return None
        text = text.replace(old_text, new_text)
    return text.encode("utf-8", "surrogateescape")


def _parse_table(data: bytes | None) -> dict[str, object] | None:
    """Return the `execplan` table, empty if there is none; None if the file can't be read."""
    if data is None:
        return None
    if b"execplan" not in data:
        return {}
    from execplan.core.project.project_settings import parse_table

    try:
        return parse_table(data, project_settings.PYPROJECT_FILE, "tool", "execplan") or {}
    except ExecplanError:
        return None


_PATHSPEC_CHARS = frozenset("*?[\\:")
"""Characters that make a path a pattern for git."""


def parse_deletions(typed_command: TypedCommand) -> tuple[FileEdit, ...]:
    """Return the files that a plain command deletes, if it does nothing else."""
    names = _path_operands(typed_command, DELETIONS)
    return tuple([FileEdit(name, DELETE) for name in names])


def parse_move(typed_command: TypedCommand) -> tuple[str, str] | None:
    """Return the source and target of a plain command that moves a file, if it does nothing else."""
    names = _path_operands(typed_command, MOVES)
    return (names[0], names[1]) if len(names) == 2 else None


def move_changes(source: CallFileChange, target: CallFileChange) -> tuple[CallFileChange, CallFileChange]:
    """Return the changes that a move makes to its source and target."""
    return source._replace(kind=DELETE, new_data=None), target._replace(kind=WRITE, new_data=source.current_data)


def _path_operands(typed_command: TypedCommand, commands: Sequence[tuple[tuple[str, ...], str]]) -> Sequence[str]:
    """Return the file operands of one of these commands, each with its flag; none if the command has anything else."""
    argv = typed_command.argv
    for words, flag in commands:
        if argv[: len(words)] != words or typed_command.assigned:
            continue
        operands = argv[len(words) :]
        operands = operands[1:] if flag and operands[:1] == (flag,) else operands
        operands = operands[1:] if operands[:1] == ("--",) else operands
        is_git = words[0] == "git"
        if any([name.startswith("-") or (is_git and not _PATHSPEC_CHARS.isdisjoint(name)) for name in operands]):
            return ()
        return operands
    return ()


class CallFileChange(NamedTuple):
    """The change that a call makes to one file."""

    path: str
    """Path from the repository root."""
    kind: str
    """WRITE, EDIT or DELETE; for several edits of a file, the kind of the last one."""
    current_data: bytes | None
    """Current content; None if the file does not exist, or for a link that is deleted."""
    new_data: bytes | None
    """Content after the call."""
    problem: str = ""
    """Reason why the content after the call is unknown, or empty."""


class FileChanges(NamedTuple):
    """The changes that a call makes to all of its files."""

    file_changes: tuple[CallFileChange, ...] = ()
    denial_reason: str = ""
    """Reason with a path why the call is denied, whatever the plan contains, or empty."""


def compute_file_changes(edits: Iterable[FileEdit], folder: str, root: str) -> FileChanges:
    """Compute the changes that a call makes to its files; each edit applies to the result of the previous ones."""
    changes_by_path: dict[str, CallFileChange] = {}
    for edit in edits:
        resolved_path = resolve_path(edit.path, folder, root, no_follow=edit.kind == DELETE)
        if resolved_path.denial_reason:
            return FileChanges(denial_reason=f"{edit.path!r}: {resolved_path.denial_reason}")
        path = resolved_path.path
        changes_by_path[path] = _next_change(
            edit, path, changes_by_path.get(path) or _current_file(path, root, edit.kind)
        )
    return FileChanges(tuple(changes_by_path.values()))


def _current_file(path: str, root: str, kind: str) -> CallFileChange:
    try:
        current_data = read_regular_file(path, root)
    except ValueError as error:
        return CallFileChange(path, kind, None, None, "" if kind == DELETE else str(error))
    return CallFileChange(path, kind, current_data, current_data)


def _next_change(edit: FileEdit, path: str, previous: CallFileChange) -> CallFileChange:
    if edit.kind == DELETE:
        return previous._replace(kind=DELETE, new_data=None)
    if edit.kind == WRITE and edit.content is not None:
        return previous._replace(kind=WRITE, new_data=edit.content.encode("utf-8", "surrogatepass"))
    try:
        return previous._replace(kind=edit.kind, new_data=_edit_data(previous.new_data, edit))
    except ValueError as error:
        return previous._replace(kind=edit.kind, problem=previous.problem or f"{path}: {error}")


def _edit_data(data: bytes | None, edit: FileEdit) -> bytes:
    """Apply an edit to the content of a file. Raises ValueError.

    In a file whose lines all end in CRLF, an LF in the call means CRLF, as agent programs interpret it.
    """
    if not edit.replacements and not edit.hunks:
        raise ValueError("the call doesn't state what it changes")
    from execplan.execution.evaluation.unified_diff import have_crlf_ends, split_lines

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
        raise ValueError("the text to be replaced was not found")
    if count > 1 and not replace_all:
        raise ValueError(f"the text to be replaced occurs {count} times")
    if may_remove_line_end(text, old, new):
        raise ValueError(
            "the removed text is at the end of a line, and some programs remove the line end too: include more text"
        )
    return text.replace(old, new) if old else new


def may_remove_line_end(text: str, old: str, new: str) -> bool:
    """Check whether some programs, such as Claude Code, also remove the line end after the removed text."""
    return bool(old) and not new and not old.endswith("\n") and f"{old}\n" in text


def _apply_hunks(text: str, edit: FileEdit, *, file_exists: bool) -> str:
    """Replace lines of a text, hunk by hunk. Raises ValueError if the old lines are missing or occur several times."""
    if not file_exists:
        raise ValueError("file not found")
    lines = text.removesuffix("\n").split("\n") if text else []
    position = 0
    for old, new in edit.hunks:
        stop = len(lines) - len(old) + 1
        indexes = [index for index in range(position, stop) if old and tuple(lines[index : index + len(old)]) == old]
        if len(indexes) != 1:
            raise ValueError(
                f"the lines to be replaced {f'occur {len(indexes)} times' if indexes else 'were not found'}"
            )
        lines[indexes[0] : indexes[0] + len(old)] = new
        position = indexes[0] + len(new)
    if edit.is_at_end and position != len(lines):
        raise ValueError("the lines to be replaced are not at the end of the file")
    if lines and not lines[-1]:
        raise ValueError("the file would end with an empty line, which some programs remove")
    return "".join([f"{line}\n" for line in lines])
