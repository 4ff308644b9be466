"""The programs that an approval binds: which names a step looks up, where they are found, and how that differs later."""

from __future__ import annotations

from functools import lru_cache
from shlex import join

from execplan.execution.world import ABSENT, FILE, Program, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from execplan.execution.model import ExecutionPlan, Step
    from execplan.execution.world import State, World

    States = Callable[[str], State]

_INSTALL = "install_package"
_TOOL = "use_tool"
_NODE = ("package.json", "node_modules/.bin")
_VENV = "pyvenv.cfg"
_DEEPEST = 4
"""How often the interpreter of a script may be a script itself."""
_SEARCHES = frozenset(
    (
        "env time nohup nice ionice timeout gtimeout stdbuf setsid command exec caffeinate chronic unbuffer xvfb-run xargs cross-env "
        "dbus-run-session taskset strace rtk eval watch trap flock hyperfine concurrently script | $(…) <(…) >(…) `…`"
    ).split()
) | {"sh -c", "env -S", "find -exec", "fd -exec", "fdfind -exec"}
"""Where a command is found in, with the same PATH; what `uv run`, `npx`, `sudo` or `ssh` run they look up elsewhere."""
_SHELLS = frozenset("sh bash zsh dash ksh ash fish mksh rbash".split())
_MOVES = frozenset(("cd", "pushd"))
_CHANGES_PATH = frozenset(("source", "."))


class Lookup(NamedTuple):
    """A name that is looked up for a step."""

    key: str
    """The name; with the step where that has a PATH or a directory of its own."""
    name: str
    cwd: str
    path: str
    """The PATH that the step sets itself, else nothing."""
    first: str
    """The directory from the root that comes before it, else nothing."""


def programs(document: ExecutionPlan, world: World) -> dict[str, Program]:
    """What each name that the steps run is found as now; none where an agent's program runs the steps."""
    if document.mode == "agent":
        return {}
    found: dict[str, Program] = {}
    for step in document.steps:
        resolve(step, world, found)
    return found


def resolve(step: Step, world: World, found: dict[str, Program]) -> None:
    """Look up the names of a step, and the interpreters of scripts; what is in `found` by then is not looked up again."""
    if step.type.value == _TOOL and (key := f"{step.tool} (tool)") not in found:
        found[key] = world.tool(step.tool)
    ahead = [(each, 0) for each in lookups(step, world.state)]
    for lookup, depth in ahead:
        if lookup.key in found:
            continue
        program = found[lookup.key] = world.program(lookup.name, lookup.cwd, lookup.path, lookup.first)
        interpreter = world.interpreter(program.real) if program.path and depth < _DEEPEST else ""
        if interpreter:
            ahead.append((_lookup(step, interpreter, lookup), depth + 1))


def lookups(step: Step, state: States) -> Iterator[Lookup]:
    """The names that a step looks up."""
    cwd, first = directory(step, state), first_on_path(step, state)
    given = Lookup("", "", cwd, step.env.get("PATH", ""), first)
    for name in dict.fromkeys(names(step)):
        yield _lookup(step, name, given)


def _lookup(step: Step, name: str, given: Lookup) -> Lookup:
    usual = name.startswith("/") or not (given.path or given.first or given.cwd != ".")
    return given._replace(key=name if usual else f"{name} ({step.id})", name=name)


def names(step: Step) -> Iterator[str]:
    """The names of the programs that a step runs, as far as its commands show them."""
    for argv, script in ((step.argv, step.command if step.shell else None), (step.validation.test_after, None)):
        if script is not None and step.shell is not None:
            yield step.shell
            yield from _inside(script, ())
        elif argv is not None:
            yield argv[0]
            yield from _inside(join(argv), argv)


@lru_cache(4096)
def _inside(text: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The names within a command or a script, which has no words of its own, that are looked up with the same PATH."""
    from execplan.execution.command.parse import parse

    every = parse(text).simple
    sets = [name for each in every for name, _ in each.assigned]
    exports = any([word.startswith("PATH=") for each in every for word in each.argv[1:]])
    if "PATH" in sets or exports or any([_CHANGES_PATH.intersection(each.argv[:1]) for each in every]):
        return ()
    moves = any([_MOVES.intersection(each.argv[:1]) for each in every])
    found = []
    for each in every:
        words = [via for via in each.via if via in _SEARCHES and via[0].isalpha() and " " not in via]
        words += [word for word in argv if word in _SHELLS and "sh -c" in each.via]
        words += each.argv[:1] if _SEARCHES.issuperset(each.via) else ()
        found += [word for word in words if not (moves and "/" in word and word[0] != "/")]
    return tuple([word for word in found if word and not set(word) & set("$`*?[]{}~ \n")])


def directory(step: Step, state: States) -> str:
    """The directory that a step runs in: of packages for a Node project that of the project, where nothing else is said."""
    cwd, target = plain(step.cwd), _environment(step)
    return target if cwd == "." and target and _is_node(target, state) else cwd or step.cwd


def first_on_path(step: Step, state: States) -> str:
    """The directory of programs of the virtual environment or the Node project that a step installs into, or nothing."""
    target = _environment(step)
    if not target:
        return ""
    if _is_node(target, state):
        return f"{target}/{_NODE[1]}"
    is_venv = state(target).kind == ABSENT or state(f"{target}/{_VENV}").kind == FILE
    return f"{target}/bin" if is_venv else ""


def _environment(step: Step) -> str:
    """The directory of the environment into which a step installs, or nothing."""
    return plain(step.target) or "" if step.type.value == _INSTALL and step.target is not None else ""


def _is_node(target: str, state: States) -> bool:
    return state(f"{target}/{_NODE[0]}").kind == FILE


def changed_programs(old: Mapping[str, Program], new: Mapping[str, Program]) -> list[str]:
    """Which names lead to other programs than before, a line each; a name that was not looked up before is not bound."""
    pairs = [(key, old[key], new[key]) for key in old if key in new]
    return [f"{key}: {why}" for key, before, after in pairs if (why := _differs(before, after))]


def _differs(before: Program, after: Program) -> str:
    if before.version != after.version and before.version and after.version:
        return f"was of {before.version}, is of {after.version}"
    if before.path != after.path:
        if not before.path:
            return f"there was no such program, now it is {_where(after)}"
        return f"was {_where(before)}, is now {_where(after)}" if after.path else f"was {_where(before)}, is gone"
    if before.real != after.real:
        return f"{before.path} led to {before.real}, now it leads to {after.real}"
    if before.sha256 != after.sha256:
        return f"{before.path} has other bytes ({before.sha256[:12]} → {after.sha256[:12]})"
    return ""


def _where(program: Program) -> str:
    return program.path if program.path.startswith("/") else f"{program.path} in the repository"
