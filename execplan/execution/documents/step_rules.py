"""Rules for the fields of a step: what its type requires and allows, and paths shared between steps."""

from __future__ import annotations

import os

from execplan.core import features
from execplan.core.text.violation import Violation
from execplan.execution import rare_features
from execplan.execution.attributes import FOUND_FILE_TYPES, STEP_TYPES, StepType
from execplan.execution.documents.order_rules import ancestors
from execplan.execution.documents.written_paths import diff_paths, written_paths
from execplan.execution.shell.call_patterns import pattern_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Steps = Sequence[dict[str, Any]]


ABSENT_VALUES: dict[str, Any] = {
    "target": None,
    "lines": None,
    "content": None,
    "patch": None,
    "command": None,
    "argv": None,
    "shell": None,
    "parameters": None,
    "env": {},
    "service": None,
    "network": False,
    "expect": None,
    "exit": 0,
    "cwd": ".",
    "from": None,
    "overwrite": False,
    "replacement": None,
    "files": (),
}
"""Fields that not all types allow, each with its value if absent."""
_OWN_DOMAINS = frozenset(
    [step_fields.tool.partition(".")[0] for step_fields in STEP_TYPES.values() if step_fields.tool]
)


def types_with_field(name: str) -> tuple[str, ...]:
    """Return the step types that allow a field; none for a field that all types allow."""
    name = name.partition(".")[0]
    return tuple([kind for kind, fields in STEP_TYPES.items() if name in (*fields.required, *fields.optional)])


def is_own_tool(tool: str) -> bool:
    """Return whether a tool name is in one of ExecPlan's own domains: `file`, `shell`, `code`, `package`, `manual`."""
    return tool.partition(".")[0] in _OWN_DOMAINS


def own_tool_pattern() -> str:
    """Return the regular expression for tool names in ExecPlan's own domains."""
    return rf"^({'|'.join(sorted(_OWN_DOMAINS))})[.]"


def check_step_fields(steps: Steps) -> Iterator[Violation]:
    """Check that each step has the required fields, its type's tool, and no field that its type does not allow."""
    for index, step in enumerate(steps):
        kind = step.get("type")
        if isinstance(kind, str) and kind in STEP_TYPES:
            for name, message in _check_type_fields(step, kind, STEP_TYPES[kind]):
                yield Violation(f"/steps/{index}/{name}", message)
            for name, message in (
                features.load(rare_features.FOUND_FILE_RULES)(step) if kind in FOUND_FILE_TYPES else ()
            ):
                yield Violation(f"/steps/{index}/{name}", message)
        service = features.load(rare_features.SERVICE_RULES)(step) if step.get("service") is not None else ()
        for name, message in [*_check_line_ranges(step), *_check_patterns(step), *service]:
            yield Violation(f"/steps/{index}/{name}", message)


def _check_type_fields(step: dict[str, Any], kind: str, fields: StepType) -> Iterator[tuple[str, str]]:
    tool = step.get("tool")
    if fields.tool and isinstance(tool, str) and tool != fields.tool:
        yield "tool", f"is {tool}; {kind} requires {fields.tool}"
    for name, absent in ABSENT_VALUES.items():
        value = step.get(name, absent)
        is_present = value not in (absent, None) and value != list(absent or ())
        if name in fields.required and step.get(name) is None:
            yield name, f"{kind} needs it"
        elif is_present and name not in (*fields.required, *fields.optional):
            yield name, f"{kind} doesn't accept it"
    if step.get("argv") is not None and step.get("shell") is not None:
        yield "argv", "a shell script can't have it"
    elif step.get("argv") is not None and "command" in fields.required:
        yield from _check_argv(step)
    if kind == "modify_file":
        yield from _check_modification(step)
    if kind == "refactor_code" and isinstance(step.get("patch"), str) and not diff_paths(step["patch"]):
        yield "patch", "specifies no file"
    target = step.get("target")
    if isinstance(target, str) and kind.endswith("_file") and (target.endswith("/") or _normalize(target) == "."):
        yield "target", "is a directory; the step requires a file"


def _check_argv(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check that argv and environment match the command: the step must run what is shown."""
    command, argv, env = step.get("command"), step["argv"], step.get("env") or {}
    if not isinstance(command, str) or not isinstance(argv, list | tuple) or not isinstance(env, dict):
        return
    from execplan.core.text.invisible_characters import find_hidden
    from execplan.execution.shell.command_line import parse_command

    if any([find_hidden(line) for line in command.split("\n")]):
        return  # the policy rejects it and gives the reason
    parsed = parse_command(command)
    if parsed.argv != tuple(argv):
        yield "argv", "doesn't match the command" + (f": {list(parsed.argv)}" if parsed.argv is not None else "")
    for name, value in parsed.assignments:
        if env.get(name) != value:
            yield "env", f"doesn't set {name} as the command does"


def _check_modification(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check that a file is modified by either a patch or replacement lines."""
    patch, content, lines = step.get("patch"), step.get("content"), step.get("lines")
    if patch is None and content is None and lines is None:
        yield "patch", "modify_file needs a patch, or content and lines"
    elif patch is not None and (content is not None or lines is not None):
        yield "patch", "can't be combined with content or lines"
    elif patch is None and content is None:
        yield "content", "the new lines are missing"
    elif patch is None and lines is None:
        yield "lines", "the lines that the content replaces are missing"
    target = step.get("target")
    if isinstance(patch, str) and isinstance(target, str):
        if other_paths := [path for path in diff_paths(patch) if _normalize(path) != _normalize(target)]:
            yield "patch", f"changes {other_paths[0]}, which is not the target; use refactor_code for several files"


def _check_patterns(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check that each additional pattern to allow or deny is valid."""
    for name in ("allow", "deny"):
        patterns = step.get(name)
        for pattern in patterns if isinstance(patterns, list | tuple) else ():
            if isinstance(pattern, str) and pattern and (why := pattern_problem(pattern)):
                yield name, f"{pattern!r}: {why}"


def _check_line_ranges(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check that the first line of a range is not after the last."""
    lines, source = step.get("lines"), step.get("source")
    pairs = {"lines": lines if isinstance(lines, list | tuple) and len(lines) == 2 else ()}
    if isinstance(source, dict):
        pairs["source"] = (source.get("line_start"), source.get("line_end"))
    for name, pair in pairs.items():
        if len(pair) == 2 and all([isinstance(number, int) for number in pair]) and pair[0] > pair[1]:
            yield name, f"line {pair[0]} comes after line {pair[1]}"


def check_shared_paths(steps: Steps) -> Iterator[Violation]:
    """Check that parallel steps share no path that one of them writes, unless one depends on the other."""
    ancestor_bits: list[int] = []
    users: dict[str, list[tuple[int, bool]]] = {}
    for index, step in enumerate(steps):
        if step.get("parallel") is not True:
            continue
        ancestor_bits = ancestor_bits or ancestors(steps)
        writes = {_normalize(path) for path in written_paths(step)}
        inputs = step.get("inputs")
        if isinstance(inputs, list | tuple):
            reads = {_normalize(path) for path in inputs if isinstance(path, str)}
        else:
            reads = set()
        for path in sorted(writes | reads):
            is_written = path in writes
            for other_index, other_writes in users.get(path, ()):
                if (is_written or other_writes) and not ancestor_bits[index] >> other_index & 1:
                    message = f"{path} is shared with step {other_index + 1}, which may run at the same time"
                    yield Violation(f"/steps/{index}/parallel", message)
                    break
            users.setdefault(path, []).append((index, is_written))


def _normalize(path: str) -> str:
    return os.path.normpath(path)
