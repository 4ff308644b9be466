"""The `triage` table of the settings: the limits of the confidence that no plan is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.triage.triage_evaluation import Thresholds, parse_thresholds
from execplan.core.errors import ErrorContext
from execplan.core.project import setting_shapes as shapes
from execplan.core.project.setting_table import Setting, SettingTable, check_table

if TYPE_CHECKING:
    from typing import Final


def _check_triage_table(table: dict[str, object], source: str) -> None:
    check_table("triage", table, f"{source}: triage")
    with ErrorContext(source):
        parse_thresholds(table)


_SETTINGS: Final = (
    Setting("none", shapes.CONFIDENCE, "From this confidence on, no plan is needed.", Thresholds().none),
    Setting("plan", shapes.CONFIDENCE, "Below this confidence, a plan is needed; 0: never.", Thresholds().plan),
)
TABLE: Final = SettingTable("Only in a repository's settings.", _SETTINGS, _check_triage_table)
