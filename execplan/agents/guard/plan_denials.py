"""What plans themselves decide: denials of steps and constraints, and the plan files that an agent may always write."""

from __future__ import annotations

import os
import stat

from execplan.agents.guard import tool_call
from execplan.agents.guard.protected_paths import possible_real_paths
from execplan.agents.guard.tool_call import EDIT, WRITE
from execplan.core.project.project_discovery import with_directories
from execplan.core.project.project_settings import SETTINGS_FILE, is_plan_name
from execplan.core.text.pure_paths import is_inside
from execplan.execution.shell import call_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.agents.guard.call_file_changes import CallFileChange
    from execplan.agents.guard.guard_context import GuardScope, PlannedStep
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.project.project import Project

_GIT_VALUE_OPTIONS = frozenset(
    "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source".split()
)
_WRITING_KINDS = (tool_call.WRITE, tool_call.EDIT)
"""Kinds of calls that change a file's content: a pattern that denies one kind denies both."""


def edits_only_plans(call: ToolCall, project: Project) -> bool:
    """Check whether a call writes or edits plans outside the archive, and nothing else."""
    members = with_directories(project)
    return bool(call.edits) and all(
        [
            edit.kind in (WRITE, EDIT) and any([_is_open_plan(member, call.cwd, edit.path) for member in members])
            for edit in call.edits
        ]
    )


def _is_open_plan(project: Project, cwd: str, path: str) -> bool:
    """Check whether a path can only be the file of a plan, existing or new, that has no other name."""
    real_paths = possible_real_paths(cwd, path)
    plans = os.path.realpath(project.plans)
    if len(real_paths) != 1 or not is_inside(plans, os.path.realpath(project.root)):
        return False
    folder, name = os.path.split(real_paths[0])
    if real_paths[0] in [os.path.join(os.path.realpath(project.base), file) for file in project.settings.files]:
        has_plan_path = True
    elif project.is_flat:
        has_plan_path = folder == plans and is_plan_name(name)
    else:
        has_plan_path = real_paths[0] == project.plan_file(plans, os.path.basename(folder))
    try:
        status = os.lstat(real_paths[0])
    except FileNotFoundError:
        return has_plan_path
    except OSError:
        return False
    return has_plan_path and stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def is_plan_path(project: Project, path: str) -> bool:
    """Check whether a path from the root belongs to plans: a plan, archived or not, or one of their artifacts."""
    return any([_is_in_plans_directory(member, path) for member in with_directories(project)])


def _is_in_plans_directory(project: Project, path: str) -> bool:
    plans = os.path.relpath(project.plans, project.root)
    folder, name = os.path.split(path)
    if project.is_flat and folder == plans and is_plan_name(name):
        return True
    if os.path.join(project.root, path) in project.files:
        return True
    return any([is_inside(folder, directory) for directory in _plan_directories(project)])


def _plan_directories(project: Project) -> Iterator[str]:
    """Yield the directories, from the root, whose content all belongs to plans."""
    artifact_directories = [project.artifacts_dir("", archived=archived) for archived in (False, True)]
    directories = [*project.archives, *(artifact_directories if project.is_flat else ())]
    relative_paths = [os.path.relpath(directory.partition("/{")[0], project.root) for directory in directories]
    settings = [os.path.join(project.base, SETTINGS_FILE), os.path.join(project.base, project.settings.templates)]
    settings_paths = [os.path.relpath(path, project.root) for path in settings]
    for directory in dict.fromkeys(relative_paths):
        if directory != "." and not any([is_inside(path, directory) for path in settings_paths]):
            yield directory
    if not project.is_flat:
        plans = os.path.relpath(project.plans, project.root)
        yield from [os.path.join(plans, name) for name in _subdirectories(project.plans)]


def _subdirectories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


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
    file_changes: Sequence[CallFileChange], planned_steps: Sequence[PlannedStep], scope: GuardScope
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


def _matches_change(file_change: CallFileChange, kind: str, pattern: str) -> bool:
    is_same_kind = file_change.kind == kind or (file_change.kind in _WRITING_KINDS and kind in _WRITING_KINDS)
    return is_same_kind and call_patterns.matches_path_ignoring_case(file_change.path, pattern)
