"""Lint output as GitHub workflow commands, which become annotations on a pull request."""

from __future__ import annotations

from execplan.cli.error_handler import printable_line
from execplan.linter.rule import ERROR, HINT, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.rule import Finding

_COMMANDS = {ERROR: "error", WARNING: "warning", HINT: "notice"}


def render(checked: Sequence[CheckedFile]) -> str:
    """Return one workflow command for each finding."""
    return "\n".join([format_annotation(file.path, finding) for file in checked for finding in file.findings])


def format_annotation(path: str, finding: Finding) -> str:
    """Return the workflow command for a finding; its path and message can't add another command."""
    fields: dict[str, object] = {"file": path, "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # columns apply only within one line
        fields |= {"col": finding.column, "endColumn": finding.end_column}
    fields["title"] = finding.code
    properties = ",".join([f"{name}={_property(str(value))}" for name, value in fields.items()])
    return f"::{_COMMANDS[finding.level]} {properties}::{_data(finding.message)}"


def _data(text: str) -> str:
    return printable_line(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
