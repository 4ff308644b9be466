"""Checks after a step: its outputs exist, it printed what is expected, written files parse, and its test passes."""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import shorten
from execplan.execution.engine.journal.journal_entries import Checks
from execplan.execution.engine.steps.command_execution import run_program
from execplan.execution.engine.steps.step_paths import is_command, program_marks_path
from execplan.execution.evaluation.checks.syntax_check import syntax_problem
from execplan.execution.world import ABSENT, FILE, OUTSIDE, normalize_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.commands.launcher import CommandResult
    from execplan.execution.engine.steps.command_execution import ActionResult
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step


_WILDCARD = "…"
_NEWLINE = "\n"
_LONGEST = 60


def find_difference(expected: str, printed: str) -> str:
    """Describe the first expected line that is missing in the printed text, or return an empty string.

    The expected lines must be printed as whole lines and in this order; there may be others before, between and after
    them. Each `…` matches any text, including line ends. Each part between two of them is searched only once, after the
    previous part, so that no text takes long.
    """
    printed, offset = "\n" + printed.rstrip("\r\n") + "\n", 0
    for number, line in enumerate(expected.rstrip("\r\n").split("\n"), 1):
        start = offset
        for segment in f"\n{line}\n".split(_WILDCARD) if line != _WILDCARD else ():
            position = printed.find(segment, offset)
            if position < 0:
                place = f" from line {printed.count(_NEWLINE, 0, start) + 1} on" if start else ""
                return f"line {number} of the expected output, {_short(line)}, is not in the output{place}"
            offset = position + len(segment)
        offset -= offset > start  # the next line shares the line end
    return ""


def find_missing_line(expected: str, printed: Sequence[str]) -> str:
    """Return the first line of the output quoted in prose that none of the printed texts contains, or an empty string.

    Text may be printed before and after the line, and also within its line. Runs of white space count as one: prose
    leaves out what does not matter.
    """
    printed_lines = [f" {' '.join(line.split())} " for text in printed for line in text.splitlines()]
    for line in expected.split("\n"):
        expected_line = " ".join(line.split())
        if expected_line != _WILDCARD and not any(
            [f" {expected_line} " in printed_line for printed_line in printed_lines]
        ):
            return expected_line
    return ""


def _short(line: str) -> str:
    return repr(shorten(line, _LONGEST))


PASSED, FAILED = "passed", "failed"
EXPECTATION, SYNTAX, TEST = "expectation", "syntax", "test"


class CheckResult(NamedTuple):
    """The result of the checks after a step."""

    cause: str = ""
    reason: str = ""
    test: CommandResult | None = None

    @property
    def checks(self) -> Checks:
        """The checks in the form of a result entry; the checks before the step have passed."""
        tests = int(self.test is not None)
        return Checks(PASSED, FAILED if self.cause else PASSED, tests, 0 if self.cause else tests)


def check_step(
    context: RunContext, step: Step, attempt: int, action_result: ActionResult, transcript: Transcript | None
) -> CheckResult:
    """Check a step whose action succeeded, and return the first problem. Without a transcript, its test is not run."""
    for cause, problem in (
        (EXPECTATION, _check_outputs(context, step)),
        (EXPECTATION, _check_printed(context, step, action_result.ended)),
    ):
        if problem:
            return CheckResult(cause, problem)
    problem = _check_syntax(context, step, action_result)
    if problem or transcript is None:
        return CheckResult(SYNTAX, problem) if problem else CheckResult()
    return _run_test(context, step, attempt, transcript)


def _check_outputs(context: RunContext, step: Step) -> str:
    """Describe which outputs are missing, or return an empty string."""
    paths = [(output, normalize_path(output)) for output in step.outputs]
    missing = [
        output for output, path in paths if path is None or context.workspace.state(path).kind in (ABSENT, OUTSIDE)
    ]
    return f"it did not create {', '.join(missing)}" if missing else ""


def _check_printed(context: RunContext, step: Step, ended: CommandResult | None) -> str:
    """Describe, without secrets, how the output differs from the expected output, or return an empty string."""
    if step.expect is None or ended is None:
        return ""
    if not ended.is_complete:
        return (
            ""
            if step.inferred
            else "its output is too long to be kept, so it can't be compared with the expected output"
        )
    printed = ended.stdout.decode("utf-8", "replace")
    if step.inferred:
        line = find_missing_line(step.expect, [printed, ended.output_tail.decode("utf-8", "replace")])
        return f"it did not print the line {line!r}, which the plan expects" if line else ""
    if not find_difference(step.expect, printed):
        return ""
    problem = find_difference(step.expect, context.redaction.redact_text(printed)) or "it contains a secret"
    return f"its output is not as expected: {problem}"


def _check_syntax(context: RunContext, step: Step, action_result: ActionResult) -> str:
    """Describe the first file that the step wrote and that does not parse, or return an empty string."""
    from execplan.execution.approvals.disk_world import DiskWorld

    if is_command(step) or not step.validation.syntax_check or SYNTAX in context.policy.off:
        return ""
    for change in action_result.changes:
        if change.after.kind == FILE:
            problem = syntax_problem(change.path, context.workspace.read(change.path), DiskWorld(context.project))
            if problem:
                return f"{change.path} does not parse as {problem}"
    return ""


def _run_test(context: RunContext, step: Step, attempt: int, transcript: Transcript) -> CheckResult:
    """Run the test of a step, if it has one."""
    argv = step.validation.test_after
    if argv is None:
        return CheckResult()
    transcript.command(join(argv))
    ended = run_program(
        context, step, argv, program_marks_path(context.run_paths, step, attempt, test=True), transcript
    )
    if ended.cause == "interrupted":
        return CheckResult(ended.cause, ended.reason, ended)
    if ended.cause:
        return CheckResult(TEST, f"its test {join(argv)} failed: {ended.reason}", ended)
    if ended.exit != 0:
        ending = f"exit status {ended.exit}" if ended.signal is None else f"signal {ended.signal}"
        return CheckResult(TEST, f"its test {join(argv)} failed: {ending}", ended)
    return CheckResult(test=ended)
