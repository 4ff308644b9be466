"""Risk rating of a step: from its fields, the text that it would write into files, and the policy."""

from __future__ import annotations

from itertools import pairwise

from execplan.core import features
from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.execution import rare_features
from execplan.execution.attributes import FOUND_FILE_TYPES, LEVELS, MANUAL, STEP_TYPES
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.permission import NEVER
from execplan.execution.risk.command_risk import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    USER,
    CommandRisk,
    highest_risk,
    rate_command,
    rate_path,
)
from execplan.execution.risk.content_dangers import find_dangers, runs_unasked
from execplan.execution.risk.risk_table import UNKNOWN, builtin_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from execplan.execution.execution_plan import Step
    from execplan.execution.policy import Policy
    from execplan.execution.risk.risk_table import RiskTable

_MAX_SHOWN_LENGTH = 200
"""Maximum length of the calls shown in a reason, in characters; the evaluation shows all."""


def find_hidden_characters(text: str, old_text: str) -> list[str]:
    """Return the hidden characters in a text, without duplicates; what the file contained before does not count."""
    runs = [line[start:end] for line in text.split("\n") for start, end in find_hidden(line.removesuffix("\r"))]
    return [
        f"contains {describe_characters(run)}, which is invisible" for run in dict.fromkeys(runs) if run not in old_text
    ]


def patched_files(patch: str, target: str) -> list[tuple[str, str, str]]:
    """Return each file of a unified diff: its path, or the target if it has none, its added and its removed lines.

    A line that looks like a header begins another file, so that no line of a hunk is missed.
    """
    files: list[tuple[str, list[str], list[str]]] = [(target, [], [])]
    lines = patch.split("\n")
    for previous, line in pairwise(["", *lines]):
        if line.startswith("+++ ") and previous.startswith("--- "):
            files.append((line[4:].partition("\t")[0].removeprefix("b/"), [], []))
        elif line[:1] in ("+", "-"):
            _, added, removed = files[-1]
            (added if line[0] == "+" else removed).append(line[1:])
    return [(path, "\n".join(new), "\n".join(old)) for path, new, old in files if new or old]


def rate_step(step: Mapping[str, Any], table: RiskTable | None = None) -> CommandRisk:
    """Return the highest risk of all that a step does, including its test; a level in the plan can only raise it."""
    table = table or builtin_table()
    risk = highest_risk(list(_step_risks(step, table)) or [CommandRisk(LOW, ("it has nothing to run or write yet",))])
    stated_risk = step.get("risk") or {}
    level = stated_risk.get("level", "")
    if level in LEVELS and LEVELS.index(level) > LEVELS.index(risk.level):
        reasons = stated_risk.get("reasons") or [f"the plan sets its risk to {level}"]
        return _add_reasons(CommandRisk(level, ()), [*reasons, *risk.reasons])
    return risk


def _add_reasons(risk: CommandRisk, reasons: Iterable[str]) -> CommandRisk:
    """Return a risk with more reasons, without duplicates."""
    return risk._replace(reasons=tuple(dict.fromkeys([*risk.reasons, *reasons])))


def _rate_content(step: Mapping[str, Any], table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of the text that a step writes: HIGH if a person must read it first, or more if it runs unasked."""
    texts = []
    if step.get("content"):
        texts.append((step.get("target") or "", step["content"], ""))
    if step.get("patch"):
        texts += patched_files(step["patch"], step.get("target") or "")
    if step.get("replacement"):
        replacement = step["replacement"]
        paths = step.get("files") or replacement["paths"]
        texts += [(path, replacement["with"], replacement["find"]) for path in paths]
    for path, text, old_text in texts:
        for danger in find_dangers(path, text, old_text, table):
            if runs_unasked(path):
                yield CommandRisk(CRITICAL, (f"`{path}`: the new text {danger}, and runs unasked",))
            else:
                yield CommandRisk(HIGH, (f"`{path}`: the new text {danger}",))
        for problem in find_hidden_characters(text, old_text):
            yield CommandRisk(HIGH, (f"`{path}`: the new text {problem}",))


def _rate_tool(name: str, table: RiskTable) -> CommandRisk:
    """Return the risk of a tool: HIGH unless the user's own settings rate it; a repository's settings only raise it."""
    from fnmatch import fnmatchcase

    rows = [row for row in table.rows if any([fnmatchcase(name, pattern) for pattern in row.tool])]
    user_risks = [
        CommandRisk(row.level, (f"`{name}` {row.reason}",), (row.category,)) for row in rows if row.origin == USER
    ][-1:]
    raising_risks = [
        CommandRisk(row.level, (f"`{name}` {row.reason}",), (row.category,)) for row in rows if row.origin != USER
    ]
    return highest_risk(
        [
            *(user_risks or [CommandRisk(HIGH, ("calls a tool whose effects are unknown to execplan",), (UNKNOWN,))]),
            *raising_risks,
        ]
    )


def _step_risks(step: Mapping[str, Any], table: RiskTable) -> Iterator[CommandRisk]:
    kind = step["type"]
    if kind == "use_tool":
        yield _rate_tool(step.get("tool") or "", table)
    yield from _rate_commands(step, table)
    if step.get("allow"):
        yield CommandRisk(
            HIGH, (f"lets an agent make additional calls: {', '.join(step['allow'])[:_MAX_SHOWN_LENGTH]}",)
        )
    if kind == "install_package":
        yield CommandRisk(MEDIUM, ("installs packages",))
    if kind == MANUAL:
        yield CommandRisk(LOW, ("a person does it and confirms",))
    action = STEP_TYPES[kind].path_action if kind in STEP_TYPES else ""
    if action and step.get("target"):
        yield rate_path(step["target"], "modify" if step.get("overwrite") else action, table)
    if kind in FOUND_FILE_TYPES:
        yield from features.load(rare_features.FOUND_FILE_RISKS)(step, kind, table)
    if kind == "refactor_code":
        yield CommandRisk(MEDIUM, ("changes several files",))
        action = "delete" if "\n+++ /dev/null" in step.get("patch", "") else "modify"
        for path in diff_paths(step.get("patch", "")):
            yield rate_path(path, action, table)
    yield from _rate_content(step, table)
    if step.get("content") or step.get("patch") or step.get("replacement"):
        yield from features.load(rare_features.API_CHANGES)(step)


def _rate_commands(step: Mapping[str, Any], table: RiskTable) -> Iterator[CommandRisk]:
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
        yield CommandRisk(
            MEDIUM, (f"git can find another repository in `{step['cwd']}`, and run what its settings name",)
        )


def _format_assignments(env: Mapping[str, str]) -> str:
    """Return variables as a shell takes them before a command."""
    from shlex import quote

    return "".join([f"{name}={quote(value)} " for name, value in env.items()])


def _require_person(risk: CommandRisk, policy: Policy) -> CommandRisk:
    """Return a risk, raised to the lowest level that needs a person if the policy names the category of a reason."""
    named_categories = [category for category in policy.person_for if category in risk.categories]
    if not named_categories or policy.person_from == NEVER or policy.needs_person(risk.level):
        return risk
    return risk._replace(level=policy.person_from)


def effective_risk(step: Step, policy: Policy) -> CommandRisk:
    """Return the higher of the risk from the policy's table and the risk stated in the document.

    A stated level that is no higher than the built-in table's comes from that table, at compile time: the user's own
    rows may lower it.
    """
    stated_risk, fields = step.risk, step.model_dump()
    if policy.risk_table.version != builtin_table().version:
        unrated_fields = {name: value for name, value in fields.items() if name != "risk"}
        fields = (
            fields
            if LEVELS.index(stated_risk.level.value) > LEVELS.index(rate_step(unrated_fields).level)
            else unrated_fields
        )
    risk = _require_person(rate_step(fields, policy.risk_table), policy)
    if risk.level != stated_risk.level.value:
        return risk
    return _add_reasons(risk, stated_risk.reasons)
