"""Summaries of findings: counts by rule, and merged messages."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import join_first
from execplan.linter.rule import CONFLICT_CODE, ERROR, LEVELS, RULES, SAFE, UNSAFE, Finding
from execplan.linter.rules.completeness_rules import MISSING_MESSAGE, PLACEHOLDER_MESSAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.core.plan.model import ParsedPlan


_UNCLOSED_CODE = "EP003"
"""Code of the rule about code blocks that are never closed, which hide what other rules miss."""


class FindingReport(NamedTuple):
    """What a report for people prints about the findings of a plan."""

    level_counts: tuple[int, ...]
    """Number of findings at each of `LEVELS`."""
    first_error: str
    """Code of the first error, if any; that of conflict markers before others."""
    first_code: str
    """Code of the first finding."""
    text: str = ""
    """The findings with their source lines, as printed without a terminal, and NUL where the plan's name goes; empty if
    the text has characters that must be escaped."""


class RuleStatistics(NamedTuple):
    """The number of findings of one rule."""

    code: str
    level: str
    """Most severe level among the findings."""
    found: int
    safe: int
    """Number of findings that `--fix` fixes."""
    unsafe: int
    """Number of additional findings that `--unsafe-fixes` fixes."""
    sentence: str


def summarize(findings: Sequence[Finding]) -> FindingReport:
    """Return the report of at least one finding, without text."""
    level_counts = dict.fromkeys(LEVELS, 0)
    for finding in findings:
        level_counts[finding.level] += finding_weight(finding)
    first_errors = [finding.code for finding in findings if finding.level == ERROR]
    first_errors = [code for code in (CONFLICT_CODE, _UNCLOSED_CODE) if code in first_errors] + first_errors
    return FindingReport(tuple(level_counts.values()), first_errors[0] if first_errors else "", findings[0].code)


def count_by_rule(findings: Iterable[Finding]) -> list[RuleStatistics]:
    """Count the findings by rule, most frequent rule first."""
    findings_by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        findings_by_code.setdefault(finding.code, []).append(finding)
    tallies = [_rule_statistics(code, rule_findings) for code, rule_findings in findings_by_code.items()]
    return sorted(tallies, key=lambda statistics: (-statistics.found, statistics.code))


def finding_weight(finding: Finding) -> int:
    """Return the number of findings that one represents, because the last of a rule in a file may be `and N more`."""
    tokens = finding.message.split(" ")
    if len(tokens) == 3 and tokens[0] == "and" and tokens[2] == "more" and tokens[1].isdecimal():
        return int(tokens[1])
    return 1


def is_overflow(finding: Finding) -> bool:
    """Return whether a finding represents unlisted findings rather than a place."""
    return finding.message == f"and {finding_weight(finding)} more"


def _rule_statistics(code: str, findings: list[Finding]) -> RuleStatistics:
    level = min([finding.level for finding in findings], key=LEVELS.index)
    kinds = [finding.fix.kind for finding in findings if finding.fix is not None]
    sentence = RULES[code].summary if code in RULES else ""
    return RuleStatistics(
        code, level, sum(map(finding_weight, findings)), kinds.count(SAFE), kinds.count(UNSAFE), sentence
    )


_MAX_LINES = 10
"""Maximum number of listed lines."""


def merged_archive_errors(plan: ParsedPlan) -> list[Finding]:
    """Return the errors that stop the archive of a plan, besides open tasks and a missing outcome, equal ones merged."""
    from execplan.linter.runner import archive_errors

    return merge_findings(archive_errors(plan))


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings with equal rule, level, kind of fix and message at the position of the first."""
    groups: dict[object, list[Finding]] = {}
    for at, finding in enumerate(findings):
        kind = finding.fix.kind if finding.fix is not None else ""
        common_parts = [part for part in (PLACEHOLDER_MESSAGE, MISSING_MESSAGE) if part in finding.message]
        message_key = common_parts[0] if common_parts else _without_task_number(finding.message)
        groups.setdefault(at if is_overflow(finding) else (finding.code, finding.level, kind, message_key), []).append(
            finding
        )
    return [
        group[0] if len(group) == 1 else group[0]._replace(message=_merged_message(group)) for group in groups.values()
    ]


def _without_task_number(message: str) -> str:
    """Return a message about a task, such as `task 3 has no timestamp`, without the number; any other as it is."""
    first, number, *rest = message.split(" ", 2) if " " in message else (message, "")
    return " ".join((first, *rest)) if first == "task" and number.isdecimal() else message


def _merged_message(group: Sequence[Finding]) -> str:
    """Return the common message of several equal findings."""
    first_message = group[0].message
    if PLACEHOLDER_MESSAGE in first_message:
        names = [finding.message.partition(PLACEHOLDER_MESSAGE)[0] for finding in group]
        return f"{len(group)} sections still contain placeholder text: {', '.join(names)}"
    if first_message.startswith(MISSING_MESSAGE):
        names = [finding.message.removeprefix(MISSING_MESSAGE) for finding in group]
        return f"missing sections {', '.join(names)}"
    if len({finding.message for finding in group}) > 1:
        numbers = [finding.message.split(" ")[1] for finding in group[1:]]
        return f"{first_message} (also task{'s' if len(numbers) > 1 else ''} {join_first(numbers, _MAX_LINES)})"
    lines = list(dict.fromkeys([finding.line for finding in group[1:] if finding.line != group[0].line]))
    if not lines:
        return f"{first_message} ({len(group)} times)"
    line_list = join_first([str(line) for line in lines], _MAX_LINES)
    return f"{first_message} (also line{'s' if len(lines) > 1 else ''} {line_list})"
