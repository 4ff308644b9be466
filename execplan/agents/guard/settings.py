"""Whether an edit of a pyproject.toml leaves the table `tool.execplan` as it is."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE
from execplan.agents.guard.content import may_remove_line_end
from execplan.errors import ExecplanError
from execplan.repo import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.agents.guard.call import FileEdit


def has_execplan_table(path: str) -> bool:
    """Whether a file has that table; one that can't be read may have."""
    return _parse_table(_read_settings(path)) != {}


def changes_execplan_table(path: str, edit: FileEdit) -> bool:
    """Whether the table would be another one; where that can't be told, it would."""
    old = _read_settings(path)
    if old is None and edit.kind != WRITE:
        return True
    new = _edit_settings(old or b"", edit)
    before, after = _parse_table(old), _parse_table(new)
    return before is None or after is None or before != after


def _read_settings(path: str) -> bytes | None:
    try:
        return settings.read_settings_file(path) or b""
    except ExecplanError:
        return None


def _edit_settings(old: bytes, edit: FileEdit) -> bytes | None:
    """The bytes that an edit leaves; None where that is not clear."""
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
    """The table, empty where there is none; None for what can't be read."""
    if data is None:
        return None
    if b"execplan" not in data:
        return {}
    from execplan.repo.toml import parse_table

    try:
        return parse_table(data, settings.PYPROJECT_FILE, "tool", "execplan") or {}
    except ExecplanError:
        return None
