"""Denials by the plan itself, whatever else it allows: `deny` of any step, and the plan's constraints."""

from __future__ import annotations

from execplan.agents.guard import tool_call
from execplan.execution.shell import call_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.agents.guard.call_file_changes import FileChange
    from execplan.agents.guard.guard_context import GuardScope, PlannedStep
    from execplan.agents.guard.tool_call import ToolCall

_GIT_VALUE_OPTIONS = frozenset(
    "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source".split()
)
_WRITING_KINDS = (tool_call.WRITE, tool_call.EDIT)
"""Kinds of calls that change a file's content: a pattern that denies one kind denies both."""


def hidden_character_reason(call: ToolCall) -> str:
    """Describe an invisible character in a call; empty if there is none."""
    from execplan.core.text.invisible_characters import describe_characters, find_hidden, may_have_hidden

    for text in (call.tool, call.cwd, call.command):
        if not may_have_hidden(text):
            continue
        for line in text.split("\n"):
            for start, end in find_hidden(line):
                return f"it contains an invisible character, {describe_characters(line[start:end])}"
            if any(["\ud800" <= char <= "\udfff" for char in line]):
                return "it contains half of a surrogate pair, which is not a character"
    return ""


def file_denial_reason(
    file_changes: Sequence[FileChange], planned_steps: Sequence[PlannedStep], scope: GuardScope
) -> str:
    """Return why files may not be changed; empty if they may."""
    for file_change in file_changes:
        protection = scope.protected(file_change.path)
        if protection:
            return f"{file_change.path} is {protection}"
        for pattern in scope.constraints.get("forbidden_paths") or ():
            if call_patterns.matches_path_ignoring_case(file_change.path, pattern):
                return f"the plan forbids {pattern}, which matches {file_change.path}"
    return _step_denial_reason(
        planned_steps,
        lambda kind, pattern: any([_matches_change(file_change, kind, pattern) for file_change in file_changes]),
    )


def command_denial_reason(
    argvs: Sequence[tuple[str, ...]], planned_steps: Sequence[PlannedStep], scope: GuardScope
) -> str:
    """Return why commands may not run, by their arguments; empty if they may."""
    git_argvs = [_without_git_options(argv) for argv in argvs if argv[0].rpartition("/")[2] == "git"]

    def is_begun(kind: str, pattern: str) -> bool:
        return kind == call_patterns.COMMAND and any(
            [call_patterns.matches_command_prefix(argv, pattern) for argv in (*argvs, *git_argvs)]
        )

    for pattern in scope.constraints.get("forbidden_commands") or ():
        if is_begun(call_patterns.COMMAND, pattern):
            return f"the plan forbids `{pattern}`"
    return _step_denial_reason(planned_steps, is_begun)


def _without_git_options(argv: Sequence[str]) -> tuple[str, ...]:
    """Remove the options before the subcommand of a git command."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _GIT_VALUE_OPTIONS else 1
    return (argv[0], *argv[at:])


def tool_denial_reason(name: str, planned_steps: Sequence[PlannedStep]) -> str:
    """Return why a tool may not be used; empty if it may."""
    return _step_denial_reason(
        planned_steps, lambda kind, pattern: kind == call_patterns.TOOL and call_patterns.matches_tool(name, pattern)
    )


def _step_denial_reason(planned_steps: Sequence[PlannedStep], matches: Callable[[str, str], bool]) -> str:
    for step, pattern in _iter_denials(planned_steps):
        if matches(*call_patterns.split_pattern(pattern)):
            return f"step {step} denies `{pattern}`"
    return ""


def _iter_denials(planned_steps: Sequence[PlannedStep]) -> Iterator[tuple[str, str]]:
    for planned_step in planned_steps:
        for pattern in planned_step.step.get("deny") or ():
            yield planned_step.step["id"], pattern


def _matches_change(file_change: FileChange, kind: str, pattern: str) -> bool:
    is_same_kind = file_change.kind == kind or (file_change.kind in _WRITING_KINDS and kind in _WRITING_KINDS)
    return is_same_kind and call_patterns.matches_path_ignoring_case(file_change.path, pattern)
