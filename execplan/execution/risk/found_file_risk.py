"""Risk rating of steps that replace a text in files, or that copy or move them."""

from __future__ import annotations

from execplan.execution.attributes import MOVE, REPLACE
from execplan.execution.documents.written_paths import new_path
from execplan.execution.risk.command_risk import LOW, CommandRisk, rate_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from execplan.execution.risk.risk_table import RiskTable


def rate_found_files(step: Mapping[str, Any], kind: str, table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of the files that a step finds; until they are known, those of their directory or pattern."""
    if kind == REPLACE:
        for path in step.get("files") or step["replacement"]["paths"]:
            yield rate_path(path, "modify", table)
        return
    for path in {step["from"]: None, **dict.fromkeys(step.get("files") or ())}:
        risk = rate_path(path, "delete" if kind == MOVE else "read", table)
        yield from [risk] if risk.level != LOW else []
        new = new_path(path, step["from"], step["target"])
        if new != step["target"]:
            yield rate_path(new, "create", table)
