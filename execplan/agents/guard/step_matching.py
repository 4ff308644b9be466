"""Matching of a call to planned steps; permission.py decides whether a step may run now."""

from __future__ import annotations

from os.path import normpath

from execplan.agents.guard import call_file_changes, command_comparison, compound_command, plan_denials, tool_call
from execplan.agents.guard.call_file_changes import compute_file_changes
from execplan.agents.guard.command_equivalence import unwrap_command
from execplan.agents.guard.tool_call import ALLOWED_EXTRA, EXACT_MATCH, FileEdit, StepComparison
from execplan.agents.guard.typed_command import parse_typed_command
from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import FILE_TYPES
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.shell import call_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.call_file_changes import CallFileChange
    from execplan.agents.guard.guard_context import GuardScope, PlannedStep
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.agents.guard.typed_command import TypedCommand

    Step = Mapping[str, Any]
    Compare = Callable[[Step], StepComparison]

_TOOL = "use_tool"
_MIN_SIMILARITY = 20
"""Minimum similarity, from 0 to 100, of a step that is named as the nearest one."""


class StepMatch(NamedTuple):
    """A step that a call belongs to."""

    step: str
    """ID of the step."""
    paths: tuple[str, ...]
    """Paths from the repository root that the call writes or deletes.

    For a step that writes files, the changes were compared byte for byte with the plan, so the current content need not
    be as expected. For a command, they are the step's declared outputs.
    """
    is_further: bool = False
    """Whether the step's `allow` permits the call in addition to the step's own calls.

    Such a call does not use up the step.
    """


class MatchResult(NamedTuple):
    """The steps that match a call, or the reason why none does."""

    matches: tuple[StepMatch, ...] = ()
    """Matching steps, in the order of their numbers."""
    denial_reason: str = ""
    """Reason why the call is denied whatever it matches, or empty."""
    nearest_step: str = ""
    """ID of the most similar step if none matches, or empty."""
    reason: str = ""
    """Reason why the call does not match that step."""


def match_call(
    call: ToolCall, planned_steps: Sequence[PlannedStep], scope: GuardScope, read_policy: str
) -> MatchResult:
    """Return the steps that a call may belong to, whether or not they may run now.

    `read_policy` is the policy for reading.
    """
    denial_reason = plan_denials.hidden_character_reason(call)
    if denial_reason:
        return MatchResult(denial_reason=denial_reason)
    if call.kind == tool_call.COMMAND:
        match_result = _match_command(call, planned_steps, scope)
        if not (match_result.matches or match_result.denial_reason or call.in_background):
            match_result = _match_core_command(call, match_result, planned_steps, scope, read_policy)
        if not (match_result.matches or match_result.denial_reason):
            return _match_shell_write(call.command, planned_steps) or match_result
        return match_result
    if call.kind in (tool_call.WRITE, tool_call.EDIT, tool_call.DELETE):
        return _match_files(call, planned_steps, scope)
    if call.kind == tool_call.TOOL:
        denial_reason = plan_denials.tool_denial_reason(call.tool, planned_steps)
        if denial_reason:
            return MatchResult(denial_reason=denial_reason)
        return _best_matches(planned_steps, lambda step: _compare_tool(call, step), ())
    return MatchResult(reason="it is not a call that a step can make")


def _match_shell_write(command: str, planned_steps: Sequence[PlannedStep]) -> MatchResult | None:
    """Return the step whose file a denied command seems to write, so that the denial says how to write it; None if there is none."""
    for planned_step in planned_steps:
        for path in written_paths({**planned_step.step, "outputs": None}):
            if any([f"{mark}{path}" in command for mark in (">", "> ", "tee ", "tee -a ")]):
                reason = f"write {path} with your program's tool for files, not in the shell"
                return MatchResult(nearest_step=planned_step.step["id"], reason=reason)
    return None


def _match_core_command(
    call: ToolCall, match_result: MatchResult, planned_steps: Sequence[PlannedStep], scope: GuardScope, read_policy: str
) -> MatchResult:
    """Match the core of a compound command; return the previous result, with a reason, if there is no core."""
    core_command = compound_command.extract_core_command(call, scope, read_policy)
    if not core_command.command:
        if core_command.reason and match_result.nearest_step:
            return match_result._replace(reason=f"{match_result.reason}; {core_command.reason}")
        return match_result
    return _match_command(call._replace(command=core_command.command), planned_steps, scope)


def _match_command(call: ToolCall, planned_steps: Sequence[PlannedStep], scope: GuardScope) -> MatchResult:
    typed_command = parse_typed_command(call.command, call.cwd)
    unwrapped_command = unwrap_command(typed_command, scope.root)
    file_changes = _removal_changes(unwrapped_command, scope)
    denial_reason = plan_denials.command_denial_reason(
        _all_argvs(typed_command), planned_steps, scope
    ) or plan_denials.file_denial_reason(file_changes, planned_steps, scope)
    if denial_reason:
        return MatchResult(denial_reason=denial_reason)
    if call.in_background:
        typed_command = typed_command._replace(
            argv=(), problem="the call runs in the background, so its result is unknown", text=""
        )
        unwrapped_command = typed_command

    def compare(step: Step) -> StepComparison:
        comparison = _compare_own_command(unwrapped_command, file_changes, step, scope)
        if comparison.reason and unwrapped_command is not typed_command:
            comparison = max(
                comparison,
                _compare_own_command(typed_command, file_changes, step, scope),
                key=lambda file_change: file_change.similarity,
            )
        if comparison.reason and any(
            [
                command_comparison.is_allowed_by_pattern(unwrapped_command, pattern, step, scope)
                for pattern in _allowed_patterns(step, call_patterns.COMMAND)
            ]
        ):
            return ALLOWED_EXTRA
        if (
            comparison.reason
            and file_changes
            and all([_is_change_allowed(file_change, step) for file_change in file_changes])
        ):
            return ALLOWED_EXTRA
        return comparison

    return _best_matches(planned_steps, compare, tuple([file_change.path for file_change in file_changes]))


def _compare_own_command(
    typed_command: TypedCommand, file_changes: tuple[CallFileChange, ...], step: Step, scope: GuardScope
) -> StepComparison:
    """Compare a command and its file changes with the effect of a step."""
    if step["type"] in FILE_TYPES:
        if file_changes:
            return _compare_files(file_changes, step, scope)
        return StepComparison(_describe_mismatch(step), 0)
    if step.get("command"):
        return command_comparison.compare(typed_command, step, scope)
    return StepComparison(_describe_mismatch(step), 0)


def _compare_files(file_changes: Sequence[CallFileChange], step: Step, scope: GuardScope) -> StepComparison:
    """Compare file changes with those of a step that writes files."""
    from execplan.agents.guard import file_comparison

    return file_comparison.compare(file_changes, step, scope)


def _all_argvs(typed_command: TypedCommand) -> list[tuple[str, ...]]:
    """Return the arguments of every command in the text, including those within other commands."""
    return [argv for argv in (typed_command.argv, *[simple.argv for simple in typed_command.simple]) if argv]


def _removal_changes(typed_command: TypedCommand, scope: GuardScope) -> tuple[CallFileChange, ...]:
    """Return the file changes of a command that only deletes or moves files."""
    move = call_file_changes.parse_move(typed_command)
    if move:
        edits = tuple([FileEdit(name, tool_call.DELETE) for name in move])
    else:
        edits = call_file_changes.parse_deletions(typed_command)
    file_changes = compute_file_changes(edits, typed_command.folder, scope.root)
    if move and len(file_changes.file_changes) == 2:
        return call_file_changes.move_changes(*file_changes.file_changes)
    return file_changes.file_changes if len(file_changes.file_changes) == len(edits) and not move else ()


def _match_files(call: ToolCall, planned_steps: Sequence[PlannedStep], scope: GuardScope) -> MatchResult:
    file_changes = compute_file_changes(call.edits, call.cwd, scope.root)
    denial_reason = file_changes.denial_reason or plan_denials.file_denial_reason(
        file_changes.file_changes, planned_steps, scope
    )
    if denial_reason or not file_changes.file_changes:
        return MatchResult(denial_reason=denial_reason or "it specifies no file")

    def compare(step: Step) -> StepComparison:
        is_writer = step["type"] in FILE_TYPES
        if is_writer:
            comparison = _compare_files(file_changes.file_changes, step, scope)
        else:
            comparison = StepComparison(_describe_mismatch(step), 0)
        if comparison.reason and all(
            [_is_change_allowed(file_change, step) for file_change in file_changes.file_changes]
        ):
            return ALLOWED_EXTRA
        return comparison

    return _best_matches(planned_steps, compare, tuple([file_change.path for file_change in file_changes.file_changes]))


def _is_change_allowed(file_change: CallFileChange, step: Step) -> bool:
    """Check whether a step's patterns allow a file change; permission to write a file includes editing it."""
    kind = {file_change.kind, tool_call.WRITE} if file_change.kind == tool_call.EDIT else {file_change.kind}
    return any(
        [
            call_patterns.matches_path(file_change.path, pattern)
            for name in kind
            for pattern in _allowed_patterns(step, name)
        ]
    )


def _allowed_patterns(step: Step, kind: str) -> list[str]:
    """Return the step's patterns for a kind of call, without the kind."""
    return [pattern for name, pattern in map(call_patterns.split_pattern, step.get("allow") or ()) if name == kind]


def _compare_tool(call: ToolCall, step: Step) -> StepComparison:
    """Compare the call of a tool with that of a step by name and arguments; the step's `allow` also counts."""
    comparison = _compare_own_tool(call, step)
    is_allowed = any(
        [call_patterns.matches_tool(call.tool, name) for name in _allowed_patterns(step, call_patterns.TOOL)]
    )
    return ALLOWED_EXTRA if comparison.reason and is_allowed else comparison


def _compare_own_tool(call: ToolCall, step: Step) -> StepComparison:
    """Compare the call of a tool with the step's own call."""
    if step["type"] != _TOOL:
        return StepComparison(_describe_mismatch(step), 0)
    name = step["tool"]
    if name not in (call.tool, call_patterns.dotted_tool_name(call.tool)) and name.partition(".")[2] != call.tool:
        return StepComparison(f"the call uses {call.tool}, not {name}", 20 * (name.rpartition(".")[2] in call.tool))
    if not _is_equal_json(call.arguments, step.get("parameters") or {}):
        return StepComparison(
            f"the parameters of {name} differ from the plan{_first_difference(call.arguments, step.get('parameters') or {})}",
            80,
        )
    return EXACT_MATCH


def _first_difference(call_arguments: Mapping[str, Any], planned_arguments: Mapping[str, Any]) -> str:
    names = [
        name
        for name in (*planned_arguments, *call_arguments)
        if name not in call_arguments or name not in planned_arguments
    ]
    names += [
        name
        for name in planned_arguments
        if name in call_arguments and not _is_equal_json(call_arguments[name], planned_arguments[name])
    ]
    return f": {names[0]}" if names else ""


def _is_equal_json(left: object, right: object) -> bool:
    """Check whether two values are the same JSON; `true` differs from 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all([_is_equal_json(left[name], right[name]) for name in left])
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all([_is_equal_json(*pair) for pair in zip(left, right, strict=True)])
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _best_matches(planned_steps: Sequence[PlannedStep], compare: Compare, paths: tuple[str, ...]) -> MatchResult:
    """Return the steps that match a call, or the most similar one."""
    comparisons = [
        (planned_step.step, compare(planned_step.step))
        for planned_step in sorted(planned_steps, key=lambda planned_step: planned_step.step["number"])
    ]
    matches = [
        StepMatch(step["id"], paths or _declared_outputs(step), comparison.is_further)
        for step, comparison in comparisons
        if not comparison.reason
    ]
    matches.sort(
        key=lambda planned_step: planned_step.is_further
    )  # a step that makes the call precedes steps that only allow it
    if matches:
        return MatchResult(tuple(matches))
    step, comparison = max(
        comparisons, key=lambda planned_step: planned_step[1].similarity, default=({}, StepComparison())
    )
    if comparison.similarity < _MIN_SIMILARITY:
        return MatchResult(reason="no step is similar")
    return MatchResult(nearest_step=step["id"], reason=comparison.reason)


def _declared_outputs(step: Step) -> tuple[str, ...]:
    return tuple([normpath(path) for path in step.get("outputs") or ()])


def _describe_mismatch(step: Step) -> str:
    """Describe a step that a call of another kind does not match."""
    names = written_paths({**step, "outputs": None})
    return f"{step['id']} {'writes ' + names[0] if names else 'is a different kind of step'}"
