"""Behind a step: what it should have made is there, it printed what it should, what it wrote parses, and its test passes."""

from __future__ import annotations

from shlex import join

from execplan.engine.entries import Checks
from execplan.engine.steps.execute import run_program
from execplan.engine.steps.expect import find_difference, find_missing_line
from execplan.engine.steps.named import is_command, program_marks_path
from execplan.execution.evaluation.checks.syntax import syntax_problem
from execplan.execution.world import ABSENT, FILE, OUTSIDE, normalize_path
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.launch import CommandResult
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.steps.acted import ActionResult
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step

PASSED, FAILED = "passed", "failed"
EXPECTATION, SYNTAX, TEST = "expectation", "syntax", "test"


class CheckResult(NamedTuple):
    """What the checks behind a step came to."""

    cause: str = ""
    reason: str = ""
    test: CommandResult | None = None

    @property
    def checks(self) -> Checks:
        """As a result tells them; that of what was there before has passed."""
        tests = int(self.test is not None)
        return Checks(PASSED, FAILED if self.cause else PASSED, tests, 0 if self.cause else tests)


def check_step(context: RunContext, step: Step, attempt: int, action_result: ActionResult, transcript: Transcript | None) -> CheckResult:
    """Check a step whose work was done; the first thing that is wrong. Without a transcript its test is not run."""
    for cause, problem in ((EXPECTATION, _check_outputs(context, step)), (EXPECTATION, _check_printed(context, step, action_result.ended))):
        if problem:
            return CheckResult(cause, problem)
    problem = _check_syntax(context, step, action_result)
    if problem or transcript is None:
        return CheckResult(SYNTAX, problem) if problem else CheckResult()
    return _run_test(context, step, attempt, transcript)


def _check_outputs(context: RunContext, step: Step) -> str:
    """Which of the outputs are missing, or nothing."""
    paths = [(output, normalize_path(output)) for output in step.outputs]
    missing = [output for output, path in paths if path is None or context.workspace.state(path).kind in (ABSENT, OUTSIDE)]
    return f"it has not made {', '.join(missing)}" if missing else ""


def _check_printed(context: RunContext, step: Step, ended: CommandResult | None) -> str:
    """How what was printed differs from what is expected, without the secrets in it, or nothing."""
    if step.expect is None or ended is None:
        return ""
    if not ended.is_complete:
        return (
            ""
            if step.inferred
            else "it printed more than is kept, so that nobody can tell whether it is what was expected"
        )
    printed = ended.stdout.decode("utf-8", "replace")
    if step.inferred:
        line = find_missing_line(step.expect, [printed, ended.output_tail.decode("utf-8", "replace")])
        return f"it has not printed the line {line!r}, which the plan says it prints" if line else ""
    if not find_difference(step.expect, printed):
        return ""
    problem = find_difference(step.expect, context.redaction.redact_text(printed)) or "a secret is in it"
    return f"it printed something else than expected: {problem}"


def _check_syntax(context: RunContext, step: Step, action_result: ActionResult) -> str:
    """Which of the files that it wrote does not parse, and why, or nothing."""
    from execplan.repo.execution.world import DiskWorld

    if is_command(step) or not step.validation.syntax_check or SYNTAX in context.policy.off:
        return ""
    for change in action_result.changes:
        if change.after.kind == FILE:
            problem = syntax_problem(change.path, context.workspace.read(change.path), DiskWorld(context.project))
            if problem:
                return f"{change.path} does not parse as {problem}"
    return ""


def _run_test(context: RunContext, step: Step, attempt: int, transcript: Transcript) -> CheckResult:
    """What the test behind the step says."""
    argv = step.validation.test_after
    if argv is None:
        return CheckResult()
    transcript.command(join(argv))
    ended = run_program(context, step, argv, program_marks_path(context.run_paths, step, attempt, test=True), transcript)
    if ended.cause == "interrupted":
        return CheckResult(ended.cause, ended.reason, ended)
    if ended.cause:
        return CheckResult(TEST, f"its test {join(argv)} failed: {ended.reason}", ended)
    if ended.exit != 0:
        ending = f"exit status {ended.exit}" if ended.signal is None else f"signal {ended.signal}"
        return CheckResult(TEST, f"its test {join(argv)} failed: {ending}", ended)
    return CheckResult(test=ended)
