"""Risk rating of a step: from its fields, the text that it would write into files, and the policy."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.execution.attributes import LEVELS, MANUAL, STEP_TYPES
from execplan.execution.documents.written_paths import diff_paths
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
    rate_simple,
)
from execplan.execution.risk.risk_table import builtin_table
from execplan.execution.shell.command_line import parse_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from execplan.execution.execution_plan import Step
    from execplan.execution.policy import Policy
    from execplan.execution.risk.risk_table import RiskTable

_RUNS_SHELL = "runs a command in a shell"
_RUNS_CODE = "runs text as code"
_PIPES_TO_SHELL = "pipes text into a shell"
_DANGER_SIGNS = (
    ("/dev/tcp/", "opens a network connection from the shell"),
    ("| sh", _PIPES_TO_SHELL),
    ("|sh", _PIPES_TO_SHELL),
    ("| bash", _PIPES_TO_SHELL),
    ("|bash", _PIPES_TO_SHELL),
    ("| sudo", "pipes text into a command that runs as root"),
    ("verify=False", "doesn't check certificates"),
    ("rm -rf /", "deletes everything from the root directory"),
    ("rm -fr /", "deletes everything from the root directory"),
    ("pickle.loads(", "loads pickled objects, which can run any code"),
    ("shell=True", _RUNS_SHELL),
    ("os.system(", _RUNS_SHELL),
    ("os.popen(", _RUNS_SHELL),
    ("system(", _RUNS_SHELL),
    ("shell_exec(", _RUNS_SHELL),
    ("child_process", _RUNS_SHELL),
    (".getRuntime().exec(", _RUNS_SHELL),
    ("eval(", _RUNS_CODE),
    ("exec(", _RUNS_CODE),
)
"""Signs of dangerous text, each with its effect."""
_SCRIPT_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "ksh")
_MAX_SHOWN_LENGTH = 200
"""Maximum length of the calls shown in a reason, in characters; the evaluation shows all."""


def find_dangers(path: str, text: str, old_text: str, table: RiskTable) -> list[str]:
    """Return the dangerous effects of a text, without duplicates; what the file contained before does not count."""
    reasons = [reason for sign, reason in _DANGER_SIGNS if _count_sign(text, sign) > _count_sign(old_text, sign)]
    if _is_shell_script(path, text):
        old_lines = set(old_text.split("\n"))
        added_text = "\n".join([line for line in text.split("\n") if line not in old_lines])
        reasons += _critical_reasons(added_text, table)
    return list(dict.fromkeys(reasons))


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


def _critical_reasons(script: str, table: RiskTable) -> Iterator[str]:
    """Yield the reasons of the CRITICAL commands in a shell script."""
    for simple in parse_command(script).simple_commands:
        for risk in rate_simple(simple, table):
            if risk.level == CRITICAL:
                yield from risk.reasons


def _is_shell_script(path: str, text: str) -> bool:
    if path.endswith(_SCRIPT_SUFFIXES):
        return True
    first_line = text.partition("\n")[0]
    return first_line.startswith("#!") and first_line.rpartition("/")[2].rpartition(" ")[2] in _INTERPRETERS


def _count_sign(text: str, sign: str) -> int:
    """Return how often a sign occurs on its own: `eval(`, not `model.eval(`; `| sh`, not `| show` or `| sh |`."""
    pieces = text.split(sign)
    return sum([not _is_part_of_token(sign, left[-1:], right[:2]) for left, right in pairwise(pieces)])


def _is_part_of_token(sign: str, before: str, after: str) -> bool:
    """Return whether a sign is part of another name, a cell of a table, or the start of a longer path."""
    if sign[0].isalpha() and (before.isalnum() or before in ("_", ".")):
        return True
    if sign[-1] == "(" or sign[0] == "/" or not after:
        return False
    return after[0].isalnum() or after[0] in ("_", "-", ".") or after.lstrip()[:1] == "|"


def rate_step(step: Mapping[str, Any], table: RiskTable | None = None) -> CommandRisk:
    """Return the highest risk of all that a step does, including its test; a level in the plan can only raise it."""
    table = table or builtin_table()
    risk = highest_risk(list(_step_risks(step, table)) or [CommandRisk(LOW, ("it has nothing to run or write yet",))])
    stated_risk = step.get("risk") or {}
    level = stated_risk.get("level", "")
    if level in LEVELS and LEVELS.index(level) > LEVELS.index(risk.level):
        reasons = stated_risk.get("reasons") or [f"the plan sets its risk to {level}"]
        return CommandRisk(level, tuple(dict.fromkeys([*reasons, *risk.reasons])))
    return risk


def _rate_content(step: Mapping[str, Any], table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of the text that a step writes: HIGH if a person must read it first."""
    texts = []
    if step.get("content"):
        texts.append((step.get("target") or "", step["content"], ""))
    if step.get("patch"):
        texts += patched_files(step["patch"], step.get("target") or "")
    for path, text, old_text in texts:
        for danger in [*find_dangers(path, text, old_text, table), *find_hidden_characters(text, old_text)]:
            yield CommandRisk(HIGH, (f"`{path}`: the new text {danger}",))


def _rate_tool(name: str, table: RiskTable) -> CommandRisk:
    """Return the risk of a tool: HIGH unless the user's own settings rate it; a repository's settings only raise it."""
    from fnmatch import fnmatchcase

    rows = [row for row in table.rows if any([fnmatchcase(name, pattern) for pattern in row.tool])]
    user_risks = [CommandRisk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin == USER][-1:]
    raising_risks = [CommandRisk(row.level, (f"`{name}` {row.reason}",)) for row in rows if row.origin != USER]
    return highest_risk(
        [*(user_risks or [CommandRisk(HIGH, ("calls a tool whose effects are unknown to execplan",))]), *raising_risks]
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
        yield rate_path(step["target"], action, table)
    if kind == "refactor_code":
        yield CommandRisk(MEDIUM, ("changes several files",))
        action = "delete" if "\n+++ /dev/null" in step.get("patch", "") else "modify"
        for path in diff_paths(step.get("patch", "")):
            yield rate_path(path, action, table)
    yield from _rate_content(step, table)


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
    risk = rate_step(fields, policy.risk_table)
    if risk.level != stated_risk.level.value:
        return risk
    return CommandRisk(risk.level, tuple(dict.fromkeys([*risk.reasons, *stated_risk.reasons])))
