"""Compare summaries of 60 plans with what a careful reader says about them, and print how often they agree.

`summary_readings.tsv` has the lines that a person chose in each plan: what it is for, what was done last, what is next,
its risks and its last decision. The plans are in ../shared. With `--min N` the exit status is 1 below N percent.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_location import CORPUS

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.context.summary.plan_summary import summarize_plan
from execplan.core.plan import reader
from execplan.core.plan.plan_lookup import task_ids

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan

READINGS = Path(__file__).with_suffix("").with_name("summary_readings.tsv")
TOPICS = ("purpose", "done", "next", "risks", "decision")


def starts(plan: ParsedPlan, form: str, length: str, name: str) -> list[int]:
    """Return the first lines of the pieces of a section; 0 for text that is cut."""
    summary = summarize_plan(plan, "plan", plan.state(), task_ids(plan.tasks), form, length)
    pieces = [piece for section in summary.sections if section.name == name for piece in section.pieces if piece.start]
    return [0 if piece.text.rstrip(".").endswith("…") else piece.start for piece in pieces]


def compare(plan: ParsedPlan, reading: list[str]) -> list[bool]:
    """Return for each topic whether the summaries agree with the reader."""
    purpose, done, next_task, risks, decision = reading
    core = {int(line) for line in re.findall(r"\d+", purpose.partition("(")[0])}
    allowed = {int(line) for line in re.findall(r"\d+", purpose)}
    purpose_lines = set(starts(plan, "summary", "brief", "purpose"))
    return [
        bool(purpose_lines & core) and purpose_lines <= allowed if core else not purpose_lines,
        is_one_of(starts(plan, "report", "detailed", "done"), lines(done)),
        starts(plan, "summary", "brief", "next")[:1] == lines(next_task),
        starts(plan, "report", "comprehensive", "risks") == lines(risks),
        starts(plan, "summary", "detailed", "decisions")[:1] == lines(decision),
    ]


def is_one_of(first_lines: list[int], allowed: list[int]) -> bool:
    """Return whether the first line is an allowed one; none if nothing is."""
    return first_lines[0] in allowed if first_lines else not allowed


def lines(text: str) -> list[int]:
    """Return the numbers in a field."""
    return [int(line) for line in re.findall(r"\d+", text)]


def main() -> int:
    """Print the score of each topic and of all; with `--list`, the plans and topics where the reader says something else."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--min", type=int, default=0, metavar="PERCENT")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if not CORPUS.is_dir():
        print("no plans: they are in ../shared")
        return 0
    rows = [line.split("\t") for line in READINGS.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    results = []
    for path, *reading in rows:
        result = compare(reader.read((CORPUS.parent / path).read_bytes()), reading)
        results.append(result)
        if arguments.list and not all(result):
            print(path, [topic for topic, agrees in zip(TOPICS, result, strict=True) if not agrees])
    for topic, agreements in zip(TOPICS, zip(*results, strict=True), strict=True):
        print(f"{topic}: {sum(agreements)} of {len(rows)}")
    percent = 100 * sum([sum(result) for result in results]) / (len(TOPICS) * len(rows))
    print(f"all: {percent:.0f} %")
    return int(percent < arguments.min)


if __name__ == "__main__":
    sys.exit(main())
