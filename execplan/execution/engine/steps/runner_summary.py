"""Numbers of tests run and passed, read from the summaries that common test runners print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PASSED = ("passed", "xfailed", "xpassed", "pass")
_RUN = (*_PASSED, "failed", "error", "errors", "fail")


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
