"""Advice to an agent whose step failed: what its policy says, and the next step or commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import named_alternative
from execplan.execution.engine.error_hints import format_replan_command
from execplan.execution.engine.recovery.failure_recovery import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, choose_recovery
from execplan.execution.engine.run_questions import ALLOWED_ANSWERS

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.execution.engine.journal.journal_entries import AttemptResult
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import Step


class RecoveryAdvice(NamedTuple):
    """The recovery from a failed step: its kind, an explanation, and the next step or commands."""

    kind: str
    """One of retry, skip, alternative, replan, ask or fail."""
    words: str
    step: str = ""
    """ID of the step that is next; empty if there is none."""
    commands: tuple[str, ...] = ()


def recovery_advice(
    ref: PlanRef, run_paths: RunPaths, step: Step, performed: AttemptResult, tries: int
) -> RecoveryAdvice:
    """Return the recovery from a failed attempt, the last of `tries` since a person last had the step run."""
    policy_recovery = choose_recovery(step, performed, tries)
    name = step.id
    replan = format_replan_command(run_paths.number, ref.shell_name)
    if policy_recovery.kind == RETRY:
        remaining = 1 + step.on_failure.max_retries - tries
        times = "once more" if remaining == 1 else f"{remaining} more times"
        pause = f", after a pause of {policy_recovery.seconds:g} s" if policy_recovery.seconds else ""
        return RecoveryAdvice(RETRY, f"step {name} can be tried {times}{pause}", name)
    if policy_recovery.kind == SKIP:
        return RecoveryAdvice(SKIP, f"step {name} is skipped, and the run continues")
    if policy_recovery.kind == ALTERNATIVE:
        alternative_step = named_alternative(step.on_failure.strategy)
        return RecoveryAdvice(
            ALTERNATIVE, f"step {alternative_step} replaces step {name} and is next", alternative_step
        )
    if policy_recovery.kind == ASK:
        resume = f"execplan resume {run_paths.number} -p {ref.shell_name}"
        commands = tuple([f"{resume} --answer {answer}" for answer in ALLOWED_ANSWERS[ASK]])
        return RecoveryAdvice(ASK, "a person must decide how to continue", commands=commands)
    message = "edit the steps in the plan, then replan; a person approves the revision if it has new steps"
    if policy_recovery.kind == REPLAN:
        return RecoveryAdvice(REPLAN, f"step {name} must be replanned: {message}", commands=(replan,))
    return RecoveryAdvice("fail", f"the run has failed: {message}", commands=(replan,))
