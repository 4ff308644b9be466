"""What a step of an agent has left that was in hand when its run ended, or was taken back."""

from __future__ import annotations

from execplan.engine.agent import changes
from execplan.engine.agent.judge import beyond
from execplan.engine.entries import Performed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.course import Attempt, Course
    from execplan.engine.steps.bench import Bench
    from execplan.execution.model import Step


def left(bench: Bench, step: Step, attempt: Attempt, course: Course, *, keep: bool) -> Performed:
    """How it ended, as far as anybody can see; raises ExecplanError."""
    seen = changes.look(bench, step, attempt.before, course, keep=keep)
    why = "nobody has said what became of it"
    outside = beyond(bench, step, seen)
    return Performed(False, "interrupted", why, changes=seen.changes, folders=seen.folders, outside=outside)
