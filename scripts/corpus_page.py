"""The page docs/research/corpus.md, with the results of scripts/corpus.py in tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import precision
from corpus_given import DAY
from precision import DRAWN

from execplan.linter.runner import RULES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "research" / "corpus.md"
CREATED = " --create"
"""Suffix for the name of a writer that creates its section first."""

COUNTS = {
    "plans": "plans",
    "bytes": "bytes",
    "lines": "lines",
    "sections": "sections",
    "total": "tasks",
    "done": "tasks that are done",
    "open": "tasks that are open",
    "other": "tasks with another mark in the box",
    "checklists": "boxes outside Progress",
    "decisions": "decisions",
    "discoveries": "discoveries",
    "outcomes": "outcomes",
    "revisions": "revision notes",
}
WRITERS = {
    "done": "every open task and every one with another mark",
    "reopen": "every task that is not open, and those that `done` ticked",
    "done, then reopen": "every open task without a stamp: the same bytes come back",
    "add": "at the end",
    "add --after": "the first, the middle and the last task",
    "add --under": "each sub-heading of Progress",
    "reword": "the first, the middle and the last task",
    "split": "the first, the middle and the last task that is not done",
    "decide": "one decision",
    "decide --supersedes": "the last decision that the plan has",
    "discover": "one discovery",
    "discover --create": "where the section is missing",
    "outcome": "one outcome",
    "outcome --create": "where the section is missing",
    "revision note": "one note",
    "note": "one note with an excerpt",
    "note --create": "where the section is missing",
    "set": "every section: its own body, and another",
    "lint --fix": "every finding that can be mended safely",
    "lint --unsafe-fixes": "those and the others that can be mended",
    "undo": "the first edit of each writer: the same bytes come back",
}
STEPS = {
    "plans": "plans that give at least one step",
    "steps": "steps",
    "inferred": "of them inferred: no attributes tell them",
    "argv": "of them with an argv, so that no shell is needed",
    "elsewhere": "of them in another folder than the root",
    "annotated": "of them that `compile --annotate` writes attributes for",
}
PROSE = """\
# The reader and the writers on real plans

Written by `python scripts/corpus.py FOLDER`; with `--check` it only says whether this page would change. FOLDER holds
real plans of public repositories as they were committed. They are no part of this project, and only their file names
stand here. Without FOLDER it is `$EXECPLAN_CORPUS`, or `../shared/corpus` beside the checkout. Of every plan is checked:

- it is read, and its lines join back to the same bytes;
- its tasks are those that markdown-it-py finds in the first section Progress, with the same first lines and states;
- each writer changes only its own lines: all others stay the same bytes, their ends included;
- the result reads back as it was meant, and says all else that it said before;
- the same writer with the same words once more changes nothing;
- `done` and then `reopen` gives back the bytes of an open task that had no stamp.

A plan that fails is named with its line and this page is not written, so it stands for no failures. The words that are
written hold what could be taken for markdown, and are long enough to be wrapped where the plan wraps its lines.

## What was read

{read}

## What was written

Each edit was made on the plan as it was committed.

{written}

## What was refused

A missing section was then made with `--create`, as the table above counts. Plans that only lack Artifacts and Notes, so
that only `note` was refused, are left out here.

{refused}

## What steps are found

Every plan compiles, or gives no step. None of them has attributes, so that each step is inferred, and what is not sure is
left with the reason. With the attributes that `compile --annotate` writes, a plan compiles to the same commands in the same
folders, and annotating it once more changes nothing. Of fifty inferred steps, drawn as the findings below are, {judged}.

{steps}

{left}

## What lint finds

Every rule, also those that are off by default. A plan counts as archived when its folder's name says so; the clock stands at
the beginning of {day}, and of the repository around a plan no file is there: what rules of the tree find here is what they
would ask the tree about. Rules that need git's history find nothing here, and are tested in repositories that tests make.

Of at most {drawn} findings of each rule, drawn by a fixed seed, somebody who did not write the rule has judged whether what is
said is true there and worth changing: `tests/precision.tsv` has each verdict with its reason, `python scripts/precision.py`
draws and counts. A rule of which fewer than nine in ten are right is mended, or becomes a hint that is off by default.

{found}
"""


class Report(NamedTuple):
    """The results of all checks on one plan."""

    name: str
    counts: Counter[str]
    """Number of elements in the plan, by key of `COUNTS`."""
    findings: Counter[str]
    """Number of findings by rule code."""
    edits: Counter[str]
    """Number of edits by writer."""
    replaced: Counter[str]
    """Number of edits that replaced a placeholder, by writer."""
    refused: Counter[tuple[str, str]]
    """Number of errors by error code and writer."""
    failures: list[str]
    steps: Counter[str]
    """Number of steps, by key of `STEPS`."""
    skipped: Counter[str]
    """Number of texts not taken for a step, by reason."""


def new_report(name: str) -> Report:
    """Return an empty report for a plan."""
    return Report(name, Counter(), Counter(), Counter(), Counter(), Counter(), [], Counter(), Counter())


def render_page(reports: list[Report]) -> str:
    """Return the page as markdown text."""
    counts, findings, edits, replaced = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    steps, skipped = Counter[str](), Counter[str]()
    refused: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        counts += report.counts
        findings += report.findings
        edits += report.edits
        replaced += report.replaced
        steps += report.steps
        skipped += report.skipped
        for code, writer in sorted(report.refused):
            refused.setdefault((code, report.name), []).append(f"`{writer}`")
    refusals = Counter(writer for report in reports for _, writer in report.refused.elements())
    return PROSE.format(
        day=DAY,
        drawn=DRAWN,
        read=_table("what|count", [(label, counts[key]) for key, label in COUNTS.items()]),
        written=_table(
            "writer|of what|edits|in place of a placeholder|refused",
            [(f"`{writer}`", of, edits[writer], replaced[writer], refusals[writer]) for writer, of in WRITERS.items()],
        ),
        refused=_table(
            "code|plan|writers",
            [
                (f"`{code}`", f"`{name}`", ", ".join(by))
                for (code, name), by in sorted(refused.items())
                if by != ["`note`"]
            ],
        ),
        judged="{1} of {0} are right".format(*_verdict_counts("STEP"))
        if _verdict_counts("STEP")[0]
        else "none is judged yet",
        steps=_table("what|count", [(label, steps[key]) for key, label in STEPS.items()]),
        left=_table("what was left|count", [(f"it {why}", count) for why, count in skipped.most_common()]),
        found=_table(
            "code|level|default|rule|findings|judged|right",
            [
                (code, rule.level, "on" if rule.on else "off", rule.summary, findings[code], *_verdict_counts(code))
                for code, rule in sorted(RULES.items())
            ],
        ),
    )


def _verdict_counts(code: str) -> tuple[int, str]:
    """Return how many findings of a rule were reviewed, and the share of correct ones."""
    verdicts = [verdict.right for (of, _, _), verdict in precision.verdicts().items() if of == code]
    return len(verdicts), f"{100 * sum(verdicts) // len(verdicts)} %" if verdicts else "–"


def _table(head: str, rows: list[tuple[str | int, ...]]) -> str:
    """Return a markdown table with right-aligned numbers."""
    rule = ["--:" if isinstance(cell, int) else "---" for cell in rows[0]] if rows else ["---"] * len(head.split("|"))
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return "\n".join([f"| {' | '.join(row)} |" for row in (head.split("|"), rule, *cells)])
