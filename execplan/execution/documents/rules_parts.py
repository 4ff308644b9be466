"""Rules about what a step is made of: what its type must have and has no use for, and paths that steps share."""

from __future__ import annotations

import os

from execplan.execution.command.pattern import problem
from execplan.execution.documents.rules_order import ancestors
from execplan.execution.documents.touched import touched, written
from execplan.execution.documents.violation import Violation
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Steps = Sequence[dict[str, Any]]


class Parts(NamedTuple):
    """What a type of step is made of."""

    tool: str
    """None of ours for `use_tool`, which names an agent's or an installed one."""
    must: tuple[str, ...]
    may: tuple[str, ...] = ()


ABSENT: dict[str, Any] = {
    "target": None,
    "lines": None,
    "content": None,
    "patch": None,
    "command": None,
    "argv": None,
    "shell": None,
    "parameters": None,
    "env": {},
    "network": False,
    "expect": None,
    "exit": 0,
    "cwd": ".",
}
"""Fields that not every type has a use for, each with what it is where it is absent."""
_RUNS = ("argv", "shell", "env", "network", "expect", "exit", "cwd")
TYPES = {
    "create_file": Parts("file.create", ("target", "content")),
    "modify_file": Parts("file.modify", ("target",), ("patch", "content", "lines")),
    "delete_file": Parts("file.delete", ("target",)),
    "execute_command": Parts("shell.run", ("command",), _RUNS),
    "refactor_code": Parts("code.refactor", ("patch",)),
    "install_package": Parts("package.install", ("command",), ("target", *_RUNS)),
    "use_tool": Parts("", (), ("parameters", "env", "network", "expect", "cwd")),
}
_OWN = frozenset([made.tool.partition(".")[0] for made in TYPES.values() if made.tool])


def is_own(tool: str) -> bool:
    """Whether the name of a tool is in a domain of execplan's own: `file`, `shell`, `code`, `package`."""
    return tool.partition(".")[0] in _OWN


def own_tools() -> str:
    """The pattern of such names."""
    return rf"^({'|'.join(sorted(_OWN))})[.]"


def parts(steps: Steps) -> Iterator[Violation]:
    """Each step has what its type needs, the type's tool, and nothing that its type has no use for."""
    for at, step in enumerate(steps):
        kind = step.get("type")
        if isinstance(kind, str) and kind in TYPES:
            for name, message in _of_type(step, kind, TYPES[kind]):
                yield Violation(f"/steps/{at}/{name}", message)
        for name, message in [*_ranges(step), *_patterns(step)]:
            yield Violation(f"/steps/{at}/{name}", message)


def _of_type(step: dict[str, Any], kind: str, made: Parts) -> Iterator[tuple[str, str]]:
    tool = step.get("tool")
    if made.tool and isinstance(tool, str) and tool != made.tool:
        yield "tool", f"is {tool}; that of {kind} is {made.tool}"
    for name, absent in ABSENT.items():
        there = step.get(name, absent) not in (absent, None)
        if name in made.must and step.get(name) is None:
            yield name, f"{kind} needs it"
        elif there and name not in (*made.must, *made.may):
            yield name, f"{kind} has no use for it"
    if step.get("argv") is not None and step.get("shell") is not None:
        yield "argv", "a script for a shell has none"
    elif step.get("argv") is not None and "command" in made.must:
        yield from _read_otherwise(step)
    if kind == "modify_file":
        yield from _modified(step)
    if kind == "refactor_code" and isinstance(step.get("patch"), str) and not touched(step["patch"]):
        yield "patch", "names no file"
    target = step.get("target")
    if isinstance(target, str) and kind.endswith("_file") and (target.endswith("/") or _same(target) == "."):
        yield "target", "is a folder; a step is about one file"


def _read_otherwise(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What runs is what is shown: argv and environment are those that the command says."""
    command, argv, env = step.get("command"), step["argv"], step.get("env") or {}
    if not isinstance(command, str) or not isinstance(argv, list | tuple) or not isinstance(env, dict):
        return
    from execplan.execution.command.parse import parse
    from execplan.text.hidden import hidden_in

    if any([hidden_in(line) for line in command.split("\n")]):
        return  # the policy refuses it, and says why
    found = parse(command)
    if found.argv != tuple(argv):
        yield "argv", "is not what the command says" + (f": {list(found.argv)}" if found.argv is not None else "")
    for name, value in found.assigned:
        if env.get(name) != value:
            yield "env", f"does not set {name} as the command does"


def _modified(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A file is modified by a patch, or by lines that are given anew."""
    patch, content, lines = step.get("patch"), step.get("content"), step.get("lines")
    if patch is None and content is None and lines is None:
        yield "patch", "modify_file needs a patch, or content and lines"
    elif patch is not None and (content is not None or lines is not None):
        yield "patch", "either a patch, or content and lines"
    elif patch is None and content is None:
        yield "content", "the new lines are missing"
    elif patch is None and lines is None:
        yield "lines", "which lines the content stands for is missing"
    target = step.get("target")
    if isinstance(patch, str) and isinstance(target, str):
        others = [each for each in touched(patch) if _same(each) != _same(target)]
        if others:
            yield "patch", f"touches {others[0]}, which is not the target; refactor_code touches several files"


def _patterns(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What an agent is allowed or denied further says what it is about."""
    for name in ("allow", "deny"):
        said = step.get(name)
        for each in said if isinstance(said, list | tuple) else ():
            if isinstance(each, str) and each and (why := problem(each)):
                yield name, f"{each!r}: {why}"


def _ranges(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A first line is not behind the last."""
    lines, source = step.get("lines"), step.get("source")
    pairs = {"lines": lines if isinstance(lines, list | tuple) and len(lines) == 2 else ()}
    if isinstance(source, dict):
        pairs["source"] = (source.get("line_start"), source.get("line_end"))
    for name, pair in pairs.items():
        if len(pair) == 2 and all([isinstance(each, int) for each in pair]) and pair[0] > pair[1]:
            yield name, f"line {pair[0]} comes after line {pair[1]}"


def shared_paths(steps: Steps) -> Iterator[Violation]:
    """Two parallel steps share no path that one of them writes, unless one needs the other."""
    before: list[int] = []
    users: dict[str, list[tuple[int, bool]]] = {}
    for at, step in enumerate(steps):
        if step.get("parallel") is not True:
            continue
        before = before or ancestors(steps)
        writes = {_same(path) for path in written(step)}
        inputs = step.get("inputs")
        reads = {_same(path) for path in inputs if isinstance(path, str)} if isinstance(inputs, list | tuple) else set()
        for path in sorted(writes | reads):
            writing = path in writes
            for other, also in users.get(path, ()):
                if (writing or also) and not before[at] >> other & 1:
                    message = f"{path} is shared with step {other + 1}, which may run at the same time"
                    yield Violation(f"/steps/{at}/parallel", message)
                    break
            users.setdefault(path, []).append((at, writing))


def _same(path: str) -> str:
    return os.path.normpath(path)
