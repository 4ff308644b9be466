"""The bytes of a plan that was checked, for those who show its lines; they may not have been kept."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.repo import homes, shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.checking.one import Checked


def lines_of(checked: Checked) -> list[str]:
    """The lines of the plan; none where it can't be read, or no longer."""
    try:
        return reader.decode(_data(checked)).lines
    except ExecplanError:
        return []


def plan_of(checked: Checked) -> Plan | None:
    """The plan as it was checked; None where it can't be read, or no longer."""
    try:
        return reader.read(_data(checked))
    except ExecplanError:
        return None


def _data(checked: Checked) -> bytes:
    """The bytes, read again where only the findings were kept; raises ExecplanError."""
    if checked.data or any([finding.code == "EP001" for finding in checked.findings]):
        return checked.data
    path = os.path.abspath(checked.named)
    return shelf.read_bytes(homes.find(os.path.dirname(path)), path)
