"""The risk of a step, from its fields as plain data."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.documents.touched import touched
from execplan.execution.risk.rate import HIGH, LOW, MEDIUM, Risk, builtin, highest, rate_command, rate_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from execplan.execution.risk.rate import Table

_SHOWN = 200
"""Characters of the calls that a reason shows; the evaluation shows all."""
_ACTIONS = {"create_file": "create", "modify_file": "modify", "delete_file": "delete"}


def rated(step: Mapping[str, Any], table: Table | None = None) -> Risk:
    """The highest risk of all that a step does, its test afterwards too; what the plan says of it only raises it."""
    table = table or builtin()
    risk = highest(list(_each(step, table)) or [Risk(LOW, ("it does nothing yet",))])
    said = step.get("risk", {}).get("level", "")
    if said in LEVELS and LEVELS.index(said) > LEVELS.index(risk.level):
        return Risk(said, (f"the plan says {said}", *risk.reasons))
    return risk


def _each(step: Mapping[str, Any], table: Table) -> Iterator[Risk]:
    from shlex import join, quote

    kind = step["type"]
    if step.get("command"):
        given = "".join([f"{name}={quote(value)} " for name, value in step.get("env", {}).items()])
        shell = step.get("shell") is not None
        yield rate_command(step["command"] if shell else given + step["command"], table, shell=shell)
        if shell and given:
            yield rate_command(f"{given}true", table)
    if step.get("allow"):
        yield Risk(HIGH, (f"lets an agent make further calls: {', '.join(step['allow'])[:_SHOWN]}",))
    if kind == "install_package":
        yield Risk(MEDIUM, ("installs packages",))
    if kind in _ACTIONS and step.get("target"):
        yield rate_path(step["target"], _ACTIONS[kind], table)
    if kind == "refactor_code":
        yield Risk(MEDIUM, ("changes several files",))
        action = "delete" if "\n+++ /dev/null" in step.get("patch", "") else "modify"
        for path in touched(step.get("patch", "")):
            yield rate_path(path, action, table)
    test = step.get("validation", {}).get("test_after")
    if test:
        yield rate_command(join(test), table)
