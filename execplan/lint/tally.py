"""Findings counted, by rule."""

from __future__ import annotations

from execplan.lint.rule import LEVELS, RULES, SAFE, UNSAFE, Finding
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class RuleStatistics(NamedTuple):
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


def count_by_rule(findings: Iterable[Finding]) -> list[RuleStatistics]:
    """The findings by rule, the most frequent first."""
    findings_by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        findings_by_code.setdefault(finding.code, []).append(finding)
    tallies = [_rule_statistics(code, rule_findings) for code, rule_findings in findings_by_code.items()]
    return sorted(tallies, key=lambda statistics: (-statistics.found, statistics.code))


def finding_weight(finding: Finding) -> int:
    """How many findings it stands for: the last of a rule in a file may say `and N more`."""
    tokens = finding.message.split(" ")
    if len(tokens) == 3 and tokens[0] == "and" and tokens[2] == "more" and tokens[1].isdecimal():
        return int(tokens[1])
    return 1


def is_overflow(finding: Finding) -> bool:
    """Whether it stands for findings that are not listed, and for no place."""
    return finding.message == f"and {finding_weight(finding)} more"


def _rule_statistics(code: str, findings: list[Finding]) -> RuleStatistics:
    level = min([finding.level for finding in findings], key=LEVELS.index)
    kinds = [finding.fix.kind for finding in findings if finding.fix is not None]
    sentence = RULES[code].summary if code in RULES else ""
    return RuleStatistics(code, level, sum(map(finding_weight, findings)), kinds.count(SAFE), kinds.count(UNSAFE), sentence)
