"""The limits of the policy, and those of the document itself."""

from __future__ import annotations

from execplan.execution.command.pattern import begins, forbids
from execplan.execution.evaluation.after import inside
from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.evaluation.commands import lines
from execplan.execution.evaluation.trial import targets
from execplan.execution.model import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.execution.evaluation.trial import Trial

_MB = 1 << 20
_WHERE = "under [execution] in your own settings (execplan explain policy)"
_DEFAULT_TIMEOUT = Step.model_fields["timeout_s"].default
"""Seconds of a step that sets none; nobody chose it, so the limit of the run cuts it without a word."""


@check("limits")
def limits(case: Case) -> Iterator[Finding]:
    """Steps, files, megabytes and seconds stay within the limits, and nothing is done that the document forbids."""
    constraints, policy = case.document.constraints, case.policy
    changes = [change for trial in case.trials for change in trial.changes]
    files = {path for step in case.document.steps for path in inside([*targets(step), *step.outputs])}
    size = sum([len(change.after or b"") for change in changes])
    seconds = min(policy.seconds, constraints.max_duration_s or policy.seconds)
    for what, count, setting, most in (
        ("steps", len(case.document.steps), "steps", policy.steps),
        ("files", len(files), "files", policy.files),
        ("megabytes to write", -(-size // _MB), "megabytes", policy.megabytes),
    ):
        if count > most:
            hint = f"split the plan, or set {setting} = {count} {_WHERE}"
            yield Finding(ERROR, f"{count:,} {what}, and the limit of the policy is {most:,}", hint)
    longest = 0
    for trial in case.trials:
        step = trial.step
        longest += step.timeout_s * (1 + step.on_failure.max_retries) if step.command is not None else 0
        if step.timeout_s != _DEFAULT_TIMEOUT and step.timeout_s > (constraints.max_duration_s or step.timeout_s):
            message = (
                f"its timeout is {step.timeout_s:,} seconds, and the plan allows a run {constraints.max_duration_s:,}"
            )
            yield Finding(ERROR, message, "give it a shorter timeout, or raise max-duration in the plan", step)
        elif step.timeout_s != _DEFAULT_TIMEOUT and step.timeout_s > seconds:
            message = f"its timeout is {step.timeout_s:,} seconds, and the run stops after {seconds:,}"
            yield Finding(
                WARNING, message, f"give it a shorter timeout, or set seconds = {step.timeout_s} {_WHERE}", step
            )
        yield from _forbidden(trial, constraints.forbidden_paths, constraints.forbidden_commands)
    if longest > seconds:
        yield Finding(WARNING, f"together the steps may take {longest:,} seconds: the run ends after {seconds:,}")
    if constraints.allow_unplanned and case.document.mode == "agent":
        message = "an agent may ask for calls that no step plans; a person is asked about each"
        yield Finding(WARNING, message, "remove allow_unplanned if the agent must keep to the steps")
    elif constraints.allow_unplanned:
        message = "allow_unplanned is set, and execplan itself runs nothing that is not a step"
        yield Finding(ERROR, message, "remove it, or set the mode to agent")


def _forbidden(trial: Trial, paths: Sequence[str], commands: Sequence[str]) -> Iterator[Finding]:
    """What the document itself forbids."""
    from execplan.execution.command.parse import parse

    step = trial.step
    for path in [*trial.targets, *inside(step.outputs)]:
        for pattern in paths:
            if forbids(path, pattern):
                yield Finding(ERROR, f"{path} is forbidden by {pattern!r}", "take it out of the step", step)
    for line in lines(step):
        for simple in parse(line.text).simple:
            for pattern in commands:
                if begins(simple.argv, pattern):
                    said = f"{' '.join(simple.argv)} is forbidden by {pattern!r}"
                    yield Finding(ERROR, said, "take it out of the step", step)
