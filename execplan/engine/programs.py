"""The programs of a run's steps: compared with those that were approved, as far as the run's own steps have not changed them."""

from __future__ import annotations

from execplan.errors import CHANGED, ExecplanError
from execplan.execution.binding import sanitize_program
from execplan.execution.programs import describe_changed_programs, resolve_programs, resolve_step_programs
from execplan.execution.world import Program
from execplan.repo.execution.world import Disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from execplan.engine.course import RunState
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step
    from execplan.repo.home import Home

WARNING = "another program than at the approval: {}"


def programs_json(found: Mapping[str, Program] | None) -> dict[str, Any]:
    """Programs as an entry holds them."""
    return {name: list(each) for name, each in (found or {}).items()}


def other_programs(home: Home, course: RunState, steps: Iterable[Step]) -> list[str]:
    """Which names of these steps lead to other programs than the run has left them, or than were approved; a line each."""
    found: dict[str, Program] = {}
    for step in steps:
        resolve_step_programs(step, Disk(home), found)
    now = {name: sanitize_program(each) for name, each in found.items()}
    return describe_changed_programs(
        course.programs, {name: now[name] for name in now if now[name] != course.approved.get(name)}
    )


def made_programs(bench: RunContext, course: RunState) -> dict[str, Any]:
    """What an entry says of the programs that have changed while a step ran: a step may build or install some."""
    if not course.programs:
        return {}
    now = {name: sanitize_program(each) for name, each in resolve_programs(bench.document, Disk(bench.home)).items()}
    made = {name: each for name, each in now.items() if course.programs.get(name, each) != each}
    return {"programs": programs_json(made)} if made else {}


def stop_other_programs(lines: list[str], what: str, way: str) -> None:
    """Refuse where programs are not those that were approved; `way`: how the run goes on behind an approval. Raises ExecplanError."""
    if lines:
        raise ExecplanError(
            "program-changed",
            f"{what}: {lines[0]}" + (f", and {len(lines) - 1} more" if len(lines) > 1 else ""),
            exit=CHANGED,
            hint=f"set PATH, or the file, as it was; or approve what is found now, then go on: {way}",
            candidates=lines,
        )
