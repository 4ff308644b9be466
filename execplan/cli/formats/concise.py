"""Concise lint output, with one line per finding: `file:line:col CODE message`."""

from __future__ import annotations

from execplan.cli.error_handler import printable_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.rule import Finding


def render(checked: Sequence[CheckedFile]) -> str:
    """Return one line for each finding."""
    return "\n".join([finding_line(file, finding) for file in checked for finding in file.findings])


def finding_line(checked: CheckedFile, finding: Finding) -> str:
    """Return the line for a finding."""
    location = printable_line(f"{checked.display_name}:{finding.line}:{finding.column}")
    return f"{location} {finding.code} {printable_line(finding.message)}"
