"""Checks after a step: its outputs exist, it printed what is expected, written files parse, and its test passes.

The numbers of tests run and passed are read from the summaries that common test runners print.
"""

from __future__ import annotations

import re
from shlex import join
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import shorten
from execplan.execution.engine.journal.journal_entries import JournaledChecks
from execplan.execution.engine.recovery.failure_recovery import EXPECTATION, SYNTAX, TEST
from execplan.execution.engine.steps.command_execution import run_program
from execplan.execution.engine.steps.step_paths import is_command, program_marks_path
from execplan.execution.evaluation.file_syntax import syntax_problem
from execplan.execution.world import ABSENT, FILE, OUTSIDE, normalize_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.execution.engine.commands.command_result import CommandResult
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.steps.command_execution import ActionResult
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PASSED = ("passed", "xfailed", "xpassed", "pass")
_RUN = (*_PASSED, "failed", "error", "errors", "fail")
_WILDCARD = "…"
_NEWLINE = "\n"
_LONGEST = 60


class RunnerSummary(NamedTuple):
    """Number of tests of one command; skipped tests do not count."""

    run: int
    passed: int


def _read_counts(match: re.Match[str]) -> RunnerSummary:
    """Read counts such as `2 failed, 3 passed`, in any order."""
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", match[0])}
    return RunnerSummary(sum([numbers.get(word, 0) for word in _RUN]), sum([numbers.get(word, 0) for word in _PASSED]))


def _summarize(run: int, *not_passed: str | None) -> RunnerSummary:
    return RunnerSummary(run, max(0, run - sum([int(count or 0) for count in not_passed])))


def _read_unittest(match: re.Match[str]) -> RunnerSummary:
    counts = {word: int(number) for word, number in re.findall(r"([a-z ]+)=(\d+)", match[2] or "")}
    skipped = sum([number for word, number in counts.items() if word.strip() == "skipped"])
    bad = sum(
        [number for word, number in counts.items() if word.strip() in ("failures", "errors", "unexpected successes")]
    )
    return _summarize(int(match[1]) - skipped, str(bad))


_SUMMARIES: tuple[tuple[str, Callable[[re.Match[str]], RunnerSummary]], ...] = (
    # pytest: `=== 1 failed, 4 passed in 0.12s ===`, or without the signs
    (r"^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+ in [\d.]+s", _read_counts),
    # unittest: `Ran 5 tests in 0.001s`, an empty line, and `OK` or `FAILED (failures=1)`
    (r"^Ran (\d+) tests? in [\d.]+s\n+(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", _read_unittest),
    # jest: `Tests:       1 failed, 4 passed, 5 total`
    (r"^Tests: +(?:\d+ [a-z]+, )*\d+ total", _read_counts),
    # vitest: `      Tests  1 failed | 4 passed (5)`
    (r"^ +Tests +(?:\d+ [a-z]+(?: \| )?)+ \(\d+\)", _read_counts),
    # mocha: `  4 passing (12ms)`, and `  1 failing`
    (r"^ +(\d+) passing \(.*\)(?:\n +\d+ pending)?(?:\n +(\d+) failing)?", lambda m: RunnerSummary(int(m[1]) + int(m[2] or 0), int(m[1]))),
    # node --test: `# tests 5`, or with an information sign for `#`, and some lines below `# pass 4`
    (r"^[#\u2139] tests (\d+)\n(?:[#\u2139] .*\n)*?[#\u2139] pass (\d+)", lambda m: RunnerSummary(int(m[1]), int(m[2]))),
    # bun: ` 4 pass` and ` 1 fail`
    (r"^ *\d+ pass\n(?: *\d+ skip\n| *\d+ todo\n)* *\d+ fail$", _read_counts),
    # cargo: `test result: ok. 4 passed; 1 failed; 0 ignored`
    (r"^test result: \w+\. \d+ passed; \d+ failed", _read_counts),
    # cargo nextest: `     Summary [   0.004s] 5 tests run: 4 passed, 1 failed, 0 skipped`
    (r"^ +Summary \[.*\] \d+ tests? run: (?:\d+ [a-z]+(?: \([^)]*\))?(?:, )?)+", _read_counts),
    # deno: `ok | 4 passed | 1 failed (3ms)`
    (r"^(?:ok|FAILED) \| \d+ passed.* \| \d+ failed", _read_counts),
    # go test -v: a line for each test; indented ones are parts of others
    (r"^--- (PASS|FAIL): ", lambda m: RunnerSummary(1, int(m[1] == "PASS"))),
    # RSpec and ExUnit: `5 examples, 1 failure`, `5 tests, 1 failure`
    (r"^(?:\d+ doctests?, )?(\d+) (?:examples?|tests?), (\d+) failures?", lambda m: _summarize(int(m[1]), m[2])),
    # minitest: `5 runs, 9 assertions, 1 failures, 0 errors, 0 skips`
    (r"^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips", lambda m: _summarize(int(m[1]) - int(m[4]), m[2], m[3])),
    # PHPUnit: `OK (5 tests, 9 assertions)`, or `Tests: 5, Assertions: 9, Failures: 1.`
    (r"^OK \((\d+) tests?, \d+ assertions?\)", lambda m: _summarize(int(m[1]))),
    (r"^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?", lambda m: _summarize(int(m[1]), m[2], m[3])),
    # Maven: the total, which names no test class
    (
        r"^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$",
        lambda m: _summarize(int(m[1]) - int(m[4]), m[2], m[3]),
    ),
    # .NET: `Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5`
    (r"^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+)", lambda m: RunnerSummary(int(m[1]) + int(m[2]), int(m[2]))),
    # ctest: `80% tests passed, 1 tests failed out of 5`
    (r"^\d+% tests passed, (\d+) tests? failed out of (\d+)", lambda m: _summarize(int(m[2]), m[1])),
    # XCTest and Swift: `Executed 5 tests, with 1 failure`, of which the last is the total
    (r"^\t Executed (\d+) tests?, with (?:\d+ tests? skipped and )?(\d+) failures?(?![\s\S]*^\t Executed )", lambda m: _summarize(int(m[1]), m[2])),
    # prove: `Files=1, Tests=5`, and which failed is not counted there, but in `Failed 1/5 subtests`
    (r"^Files=\d+, Tests=(\d+)", lambda m: _summarize(int(m[1]))),
    (r"^\tFailed (\d+)/\d+ subtests", lambda m: RunnerSummary(0, -int(m[1]))),
)  # fmt: skip
_READERS = tuple([(re.compile(pattern, re.MULTILINE), count) for pattern, count in _SUMMARIES])


def count_tests(output: str) -> RunnerSummary | None:
    """Count the tests of a command from the end of its output, or return None if there is no test runner's summary."""
    text = _ANSI.sub("", output.replace("\r\n", "\n"))
    summaries = [count(match) for pattern, count in _READERS for match in pattern.finditer(text)]
    if not summaries:
        return None
    return RunnerSummary(sum([summary.run for summary in summaries]), sum([summary.passed for summary in summaries]))


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
                return f"line {number} of the expected output, {shorten(line, _LONGEST)!r}, is not in the output{place}"
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


PASSED, FAILED = "passed", "failed"


class StepCheckResult(NamedTuple):
    """The result of the checks after a step."""

    cause: str = ""
    reason: str = ""
    test: CommandResult | None = None

    @property
    def checks(self) -> JournaledChecks:
        """The checks in the form of a result entry; the checks before the step have passed."""
        tests = int(self.test is not None)
        return JournaledChecks(PASSED, FAILED if self.cause else PASSED, tests, 0 if self.cause else tests)


def check_step(
    context: RunContext, step: Step, attempt: int, action_result: ActionResult, transcript: Transcript | None
) -> StepCheckResult:
    """Check a step whose action succeeded, and return the first problem. Without a transcript, its test is not run."""
    for cause, problem in (
        (EXPECTATION, _check_outputs(context, step)),
        (EXPECTATION, _check_printed(context, step, action_result.ended)),
    ):
        if problem:
            return StepCheckResult(cause, problem)
    problem = _check_syntax(context, step, action_result)
    if problem or transcript is None:
        return StepCheckResult(SYNTAX, problem) if problem else StepCheckResult()
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
        if step.inferred:
            return ""
        return "its output is too long to be kept, so it can't be compared with the expected output"
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

    if is_command(step) or step.from_ is not None or not step.validation.syntax_check or SYNTAX in context.policy.off:
        return ""
    for change in action_result.changes:
        if change.after.kind == FILE:
            problem = syntax_problem(
                change.path, context.workspace.read(change.path), DiskWorld(context.run_paths.project)
            )
            if problem:
                return f"{change.path} does not parse as {problem}"
    return ""


def _run_test(context: RunContext, step: Step, attempt: int, transcript: Transcript) -> StepCheckResult:
    """Run the test of a step, if it has one."""
    argv = step.validation.test_after
    if argv is None:
        return StepCheckResult()
    transcript.command(join(argv))
    ended = run_program(
        context, step, argv, program_marks_path(context.run_paths, step, attempt, test=True), transcript
    )
    if ended.cause == "interrupted":
        return StepCheckResult(ended.cause, ended.reason, ended)
    if ended.cause:
        return StepCheckResult(TEST, f"its test {join(argv)} failed: {ended.reason}", ended)
    if ended.exit != 0:
        ending = f"exit status {ended.exit}" if ended.signal is None else f"signal {ended.signal}"
        return StepCheckResult(TEST, f"its test {join(argv)} failed: {ending}", ended)
    return StepCheckResult(test=ended)
