"""Equal findings of one plan as a single one, for people; documents for programs keep each."""

from __future__ import annotations

from execplan.lint.rule import Finding
from execplan.lint.structure import PLACEHOLDER
from execplan.lint.tally import stands_for_more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LINES = 10
"""Lines that are named."""


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with equal ones at the place of the first: same rule, level, kind of fix and message."""
    groups: dict[object, list[Finding]] = {}
    for at, finding in enumerate(findings):
        kind = finding.fix.kind if finding.fix is not None else ""
        what = PLACEHOLDER if PLACEHOLDER in finding.message else finding.message
        groups.setdefault(at if stands_for_more(finding) else (finding.code, finding.level, kind, what), []).append(
            finding
        )
    return [group[0] if len(group) == 1 else group[0]._replace(message=_message(group)) for group in groups.values()]


def _message(group: Sequence[Finding]) -> str:
    """What several equal findings say together."""
    first = group[0].message
    if PLACEHOLDER in first:
        names = [each.message.partition(PLACEHOLDER)[0] for each in group]
        return f"{len(group)} sections still hold placeholder text: {', '.join(names)}"
    lines = list(dict.fromkeys([each.line for each in group[1:] if each.line != group[0].line]))
    if not lines:
        return f"{first} ({len(group)} times)"
    named = ", ".join([str(line) for line in lines[:_LINES]])
    more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
    return f"{first} (also line{'s' if len(lines) > 1 else ''} {named}{more})"
