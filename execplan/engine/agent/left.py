"""What a step of an agent has left that was in hand when its run ended, or was taken back."""

from __future__ import annotations

from execplan.engine.agent import changes
from execplan.engine.agent.judge import irreversible_effects
from execplan.engine.entries import AttemptResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.course import Attempt, RunState
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step


def interrupted_result(context: RunContext, step: Step, attempt: Attempt, run_state: RunState, *, keep: bool) -> AttemptResult:
    """How it ended, as far as anybody can see; raises ExecplanError."""
    observed_changes = changes.observe(context, step, attempt.before, run_state, keep=keep)
    why = "nobody has said what became of it"
    outside = irreversible_effects(context, step, observed_changes)
    return AttemptResult(False, "interrupted", why, changes=observed_changes.changes, folders=observed_changes.folders, outside=outside)
