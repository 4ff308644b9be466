"""Installed tools: found by package metadata and checked in a separate process, never imported here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.suggestions import did_you_mean
from execplan.execution.approvals import tool_runner
from execplan.execution.approvals.program_resolution import describe_program
from execplan.execution.documents.step_rules import is_own_tool
from execplan.execution.world import Program

ENTRY_POINT_GROUP = "execplan.tools"
_TIMEOUT_SECONDS = 30
_READ_ONLY_OPTIONS = (
    "--unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /run"
)
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": os.defpath}


class Tool(NamedTuple):
    """An entry point of the group `execplan.tools`."""

    name: str
    """Name of the tool as `domain.tool`."""
    entry_point: str
    """Module and function, as in `weather.tools:current`."""
    distribution: str
    version: str
    module_file: str
    """Path of the module; empty if it is not found."""


def search_path(root: str) -> list[str]:
    """Return where packages are searched: execplan's own `sys.path` without the repository.

    Keeps an environment in the repository if execplan runs in it.
    """
    root_prefix, environment_prefix = [os.path.realpath(path).rstrip("/") + "/" for path in (root, sys.prefix)]
    directories = []
    for directory in sys.path:
        real_directory = os.path.realpath(directory or ".") + "/"
        if directory and (
            not real_directory.startswith(root_prefix)
            or (real_directory.startswith(environment_prefix) and environment_prefix != root_prefix)
        ):
            directories.append(os.path.abspath(directory))
    return directories


def find_tools(root: str) -> dict[str, Tool]:
    """Return every tool by name, the first one for each name, without running any package code."""
    from importlib.metadata import distributions

    tools_by_name: dict[str, Tool] = {}
    directories = search_path(root)
    for distribution in distributions(path=directories):
        for entry_point in distribution.entry_points:
            if (
                entry_point.group == ENTRY_POINT_GROUP
                and entry_point.name.count(".") == 1
                and not is_own_tool(entry_point.name)
            ):
                tool = Tool(
                    entry_point.name,
                    entry_point.value,
                    distribution.name,
                    distribution.version,
                    _module_file(entry_point.value, directories),
                )
                tools_by_name.setdefault(entry_point.name, tool)
    return dict(sorted(tools_by_name.items()))


def describe_tool(root: str, name: str) -> Program:
    """Return what an approval binds of a tool: its module, the module's digest, its distribution and version."""
    tool = find_tools(root).get(name)
    if tool is None or not tool.module_file:
        return Program()
    program = describe_program(root, tool.module_file, with_digest=True)
    return program._replace(version=f"{tool.distribution} {tool.version}")


def tool_command(root: str, name: str) -> tuple[str, ...] | None:
    """Return the command that calls a tool with parameters on standard input; None if the tool is not installed."""
    tool = find_tools(root).get(name)
    return None if tool is None else (*_runner_command(root, "run"), tool.entry_point)


def check_calls(root: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
    """Return the problems of each tool call.

    Modules are imported in a separate process, which cannot write anything if bwrap works.
    """
    installed_tools = find_tools(root)
    problems_by_call = [
        [] if name in installed_tools else [_missing_tool_message(name, installed_tools)] for name, _ in calls
    ]
    checkable_indexes = [index for index, call_problems in enumerate(problems_by_call) if not call_problems]
    if not checkable_indexes:
        return problems_by_call
    request_json = json.dumps(
        [(installed_tools[calls[index][0]].entry_point, calls[index][1]) for index in checkable_indexes]
    ).encode()
    for index, call_problems in zip(
        checkable_indexes, _check_in_process(root, request_json, len(checkable_indexes)), strict=True
    ):
        problems_by_call[index] = [f"{calls[index][0]}: {message}" for message in call_problems]
    return problems_by_call


def _missing_tool_message(name: str, installed_tools: Mapping[str, Tool]) -> str:
    suggestion = did_you_mean(name, installed_tools)
    return f"no package in execplan's environment has a tool {name}" + (f"; {suggestion}" if suggestion else "")


def _check_in_process(root: str, request_json: bytes, call_count: int) -> list[list[str]]:
    """Check the calls in a separate process and return the problems of each."""
    try:
        completed = subprocess.run(  # noqa: S603 - our own runner, with the modules that the user has installed
            [*_read_only_prefix(root), *_runner_command(root, "check")],
            input=request_json,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            cwd="/",
            env=_ENVIRONMENT,
        )
        answer = json.loads(completed.stdout or b"null")
    except subprocess.TimeoutExpired:
        return [[f"its module took longer than {_TIMEOUT_SECONDS} s to import"]] * call_count
    except (OSError, ValueError) as error:
        return [[f"its module can't be imported: {error}"]] * call_count
    if isinstance(answer, list) and len(answer) == call_count:
        return answer
    last_error_line = completed.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return [[f"its module can't be imported: {last_error_line or 'the process ended'}"]] * call_count


@cache
def _read_only_prefix(root: str) -> tuple[str, ...]:
    """Return the command prefix for a run without network on a read-only disk; empty if bwrap does not work."""
    from shutil import which

    bwrap = os.path.realpath(which("bwrap") or "")
    if not which("bwrap") or bwrap.startswith(os.path.realpath(root) + "/"):
        return ()
    command = (bwrap, *_READ_ONLY_OPTIONS.split())
    try:
        completed = subprocess.run(  # noqa: S603 - found in the user's own PATH
            [*command, "true"], capture_output=True, timeout=_TIMEOUT_SECONDS, check=False, cwd="/", env=_ENVIRONMENT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return () if completed.returncode else command


def _runner_command(root: str, action: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-B", "-c", _runner_source(), action, json.dumps(search_path(root)))


@cache
def _runner_source() -> str:
    with open(tool_runner.__file__, encoding="utf-8") as file:
        return file.read()


def _module_file(entry_point: str, directories: list[str]) -> str:
    """Find the file of an entry point's module without importing the module."""
    from importlib.machinery import PathFinder

    search_locations: list[str] | None = directories
    spec, name = None, ""
    for name_part in entry_point.partition(":")[0].strip().split("."):
        name = f"{name}.{name_part}" if name else name_part
        spec = PathFinder.find_spec(name, search_locations)
        search_locations = spec.submodule_search_locations if spec is not None else None
        if spec is None:
            return ""
    return spec.origin or "" if spec is not None and spec.has_location else ""
