"""Risk rating of a step from its fields as plain data."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.risk.command_risk import (
    HIGH,
    LOW,
    MEDIUM,
    USER,
    Risk,
    builtin_table,
    highest_risk,
    rate_command,
    rate_path,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from execplan.execution.risk.command_risk import RiskTable

_MAX_SHOWN_LENGTH = 200
"""Maximum length of the calls shown in a reason, in characters; the evaluation shows all."""
_ACTIONS = {"create_file": "create", "modify_file": "modify", "delete_file": "delete"}


def rate_step(step: Mapping[str, Any], table: RiskTable | None = None) -> Risk:
    """Return the highest risk of all that a step does, including its test; a level in the plan can only raise it."""
    table = table or builtin_table()
    risk = highest_risk(list(_step_risks(step, table)) or [Risk(LOW, ("it has nothing to run or write yet",))])
    stated_risk = step.get("risk") or {}
    level = stated_risk.get("level", "")
    if level in LEVELS and LEVELS.index(level) > LEVELS.index(risk.level):
        reasons = stated_risk.get("reasons") or [f"the plan sets its risk to {level}"]
        return Risk(level, tuple(dict.fromkeys([*reasons, *risk.reasons])))
    return risk


def _rate_content(step: Mapping[str, Any], table: RiskTable) -> Iterator[Risk]:
    """Yield the risks of the text that a step writes: HIGH if a person must read it first."""
    from execplan.execution.risk.dangerous_content import find_dangers, find_hidden_characters, patched_files

    texts = []
    if step.get("content"):
        texts.append((step.get("target") or "", step["content"], ""))
    if step.get("patch"):
        texts += patched_files(step["patch"], step.get("target") or "")
    for path, text, old_text in texts:
        for danger in [*find_dangers(path, text, old_text, table), *find_hidden_characters(text, old_text)]:
            yield Risk(HIGH, (f"`{path}`: the new text {danger}",))


def _rate_tool(name: str, table: RiskTable) -> Risk:
    """Return the risk of a tool: HIGH unless the user's own settings rate it; a repository's settings only raise it."""
    from fnmatch import fnmatchcase

    rows = [row for row in table.rows if any([fnmatchcase(name, pattern) for pattern in row.tool])]
    user_risks = [Risk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin == USER][-1:]
    raising_risks = [Risk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin != USER]
    return highest_risk(
        [*(user_risks or [Risk(HIGH, ("calls a tool whose effects are unknown to execplan",))]), *raising_risks]
    )


def _step_risks(step: Mapping[str, Any], table: RiskTable) -> Iterator[Risk]:
    kind = step["type"]
    if kind == "use_tool":
        yield _rate_tool(step.get("tool") or "", table)
    yield from _rate_commands(step, table)
    if step.get("allow"):
        yield Risk(HIGH, (f"lets an agent make additional calls: {', '.join(step['allow'])[:_MAX_SHOWN_LENGTH]}",))
    if kind == "install_package":
        yield Risk(MEDIUM, ("installs packages",))
    if kind in _ACTIONS and step.get("target"):
        yield rate_path(step["target"], _ACTIONS[kind], table)
    if kind == "refactor_code":
        yield Risk(MEDIUM, ("changes several files",))
        action = "delete" if "\n+++ /dev/null" in step.get("patch", "") else "modify"
        for path in diff_paths(step.get("patch", "")):
            yield rate_path(path, action, table)
    yield from _rate_content(step, table)


def _rate_commands(step: Mapping[str, Any], table: RiskTable) -> Iterator[Risk]:
    """Yield the risks of a step's command and of its test."""
    from shlex import join

    command, test = step.get("command") or "", join(step.get("validation", {}).get("test_after") or ())
    if command:
        assignments = _format_assignments(step["env"]) if step.get("env") else ""
        is_script = step.get("shell") is not None
        yield rate_command(command if is_script else assignments + command, table, is_script=is_script)
        if is_script and assignments:
            yield rate_command(f"{assignments}true", table)
    if test:
        yield rate_command(test, table)
    if (step.get("cwd") or ".") != "." and "git" in (command[:3], test[:3]):
        yield Risk(MEDIUM, (f"git can find another repository in `{step['cwd']}`, and run what its settings name",))


def _format_assignments(env: Mapping[str, str]) -> str:
    """Return variables as a shell takes them before a command."""
    from shlex import quote

    return "".join([f"{name}={quote(value)} " for name, value in env.items()])
