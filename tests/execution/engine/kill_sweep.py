"""Kill a run, or its rollback, at every entry of its journal, go on, and judge what comes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import CHECK_FAILED, INPUT, PAUSED
from tests.execution.engine.run_scenario import NAME, ONCE, RunScenario, survivors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.conftest import Result
    from tests.crash.crash_scenario import Tree

KILLED = (-9, -14)
"""How a command ends that was killed at an entry, or at a time."""
MAX_RESUMES = 12
"""How often a run is resumed before it is given up."""


class Undisturbed(NamedTuple):
    """What a run comes to when nothing happens."""

    before: Tree
    folders_before: set[str]
    after: Tree
    folders_after: set[str]
    """The folders after it."""
    entries: int
    statuses: dict[str, str]


class RunKill(NamedTuple):
    """A kill, and what was not as promised."""

    at: str
    bad: tuple[str, ...]


def run_undisturbed(scenario: RunScenario, *options: str) -> Undisturbed:
    """Run the plan, with nothing in its way; all of it is kept as `ran`."""
    scenario.restore("approved")
    before, folders = scenario.tree(), scenario.folders()
    result = scenario.run("run", NAME, *options)
    while result.exit == PAUSED:
        result = scenario.run("resume", "-p", NAME)
    assert result.exit == 0, result
    scenario.save("ran")
    return Undisturbed(
        before, folders, scenario.tree(), scenario.folders(), len(scenario.entries()), statuses(scenario)
    )


def statuses(scenario: RunScenario) -> dict[str, str]:
    """How the steps of the last run stand."""
    by_step: dict[str, str] = {step["id"]: step["status"] for step in scenario.repo.ok("show", NAME, "--run")["steps"]}
    return by_step


def points(count: int, stride: int = 1, first: int = 1) -> list[str]:
    """Before and after each of so many entries, or each so manieth of them."""
    return [f"{when}:{number}" for number in range(first, first + count) for when in ("before", "after")][::stride]


def sweep_run(scenario: RunScenario, reference: Undisturbed, at: Iterable[str], *options: str) -> list[RunKill]:
    """Kill the run at each point, and resume it."""
    return [RunKill(point, tuple(_kill_run(scenario, reference, point, options))) for point in at]


def _kill_run(scenario: RunScenario, reference: Undisturbed, at: str, options: Sequence[str]) -> list[str]:
    scenario.restore("approved")
    if why := _kill_command(scenario, at, "run", NAME, *options):
        return why
    return [f"outlived the kill: {survivor}" for survivor in survivors(scenario.world)] + _finish_and_compare(
        scenario, reference, options
    )


def _finish_and_compare(scenario: RunScenario, reference: Undisturbed, options: Sequence[str]) -> list[str]:
    """Go on to the end, and say what is other than it is undisturbed."""
    result = finish(scenario, *options)
    if result.exit != 0:
        return [f"resume: exit {result.exit}: {result.out[-300:]} {result.err[-500:]}"]
    return (
        _tree_differences(scenario.tree(), reference.after)
        + _folder_differences(scenario, reference.folders_after)
        + _wrong_counts(scenario)
        + _record_problems(scenario, reference)
    )


def _kill_command(scenario: RunScenario, at: str, *call: str) -> list[str]:
    """Run a command, through its pauses, until it is killed; what is wrong if it was not: at a time it may be done before."""
    killed = scenario.run(*call, kill=at)
    while killed.exit == PAUSED:
        killed = scenario.run("resume", "-p", NAME, kill=at)
    completed = at.startswith("at:") and killed.exit == 0
    return [] if killed.exit in KILLED or completed else [f"it was not killed: {killed}"]


def finish(scenario: RunScenario, *options: str) -> Result:
    """Go on until the run has ended, as a person does who looks whether a command has run before saying so."""
    for _ in range(MAX_RESUMES):
        result = scenario.run("resume", "-p", NAME)
        if result.exit == INPUT:  # it was killed before it began
            result = scenario.run("run", NAME, *options)
        elif result.exit == PAUSED:
            result = scenario.run("resume", "-p", NAME, "--answer", _answer(scenario))
        if result.exit == CHECK_FAILED and "is completed: nothing is left to do" in result.err:
            return result._replace(exit=0)  # it was killed behind its last entry
        if result.exit != PAUSED:
            return result
    raise AssertionError(f"still not done: {result}")


def _answer(scenario: RunScenario) -> str:
    (question,) = [entry for entry in scenario.entries() if entry["kind"] == "paused"][-1:]
    if question["why"] != "unknown":
        return "go"
    return "go" if scenario.run_count(question["step"]) else "again"


def _wrong_counts(scenario: RunScenario) -> list[str]:
    return [f"{name} ran {scenario.run_count(name)} times" for name in ONCE if scenario.run_count(name) != 1]


def _record_problems(scenario: RunScenario, reference: Undisturbed) -> list[str]:
    """What is wrong with the journal, the ledger and the statuses."""
    verified = scenario.run("audit", NAME, "--verify")
    bad = [f"audit --verify: exit {verified.exit}: {verified.out} {verified.err}"] if verified.exit else []
    step_statuses = statuses(scenario)
    bad += [
        f"{step} is {step_statuses.get(step)}, not {expected}"
        for step, expected in reference.statuses.items()
        if step_statuses.get(step) != expected
    ]
    if (status := scenario.record()["status"]) != "completed":
        bad.append(f"the record says {status}")
    return bad + _leftover_files(scenario)


def _leftover_files(scenario: RunScenario) -> list[str]:
    """Temporary files that were left where a person or git sees them."""
    names = [path.name for path in scenario.repo.path.rglob(".execplan-*") if ".git" not in path.parts]
    return [f"left behind: {name}" for name in names]


def sweep_resume(scenario: RunScenario, reference: Undisturbed, at: Iterable[str], *options: str) -> list[RunKill]:
    """Kill the run half-way, kill each resume two entries further on, and go on so until it is done."""
    return [RunKill(point, tuple(_kill_resumes(scenario, reference, point, options))) for point in at]


def _kill_resumes(scenario: RunScenario, reference: Undisturbed, at: str, options: Sequence[str]) -> list[str]:
    scenario.restore("approved")
    if why := _kill_command(scenario, at, "run", NAME, *options):
        return why
    for _ in range(reference.entries):
        when = at.partition(":")[0]
        resumed = scenario.run("resume", "-p", NAME, kill=f"{when}:{len(scenario.entries()) + 3}")
        if resumed.exit == PAUSED:
            resumed = scenario.run("resume", "-p", NAME, "--answer", _answer(scenario))
        if resumed.exit not in (*KILLED, PAUSED):
            break
    return _finish_and_compare(scenario, reference, options)


def sweep_power_failure(scenario: RunScenario, reference: Undisturbed, at: Iterable[str]) -> list[RunKill]:
    """Stop the machine at each point, with all files lost that were not synced, and resume the run."""
    return [RunKill(point, tuple(_lose_unsynced(scenario, reference, point))) for point in at]


def _lose_unsynced(scenario: RunScenario, reference: Undisturbed, at: str) -> list[str]:
    scenario.restore("approved")
    if why := _kill_command(scenario, at, "run", NAME):
        return why
    assert not survivors(scenario.world)
    scenario.lose_unsynced()
    verified = scenario.run("audit", NAME, "--verify")
    bad = [f"audit --verify before the resume: {verified.out} {verified.err}"] if verified.exit else []
    return bad + _finish_and_compare(scenario, reference, ())


def sweep_rollback(scenario: RunScenario, reference: Undisturbed, at: Iterable[str]) -> list[RunKill]:
    """Kill the rollback of the whole run at each point, and roll back once more."""
    return [RunKill(point, tuple(_kill_rollback(scenario, reference, point))) for point in at]


def _kill_rollback(scenario: RunScenario, reference: Undisturbed, at: str) -> list[str]:
    scenario.restore("ran")
    if why := _kill_command(scenario, at, "rollback", "-p", NAME):
        return why
    result = scenario.run("rollback", "-p", NAME)
    if result.exit != 0 and "already" not in result.err:
        return [f"rollback once more: exit {result.exit}: {result.err}"]
    verified = scenario.run("audit", NAME, "--verify")
    bad = [f"audit --verify: {verified.out} {verified.err}"] if verified.exit else []
    return (
        bad
        + _tree_differences(scenario.tree(), reference.before)
        + _folder_differences(scenario, reference.folders_before)
        + _leftover_files(scenario)
    )


def _tree_differences(actual: Tree, expected: Tree) -> list[str]:
    """The paths that are other than wanted."""
    paths = sorted(
        path
        for path in actual.keys() | expected.keys()
        if _without_attempt(actual.get(path)) != _without_attempt(expected.get(path))
    )
    return [f"{path}: {str(actual.get(path))[:200]} and not {str(expected.get(path))[:200]}" for path in paths]


def _without_attempt(entry: tuple[int, bytes] | None) -> tuple[int, bytes] | None:
    """What is at a path; a transcript may be that of a later attempt."""
    return None if entry is None else (entry[0], re.sub(rb"-(?:[0-9]+|resumed)\.md", b".md", entry[1]))


def _folder_differences(scenario: RunScenario, expected: set[str]) -> list[str]:
    actual = scenario.folders()
    return [f"the folder {folder} is {'left' if folder in actual else 'gone'}" for folder in sorted(actual ^ expected)]


def describe_failures(kills: Iterable[RunKill]) -> str:
    """Everything that was not as promised."""
    return "\n".join([f"killed {kill.at}: {why}" for kill in kills for why in kill.bad])
