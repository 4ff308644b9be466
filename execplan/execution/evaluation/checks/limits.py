"""The limits of the policy, and those of the document itself."""

from __future__ import annotations

from execplan.execution.command.pattern import begins, forbids
from execplan.execution.evaluation.after import inside
from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.evaluation.commands import lines
from execplan.execution.evaluation.trial import targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.execution.evaluation.trial import Trial

_MB = 1 << 20
_SHORTEN = "make two plans of it"
_WHERE = "or raise it in your own settings: execplan explain policy"


@check("limits")
def limits(case: Case) -> Iterator[Finding]:
    """Steps, files, megabytes and seconds stay within the limits, and nothing is done that the document forbids."""
    constraints, policy = case.document.constraints, case.policy
    changes = [change for trial in case.trials for change in trial.changes]
    files = {path for step in case.document.steps for path in inside([*targets(step), *step.outputs])}
    size = sum([len(change.after or b"") for change in changes])
    seconds = min(policy.seconds, constraints.max_duration_s or policy.seconds)
    for what, count, most in (
        ("steps", len(case.document.steps), min(policy.steps, constraints.max_steps)),
        ("files", len(files), policy.files),
        ("megabytes to write", -(-size // _MB), policy.megabytes),
    ):
        if count > most:
            yield Finding(ERROR, f"{count:,} {what}, and the limit is {most:,}", f"{_SHORTEN}, {_WHERE}")
    longest = 0
    for trial in case.trials:
        step = trial.step
        longest += step.timeout_s * (1 + step.on_failure.max_retries) if step.command is not None else 0
        if step.timeout_s > seconds:
            said = f"it may take {step.timeout_s:,} seconds, and the whole run may take {seconds:,}"
            yield Finding(ERROR, said, f"give it a shorter timeout, {_WHERE}", step)
        yield from _forbidden(trial, constraints.forbidden_paths, constraints.forbidden_commands)
    if longest > seconds:
        yield Finding(WARNING, f"together the steps may take {longest:,} seconds: the run ends after {seconds:,}")
    if constraints.allow_unplanned:
        said = "allow_unplanned is set, and nothing runs that does not stand in an approved plan"
        yield Finding(ERROR, said, "take it out")


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
