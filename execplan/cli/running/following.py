"""What makes sense after a run, by how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.running.phrases import command
from execplan.engine import entries
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.cli.running.one import Run
    from execplan.engine.course import Question


def after(run: Run) -> tuple[str, ...]:
    """Commands that make sense now."""
    name, course = run.name, run.course
    if run.summary.state == "archived":
        return (f"execplan audit {name}",)
    resume, back = command("resume", run.place.id, name), command("rollback", run.place.id, name)
    if run.summary.rolling:
        return (back,)
    if is_unapproved(course.status, course.question):
        return f"execplan evaluate {name}", f"execplan approve {name}", resume
    if course.question is not None and course.question.why == entries.UNKNOWN:
        return tuple([command("resume", run.place.id, name, "--answer", each) for each in (entries.GO, entries.AGAIN)])
    if course.is_agent_run and course.status == states.IN_PROGRESS and course.question is None:
        return f"execplan handoff {name}", back
    if course.status == states.COMPLETED:
        return f"execplan audit {name}", f"execplan show {name}"
    if course.status == states.ROLLED_BACK:
        return _see(run), f"execplan edit {name}", f"execplan evaluate {name}"
    if course.status == states.FAILED:
        replan = command("replan", run.place.id, name, "--reason", "What was found out")
        return _see(run), resume, back, replan
    return resume, back


def is_unapproved(status: str, question: Question | None) -> bool:
    """Whether a run has a revision that somebody has to approve before it can be resumed."""
    return status == states.REPLANNING and (question is None or question.why != entries.COVERED)


def but_show(run: Run) -> tuple[str, ...]:
    """The same for who sees the run already."""
    return tuple([each for each in after(run) if each != _see(run)])


def _see(run: Run) -> str:
    return f"execplan show {run.name} --run {run.place.id}"
