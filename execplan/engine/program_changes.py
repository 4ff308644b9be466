"""The programs of a run's steps: compared with those that were approved, as far as the run's own steps have not changed them."""

from __future__ import annotations

from execplan.approvals.disk_world import DiskWorld
from execplan.errors import CONFLICT, ExecplanError
from execplan.execution.binding import sanitize_program
from execplan.execution.program_lookup import describe_changed_programs, resolve_programs, resolve_step_programs
from execplan.execution.world import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from execplan.engine.run_state import RunState
    from execplan.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step
    from execplan.project.project import Project

WARNING = "another program than at the approval: {}"


def programs_json(program_map: Mapping[str, Program] | None) -> dict[str, Any]:
    """Programs as an entry holds them."""
    return {name: list(program) for name, program in (program_map or {}).items()}


def list_changed_programs(project: Project, run_state: RunState, steps: Iterable[Step]) -> list[str]:
    """Which names of these steps lead to other programs than the run has left them, or than were approved; a line each."""
    resolved: dict[str, Program] = {}
    for step in steps:
        resolve_step_programs(step, DiskWorld(project), resolved)
    current = {name: sanitize_program(program) for name, program in resolved.items()}
    return describe_changed_programs(
        run_state.programs,
        {name: current[name] for name in current if current[name] != run_state.approved_programs.get(name)},
    )


def changed_program_fields(context: RunContext, run_state: RunState) -> dict[str, Any]:
    """What an entry says of the programs that have changed while a step ran: a step may build or install some."""
    if not run_state.programs:
        return {}
    current = {
        name: sanitize_program(program)
        for name, program in resolve_programs(context.document, DiskWorld(context.project)).items()
    }
    changed = {name: program for name, program in current.items() if run_state.programs.get(name, program) != program}
    return {"programs": programs_json(changed)} if changed else {}


def ensure_programs_unchanged(differences: list[str], message: str, commands: str) -> None:
    """Refuse where programs are not those that were approved; `commands`: how the run goes on behind an approval. Raises ExecplanError."""
    if differences:
        raise ExecplanError(
            "program-changed",
            f"{message}: {differences[0]}" + (f", and {len(differences) - 1} more" if len(differences) > 1 else ""),
            exit=CONFLICT,
            hint=f"set PATH, or the file, as it was; or approve what is found now, then go on: {commands}",
            candidates=differences,
        )
