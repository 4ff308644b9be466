"""The `triage` table of the settings: confidence thresholds for when a plan is needed."""

from __future__ import annotations

from execplan.context.triage.triage_evaluation import Thresholds
from execplan.errors import INPUT, ExecplanError


def check_thresholds(table: dict[str, object], source: str) -> None:
    """Raise ExecplanError for an invalid `triage` table of the settings."""
    names = Thresholds()._asdict()
    for name, value in table.items():
        if name not in names:
            message = f"{source}: triage knows {' and '.join(names)}, not {name!r}"
            raise ExecplanError("unknown-setting", message, exit=INPUT, hint="see execplan explain triage")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            message = f"{source}: triage.{name} is a number from 0 to 1, not {value!r}"
            raise ExecplanError("bad-setting", message, exit=INPUT, hint="see execplan explain triage")
    parsed = parse_thresholds(table)
    if parsed.plan > parsed.none:
        message = f"{source}: triage.plan is {parsed.plan}, which is more than triage.none, {parsed.none}"
        raise ExecplanError(
            "bad-setting", message, exit=INPUT, hint="between them it is unclear: raise none, or lower plan"
        )


def parse_thresholds(table: dict[str, object]) -> Thresholds:
    """Return the thresholds of a checked table."""
    return Thresholds(**{name: float(str(value)) for name, value in table.items()})
