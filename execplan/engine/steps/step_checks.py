"""Behind a step: what it should have made is there, it printed what it should, what it wrote parses, and its test passes."""

from __future__ import annotations

from shlex import join

from execplan.engine.journal.journal_entries import Checks
from execplan.engine.steps.command_execution import run_program
from execplan.engine.steps.step_paths import is_command, program_marks_path
from execplan.execution.evaluation.checks.syntax_check import syntax_problem
from execplan.execution.world import ABSENT, FILE, OUTSIDE, normalize_path
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.commands.command_transcript import Transcript
    from execplan.engine.commands.launcher import CommandResult
    from execplan.engine.steps.command_execution import ActionResult
    from execplan.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step


_WILDCARD = "…"
_LONGEST = 60


def find_difference(expected: str, printed: str) -> str:
    """Where what was printed is not as expected, in words; nothing where it is.

    Line ends at the end count on neither side. Each `…` stands for any text, over lines too; on a line of its own, for any
    lines or none. Each part between two of them is looked for once, behind the one before, so that no text takes long.
    """
    expected, printed = expected.rstrip("\r\n"), printed.rstrip("\r\n")
    if _WILDCARD not in expected:
        return _first_difference(expected, printed, is_complete=True)
    lines = expected.split("\n")
    lines = [line for offset, line in enumerate(lines) if not (offset and line == lines[offset - 1] == _WILDCARD)]
    first, *middle, last = "\n".join(lines).split(_WILDCARD)
    lead = int(lines[0] == _WILDCARD)  # a line's end for each end at which any lines, or none, may stand
    whole_output, printed = printed, "\n" * lead + printed + "\n" * (lines[-1] == _WILDCARD)
    if not printed.startswith(first):
        return _first_difference(first, whole_output, is_complete=False)
    offset, matched_text = len(first), first
    for segment in middle:
        position = printed.find(segment, offset - _shared_newline(matched_text, segment))
        if position < 0:
            return _missing_segment(matched_text, segment, printed, offset, lead)
        offset, matched_text = position + len(segment), f"{matched_text}{_WILDCARD}{segment}"
    if len(printed) - len(last) < offset - _shared_newline(matched_text, last) or not printed.endswith(last):
        return _missing_segment(matched_text, last, printed, offset, lead, end=True)
    return ""


def find_missing_line(expected: str, printed: Sequence[str]) -> str:
    """The first line of what prose says is printed that is in none of these texts, or nothing.

    More may be printed before and after it, on its line too, and white space counts only as such: who writes prose leaves
    out what does not matter.
    """
    printed_lines = [f" {' '.join(line.split())} " for text in printed for line in text.splitlines()]
    for line in expected.split("\n"):
        expected_line = " ".join(line.split())
        if expected_line != _WILDCARD and not any(
            [f" {expected_line} " in printed_line for printed_line in printed_lines]
        ):
            return expected_line
    return ""


def _shared_newline(matched_text: str, segment: str) -> int:
    """The line's end that both sides of a `…` on a line of its own may share."""
    return int(matched_text.endswith("\n") and segment.startswith("\n"))


def _first_difference(expected: str, printed: str, *, is_complete: bool) -> str:
    """The first line that differs."""
    expected_lines, lines = expected.split("\n"), printed.split("\n")
    for number, want in enumerate(expected_lines):
        is_part = not is_complete and number == len(expected_lines) - 1
        if number == len(lines):
            return f"it ends behind line {number}, and {_short(want)} should follow"
        have = lines[number][: len(want)] if is_part else lines[number]
        if have != want:
            return f"line {number + 1} is {_short(lines[number])}, not {_short(want)}{_WILDCARD if is_part else ''}"
    if is_complete and len(lines) > len(expected_lines):
        return f"line {len(expected_lines) + 1} is {_short(lines[len(expected_lines)])}, where nothing should follow"
    return ""


def _missing_segment(
    matched_text: str, segment: str, printed: str, offset: int, lead: int, *, end: bool = False
) -> str:
    """That a part between two `…` does not come, by the line of what is expected and that of what was printed."""
    want = next((line for line in segment.split("\n") if line), segment)
    number = (
        (matched_text + _WILDCARD + segment).count("\n", 0, len(matched_text))
        + 1
        + segment[: segment.find(want)].count("\n")
    )
    printed_line_number = max(printed.count("\n", 0, offset) + 1 - lead, 1)
    message = f"{_short(want)}, line {number} of what is expected,"
    return f"{message} {'does not end it' if end else f'does not come in line {printed_line_number} or below'}"


def _short(line: str) -> str:
    return repr(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")


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


def check_step(
    context: RunContext, step: Step, attempt: int, action_result: ActionResult, transcript: Transcript | None
) -> CheckResult:
    """Check a step whose work was done; the first thing that is wrong. Without a transcript its test is not run."""
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
    """Which of the outputs are missing, or nothing."""
    paths = [(output, normalize_path(output)) for output in step.outputs]
    missing = [
        output for output, path in paths if path is None or context.workspace.state(path).kind in (ABSENT, OUTSIDE)
    ]
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
    from execplan.approvals.disk_world import DiskWorld

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
