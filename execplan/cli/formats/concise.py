"""A line for each finding: `file:line:col CODE message`."""

from __future__ import annotations

from execplan.cli.door import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.lint.rule import Finding
    from execplan.repo.checking.one import Checked


def render(checked: Sequence[Checked]) -> str:
    """The lines of all findings."""
    return "\n".join([line(each, finding) for each in checked for finding in each.findings])


def line(checked: Checked, finding: Finding) -> str:
    """The line of a finding."""
    place, message = parts(checked, finding)
    return f"{place} {finding.code} {message}"


def parts(checked: Checked, finding: Finding) -> tuple[str, str]:
    """Where a finding is and what it says, as a terminal may show them."""
    return shown(f"{checked.named}:{finding.line}:{finding.column}"), shown(finding.message)
