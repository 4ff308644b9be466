"""Merge plans that were edited on two branches with Git's merge, its union merge and ours, and compare the results.

The plans come from the corpus, the edits from a fixed seed. A loss is a word that one side added and the result lacks,
a task that both sides kept and the result lacks, or a completion by one side that the result lacks although the other
side left the task alone. A task is doubled if the result contains it more often than either side, outside conflicts.
With --check the exit status is 1 unless our merge keeps its promise.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import NamedTuple

from merge_branches import MARK, Branch

from execplan.errors import ExecplanError
from execplan.git_merge import git_merge_file, three_way_merge
from execplan.plan import outline, reader
from execplan.plan.merge.plan_merge import ConflictMarkers
from execplan.plan.model import DONE, ParsedPlan

ROOT = Path(__file__).resolve().parent.parent
COUNT = 1400
SEED = 5
MOST = 8
"""Maximum number of edits on a branch."""
CONFLICTS = 5.0
"""Maximum percentage of merges with a conflict for our merge."""
WAYS = ("git", "union", "ours")
_WORD = re.compile(rf"\b{MARK}\w+")
_REGION = re.compile(r"^<{7}[^\n]*\n.*?^>{7}[^\n]*\n", re.MULTILINE | re.DOTALL)


class Sides(NamedTuple):
    """A plan and its versions on two branches."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes
    verbs: str


class Judged(NamedTuple):
    """The evaluated result of one merge method."""

    conflict: bool
    lost: list[str]
    doubled: list[str]
    unreadable: str


def sides(path: Path, number: int, seed: int = SEED) -> Sides:
    """Edit a plan on two branches, always the same for a number and a seed."""
    random = Random(f"{seed}:{path.name}:{number}")  # noqa: S311 - nothing is to be kept secret
    base = path.read_bytes()
    branches = [Branch(name, Random(random.random())) for name in ("a", "b")]  # noqa: S311 - as above
    ours, theirs = [branch.edit(base, MOST) for branch in branches]
    verbs = " | ".join(" ".join(branch.verbs) for branch in branches)
    return Sides(f"{path.parent.name}/{path.name} {number}", base, ours, theirs, verbs)


def merged(given: Sides, way: str) -> tuple[bytes, int]:
    """Merge the sides with a method, and return the result and its number of conflicts."""
    if way == "ours":
        made = three_way_merge.merge_versions(given.base, given.ours, given.theirs, ConflictMarkers())
        return made.data, made.conflict_count
    if way == "git":
        found = git_merge_file.run_merge_file(given.base, given.ours, given.theirs, ConflictMarkers())
        assert found is not None
        return found
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, data in zip(("ours", "base", "theirs"), (given.ours, given.base, given.theirs), strict=True):
            names.append(Path(folder, name))
            names[-1].write_bytes(data)
        return subprocess.run(["git", "merge-file", "--union", "-p", *names], capture_output=True, check=True).stdout, 0


def judged(given: Sides, way: str) -> Judged:
    """Merge the sides with a method and evaluate the result; a crash counts as unreadable."""
    try:
        return judge(given, *merged(given, way))
    except Exception as error:  # noqa: BLE001 - a crash is a finding about this merge like any other
        return Judged(conflict=True, lost=[], doubled=[], unreadable=f"{type(error).__name__}: {error}")


def judge(given: Sides, data: bytes, conflicts: int) -> Judged:
    """Evaluate whether a merge result has lost, doubled or unreadable content."""
    try:
        plan, outside = reader.read(data), reader.read(_REGION.sub("", data.decode("utf-8")).encode() or b"#\n")
    except (ExecplanError, UnicodeDecodeError) as error:
        return Judged(bool(conflicts), [], [], str(error))
    base, ours, theirs = [reader.read(each) for each in (given.base, given.ours, given.theirs)]
    said = data.decode("utf-8")
    brought = set(_WORD.findall(given.ours.decode("utf-8") + given.theirs.decode("utf-8")))
    lost = sorted(brought - set(_WORD.findall(said))) + _tasks_lost(base, ours, theirs, plan)
    counts = [_entries(each) for each in (outside, ours, theirs)]
    doubled = [words for words, count in counts[0].items() if count > max(counts[1][words], counts[2][words])]
    names = [section.name for section in outside.sections if section.name]
    twice = [name for name in names if names.count(name) > max(_times(ours, name), _times(theirs, name))]
    return Judged(bool(conflicts), lost, doubled, f"{twice[0]} twice" if twice else "")


def _times(plan: ParsedPlan, name: str) -> int:
    return [section.name for section in plan.sections].count(name)


def _entries(plan: ParsedPlan) -> Counter[str]:
    """Count the tasks, entries and notes of a plan by text."""
    logs = (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)
    return Counter([f"{outline.PROGRESS}: {task.text}" for task in plan.tasks] + [entry.text for entry in logs])


def _tasks_lost(base: ParsedPlan, ours: ParsedPlan, theirs: ParsedPlan, plan: ParsedPlan) -> list[str]:
    """Return the tasks that both sides kept and the result lacks, and the checkboxes that lack a side's change."""
    there = {task.text for task in plan.tasks}
    both = {task.text for task in ours.tasks} & {task.text for task in theirs.tasks}
    lost = [f"task: {words}" for words in both - there]
    boxes = [_boxes(each) for each in (base, ours, theirs, plan)]
    for words, was in boxes[0].items():
        our, their, now = [each.get(words) for each in boxes[1:]]
        if our and their and now:
            changed = [each for each in (our, their) if each != was] or [was]
            wanted = DONE if any(state == DONE for state, _ in changed) else changed[0][0]
            lost += [f"box: {words}"] if now[0] != wanted else []
    return lost


def _boxes(plan: ParsedPlan) -> dict[str, tuple[str, str]]:
    """Return the state and timestamp of each task with a unique text."""
    counts = Counter(task.text for task in plan.tasks)
    stamps = {task.text: (task.state, task.timestamp.text if task.timestamp else "") for task in plan.tasks}
    return {words: box for words, box in stamps.items() if counts[words] == 1}


def measure(asked: tuple[Path, int, int]) -> tuple[Sides, dict[str, Judged]]:
    """Run one merge with every method."""
    given = sides(*asked)
    return given, {way: judged(given, way) for way in WAYS}


def asked_for(folder: Path, plans: int | None, count: int, seed: int) -> list[tuple[Path, int, int]]:
    """Return the arguments for this many merges, distributed over the plans of a directory."""
    paths = sorted(folder.rglob("*.md"))
    paths = Random(seed).sample(paths, plans) if plans and plans < len(paths) else paths  # noqa: S311 - as above
    return [(paths[at % len(paths)], at // len(paths), seed) for at in range(count)] if paths else []


def table(results: list[dict[str, Judged]]) -> str:
    """Return a table with the results of each method."""
    lines = [f"{len(results):,} merges   conflicts  losses  doubled  unreadable"]
    for way in WAYS:
        each = [result[way] for result in results]
        share = 100 * sum(one.conflict for one in each) / len(each)
        rest = [sum(bool(getattr(one, what)) for one in each) for what in ("lost", "doubled", "unreadable")]
        lines.append(f"{way:<14} {share:>7.1f} %  {rest[0]:>6}  {rest[1]:>7}  {rest[2]:>10}")
    return "\n".join(lines)


def broken(results: list[tuple[Sides, dict[str, Judged]]]) -> list[str]:
    """Return a line for each promise that our merge did not keep."""
    found = []
    for given, ways in results:
        ours = ways["ours"]
        for what, words in (("lost", ours.lost), ("doubled", ours.doubled), ("unreadable", [ours.unreadable])):
            found += [f"{given.name}: {what}: {each}  ({given.verbs})" for each in words if each]
    share = 100 * sum(ways["ours"].conflict for _, ways in results) / len(results)
    return found + ([f"conflicts in {share:.1f} %, more than {CONFLICTS:g} %"] if share > CONFLICTS else [])


def main() -> int:
    """Run the merges and print the table; with --check return 1 for a broken promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="default: $EXECPLAN_CORPUS, else ../shared/corpus")
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many merges; default {COUNT:,}")
    parser.add_argument("--plans", type=int, help="of how many plans, drawn by the seed; default: all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--check", action="store_true", help="exit 1 unless ours holds what it promises")
    asked = parser.parse_args()
    folder = asked.folder or Path(os.environ.get("EXECPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")
    merges = asked_for(folder, asked.plans, asked.count, asked.seed)
    if not merges:
        print(f"no corpus in {folder}: nothing was merged")
        return 0
    with Pool() as pool:
        results = pool.map(measure, merges, chunksize=8)
    print(table([ways for _, ways in results]))
    wrong = broken(results)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if asked.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
