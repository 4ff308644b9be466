"""Merge plans that two branches have edited: with git's own merge, with its union, and with ours; what each makes of them.

Over the plans of the corpus, by a fixed seed. A loss is a word that one side brought in and the result lacks, a task that
both kept and it lacks, or a tick that one side made, the other left alone, and it lacks; a task is doubled when it stands
there more often than on either side, outside of conflicts. With --check it ends with 1 unless ours holds its promise.
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
"""Edits on a branch."""
CONFLICTS = 5.0
"""Per cent of the merges in which ours may leave one."""
WAYS = ("git", "union", "ours")
_WORD = re.compile(rf"\b{MARK}\w+")
_REGION = re.compile(r"^<{7}[^\n]*\n.*?^>{7}[^\n]*\n", re.MULTILINE | re.DOTALL)


class Sides(NamedTuple):
    """A plan, and what two branches made of it."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes
    verbs: str


class Judged(NamedTuple):
    """What one way of merging made of them."""

    conflict: bool
    lost: list[str]
    doubled: list[str]
    unreadable: str


def sides(path: Path, number: int, seed: int = SEED) -> Sides:
    """A plan, edited on two branches; the same for the same number and seed."""
    random = Random(f"{seed}:{path.name}:{number}")  # noqa: S311 - nothing is to be kept secret
    base = path.read_bytes()
    branches = [Branch(name, Random(random.random())) for name in ("a", "b")]  # noqa: S311 - as above
    ours, theirs = [branch.edit(base, MOST) for branch in branches]
    verbs = " | ".join(" ".join(branch.verbs) for branch in branches)
    return Sides(f"{path.parent.name}/{path.name} {number}", base, ours, theirs, verbs)


def merged(given: Sides, way: str) -> tuple[bytes, int]:
    """What a way of merging makes of them, and how many conflicts it leaves."""
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
    """Whether what a way of merging makes of them is as it should be."""
    try:
        return judge(given, *merged(given, way))
    except Exception as error:  # noqa: BLE001 - a crash is a finding about this merge like any other
        return Judged(conflict=True, lost=[], doubled=[], unreadable=f"{type(error).__name__}: {error}")


def judge(given: Sides, data: bytes, conflicts: int) -> Judged:
    """Whether anything is lost, doubled or unreadable."""
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
    """Tasks, entries and notes by their words, and how often each stands there."""
    logs = (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)
    return Counter([f"{outline.PROGRESS}: {task.text}" for task in plan.tasks] + [entry.text for entry in logs])


def _tasks_lost(base: ParsedPlan, ours: ParsedPlan, theirs: ParsedPlan, plan: ParsedPlan) -> list[str]:
    """Tasks that both sides kept and the result lacks, and boxes that are not as the side left them that changed them."""
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
    """State and stamp of each task whose words no other has."""
    counts = Counter(task.text for task in plan.tasks)
    stamps = {task.text: (task.state, task.timestamp.text if task.timestamp else "") for task in plan.tasks}
    return {words: box for words, box in stamps.items() if counts[words] == 1}


def measure(asked: tuple[Path, int, int]) -> tuple[Sides, dict[str, Judged]]:
    """One merge, in every way."""
    given = sides(*asked)
    return given, {way: judged(given, way) for way in WAYS}


def asked_for(folder: Path, plans: int | None, count: int, seed: int) -> list[tuple[Path, int, int]]:
    """So many merges, spread over the plans of a folder."""
    paths = sorted(folder.rglob("*.md"))
    paths = Random(seed).sample(paths, plans) if plans and plans < len(paths) else paths  # noqa: S311 - as above
    return [(paths[at % len(paths)], at // len(paths), seed) for at in range(count)] if paths else []


def table(results: list[dict[str, Judged]]) -> str:
    """What came of each way, in numbers."""
    lines = [f"{len(results):,} merges   conflicts  losses  doubled  unreadable"]
    for way in WAYS:
        each = [result[way] for result in results]
        share = 100 * sum(one.conflict for one in each) / len(each)
        rest = [sum(bool(getattr(one, what)) for one in each) for what in ("lost", "doubled", "unreadable")]
        lines.append(f"{way:<14} {share:>7.1f} %  {rest[0]:>6}  {rest[1]:>7}  {rest[2]:>10}")
    return "\n".join(lines)


def broken(results: list[tuple[Sides, dict[str, Judged]]]) -> list[str]:
    """What ours promises and did not hold, a line each."""
    found = []
    for given, ways in results:
        ours = ways["ours"]
        for what, words in (("lost", ours.lost), ("doubled", ours.doubled), ("unreadable", [ours.unreadable])):
            found += [f"{given.name}: {what}: {each}  ({given.verbs})" for each in words if each]
    share = 100 * sum(ways["ours"].conflict for _, ways in results) / len(results)
    return found + ([f"conflicts in {share:.1f} %, more than {CONFLICTS:g} %"] if share > CONFLICTS else [])


def main() -> int:
    """Merge, print the table; with --check exit 1 for a promise that is not held."""
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
