"""The filter for baseline findings, which are hidden and not counted even if their lines have moved."""

from __future__ import annotations

import os

from execplan.core.named_tuple import NamedTuple
from execplan.linter.finding_summary import finding_weight, is_overflow
from execplan.linter.rule import CONFLICT_CODE, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from typing import TypeAlias

BaselineCounts: TypeAlias = "dict[str, int]"
"""Fingerprints of findings, with the number of occurrences."""
_OVERFLOW = "more"
_UNRECORDED_CODES = ("EP001", CONFLICT_CODE)
"""Codes that a baseline never hides: an unreadable plan could contain anything, and a merge is not finished."""


class BaselineResult(NamedTuple):
    """The findings of a plan compared with its baseline."""

    new_findings: list[Finding]
    known_count: int
    resolved: BaselineCounts
    """Baseline entries that no longer occur, for rules that ran."""
    unchecked: BaselineCounts
    """Baseline entries of rules that did not run."""


def apply_baseline(
    entries: BaselineCounts, findings: Sequence[Finding], marks: Sequence[str], codes_run: Container[str]
) -> BaselineResult:
    """Return a plan's findings without those in the baseline; `codes_run` are the codes of the rules that ran.

    For a rule with more findings than are listed, the baseline records the rest only as a number.
    """
    remaining = dict(entries)
    new = []
    for finding, mark in zip(findings, marks, strict=True):
        overflow_mark = f"{finding.code}:{_OVERFLOW}"
        candidates = (overflow_mark,) if is_overflow(finding) else (mark, overflow_mark)
        count = finding_weight(finding)
        name = next((candidate for candidate in candidates if remaining.get(candidate, 0) >= count), "")
        if name and finding.code not in _UNRECORDED_CODES:
            remaining[name] -= count
        else:
            new.append(finding)
    known_count = sum(entries.values()) - sum(remaining.values())
    remaining = {mark: count for mark, count in remaining.items() if count}
    resolved = {mark: count for mark, count in remaining.items() if mark.partition(":")[0] in codes_run}
    return BaselineResult(
        new, known_count, resolved, {mark: count for mark, count in remaining.items() if mark not in resolved}
    )


def unrecorded_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that a baseline never hides."""
    return [finding for finding in findings if finding.code in _UNRECORDED_CODES]


def count_by_mark(findings: Iterable[Finding], marks: Iterable[str]) -> BaselineCounts:
    """Return the baseline entries that record these findings, except those that it never hides."""
    entries: BaselineCounts = {}
    for finding, mark in zip(findings, marks, strict=True):
        if finding.code not in _UNRECORDED_CODES:
            name = f"{finding.code}:{_OVERFLOW}" if is_overflow(finding) else mark
            entries[name] = entries.get(name, 0) + finding_weight(finding)
    return entries


def find_moved_plan(path: str, known_paths: Iterable[str], exists: Callable[[str], bool]) -> str:
    """Return the path under which a moved plan is in the baseline: same file name, and no longer on disk.

    Empty if none or several match.
    """
    candidates = [candidate for candidate in known_paths if os.path.basename(candidate) == os.path.basename(path)]
    if len(candidates) > 1:  # plans such as ID/ExecPlan.md all have the same file name
        candidates = [candidate for candidate in candidates if candidate.split("/")[-2:] == path.split("/")[-2:]]
    candidates = [candidate for candidate in candidates if not exists(candidate)]
    return candidates[0] if len(candidates) == 1 else ""
