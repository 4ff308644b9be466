"""Behind a step: what it should have made is there, it printed what it should, what it wrote parses, and its test passes."""

from __future__ import annotations

from shlex import join

from execplan.engine.entries import Checks
from execplan.engine.steps.execute import start
from execplan.engine.steps.expect import difference, missing_line
from execplan.engine.steps.named import is_command, marks
from execplan.execution.evaluation.checks.syntax import syntax_problem
from execplan.execution.world import ABSENT, FILE, OUTSIDE, normalize_path
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.launch import CommandResult
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.steps.acted import Acted
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step

PASSED, FAILED = "passed", "failed"
EXPECTATION, SYNTAX, TEST = "expectation", "syntax", "test"


class Checked(NamedTuple):
    """What the checks behind a step came to."""

    cause: str = ""
    reason: str = ""
    test: CommandResult | None = None

    @property
    def checks(self) -> Checks:
        """As a result tells them; that of what was there before has passed."""
        tests = int(self.test is not None)
        return Checks(PASSED, FAILED if self.cause else PASSED, tests, 0 if self.cause else tests)


def check(bench: RunContext, step: Step, attempt: int, acted: Acted, transcript: Transcript | None) -> Checked:
    """Check a step whose work was done; the first thing that is wrong. Without a transcript its test is not run."""
    for cause, said in ((EXPECTATION, _outputs(bench, step)), (EXPECTATION, _printed(bench, step, acted.ended))):
        if said:
            return Checked(cause, said)
    said = _syntax(bench, step, acted)
    if said or transcript is None:
        return Checked(SYNTAX, said) if said else Checked()
    return _tested(bench, step, attempt, transcript)


def _outputs(bench: RunContext, step: Step) -> str:
    """Which of the outputs are missing, or nothing."""
    paths = [(written, normalize_path(written)) for written in step.outputs]
    missing = [said for said, path in paths if path is None or bench.ground.state(path).kind in (ABSENT, OUTSIDE)]
    return f"it has not made {', '.join(missing)}" if missing else ""


def _printed(bench: RunContext, step: Step, ended: CommandResult | None) -> str:
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
        line = missing_line(step.expect, [printed, ended.output_tail.decode("utf-8", "replace")])
        return f"it has not printed the line {line!r}, which the plan says it prints" if line else ""
    if not difference(step.expect, printed):
        return ""
    said = difference(step.expect, bench.redaction.text(printed)) or "a secret is in it"
    return f"it printed something else than expected: {said}"


def _syntax(bench: RunContext, step: Step, acted: Acted) -> str:
    """Which of the files that it wrote does not parse, and why, or nothing."""
    from execplan.repo.execution.world import Disk

    if is_command(step) or not step.validation.syntax_check or SYNTAX in bench.policy.off:
        return ""
    for change in acted.changes:
        if change.after.kind == FILE:
            said = syntax_problem(change.path, bench.ground.read(change.path), Disk(bench.home))
            if said:
                return f"{change.path} does not parse as {said}"
    return ""


def _tested(bench: RunContext, step: Step, attempt: int, transcript: Transcript) -> Checked:
    """What the test behind the step says."""
    argv = step.validation.test_after
    if argv is None:
        return Checked()
    transcript.command(join(argv))
    ended = start(bench, step, argv, marks(bench.place, step, attempt, test=True), transcript)
    if ended.cause == "interrupted":
        return Checked(ended.cause, ended.reason, ended)
    if ended.cause:
        return Checked(TEST, f"its test {join(argv)} failed: {ended.reason}", ended)
    if ended.exit != 0:
        how = f"exit status {ended.exit}" if ended.signal is None else f"signal {ended.signal}"
        return Checked(TEST, f"its test {join(argv)} failed: {how}", ended)
    return Checked(test=ended)
