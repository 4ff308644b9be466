"""Comparison of the programs of a run's steps with the approved ones, except where the run's own steps changed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import CONFLICT, ExecplanError
from execplan.core.text.message_parts import format_excess
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.binding import sanitize_program
from execplan.execution.program_lookup import describe_changed_programs, resolve_programs, resolve_step_programs
from execplan.execution.world import Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from execplan.core.project.project import Project
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

WARNING = "a different program than at the approval: {}"


def programs_json(program_map: Mapping[str, Program] | None) -> dict[str, Any]:
    """Convert programs to the JSON form of a journal entry."""
    return {name: list(program) for name, program in (program_map or {}).items()}


def list_changed_programs(project: Project, run_state: RunState, steps: Iterable[Step]) -> list[str]:
    """List the programs of these steps that differ from the approved ones and from how the run left them."""
    resolved: dict[str, Program] = {}
    for step in steps:
        resolve_step_programs(step, DiskWorld(project), resolved)
    current = {name: sanitize_program(program) for name, program in resolved.items()}
    return describe_changed_programs(
        run_state.programs,
        {name: current[name] for name in current if current[name] != run_state.approved_programs.get(name)},
    )


def changed_program_fields(context: RunContext, run_state: RunState) -> dict[str, Any]:
    """Return the entry fields for programs that changed while a step ran: a step may build or install some."""
    if not run_state.programs:
        return {}
    current = {
        name: sanitize_program(program)
        for name, program in resolve_programs(context.document, DiskWorld(context.project)).items()
    }
    changed = {name: program for name, program in current.items() if run_state.programs.get(name, program) != program}
    return {"programs": programs_json(changed)} if changed else {}


def ensure_programs_unchanged(differences: list[str], message: str, commands: str) -> None:
    """Raise ExecplanError if programs differ from the approved ones.

    `commands` are shown in the hint: they continue the run after a new approval.
    """
    if differences:
        raise ExecplanError(
            "program-changed",
            f"{message}: {differences[0]}{format_excess(len(differences), 1, ', ')}",
            exit=CONFLICT,
            hint=f"restore PATH or the file; or approve the current programs, then continue: {commands}",
            candidates=differences,
        )
