"""Check of the limits in the policy and in the document itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.evaluation.projected_files import normalize_paths
from execplan.execution.evaluation.trial import step_commands, target_paths
from execplan.execution.execution_plan import Step
from execplan.execution.shell.call_patterns import matches_command_prefix, matches_path_ignoring_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.execution.evaluation.trial import Trial

_MB = 1 << 20
_SETTINGS_HINT = "under [execution] in your own settings (execplan explain policy)"
_DEFAULT_TIMEOUT = Step.model_fields()["timeout_s"].default
"""Default timeout of a step in seconds; as it is not a choice, the limit of the run shortens it without a warning."""


@check("limits")
def limits(context: CheckContext) -> Iterator[Finding]:
    """Steps, files, megabytes and seconds are within the limits, and no step does what the document forbids."""
    constraints, policy = context.document.constraints, context.policy
    changes = [change for trial in context.trials for change in trial.changes]
    files = {path for step in context.document.steps for path in normalize_paths([*target_paths(step), *step.outputs])}
    size = sum([len(change.after or b"") for change in changes])
    max_seconds = min(policy.seconds, constraints.max_duration_s or policy.seconds)
    for label, count, setting, limit in (
        ("steps", len(context.document.steps), "steps", policy.steps),
        ("files", len(files), "files", policy.files),
        ("megabytes to write", -(-size // _MB), "megabytes", policy.megabytes),
    ):
        if count > limit:
            hint = f"split the plan, or set {setting} = {count} {_SETTINGS_HINT}"
            yield Finding(ERROR, f"{count:,} {label}; the policy's limit is {limit:,}", hint)
    total_seconds = 0
    for trial in context.trials:
        step = trial.step
        total_seconds += step.timeout_s * (1 + step.on_failure.max_retries) if step.command is not None else 0
        if step.timeout_s != _DEFAULT_TIMEOUT and step.timeout_s > (constraints.max_duration_s or step.timeout_s):
            message = f"its timeout is {step.timeout_s:,} seconds, but the plan limits a run to {constraints.max_duration_s:,}"
            yield Finding(ERROR, message, "shorten its timeout, or raise max-duration in the plan", step)
        elif step.timeout_s != _DEFAULT_TIMEOUT and step.timeout_s > max_seconds:
            message = f"its timeout is {step.timeout_s:,} seconds, but the run stops after {max_seconds:,}"
            yield Finding(
                WARNING, message, f"shorten its timeout, or set seconds = {step.timeout_s} {_SETTINGS_HINT}", step
            )
        yield from _check_forbidden(trial, constraints.forbidden_paths, constraints.forbidden_commands)
    if total_seconds > max_seconds:
        yield Finding(
            WARNING, f"the steps may take {total_seconds:,} seconds in total, but the run ends after {max_seconds:,}"
        )
    if constraints.allow_unplanned and context.document.mode == "agent":
        message = "an agent may make calls that are in no step; a person is asked about each"
        yield Finding(WARNING, message, "remove allow_unplanned to restrict the agent to the steps")
    elif constraints.allow_unplanned:
        message = "allow_unplanned is set, but execplan itself runs only steps"
        yield Finding(ERROR, message, "remove it, or set the mode to agent")


def _check_forbidden(trial: Trial, paths: Sequence[str], commands: Sequence[str]) -> Iterator[Finding]:
    """Yield uses of paths and commands that the document itself forbids."""
    from execplan.execution.shell.command_line import parse_command

    step = trial.step
    for path in [*trial.targets, *normalize_paths(step.outputs)]:
        for pattern in paths:
            if matches_path_ignoring_case(path, pattern):
                yield Finding(ERROR, f"{path} is forbidden by {pattern!r}", "remove it from the step", step)
    for line in step_commands(step):
        for simple in parse_command(line.text).simple_commands:
            for pattern in commands:
                if matches_command_prefix(simple.argv, pattern):
                    message = f"{' '.join(simple.argv)} is forbidden by {pattern!r}"
                    yield Finding(ERROR, message, "remove it from the step", step)
