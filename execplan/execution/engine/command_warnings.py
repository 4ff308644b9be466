"""Warnings shown before commands run: at the approval, and again before the run begins."""

from __future__ import annotations

from collections.abc import Iterable

from execplan.core.errors import ExecplanError
from execplan.core.project.project import Project
from execplan.execution.execution_plan import Step
from execplan.execution.policy import Policy


def command_warnings(project: Project, policy: Policy, steps: Iterable[Step]) -> list[str]:
    """Return warnings about the commands of these steps, or an empty list if none of them runs a command.

    They are about a missing sandbox, and about a repository with more files than a rollback can restore.
    """
    from execplan.execution.engine.commands.command_sandbox import find_sandbox
    from execplan.execution.engine.steps.step_paths import runs_program
    from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
    from execplan.execution.engine.workspace.workspace_walk import BYTES, FILES, WorkspaceWalker

    if not any([runs_program(step) for step in steps]):
        return []
    warnings = []
    try:
        sandbox, reason = find_sandbox(project, policy)
    except ExecplanError as error:
        warnings.append(f"the run will stop immediately: {error.message}; {error.hint}")
    else:
        if sandbox is None and policy.sandbox != "off":
            warnings.append(f"commands run without a sandbox: {reason}")
    if not WorkspaceWalker(project, WorkspaceFiles(project)).collect_unignored(FILES, BYTES):
        limit = f"{FILES:,} files or {BYTES >> 20} MB"
        warnings.append(
            f"the repository has more than {limit}; a rollback restores only the paths that commands declare"
        )
    return warnings
