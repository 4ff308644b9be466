"""Whether an edit of a pyproject.toml leaves the table `tool.execplan` as it is."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE
from execplan.errors import ExecplanError
from execplan.repo import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.agents.guard.call import Edit


def has_table(path: str) -> bool:
    """Whether a file has that table; one that can't be read may have."""
    return _table(_now(path)) != {}


def changes(path: str, edit: Edit) -> bool:
    """Whether the table would be another one; where that can't be told, it would."""
    old = _now(path)
    if old is None and edit.kind != WRITE:
        return True
    new = _after(old or b"", edit)
    before, after = _table(old), _table(new)
    return before is None or after is None or before != after


def _now(path: str) -> bytes | None:
    try:
        return settings.read(path) or b""
    except ExecplanError:
        return None


def _after(old: bytes, edit: Edit) -> bytes | None:
    """The bytes that an edit leaves; None where that is not clear."""
    if edit.kind == DELETE:
        return b""
    if edit.content is not None:
        return edit.content.encode("utf-8", "surrogateescape")
    text = old.decode("utf-8", "surrogateescape")
    for before, after, everywhere in edit.swaps:
        if not before or before not in text:
            return None
        text = text.replace(before, after) if everywhere else text.replace(before, after, 1)
    for gone, come in edit.hunks:
        before, after = "\n".join(gone), "\n".join(come)
        if not gone or text.count(before) != 1:
            return None
        text = text.replace(before, after)
    return text.encode("utf-8", "surrogateescape")


def _table(data: bytes | None) -> dict[str, object] | None:
    """The table, empty where there is none; None for what can't be read."""
    if data is None:
        return None
    if b"execplan" not in data:
        return {}
    from execplan.repo.toml import table

    try:
        return table(data, settings.PYPROJECT, "tool", "execplan") or {}
    except ExecplanError:
        return None
