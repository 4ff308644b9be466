"""Summarize all plans of a directory in every form and length, check the results, and write them to docs/research/summaries.md.

With `--check` it only reports whether the page would change. The checks: no summary exceeds its length, its quotations
occur in the plan, it does not end inside a code span or link, and its numbers are those of the plan.
"""

from __future__ import annotations

import argparse
import sys
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from corpus_location import CORPUS

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.context.summary.plan_summary import FORMS, summarize_plan
from execplan.context.summary.summary_pieces import LENGTHS
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.plan_lookup import task_ids
from tests.context.summary.summary_checks import faults

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "summaries.md"
BEGIN, END = "<!-- lengths: written by scripts/summaries.py -->\n", "<!-- /lengths -->"


class Report(NamedTuple):
    """The results for one plan."""

    word_counts: dict[tuple[str, str], int]
    """Word counts by form and length."""
    faults: list[str]


def examine(path: Path) -> Report:
    """Make and check all summaries of one plan."""
    word_counts, problems = {}, []
    try:
        plan = reader.read(path.read_bytes())
    except ExecplanError as error:
        return Report({}, [f"{path.name}: not read: {error.message}"])
    for form in FORMS:
        for length in LENGTHS:
            try:
                summary = summarize_plan(plan, path.stem, plan.state(), task_ids(plan.tasks), form, length.name)
            except Exception as error:  # noqa: BLE001 - a crash is a finding about this plan like any other
                problems.append(f"{path.name}: {form}, {length.name}: {type(error).__name__}: {error}")
                continue
            word_counts[form, length.name] = summary.word_count
            problems += [f"{path.name}: {form}, {length.name}: {fault}" for fault in faults(plan, summary)]
    return Report(word_counts, problems)


def table(reports: list[Report]) -> str:
    """Return a table with the median, 95th percentile and maximum of each form and length."""
    lines = [
        "| form | length | at most | median | 95 % have at most | longest |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    for form in FORMS:
        for length in LENGTHS:
            counts = sorted([report.word_counts[form, length.name] for report in reports])
            percentile_95 = counts[(95 * len(counts) + 99) // 100 - 1]
            cells = (f"`{form}`", length.name, length.max_words, counts[len(counts) // 2], percentile_95, counts[-1])
            lines.append(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in cells)} |")
    return f"Of {len(reports)} plans:\n\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Check every plan; return 1 for a fault, or under `--check` if the page would change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="default: $EXECPLAN_CORPUS, else ../shared/corpus")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; report whether docs/research/summaries.md would change"
    )
    arguments = parser.parse_args()
    folder = arguments.folder or CORPUS
    if not folder.is_dir():
        print(f"no corpus in {folder}: nothing to check")
        return 0
    with Pool() as pool:
        reports = pool.map(examine, sorted(folder.rglob("*.md")), chunksize=4)
    problems = [fault for report in reports for fault in report.faults]
    for fault in problems:
        print(fault, file=sys.stderr)
    stale = False
    if not problems:
        text = PAGE.read_text(encoding="utf-8")
        head, _, rest = text.partition(BEGIN)
        new = f"{head}{BEGIN}{table(reports)}{END}{rest.partition(END)[2]}"
        stale = new != text
        if stale and not arguments.check:
            PAGE.write_text(new, encoding="utf-8")
    outcome = "; docs/research/summaries.md " + ("is stale" if arguments.check else "written") if stale else ""
    print(
        f"{len(reports)} plans, {sum(len(report.word_counts) for report in reports):,} summaries, {len(problems)} faults{outcome}"
    )
    return 1 if problems or (stale and arguments.check) else 0


if __name__ == "__main__":
    sys.exit(main())
