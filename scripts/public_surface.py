"""The public surface: what programs that use execplan may depend on, one fact on each line of `tests/public_surface.txt`.

`make generate` adds new lines and never removes any. A line that is no longer true is a break, which
`tests/test_public_surface.py` reports: removing the line by hand is the decision to make a major version.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

import click

import execplan
from execplan.agents.integrations import INTEGRATIONS
from execplan.cli.app import group, load_command
from execplan.cli.commands import COMMANDS
from execplan.cli.schema_builder import KINDS, build_schema
from execplan.core.errors import EXIT_MEANINGS
from execplan.core.project import builtin_templates
from execplan.core.project.setting_table import TABLE_NAMES, load_table
from execplan.linter.runner import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
RECORD = "tests/public_surface.txt"
COMMON_FLAGS = {"folder", "quiet", "verbose", "as_json"}
"""Parameters that every command has; they are recorded once, as those of `execplan`."""
VARIABLES = ("EXECPLAN_AGENT", "EXECPLAN_AUTHOR", "EXECPLAN_PLAN", "EXECPLAN_SESSION")
"""Variables of the environment that users set."""


_ERROR = re.compile(r"^## ([a-z0-9-]+) \(exit (\d+)\)$", re.MULTILINE)
"""A heading of the help topic about errors, which has each code."""


def recorded() -> set[str]:
    """Return the recorded lines."""
    path = ROOT / RECORD
    return set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()


def render() -> str:
    """Return the file with the recorded lines and those that are new."""
    return "".join([f"{line}\n" for line in sorted(recorded() | current())])


def current() -> set[str]:
    """Return the lines that are true of the code, except those about answers."""
    lines = {f"exit {status}" for status in EXIT_MEANINGS}
    lines |= {
        f"error {code} exits {status}"
        for code, status in _ERROR.findall(builtin_templates.read_text("explain/errors.md"))
    }
    lines |= {f"rule {code}" for code in RULES}
    lines |= {f"integration {name}" for name in INTEGRATIONS}
    lines |= {f"variable {name}" for name in VARIABLES}
    for table in ("", *TABLE_NAMES):
        lines |= {f"setting {f'{table}.' if table else ''}{setting.name}" for setting in load_table(table).settings}
    lines |= {line for kind in KINDS for line in _schema_lines(f"schema {kind}", build_schema(kind))}
    lines |= {line for command in _commands() for line in _command_lines(*command)}
    lines |= {line for tool in execplan.agent_tools() for line in _schema_lines(f"tool {tool.name}", tool.input_schema)}
    return lines | {line for name in execplan.__all__ for line in _library_lines(name)}


def _commands() -> Iterator[tuple[str, click.Command]]:
    yield "execplan", group
    for name in COMMANDS:
        yield f"execplan {name}", load_command(name)


def _command_lines(name: str, command: click.Command) -> Iterator[str]:
    """Yield a line for each argument, option and choice of a command."""
    yield f"command {name}"
    for parameter in command.params:
        if command is not group and parameter.name in COMMON_FLAGS:
            continue
        names = [*parameter.opts, *parameter.secondary_opts]
        if isinstance(parameter, click.Argument):
            names = [parameter.make_metavar(click.Context(command))]
        for option in names:
            line = f"command {name} {option}"
            is_flag = isinstance(parameter, click.Argument) or getattr(parameter, "is_flag", False)
            yield line if is_flag else f"{line} VALUE"
            if isinstance(parameter.type, click.Choice):
                yield from [f"{line} {choice}" for choice in parameter.type.choices]


def _schema_lines(prefix: str, schema: Any) -> Iterator[str]:
    """Yield a line for each property that a schema or one of its definitions has."""
    for name in schema.get("properties", ()):
        required = " required" if name in schema.get("required", ()) else ""
        yield f"{prefix} {name}{required}"
    for name, definition in schema.get("$defs", {}).items():
        yield from _schema_lines(f"{prefix} {name}", definition)


def _library_lines(name: str) -> Iterator[str]:
    """Yield a line for a public name and for each public member of it, with parameters."""
    value: Any = getattr(execplan, name)
    line = f"library {name}"
    if isinstance(value, FunctionType):
        line += _parameters(value)
    yield line
    if not isinstance(value, type):
        return
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(value)))):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id[0] != "_":
            yield f"library {name}.{node.target.id}"
    for member_name, member in vars(value).items():
        function = getattr(member, "__func__", member)
        if member_name[0] != "_" and isinstance(function, FunctionType):
            yield f"library {name}.{member_name}{_parameters(function)}"
        elif member_name[0] != "_" and isinstance(member, property):
            yield f"library {name}.{member_name}"


def _parameters(function: FunctionType) -> str:
    """Return the names of the parameters; `?` marks those with a default."""
    parts, is_positional = [], True
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and is_positional:
            is_positional = False
            parts.append("*")
        parts.append(parameter.name + ("?" if parameter.default is not parameter.empty else ""))
    return f"({', '.join(parts)})"
