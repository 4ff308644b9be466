"""The sweep: a command is killed at one system call after the other, and what the next commands find is judged."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tests.crash.crash_scenario import LEFTOVER, CrashScenario, Tree, leftovers, without_leftovers
from tests.crash.crash_scenario import tree as tree_of
from tests.crash.scenarios import PLANS
from tests.crash.strace import Call, kill

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.conftest import Result

NAME_CHANGES = frozenset("link linkat rename renameat renameat2 rmdir symlink symlinkat unlink unlinkat".split())
"""Calls behind which another file is found under a name."""
_STATE = "/.git/"
_LISTED_FILE = re.compile(rb"^- `[^`\n]*/artifacts/.*$", re.MULTILINE)
_OTHER_CALLS = 4

OLD, NEW, BETWEEN, MISSED = "old", "new", "between", "missed"


class Kill(NamedTuple):
    """What came of a kill."""

    call: Call
    outcome: str
    """What it left: old, new, or between the two; missed, when the command made fewer such calls than before."""
    finished: bool
    """Whether the next command went on from between to old or new."""
    bad: tuple[str, ...]
    """What is not as promised."""


class SweepResult(NamedTuple):
    """What came of a sweep."""

    name: str
    kills: tuple[Kill, ...]
    seconds: float

    def count(self, outcome: str) -> int:
        """How many kills left this."""
        return sum(kill_result.outcome == outcome for kill_result in self.kills)

    @property
    def finished(self) -> int:
        """How many the next command finished or took back."""
        return sum(kill_result.finished for kill_result in self.kills)

    @property
    def bad(self) -> list[str]:
        """Everything that was not as promised, where and why."""
        return [
            f"{self.name}, killed at {kill_result.call.position}: {problem}"
            for kill_result in self.kills
            for problem in kill_result.bad
        ]

    @property
    def summary(self) -> str:
        """The counts."""
        good = sum(not kill_result.bad for kill_result in self.kills if kill_result.outcome != MISSED)
        missed = f", {self.count(MISSED)} missed" if self.count(MISSED) else ""
        between = f", {self.count(BETWEEN)} between, {self.finished} of them old or new after the next command"
        return (
            f"{self.name}: {len(self.kills)} kill points{missed}, {good} as promised "
            f"({self.count(OLD)} old, {self.count(NEW)} new{between if self.count(BETWEEN) else ''})"
        )


def select_kill_points(calls: Sequence[Call], max_changes: int, stride: int = 1) -> list[Call]:
    """The points that the bounded sweep kills at.

    These are all calls that change what lies outside of git's folder, or turn something within it, and what comes next
    behind a turn, or every second of these and so on; of the other changes so many, and a few of all other calls,
    spread evenly.
    """
    start = next((at for at, call in enumerate(calls) if call.inside), 0)
    tail = calls[start:]
    selected = {len(tail) - 1}
    for at, call in enumerate(tail):
        if (
            call.changes
            and " ENOENT (" not in call.line
            and (_STATE not in call.line or call.name in NAME_CHANGES | {"flock"})
        ):
            selected |= {at, min(at + 1, len(tail) - 1)} if call.name in NAME_CHANGES else {at}
    selected = {len(tail) - 1, *sorted(selected)[::stride]}
    for changing, count in ((True, max_changes), (False, _OTHER_CALLS)):
        selected |= set(
            spread_evenly(
                [at for at, call in enumerate(tail) if at not in selected and call.changes is changing], count
            )
        )
    return [tail[at] for at in sorted(selected)]


def spread_evenly(candidates: Sequence[int], limit: int) -> list[int]:
    """At most so many of them, evenly."""
    return (
        list(candidates)
        if len(candidates) <= limit
        else [candidates[at * len(candidates) // limit] for at in range(limit)]
    )


def sweep(scenario: CrashScenario, calls: Iterable[Call], known_states: dict[str, Kill]) -> list[Kill]:
    """Kill at each of the calls; `known_states` remembers what the next commands do with a state that was met before."""
    return [_kill_at(scenario, call, known_states) for call in calls]


def _kill_at(scenario: CrashScenario, call: Call, known_states: dict[str, Kill]) -> Kill:
    for _ in range(3):
        scenario.restore("before")
        if kill(call, scenario.scene.call, scenario.repo.path, scenario.repo.env, scenario.log) is not None:
            break
    else:
        # How often Python asks for memory differs a little from run to run, what it does in the repository does not.
        bad = ("the command did not come to this call",) if call.inside else ()
        return Kill(call, MISSED, finished=False, bad=bad)
    scenario.wait_for_processes()
    state = scenario.state_digest()
    if state not in known_states:
        known_states[state] = _evaluate_kill(scenario, call)
    return known_states[state]._replace(call=call)


def _evaluate_kill(scenario: CrashScenario, call: Call) -> Kill:
    """What a kill left, and what the next commands do with it."""
    bad: list[str] = []
    files = tree_of(scenario.repo.path)
    outcome = _classify(scenario, files)
    if outcome == BETWEEN:
        bad += torn_files(scenario, files)
        if not scenario.scene.per_file and not scenario.scene.moves:
            bad.append(f"neither old nor new: {describe_differences(scenario, files)}")
    scenario.save("killed")
    outcome_after_list = _check_list(scenario, bad)
    if scenario.scene.call[0] != "commit":  # it edits no plan, so `undo` takes back what is to be committed
        scenario.restore("killed")
        _check_undo(scenario, bad)
    return Kill(call, outcome, finished=outcome == BETWEEN and outcome_after_list != BETWEEN, bad=tuple(bad))


def _check_list(scenario: CrashScenario, bad: list[str]) -> str:
    """What the next command that only reads makes of it, and then the verb once more."""
    result = scenario.run("list", "--all")
    bad += _check_output("list --all", result, {0})
    outcome = _classify_after(scenario, "list --all", bad)
    if scenario.scene.interrupted and outcome != NEW:
        bad.append("list --all does not finish what was cut short")
    _check_repeated(scenario, outcome, "list --all", bad)
    return outcome


def _check_undo(scenario: CrashScenario, bad: list[str]) -> None:
    """What `undo` makes of it as the next command, and then the verb once more."""
    result = scenario.run("undo", "-p", "parser", "--json")
    bad += _check_output("undo", result, {0, 1})
    if result.exit == 1:
        code = result.json["error"]["code"]
        if code not in ("nothing-to-undo", "archived-plan"):
            bad.append(f"undo refuses: {result.json['error']['message']}")
    if scenario.scene.interrupted and without_leftovers(tree_of(scenario.repo.path)) == scenario.origin:
        return  # the move was finished, and then undone
    _check_repeated(scenario, _classify_after(scenario, "undo", bad), "undo", bad)


def _classify_after(scenario: CrashScenario, command: str, bad: list[str]) -> str:
    """Whether all is old or all is new behind a verb, as is promised."""
    files = tree_of(scenario.repo.path)
    outcome = _classify(scenario, files)
    if outcome == BETWEEN:
        bad += [f"{problem}, after {command}" for problem in torn_files(scenario, files)]
        if not scenario.scene.per_file:
            bad.append(f"neither old nor new after {command}: {describe_differences(scenario, files)}")
    return outcome


def _check_repeated(scenario: CrashScenario, outcome: str, previous_command: str, bad: list[str]) -> None:
    """The verb once more, and all is as if nothing had happened."""
    label = f"{scenario.scene.call[0]} once more after {previous_command}"
    undisturbed = scenario.undisturbed
    bad += _check_output(label, scenario.run(*scenario.scene.call), undisturbed.exits)
    files = tree_of(scenario.repo.path)
    expected = (
        (undisturbed.once,)
        if outcome == OLD
        else (undisturbed.twice,)
        if outcome == NEW
        else (undisturbed.once, undisturbed.twice)
    )
    if without_leftovers(files) not in expected:
        bad.append(f"not the undisturbed result: {label}: {describe_differences(scenario, files)}")
    if leftovers(files):
        bad.append(f"left for good: {label}: {', '.join(sorted(leftovers(files)))}")
    if any(LEFTOVER in line for line in scenario.repo.git("status", "--porcelain", "-uall").splitlines()):
        bad.append(f"git sees a leftover: {label}")
    if scenario.repo.git("diff", "--cached", "--name-only") != "src/reader.py\n":
        bad.append(f"what was staged is not as it was: {label}")
    if scenario.scene.call[0] == "commit" and scenario.repo.git("rev-parse", "HEAD") != undisturbed.head:
        bad.append(f"not committed: {label}")


def _classify(scenario: CrashScenario, files: Tree) -> str:
    clean_files = without_leftovers(files)
    if clean_files == scenario.undisturbed.before:
        return OLD
    return NEW if clean_files in (scenario.undisturbed.once, scenario.undisturbed.twice) else BETWEEN


def torn_files(scenario: CrashScenario, files: Tree) -> list[str]:
    """Files that hold what no whole file ever held, are where none belongs, or are gone from both of their places."""
    states = (scenario.undisturbed.before, scenario.undisturbed.once, scenario.undisturbed.twice)
    known_contents = {data for state in states for data in state.values()}
    if scenario.scene.placeholder:
        known_contents |= {(mode, _LISTED_FILE.sub(scenario.scene.placeholder, data)) for mode, data in known_contents}
    paths = {path for state in states for path in state}
    clean_files = without_leftovers(files)
    bad = [
        f"{path} holds half a file"
        for path, data in clean_files.items()
        if data not in known_contents and not (path == scenario.scene.record and _is_json(data[1]))
    ]
    # A file that a move removes may first have moved with its folder.
    carried = known_contents if scenario.scene.moves else set()
    bad += [
        f"{path} does not belong there"
        for path, data in clean_files.items()
        if path not in paths and data not in carried
    ]
    names = Counter(data for path, data in clean_files.items())
    unchanged = [data for data in states[0].values() if data in states[1].values()]
    return bad + [f"lost: {data[1][:60]!r}" for data in unchanged if not names[data]]


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def describe_differences(scenario: CrashScenario, files: Tree) -> str:
    """Which files are as before, which as after, and which as neither."""
    before, once, twice = scenario.undisturbed.before, scenario.undisturbed.once, scenario.undisturbed.twice
    paths_by_state: dict[str, list[str]] = {OLD: [], NEW: [], "neither": []}
    for path in sorted(before.keys() | once.keys() | without_leftovers(files).keys()):
        current, old, new = files.get(path), before.get(path), (once.get(path), twice.get(path))
        if not current == old == new[0]:
            paths_by_state[OLD if current == old else NEW if current in new else "neither"].append(
                path.removeprefix(f"{PLANS}/")
            )
    return "; ".join([f"{state} {', '.join(paths)}" for state, paths in paths_by_state.items() if paths])


def _check_output(command: str, result: Result, exits: Iterable[int]) -> list[str]:
    """What a verb said that it should not have said."""
    output = (result.err or result.out).strip().replace("\n", " / ")[:300]
    if "Traceback" in result.err + result.out or result.exit == 70:
        return [f"a bug: {command}: {output}"]
    if result.exit not in exits:
        return [f"exit {result.exit}: {command}: {output}"]
    return []
