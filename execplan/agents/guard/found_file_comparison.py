"""Comparison of a call's change of a file with those of a step that finds its files: a replacement, a copy or a move."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import normpath
from typing import Any

from execplan.agents.guard.call_file_changes import CallFileChange
from execplan.agents.guard.file_comparison import (
    check_create,
    check_delete,
    data_before_step,
    expected_state,
    explain_difference,
)
from execplan.agents.guard.guard_context import GuardScope
from execplan.execution.attributes import MOVE
from execplan.execution.documents.written_paths import new_path
from execplan.execution.evaluation import text_replacement
from execplan.execution.execution_plan import Replacement
from execplan.execution.world import LINK


def compare_found_file(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Return why a file change is not one of the step, or an empty string. Raises ExecplanError, ValueError."""
    check = _check_replace if step["replacement"] is not None else _check_transfer
    return check(step, file_change, scope)


def _check_replace(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Check a file change against the replacement of a text; a call may replace only some of its places."""
    if file_change.new_data is None:
        return f"the call deletes {file_change.path}, which the step changes"
    old = text_replacement.decode(data_before_step(step, file_change, file_change.path, scope))
    new = text_replacement.decode(file_change.new_data)
    if old is None or new is None or not new.is_utf8 or old[1:] != new[1:]:
        return f"{file_change.path} would have other line ends or another encoding than planned"
    (matches,) = text_replacement.search(Replacement.model_validate(step["replacement"]), [old.text])
    if text_replacement.is_partially_replaced(old.text, new.text, matches):
        return ""
    planned = old.encode(text_replacement.replace_matches(old.text, matches))
    return explain_difference(file_change.path, file_change.new_data, planned)


def _check_transfer(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Check a file change against a copy or a move: a new file has the bytes of the old one, which a move removes."""
    if file_change.path in [normpath(path) for path in step["files"]]:
        is_move = step["type"] == MOVE
        return check_delete(step, file_change, scope) if is_move else f"the step only copies {file_change.path}"
    origin = next(
        path for path in step["files"] if normpath(new_path(path, step["from"], step["target"])) == file_change.path
    )
    if _is_link(step, origin, scope):
        return f"{origin} is a link: copy or move it with a command that the step allows"
    data = data_before_step(step, file_change, origin, scope)
    return check_create({**step, "content": data.decode("utf-8", "surrogateescape")}, file_change, scope)


def _is_link(step: Mapping[str, Any], path: str, scope: GuardScope) -> bool:
    state = expected_state(step, path, scope)
    return state is not None and state.kind == LINK
