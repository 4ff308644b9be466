"""The risk of a step, from its fields as plain data."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.documents.touched import touched
from execplan.execution.risk.rate import HIGH, LOW, MEDIUM, OWN, Risk, builtin, highest, rate_command, rate_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from execplan.execution.risk.rate import Table

_SHOWN = 200
"""Characters of the calls that a reason shows; the evaluation shows all."""
_ACTIONS = {"create_file": "create", "modify_file": "modify", "delete_file": "delete"}


def rated(step: Mapping[str, Any], table: Table | None = None) -> Risk:
    """The highest risk of all that a step does, its test included; the level that the plan gives it only raises it."""
    table = table or builtin()
    risk = highest(list(_each(step, table)) or [Risk(LOW, ("it has nothing to run or write yet",))])
    stated = step.get("risk") or {}
    level = stated.get("level", "")
    if level in LEVELS and LEVELS.index(level) > LEVELS.index(risk.level):
        reasons = stated.get("reasons") or [f"the plan sets its risk to {level}"]
        return Risk(level, tuple(dict.fromkeys([*reasons, *risk.reasons])))
    return risk


def _content(step: Mapping[str, Any], table: Table) -> Iterator[Risk]:
    """The risk of the text that a step writes: HIGH where a person must read it first."""
    from execplan.execution.risk.content import dangers, hidden_characters, patched

    texts = []
    if step.get("content"):
        texts.append((step.get("target") or "", step["content"], ""))
    if step.get("patch"):
        texts += patched(step["patch"], step.get("target") or "")
    for path, text, before in texts:
        for what in [*dangers(path, text, before, table), *hidden_characters(text, before)]:
            yield Risk(HIGH, (f"`{path}`: the new text {what}",))


def _tool(name: str, table: Table) -> Risk:
    """HIGH, unless the user's own settings know the tool; a repository's only raise."""
    from fnmatch import fnmatchcase

    rows = [row for row in table.rows if any([fnmatchcase(name, each) for each in row.tool])]
    own = [Risk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin == OWN][-1:]
    raised = [Risk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin != OWN]
    return highest([*(own or [Risk(HIGH, ("calls a tool whose effects execplan does not know",))]), *raised])


def _each(step: Mapping[str, Any], table: Table) -> Iterator[Risk]:
    from shlex import join, quote

    kind = step["type"]
    if kind == "use_tool":
        yield _tool(step.get("tool") or "", table)
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
    yield from _content(step, table)
    test = step.get("validation", {}).get("test_after")
    if test:
        yield rate_command(join(test), table)
