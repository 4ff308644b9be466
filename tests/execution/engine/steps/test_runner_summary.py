"""The summaries of the usual test runners: how many tests ran, and how many passed."""

from __future__ import annotations

import pytest

from execplan.execution.engine.steps.step_checks import RunnerSummary, count_tests

SUMMARIES = {
    "pytest": ("..F\n=================== 1 failed, 4 passed, 2 skipped in 0.12s ===================\n", 5, 4),
    "pytest, quiet": ("1 failed, 4 passed, 1 error in 3.20s\n", 6, 4),
    "pytest, expected failures": ("3 passed, 1 xfailed, 2 warnings in 1.00s\n", 4, 4),
    "pytest, in color": ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m\n", 5, 5),
    "unittest": (".....\n" + "-" * 70 + "\nRan 5 tests in 0.001s\n\nOK\n", 5, 5),
    "unittest, failed": ("Ran 6 tests in 0.001s\n\nFAILED (failures=1, errors=2, skipped=1)\n", 5, 2),
    "unittest, one": ("Ran 1 test in 0.000s\n\nOK\n", 1, 1),
    "jest": ("Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 4 passed, 6 total\n", 5, 4),
    "vitest": (" Test Files  1 passed (1)\n      Tests  1 failed | 4 passed (5)\n", 5, 4),
    "mocha": ("  4 passing (12ms)\n  1 pending\n  1 failing\n", 5, 4),
    "node": ("# tests 5\n# suites 0\n# pass 4\n# fail 1\n", 5, 4),
    "bun": (" 4 pass\n 1 fail\n 9 expect() calls\n", 5, 4),
    "cargo": (
        "test result: ok. 4 passed; 0 failed; 1 ignored\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        6,
        5,
    ),
    "nextest": ("     Summary [   0.004s] 5 tests run: 4 passed, 1 failed, 0 skipped\n", 5, 4),
    "deno": ("ok | 4 passed | 1 failed (3ms)\n", 5, 4),
    "go": ("--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n--- FAIL: TestB (0.00s)\n", 2, 1),
    "rspec": ("5 examples, 1 failure\n", 5, 4),
    "exunit": ("2 doctests, 5 tests, 1 failure\n", 5, 4),
    "minitest": ("6 runs, 9 assertions, 1 failures, 1 errors, 1 skips\n", 5, 3),
    "phpunit": ("OK (5 tests, 9 assertions)\n", 5, 5),
    "phpunit, failed": ("Tests: 5, Assertions: 9, Errors: 1, Failures: 1.\n", 5, 3),
    "maven": (
        (
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in a.BTest\n"
            "[INFO] Tests run: 6, Failures: 1, Errors: 0, Skipped: 1\n"
        ),
        5,
        4,
    ),
    "dotnet": ("Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5\n", 5, 4),
    "ctest": ("80% tests passed, 1 tests failed out of 5\n", 5, 4),
    "swift": (
        "\t Executed 3 tests, with 0 failures (0 unexpected)\n\t Executed 5 tests, with 1 failure (1 unexpected)\n",
        5,
        4,
    ),
    "prove": ("\tFailed 1/5 subtests\nFiles=1, Tests=5,  0 wallclock secs\n", 5, 4),
}


@pytest.mark.parametrize(("output", "run", "passed"), SUMMARIES.values(), ids=SUMMARIES)
def test_each_runner(output: str, run: int, passed: int) -> None:
    assert count_tests(output) == RunnerSummary(run, passed)
    assert count_tests(output.replace("\n", "\r\n")) == RunnerSummary(run, passed)


@pytest.mark.parametrize(
    "output", ["", "make: Nothing to be done for 'all'.\n", "we passed 5 tests in 3s\n", "5 passed\n"]
)
def test_other_output_counts_nothing(output: str) -> None:
    assert count_tests(output) is None
