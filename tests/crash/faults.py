"""The disk fails at one system call after the other, and what the command makes of it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.crash.crash_scenario import CrashScenario, leftovers, without_leftovers
from tests.crash.crash_scenario import tree as tree_of
from tests.crash.strace import Call, TracedResult, fail
from tests.crash.sweep import describe_differences, torn_files

if TYPE_CHECKING:
    from collections.abc import Iterable

ERRORS = ("ENOSPC", "EIO")


class Fault(NamedTuple):
    """What came of an error."""

    call: Call
    error: str
    exit: int
    bad: tuple[str, ...]
    """What is not as promised."""


_MAX_ATTEMPTS = 3
"""A command that starts late trusts its caches, which are then older than two seconds, and reads less."""


class FaultSweep(NamedTuple):
    """What came of many errors, one at a time."""

    name: str
    faults: tuple[Fault, ...]

    @property
    def bad(self) -> list[str]:
        """Everything that was not as promised, where and why."""
        return [
            f"{self.name}, {fault.error} at {fault.call.position}: {problem} [{fault.call.line[:160]}]"
            for fault in self.faults
            for problem in fault.bad
        ]

    @property
    def summary(self) -> str:
        """The counts."""
        good = sum(not fault.bad for fault in self.faults)
        refused = sum(fault.exit == 6 for fault in self.faults)
        harmless = sum(fault.exit == 0 for fault in self.faults)
        return f"{self.name}: {len(self.faults)} errors injected, {good} as promised ({refused} refused, {harmless} harmless)"


def errors(calls: Iterable[Call]) -> list[tuple[Call, str]]:
    """Which errors may come at which calls: no space where something is written, and a broken disk everywhere."""
    points = []
    for call in calls:
        if call.inside and (call.changes or call.name.startswith(("open", "read", "pread"))):
            points += [(call, error) for error in ERRORS if error == "EIO" or (call.changes and call.name != "flock")]
    return points


def inject(scenario: CrashScenario, points: Iterable[tuple[Call, str]]) -> list[Fault]:
    """Let each of the calls fail with its error, each in a run of its own."""
    return [_inject_one(scenario, call, error) for call, error in points]


def _inject_one(scenario: CrashScenario, call: Call, error: str) -> Fault:
    result = None
    for _ in range(_MAX_ATTEMPTS):
        scenario.restore("before")
        result = fail(call, error, scenario.scene.call, scenario.repo.path, scenario.repo.env, scenario.log)
        if result is not None:
            break
    if result is None:
        return Fault(call, error, 0, ("the command did not come to this call",))
    bad = _check_message(scenario, result) + _check_files(scenario, result, call)
    undisturbed = scenario.undisturbed
    repeated = scenario.run(*scenario.scene.call)
    files = tree_of(scenario.repo.path)
    is_reported = scenario.scene.moves and result.exit == 0 and "may still name" in result.err
    if repeated.exit not in undisturbed.exits or (
        files not in (undisturbed.once, undisturbed.twice) and not is_reported
    ):
        problem = ", ".join(leftovers(files)) or describe_differences(scenario, files)
        bad.append(f"the verb once more: exit {repeated.exit}, {problem}: {repeated.err[:200]!r}")
    return Fault(call, error, result.exit, tuple(bad))


def _check_message(scenario: CrashScenario, result: TracedResult) -> list[str]:
    """What is wrong with what was said: what, where, why and what to do is told in two lines."""
    output = f"exit {result.exit}: {result.err.strip()[:300]!r}"
    if result.exit == 0:
        return []
    if result.exit != 6 or "Traceback" in result.err:
        return [f"no refusal: {output}"]
    names_file = result.err.startswith("execplan: ") and (".agent" in result.err or ".git" in result.err)
    return [] if names_file and has_advice(result.err) else [f"it does not say where, or what to do: {output}"]


def has_advice(message: str) -> bool:
    """Whether a refusal says what to do; `lint --fix` says it for each plan, in a warning."""
    cause, _, hint = message.partition("\nhint: ")
    reasons = [cause.partition(f": {result}: ")[2] for result in ("not fixed", "fixed, but not committed")]
    return bool(hint.strip()) or any("; " in reason for reason in reasons)


def _check_files(scenario: CrashScenario, result: TracedResult, call: Call) -> list[str]:
    """What is wrong with what is on disk: the new behind a success, the old behind a refusal, no leftovers."""
    files = tree_of(scenario.repo.path)
    undisturbed = scenario.undisturbed
    bad = []
    if leftovers(files) and not call.name.startswith("unlink"):
        bad.append(f"exit {result.exit}, and left is {', '.join(sorted(leftovers(files)))}")
    clean_files = without_leftovers(files)
    if scenario.scene.per_file and result.exit:
        bad += torn_files(scenario, files)
    elif result.exit == 0 and scenario.scene.moves:
        bad += _check_moved_files(scenario, result)
    elif clean_files != (undisturbed.before if result.exit else undisturbed.once):
        bad.append(
            f"exit {result.exit}, and not the {'old' if result.exit else 'new'} bytes: {describe_differences(scenario, files)}: {result.err[:200]!r}"
        )
    return bad


def _check_moved_files(scenario: CrashScenario, result: TracedResult) -> list[str]:
    """What is wrong behind a move: a plan that names what has moved may be old if that is told."""
    if "the next command goes on" in result.err:
        return []  # which is looked at then
    files, once = without_leftovers(tree_of(scenario.repo.path)), scenario.undisturbed.once
    before = scenario.undisturbed.before
    wrong = [path for path in files.keys() | once.keys() if files.get(path) != once.get(path)]
    reported = [
        path for path in wrong if files.get(path) == before.get(path) and f"{path} may still name" in result.err
    ]
    if len(reported) == len(wrong):
        return []
    return [f"exit 0, and not the new bytes: {describe_differences(scenario, files)}: {result.err[:200]!r}"]
