"""Findings counted, by rule."""

from __future__ import annotations

from execplan.lint.rule import LEVELS, RULES, SAFE, UNSAFE, Finding
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Tally(NamedTuple):
    """What was found of one rule."""

    code: str
    level: str
    """The worst that was met."""
    found: int
    safe: int
    """How many of them `--fix` mends."""
    unsafe: int
    """How many `--unsafe-fixes` mends besides."""
    sentence: str


def tally(findings: Iterable[Finding]) -> list[Tally]:
    """The findings by rule, the most frequent first."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.code, []).append(finding)
    tallies = [_tally(code, each) for code, each in found.items()]
    return sorted(tallies, key=lambda each: (-each.found, each.code))


def weight(finding: Finding) -> int:
    """How many findings it stands for: the last of a rule in a file may say `and N more`."""
    words = finding.message.split(" ")
    if len(words) == 3 and words[0] == "and" and words[2] == "more" and words[1].isdecimal():
        return int(words[1])
    return 1


def stands_for_more(finding: Finding) -> bool:
    """Whether it stands for findings that are not listed, and for no place."""
    return finding.message == f"and {weight(finding)} more"


def _tally(code: str, findings: list[Finding]) -> Tally:
    level = min([each.level for each in findings], key=LEVELS.index)
    kinds = [each.fix.kind for each in findings if each.fix is not None]
    sentence = RULES[code].sentence if code in RULES else ""
    return Tally(code, level, sum(map(weight, findings)), kinds.count(SAFE), kinds.count(UNSAFE), sentence)
