"""Programs and files with code that an approval binds: what a step looks up, where it is found, and later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from shlex import join

from execplan.core.named_tuple import NamedTuple
from execplan.execution.code_files import find_code_files
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.shell.command_table import SHELLS
from execplan.execution.world import ABSENT, FILE, Program, State, World, normalize_path

StateLookup = Callable[[str], State]

_INSTALL = "install_package"
_TOOL = "use_tool"
_NODE_PATHS = ("package.json", "node_modules/.bin")
_VENV_MARKER = "pyvenv.cfg"
_MAX_INTERPRETER_DEPTH = 4
"""Maximum depth of scripts that are interpreters of scripts."""
_PATH_PRESERVING_WRAPPERS = frozenset(
    (
        "env time nohup nice ionice timeout gtimeout stdbuf setsid command exec caffeinate chronic unbuffer xvfb-run xargs cross-env "
        "dbus-run-session taskset strace rtk eval watch trap flock hyperfine concurrently script | $(…) <(…) >(…) `…`"
    ).split()
) | {"sh -c", "env -S", "find -exec", "fd -exec", "fdfind -exec", "git bisect run", "git rebase --exec"}
"""Wrappers that run a command with the same PATH; `uv run`, `npx`, `sudo` and `ssh` look it up elsewhere."""
_CD_COMMANDS = frozenset(("cd", "pushd"))
_SOURCE_COMMANDS = frozenset(("source", "."))


class Lookup(NamedTuple):
    """A program name that is looked up for a step."""

    key: str
    """The name; with the step's ID if the step has its own PATH or directory."""
    name: str
    cwd: str
    path: str
    """PATH that the step sets itself, or an empty string."""
    first_directory: str
    """Directory from the repository root that comes before PATH, or an empty string."""


def resolve_programs(document: ExecutionPlan, world: World) -> dict[str, Program]:
    """Return the current program for each name that the steps run, and the files with code that they read.

    It is empty if an agent program runs the steps.
    """
    if document.mode == "agent":
        return {}
    resolved: dict[str, Program] = {}
    for step in document.steps:
        resolve_step_programs(step, world, resolved)
    return resolved


def resolve_step_programs(step: Step, world: World, resolved: dict[str, Program]) -> None:
    """Resolve the names of a step, the interpreters of scripts, and the files with code that its commands read.

    Entries in `resolved` are not looked up again.
    """
    if step.type.value == _TOOL and (key := f"{step.tool} (tool)") not in resolved:
        resolved[key] = world.tool(step.tool)
    pending = [(initial, 0) for initial in find_lookups(step, world.state)]
    for lookup, depth in pending:
        if lookup.key in resolved:
            continue
        program = resolved[lookup.key] = world.program(lookup.name, lookup.cwd, lookup.path, lookup.first_directory)
        interpreter = world.interpreter(program.real) if program.path and depth < _MAX_INTERPRETER_DEPTH else ""
        if interpreter:
            pending.append((_make_lookup(step, interpreter, lookup), depth + 1))
    for code_file in find_code_files(step, working_directory(step, world.state), world):
        if code_file.key not in resolved:
            resolved[code_file.key] = world.code_file(code_file.path)


def find_lookups(step: Step, state_of: StateLookup) -> Iterator[Lookup]:
    """Yield the program names that a step looks up, with their search paths."""
    cwd, first_directory = working_directory(step, state_of), first_path_directory(step, state_of)
    base = Lookup("", "", cwd, step.env.get("PATH", ""), first_directory)
    for name in dict.fromkeys(program_names(step)):
        yield _make_lookup(step, name, base)


def _make_lookup(step: Step, name: str, base: Lookup) -> Lookup:
    is_shared = name.startswith("/") or not (base.path or base.first_directory or base.cwd != ".")
    return base._replace(key=name if is_shared else f"{name} ({step.id})", name=name)


def program_names(step: Step) -> Iterator[str]:
    """Yield the names of the programs that a step runs, as far as its commands show them."""
    for argv, script in ((step.argv, step.command if step.shell else None), (step.validation.test_after, None)):
        if script is not None and step.shell is not None:
            yield step.shell
            yield from _nested_program_names(script, ())
        elif argv is not None:
            yield argv[0]
            yield from _nested_program_names(join(argv), argv)


@lru_cache(4096)
def _nested_program_names(text: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program names within a command or script that are looked up with the same PATH.

    A script has an empty `argv`.
    """
    from execplan.execution.shell.command_line import parse_command

    commands = parse_command(text).simple_commands
    assigned_names = [name for command in commands for name, _ in command.assignments]
    exports_path = any([arg.startswith("PATH=") for command in commands for arg in command.argv[1:]])
    if (
        "PATH" in assigned_names
        or exports_path
        or any([_SOURCE_COMMANDS.intersection(command.argv[:1]) for command in commands])
    ):
        return ()
    changes_directory = any([_CD_COMMANDS.intersection(command.argv[:1]) for command in commands])
    found_names = []
    for command in commands:
        candidates = [
            via for via in command.via if via in _PATH_PRESERVING_WRAPPERS and via[0].isalpha() and " " not in via
        ]
        candidates += [arg for arg in argv if arg in SHELLS and "sh -c" in command.via]
        candidates += command.argv[:1] if _PATH_PRESERVING_WRAPPERS.issuperset(command.via) else ()
        found_names += [
            candidate
            for candidate in candidates
            if not (changes_directory and "/" in candidate and candidate[0] != "/")
        ]
    return tuple([name for name in found_names if name and not set(name) & set("$`*?[]{}~ \n")])


def working_directory(step: Step, state_of: StateLookup) -> str:
    """Return the directory in which a step runs.

    It is the Node project for an install into one, unless the step sets a directory.
    """
    cwd, target = normalize_path(step.cwd), _install_directory(step)
    return target if cwd == "." and target and _is_node_project(target, state_of) else cwd or step.cwd


def first_path_directory(step: Step, state_of: StateLookup) -> str:
    """Return the program directory of the environment that a step installs into, or an empty string.

    The environment is a virtual environment or a Node project.
    """
    if not (target := _install_directory(step)):
        return ""
    if _is_node_project(target, state_of):
        return f"{target}/{_NODE_PATHS[1]}"
    is_venv = state_of(target).kind == ABSENT or state_of(f"{target}/{_VENV_MARKER}").kind == FILE
    return f"{target}/bin" if is_venv else ""


def _install_directory(step: Step) -> str:
    """Return the directory of the environment that a step installs into, or an empty string."""
    return normalize_path(step.target) or "" if step.type.value == _INSTALL and step.target is not None else ""


def _is_node_project(target: str, state_of: StateLookup) -> bool:
    return state_of(f"{target}/{_NODE_PATHS[0]}").kind == FILE


def describe_changed_programs(old: Mapping[str, Program], new: Mapping[str, Program]) -> list[str]:
    """Return the names that now resolve to other programs, one line each; names not looked up before are skipped."""
    pairs = [(key, old[key], new[key]) for key in old if key in new]
    return [f"{key}: {why}" for key, before, after in pairs if (why := _describe_change(before, after))]


def _describe_change(before: Program, after: Program) -> str:
    if before.version != after.version and before.version and after.version:
        return f"version was {before.version} and is now {after.version}"
    if before.path != after.path:
        if not before.path:
            return f"was not found and is now {_display_path(after)}"
        if after.path:
            return f"was {_display_path(before)} and is now {_display_path(after)}"
        return f"was {_display_path(before)} and no longer exists"
    if before.real != after.real:
        return f"{before.path} pointed to {before.real} and now points to {after.real}"
    if before.sha256 != after.sha256:
        return f"{before.path} has different content ({before.sha256[:12]} → {after.sha256[:12]})"
    return ""


def _display_path(program: Program) -> str:
    return program.path if program.path.startswith("/") else f"{program.path} in the repository"
