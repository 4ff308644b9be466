"""The tools that are installed beside execplan: found by their metadata, checked in a process of their own, never imported here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

from execplan.execution.documents.rules_parts import is_own_tool
from execplan.execution.world import Program
from execplan.record import NamedTuple
from execplan.repo.execution import tool_runner
from execplan.repo.execution.located import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

GROUP = "execplan.tools"
_SECONDS = 30
_READ_ONLY = (
    "--unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /run"
)
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": os.defpath}


class Tool(NamedTuple):
    """An entry point of the group."""

    name: str
    """`domain.tool`."""
    value: str
    """The module and the function, as `weather.tools:current`."""
    distribution: str
    version: str
    file: str
    """Of the module; nothing where it is not found."""


def search_path(root: str) -> list[str]:
    """Where packages are looked for: where our own are, but nothing of the repository except an environment that we run in."""
    top, prefix = [os.path.realpath(each).rstrip("/") + "/" for each in (root, sys.prefix)]
    found = []
    for folder in sys.path:
        real = os.path.realpath(folder or ".") + "/"
        if folder and (not real.startswith(top) or (real.startswith(prefix) and prefix != top)):
            found.append(os.path.abspath(folder))
    return found


def installed(root: str) -> dict[str, Tool]:
    """Every tool by its name, the first one of a name; no code of a package is run."""
    from importlib.metadata import distributions

    found: dict[str, Tool] = {}
    folders = search_path(root)
    for each in distributions(path=folders):
        for point in each.entry_points:
            if point.group == GROUP and point.name.count(".") == 1 and not is_own_tool(point.name):
                tool = Tool(point.name, point.value, each.name, each.version, _module(point.value, folders))
                found.setdefault(point.name, tool)
    return dict(sorted(found.items()))


def located(root: str, name: str) -> Program:
    """What an approval binds of a tool: its module, that module's bytes, its distribution and version."""
    tool = installed(root).get(name)
    if tool is None or not tool.file:
        return Program()
    program = place_of(root, tool.file, digested=True)
    return program._replace(version=f"{tool.distribution} {tool.version}")


def command(root: str, name: str) -> tuple[str, ...] | None:
    """The command that calls a tool, which reads its parameters from standard input; None for one that is not installed."""
    tool = installed(root).get(name)
    return None if tool is None else (*_python(root, "run"), tool.value)


def problems(root: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
    """What is wrong with each call; modules are imported in a process of their own, which can write nothing where bwrap works."""
    known = installed(root)
    wrong = [[] if name in known else [_missing(name, known)] for name, _ in calls]
    ahead = [at for at, found in enumerate(wrong) if not found]
    if not ahead:
        return wrong
    told = json.dumps([(known[calls[at][0]].value, calls[at][1]) for at in ahead]).encode()
    for at, found in zip(ahead, _ask(root, told, len(ahead)), strict=True):
        wrong[at] = [f"{calls[at][0]}: {each}" for each in found]
    return wrong


def _missing(name: str, known: Mapping[str, Tool]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"no package that is installed beside execplan has a tool {name}" + (
        f"; did you mean {near[0]}?" if near else ""
    )


def _ask(root: str, told: bytes, count: int) -> list[list[str]]:
    """What the process says of each call."""
    try:
        done = subprocess.run(  # noqa: S603 - our own runner, with the modules that the user has installed
            [*_read_only(root), *_python(root, "check")],
            input=told,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            cwd="/",
            env=_ENVIRONMENT,
        )
        found = json.loads(done.stdout or b"null")
    except subprocess.TimeoutExpired:
        return [[f"its module was not imported within {_SECONDS} s"]] * count
    except (OSError, ValueError) as error:
        return [[f"its module can't be imported: {error}"]] * count
    if isinstance(found, list) and len(found) == count:
        return found
    said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return [[f"its module can't be imported: {said or 'the process ended'}"]] * count


@cache
def _read_only(root: str) -> tuple[str, ...]:
    """What runs a program without network and with a disk that can only be read; nothing where that does not work."""
    from shutil import which

    bwrap = os.path.realpath(which("bwrap") or "")
    if not which("bwrap") or bwrap.startswith(os.path.realpath(root) + "/"):
        return ()
    command = (bwrap, *_READ_ONLY.split())
    try:
        done = subprocess.run(  # noqa: S603 - found in the user's own PATH
            [*command, "true"], capture_output=True, timeout=_SECONDS, check=False, cwd="/", env=_ENVIRONMENT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return () if done.returncode else command


def _python(root: str, what: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-B", "-c", _source(), what, json.dumps(search_path(root)))


@cache
def _source() -> str:
    with open(tool_runner.__file__, encoding="utf-8") as file:
        return file.read()


def _module(value: str, folders: list[str]) -> str:
    """The file of an entry point's module, found without importing it."""
    from importlib.machinery import PathFinder

    search: list[str] | None = folders
    spec, name = None, ""
    for part in value.partition(":")[0].strip().split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, search)
        search = spec.submodule_search_locations if spec is not None else None
        if spec is None:
            return ""
    return spec.origin or "" if spec is not None and spec.has_location else ""
