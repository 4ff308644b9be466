"""Findings that are known: they are not shown and do not count, wherever their lines have moved."""

from __future__ import annotations

import os

from execplan.lint.rule import Finding
from execplan.lint.tally import stands_for_more, weight
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    Entries = dict[str, int]
    """Marks of findings, each with how often it was found."""

_MORE = "more"
_UNREADABLE = "EP001"


class Sifted(NamedTuple):
    """The findings of a plan beside what was known."""

    new: list[Finding]
    known: int
    gone: Entries
    """What was known and not found, of rules that ran."""
    kept: Entries
    """What was known of rules that did not run."""


def sift(entries: Entries, findings: Sequence[Finding], marks: Sequence[str], ran: Container[str]) -> Sifted:
    """The findings of a plan without those that are known; `ran` are the codes of the rules that ran.

    Of a rule with more findings than are listed, the rest is known by its number alone.
    """
    left = dict(entries)
    new = []
    for finding, mark in zip(findings, marks, strict=True):
        rest = f"{finding.code}:{_MORE}"
        names = (rest,) if stands_for_more(finding) else (mark, rest)
        count = weight(finding)
        name = next((each for each in names if left.get(each, 0) >= count), "")
        if name:
            left[name] -= count
        else:
            new.append(finding)
    known = sum(entries.values()) - sum(left.values())
    left = {mark: count for mark, count in left.items() if count}
    gone = {mark: count for mark, count in left.items() if mark.partition(":")[0] in ran}
    return Sifted(new, known, gone, {mark: count for mark, count in left.items() if mark not in gone})


def lasting(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are never known: what a file held that can't be read could be anything."""
    return [finding for finding in findings if finding.code == _UNREADABLE]


def entries_of(findings: Iterable[Finding], marks: Iterable[str]) -> Entries:
    """What is known of a plan when all these findings are."""
    entries: Entries = {}
    for finding, mark in zip(findings, marks, strict=True):
        if finding.code != _UNREADABLE:
            name = f"{finding.code}:{_MORE}" if stands_for_more(finding) else mark
            entries[name] = entries.get(name, 0) + weight(finding)
    return entries


def moved(path: str, known: Iterable[str], exists: Callable[[str], bool]) -> str:
    """Which of the known plans one is that was not known by its path: the one of its name that is no longer there."""
    same = [each for each in known if os.path.basename(each) == os.path.basename(path)]
    if len(same) > 1:  # plans such as ID/ExecPlan.md are all called the same
        same = [each for each in same if each.split("/")[-2:] == path.split("/")[-2:]]
    same = [each for each in same if not exists(each)]
    return same[0] if len(same) == 1 else ""
