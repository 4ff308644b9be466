"""The bytes of a plan that was checked, for those who show its lines; they may not have been kept."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.repo import homes, shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.checking.one import CheckedFile


def read_lines(checked_file: CheckedFile) -> list[str]:
    """The lines of the plan; none where it can't be read, or no longer."""
    try:
        return reader.decode(_read_checked_bytes(checked_file)).lines
    except ExecplanError:
        return []


def parse_checked_plan(checked_file: CheckedFile) -> Plan | None:
    """The plan as it was checked; None where it can't be read, or no longer."""
    try:
        return reader.read(_read_checked_bytes(checked_file))
    except ExecplanError:
        return None


def _read_checked_bytes(checked_file: CheckedFile) -> bytes:
    """The bytes, read again where only the findings were kept; raises ExecplanError."""
    if checked_file.data or any([finding.code == "EP001" for finding in checked_file.findings]):
        return checked_file.data
    path = os.path.abspath(checked_file.display_name)
    return shelf.read_bytes(homes.find(os.path.dirname(path)), path)
