"""Comparison of the file changes of a call with those of a step; a call may make only some of the step's changes."""

from __future__ import annotations

import os
from os.path import normpath

from execplan.agents.guard.path_resolution import read_regular_file
from execplan.agents.guard.tool_call import EXACT_MATCH, StepComparison
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution.attributes import REPLACE, TRANSFERS
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.evaluation.patch import FilePatch, Hunk, is_partially_applied
from execplan.execution.evaluation.unified_diff import replacement_lines, split_lines
from execplan.execution.world import ABSENT, FILE, LINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.call_file_changes import CallFileChange
    from execplan.agents.guard.guard_context import GuardScope
    from execplan.execution.world import State

    FileCheck = Callable[[Mapping[str, Any], CallFileChange, GuardScope], str]

CREATE = "create_file"


def compare(file_changes: Sequence[CallFileChange], step: Mapping[str, Any], scope: GuardScope) -> StepComparison:
    """Compare the changed files of a call, at least one, with a step that writes files."""
    step_paths = [normpath(path) for path in written_paths({**step, "outputs": None})]
    other_paths = [file_change.path for file_change in file_changes if file_change.path not in step_paths]
    if other_paths:
        names = {path.rpartition("/")[2].casefold() for path in step_paths}
        similarity = 30 * any([path.rpartition("/")[2].casefold() in names for path in other_paths])
        return StepComparison(
            f"the call changes {other_paths[0]}, but the step changes {', '.join(step_paths[:3])}", similarity
        )
    for file_change in file_changes:
        try:
            reason = file_change.problem or _CHECKS[step["type"]](step, file_change, scope)
        except ValueError as error:
            reason = str(error)
        except ExecplanError as error:
            reason = error.message
        if reason:
            return StepComparison(reason, 80)
    return EXACT_MATCH


def check_create(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Return why a file change is not that of a step which creates the file, or an empty string."""
    content = (step.get("content") or "").encode("utf-8", "surrogateescape")
    if file_change.new_data is None:
        return f"the call deletes {file_change.path}, which the step creates"
    if file_change.new_data != content:
        return explain_difference(file_change.path, file_change.new_data, content)
    if (
        file_change.current_data is not None
        and file_change.current_data != content
        and not _is_expected(step, file_change, scope)
    ):
        return f"{file_change.path} already exists, and not in the approved state"
    return ""


def check_delete(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Return why a file change is not that of a step which deletes the file, or an empty string."""
    if file_change.new_data is not None:
        return f"the call writes {file_change.path}, which the step deletes"
    return "" if _is_expected(step, file_change, scope) else f"{file_change.path} is not in the approved state"


def _check_modify(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    old_data = data_before_step(step, file_change, file_change.path, scope)
    if step.get("patch") is not None:
        from execplan.execution.evaluation.patch import parse_patch

        (change,) = parse_patch(step["patch"], step["target"])
        return _check_hunks(file_change, old_data, change)
    first, last = step.get("lines") or (0, 0)
    lines = split_lines(old_data)
    if not 1 <= first <= last <= len(lines):
        return f"{file_change.path} has {len(lines)} lines"
    new = replacement_lines(lines, first, last, step.get("content") or "")
    new_lines = tuple(split_lines(new.encode("utf-8", "surrogateescape")))
    return _check_hunks(
        file_change, old_data, FilePatch(None, None, (Hunk("", first - 1, tuple(lines[first - 1 : last]), new_lines),))
    )


def _check_refactor(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Check a file change against a patch of several files; for a moved file, either path counts."""
    from execplan.execution.evaluation.patch import apply_patch, parse_patch

    for change in parse_patch(step["patch"]):
        source, target = [None if name is None else normpath(name) for name in (change.source, change.target)]
        if source != target and file_change.path == source:
            if file_change.new_data is None:
                return check_delete(step, file_change, scope)
            return f"the call writes {source}, which the step removes"
        if file_change.path != target:
            continue
        if source is None:
            return check_create(
                {**step, "content": apply_patch(b"", change).decode("utf-8", "surrogateescape")}, file_change, scope
            )
        old_data = data_before_step(step, file_change, source, scope)
        if (
            source != target
            and file_change.current_data is not None
            and not is_partially_applied(old_data, file_change.current_data, change.hunks)
        ):
            return f"{target} already exists"
        return _check_hunks(file_change, old_data, change)
    return f"the call changes {file_change.path}, which the step doesn't change"


def _check_found_file(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> str:
    """Check a file change against a step that replaces text, copies or moves; most plans have none."""
    from execplan.core import features
    from execplan.execution import rare_features

    reason: str = features.load(rare_features.FOUND_FILE_COMPARISON)(step, file_change, scope)
    return reason


_CHECKS: Mapping[str, FileCheck] = {
    CREATE: check_create,
    "delete_file": check_delete,
    "modify_file": _check_modify,
    "refactor_code": _check_refactor,
    **dict.fromkeys((REPLACE, *TRANSFERS), _check_found_file),
}


def _check_hunks(file_change: CallFileChange, old_data: bytes, change: FilePatch) -> str:
    """Check whether a file is in a state that applying some of the hunks produces, one call after another."""
    from execplan.execution.evaluation.patch import adapt_line_ends

    if file_change.new_data is None:
        return f"the call deletes {file_change.path}, which the step changes"
    hunks = adapt_line_ends(split_lines(old_data), change)
    if is_partially_applied(old_data, file_change.new_data, hunks):
        return ""
    lines, at = split_lines(old_data), 0
    planned_lines: list[str] = []
    for hunk in hunks:
        planned_lines += [*lines[at : hunk.start], *hunk.new]
        at = hunk.start + len(hunk.old)
    planned = "".join([*planned_lines, *lines[at:]]).encode("utf-8", "surrogateescape")
    return f"{explain_difference(file_change.path, file_change.new_data, planned)} (change each hunk of the diff completely, in one edit)"


def explain_difference(path: str, call_data: bytes, planned_data: bytes) -> str:
    """Describe how the content written by a call differs from the planned content."""
    pairs = zip([*split_lines(call_data), ""], [*split_lines(planned_data), ""], strict=False)
    line = next((number for number, (call_line, planned_line) in enumerate(pairs, 1) if call_line != planned_line), 0)
    if planned_data == call_data + b"\n":
        return f"{path} would differ from the plan: the final newline is missing"
    if call_data.rstrip(b"\n") == planned_data.rstrip(b"\n"):
        return f"{path} would differ from the plan: it ends with {_count_final_newlines(call_data)} newlines, not {_count_final_newlines(planned_data)}"
    if call_data.replace(b"\r\n", b"\n") == planned_data.replace(b"\r\n", b"\n"):
        ending = "CRLF" if b"\r\n" in call_data else "LF"
        return f"{path} would differ from the plan: line {line} ends with {ending}"
    if line:
        return f"{path} would differ from the plan: line {line} is different"
    return f"{path} would differ from the plan"


def _count_final_newlines(data: bytes) -> int:
    return len(data) - len(data.rstrip(b"\n"))


def expected_state(step: Mapping[str, Any], path: str, scope: GuardScope) -> State | None:
    """Return the expected state of a path, which may be stored under the spelling of the step."""
    state = scope.expected.get(path)
    names = [name for name in written_paths({**step, "outputs": None}) if normpath(name) == path]
    return state or next((scope.expected[name] for name in names if name in scope.expected), None)


def _is_expected(step: Mapping[str, Any], file_change: CallFileChange, scope: GuardScope) -> bool:
    """Check whether the current file is as the run left it or as it was approved, or as it was before a failed attempt."""
    states = (expected_state(step, file_change.path, scope), scope.before_work.get(file_change.path))
    return any([state is not None and _is_in_state(file_change, state, scope) for state in states])


def _is_in_state(file_change: CallFileChange, state: State, scope: GuardScope) -> bool:
    if state.kind == LINK:
        try:
            return os.readlink(os.path.join(scope.root, file_change.path)) == state.link
        except OSError:
            return False
    if file_change.current_data is None:
        return state.kind == ABSENT
    return state.kind == FILE and _has_digest(file_change.current_data, state)


def data_before_step(step: Mapping[str, Any], file_change: CallFileChange, path: str, scope: GuardScope) -> bytes:
    """Return the content of a file before the step's first attempt. Raises ValueError if it is unknown or not approved."""
    state = scope.before_work.get(path) or expected_state(step, path, scope)
    if state is None or state.kind != FILE:
        raise ValueError(f"the content of {path} is not approved")
    current_data = file_change.current_data if file_change.path == path else read_regular_file(path, scope.root)
    if current_data is not None and _has_digest(current_data, state):
        return current_data
    stored_data = scope.read_content(path, state)
    if stored_data is None or not _has_digest(stored_data, state):
        raise ValueError(f"the content of {path} before the step is no longer known")
    return stored_data


def _has_digest(data: bytes, state: State) -> bool:
    return digest(data) == state.sha256
