"""Check that the output of known test runners can match what steps expect of it."""

from __future__ import annotations

from collections.abc import Iterator
from re import Pattern
from typing import NamedTuple

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.evaluation.checks.check_registry import WARNING, CheckContext, EvaluationFinding, check


class _Summary(NamedTuple):
    """What a test runner prints at the end."""

    runner: Pattern[str]
    """The command."""
    about: Pattern[str]
    """An expected line that is about the summary."""
    fits: Pattern[str]
    """What such a line must be to match."""
    reason: str
    fix: str


_NEVER = lazy_pattern(r"(?!)")
_SUMMARIES = (
    _Summary(
        lazy_pattern(r"(?:^|[ /])(?:pytest|py\.test)(?= (?:.* )?-q)"),
        lazy_pattern(r"\d+ (?:passed|failed|skipped|errors?)\b"),
        lazy_pattern(r"…$"),
        "pytest prints the time after it",
        "write: 12 passed in …",
    ),
    _Summary(
        lazy_pattern(r"(?:^|[ /])(?:pytest|py\.test)(?! (?:.* )?-q)"),
        lazy_pattern(r"\d+ (?:passed|failed|skipped|errors?)\b"),
        lazy_pattern(r"^[…=].*…$"),
        "pytest without -q prints it between lines of =, with the time",
        "write: … 12 passed in …",
    ),
    _Summary(
        lazy_pattern(r"(?:^|[ /])cargo test\b"),
        lazy_pattern(r"^test result:"),
        lazy_pattern(r"…$"),
        "cargo test prints counts and the time after it",
        "write: test result: ok. …",
    ),
    _Summary(
        lazy_pattern(r"(?:^|[ /])go test\b"),
        lazy_pattern(r"^ok\s"),
        lazy_pattern(r"…$"),
        "go test prints the time after it",
        "write: ok  …",
    ),
    _Summary(
        lazy_pattern(r"(?:^|[ /])jest\b"),
        lazy_pattern(r"^(?:Tests|Test Suites|Snapshots):"),
        _NEVER,
        "Jest prints it to standard error, and standard output is compared",
        "remove it: the exit status is checked",
    ),
    _Summary(
        lazy_pattern(r" -m unittest\b"),
        lazy_pattern(r"^(?:OK|Ran \d+)"),
        _NEVER,
        "unittest prints it to standard error, and standard output is compared",
        "remove it: the exit status is checked",
    ),
)


@check("expectation")
def expectation(context: CheckContext) -> Iterator[EvaluationFinding]:
    """The output of known test runners can match what steps expect of it."""
    for trial in context.trials:
        step = trial.step
        if step.expect is None or step.command is None or step.inferred:
            continue
        for summary in _SUMMARIES:
            if summary.runner.search(step.command):
                for line in step.expect.split("\n"):
                    if summary.about.search(line) and not summary.fits.search(line):
                        yield EvaluationFinding(WARNING, f"{line!r} can't match: {summary.reason}", summary.fix, step)
