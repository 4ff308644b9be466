"""Advice to an agent whose step failed: what its policy says, and the next step or commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine.recovery.failure_recovery import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, choose_recovery
from execplan.engine.run_questions import ALLOWED_ANSWERS
from execplan.execution.attributes import named_alternative
from execplan.named_tuple import NamedTuple

if TYPE_CHECKING:
    from execplan.engine.journal.journal_entries import AttemptResult
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import Step
    from execplan.plan_store.plan_store import PlanRef


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
    run_args, name = f"{run_paths.number} -p {ref.shell_name}", step.id
    replan = f"execplan replan {run_args} --reason 'What you found out'"
    resume, rollback = f"execplan resume {run_args}", f"execplan rollback {run_args}"
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
    if policy_recovery.kind == REPLAN:
        message = f"step {name} must be replanned; a person must approve the revision, unless all its steps were approved before"
        return RecoveryAdvice(REPLAN, message, commands=(replan,))
    if policy_recovery.kind == ASK:
        commands = tuple([f"{resume} --answer {answer}" for answer in ALLOWED_ANSWERS[ASK]])
        return RecoveryAdvice(ASK, "a person must decide how to continue", commands=commands)
    message = "the run has failed: a person must resume it or roll it back, or you replan it"
    return RecoveryAdvice("fail", message, commands=(resume, rollback, replan))
