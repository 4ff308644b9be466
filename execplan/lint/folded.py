"""Equal findings of one plan as a single one, for people; documents for programs keep each."""

from __future__ import annotations

from execplan.lint.rule import Finding
from execplan.lint.structure import PLACEHOLDER_MESSAGE
from execplan.lint.tally import is_overflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAX_LINES = 10
"""Lines that are named."""


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with equal ones at the place of the first: same rule, level, kind of fix and message."""
    groups: dict[object, list[Finding]] = {}
    for at, finding in enumerate(findings):
        kind = finding.fix.kind if finding.fix is not None else ""
        message_key = PLACEHOLDER_MESSAGE if PLACEHOLDER_MESSAGE in finding.message else finding.message
        groups.setdefault(at if is_overflow(finding) else (finding.code, finding.level, kind, message_key), []).append(
            finding
        )
    return [group[0] if len(group) == 1 else group[0]._replace(message=_merged_message(group)) for group in groups.values()]


def _merged_message(group: Sequence[Finding]) -> str:
    """What several equal findings say together."""
    first_message = group[0].message
    if PLACEHOLDER_MESSAGE in first_message:
        names = [finding.message.partition(PLACEHOLDER_MESSAGE)[0] for finding in group]
        return f"{len(group)} sections still hold placeholder text: {', '.join(names)}"
    lines = list(dict.fromkeys([finding.line for finding in group[1:] if finding.line != group[0].line]))
    if not lines:
        return f"{first_message} ({len(group)} times)"
    line_list = ", ".join([str(line) for line in lines[:_MAX_LINES]])
    overflow = f" and {len(lines) - _MAX_LINES} more" if len(lines) > _MAX_LINES else ""
    return f"{first_message} (also line{'s' if len(lines) > 1 else ''} {line_list}{overflow})"
