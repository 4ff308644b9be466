"""Merge plans that were edited on two branches with Git's merge, its union merge and ours, and compare the results.

The plans come from the corpus, the edits from a fixed seed. A loss is a word that one side added and the result lacks,
a task that both sides kept and the result lacks, or a completion by one side that the result lacks although the other
side left the task alone. A task is doubled if the result contains it more often than either side, outside conflicts.
With --check the exit status is 1 unless our merge keeps its promise.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import NamedTuple

from corpus_location import CORPUS
from merge_branches import MARK, Branch

from execplan.core.errors import ExecplanError
from execplan.core.git_merge import three_way_merge
from execplan.core.plan import outline, reader
from execplan.core.plan.merge.plan_merge import ConflictMarkers
from execplan.core.plan.model import DONE, ParsedPlan

ROOT = Path(__file__).resolve().parent.parent
COUNT = 1400
SEED = 5
MAX_EDITS = 8
"""Maximum number of edits on a branch."""
CONFLICTS = 5.0
"""Maximum percentage of merges with a conflict for our merge."""
WAYS = ("git", "union", "ours")
_MARKED_WORD = re.compile(rf"\b{MARK}\w+")
_REGION = re.compile(r"^<{7}[^\n]*\n.*?^>{7}[^\n]*\n", re.MULTILINE | re.DOTALL)


class Sides(NamedTuple):
    """A plan and its versions on two branches."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes
    commands: str


class MergeOutcome(NamedTuple):
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
    ours, theirs = [branch.edit(base, MAX_EDITS) for branch in branches]
    commands = " | ".join(" ".join(branch.commands) for branch in branches)
    return Sides(f"{path.parent.name}/{path.name} {number}", base, ours, theirs, commands)


def merged(versions: Sides, method: str) -> tuple[bytes, int]:
    """Merge the sides with a method, and return the result and its number of conflicts."""
    if method == "ours":
        result = three_way_merge.merge_versions(versions.base, versions.ours, versions.theirs, ConflictMarkers())
        return result.data, result.conflict_count
    if method == "git":
        merged_file = three_way_merge.run_merge_file(versions.base, versions.ours, versions.theirs, ConflictMarkers())
        assert merged_file is not None
        return merged_file
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, data in zip(("ours", "base", "theirs"), (versions.ours, versions.base, versions.theirs), strict=True):
            names.append(Path(folder, name))
            names[-1].write_bytes(data)
        return subprocess.run(["git", "merge-file", "--union", "-p", *names], capture_output=True, check=True).stdout, 0


def judged(versions: Sides, method: str) -> MergeOutcome:
    """Merge the sides with a method and evaluate the result; a crash counts as unreadable."""
    try:
        return judge(versions, *merged(versions, method))
    except Exception as error:  # noqa: BLE001 - a crash is a finding about this merge like any other
        return MergeOutcome(conflict=True, lost=[], doubled=[], unreadable=f"{type(error).__name__}: {error}")


def judge(versions: Sides, data: bytes, conflicts: int) -> MergeOutcome:
    """Evaluate whether a merge result has lost, doubled or unreadable content."""
    try:
        plan, outside = reader.read(data), reader.read(_REGION.sub("", data.decode("utf-8")).encode() or b"#\n")
    except (ExecplanError, UnicodeDecodeError) as error:
        return MergeOutcome(bool(conflicts), [], [], str(error))
    base, ours, theirs = [reader.read(version) for version in (versions.base, versions.ours, versions.theirs)]
    merged_text = data.decode("utf-8")
    new_words = set(_MARKED_WORD.findall(versions.ours.decode("utf-8") + versions.theirs.decode("utf-8")))
    lost = sorted(new_words - set(_MARKED_WORD.findall(merged_text))) + _tasks_lost(base, ours, theirs, plan)
    counts = [_entries(side) for side in (outside, ours, theirs)]
    doubled = [text for text, count in counts[0].items() if count > max(counts[1][text], counts[2][text])]
    names = [section.name for section in outside.sections if section.name]
    twice = [name for name in names if names.count(name) > max(_times(ours, name), _times(theirs, name))]
    return MergeOutcome(bool(conflicts), lost, doubled, f"{twice[0]} twice" if twice else "")


def _times(plan: ParsedPlan, name: str) -> int:
    return [section.name for section in plan.sections].count(name)


def _entries(plan: ParsedPlan) -> Counter[str]:
    """Count the tasks, entries and notes of a plan by text."""
    logs = (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)
    return Counter([f"{outline.PROGRESS}: {task.text}" for task in plan.tasks] + [entry.text for entry in logs])


def _tasks_lost(base: ParsedPlan, ours: ParsedPlan, theirs: ParsedPlan, plan: ParsedPlan) -> list[str]:
    """Return the tasks that both sides kept and the result lacks, and the checkboxes that lack a side's change."""
    texts = {task.text for task in plan.tasks}
    both = {task.text for task in ours.tasks} & {task.text for task in theirs.tasks}
    lost = [f"task: {text}" for text in both - texts]
    boxes = [_boxes(side) for side in (base, ours, theirs, plan)]
    for text, old_box in boxes[0].items():
        our, their, new_box = [side_boxes.get(text) for side_boxes in boxes[1:]]
        if our and their and new_box:
            changed = [box for box in (our, their) if box != old_box] or [old_box]
            wanted_state = DONE if any(state == DONE for state, _ in changed) else changed[0][0]
            lost += [f"box: {text}"] if new_box[0] != wanted_state else []
    return lost


def _boxes(plan: ParsedPlan) -> dict[str, tuple[str, str]]:
    """Return the state and timestamp of each task with a unique text."""
    counts = Counter(task.text for task in plan.tasks)
    stamps = {task.text: (task.state, task.timestamp.text if task.timestamp else "") for task in plan.tasks}
    return {text: box for text, box in stamps.items() if counts[text] == 1}


def measure(request: tuple[Path, int, int]) -> tuple[Sides, dict[str, MergeOutcome]]:
    """Run one merge with every method."""
    versions = sides(*request)
    return versions, {method: judged(versions, method) for method in WAYS}


def merge_requests(folder: Path, plans: int | None, count: int, seed: int) -> list[tuple[Path, int, int]]:
    """Return the arguments for this many merges, distributed over the plans of a directory."""
    paths = sorted(folder.rglob("*.md"))
    paths = Random(seed).sample(paths, plans) if plans and plans < len(paths) else paths  # noqa: S311 - as above
    return [(paths[at % len(paths)], at // len(paths), seed) for at in range(count)] if paths else []


def table(results: list[dict[str, MergeOutcome]]) -> str:
    """Return a table with the results of each method."""
    lines = [f"{len(results):,} merges   conflicts  losses  doubled  unreadable"]
    for method in WAYS:
        outcomes = [result[method] for result in results]
        share = 100 * sum(outcome.conflict for outcome in outcomes) / len(outcomes)
        counts = [
            sum(bool(getattr(outcome, field)) for outcome in outcomes) for field in ("lost", "doubled", "unreadable")
        ]
        lines.append(f"{method:<14} {share:>7.1f} %  {counts[0]:>6}  {counts[1]:>7}  {counts[2]:>10}")
    return "\n".join(lines)


def broken(results: list[tuple[Sides, dict[str, MergeOutcome]]]) -> list[str]:
    """Return a line for each promise that our merge did not keep."""
    problems = []
    for versions, ways in results:
        outcome = ways["ours"]
        for field, details in (
            ("lost", outcome.lost),
            ("doubled", outcome.doubled),
            ("unreadable", [outcome.unreadable]),
        ):
            problems += [f"{versions.name}: {field}: {detail}  ({versions.commands})" for detail in details if detail]
    share = 100 * sum(ways["ours"].conflict for _, ways in results) / len(results)
    return problems + ([f"conflicts in {share:.1f} %, more than {CONFLICTS:g} %"] if share > CONFLICTS else [])


def main() -> int:
    """Run the merges and print the table; with --check return 1 for a broken promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="default: $EXECPLAN_CORPUS, else ../shared/corpus")
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many merges; default {COUNT:,}")
    parser.add_argument("--plans", type=int, help="number of plans, drawn with the seed; default: all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--check", action="store_true", help="exit 1 unless our merge keeps its promise")
    arguments = parser.parse_args()
    folder = arguments.folder or CORPUS
    merges = merge_requests(folder, arguments.plans, arguments.count, arguments.seed)
    if not merges:
        print(f"no corpus in {folder}: nothing to merge")
        return 0
    with Pool() as pool:
        results = pool.map(measure, merges, chunksize=8)
    print(table([ways for _, ways in results]))
    wrong = broken(results)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if arguments.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
