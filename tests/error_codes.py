"""Every code that the package refuses with, read out of its source: what `explain` must have a page for."""

from __future__ import annotations

import ast
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from execplan.core import errors

PACKAGE = Path(errors.__file__).parents[1]


class RaisedCode(NamedTuple):
    """A place where a code is raised."""

    code: str
    exit: int
    location: str
    """File and line, from the package."""


class _Call(NamedTuple):
    node: ast.Call
    file: Path
    inside: ast.FunctionDef | None


@cache
def raised_codes() -> list[RaisedCode]:
    """Each code of each `ExecplanError(…)`; a code that can't be told from the source fails an assertion."""
    calls = [call for path in sorted(PACKAGE.rglob("*.py")) for call in _calls(path)]
    codes = []
    for call in calls:
        if _name(call.node.func) == "ExecplanError":
            location = f"{call.file.relative_to(PACKAGE.parent)}:{call.node.lineno}"
            for code in _texts(call.node.args[0], call, calls):
                codes.append(RaisedCode(code, errors.exit_status(code), location))
    return codes


def _calls(path: Path) -> list[_Call]:
    """Every call in a file, with the function that it stands in."""
    calls = []

    def walk(node: ast.AST, inside: ast.FunctionDef | None) -> None:
        if isinstance(node, ast.Call):
            calls.append(_Call(node, path, inside))
        for child in ast.iter_child_nodes(node):
            walk(child, node if isinstance(node, ast.FunctionDef) else inside)

    walk(ast.parse(path.read_text(encoding="utf-8")), None)
    return calls


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _texts(node: ast.expr, call: _Call, calls: list[_Call]) -> set[str]:
    """The texts that an expression may have; a parameter has those of all calls of its function."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.IfExp):
        return _texts(node.body, call, calls) | _texts(node.orelse, call, calls)
    if isinstance(node, ast.FormattedValue):
        return _texts(node.value, call, calls)
    if isinstance(node, ast.JoinedStr):
        return {"".join(parts) for parts in product(*[_texts(part, call, calls) for part in node.values])}
    inside = call.inside
    names = [parameter.arg for parameter in (*inside.args.args, *inside.args.kwonlyargs)] if inside else []
    assert isinstance(node, ast.Name), f"{call.file}:{node.lineno}: which code is this?"
    assert node.id in names, f"{call.file}:{node.lineno}: which code is {node.id}?"
    assert inside is not None
    texts: set[str] = set()
    names = [name for name in names if name not in ("self", "cls")]
    for other_call in calls:
        if _name(other_call.node.func) != inside.name or (inside.name.startswith("_") and other_call.file != call.file):
            continue
        arguments = dict(zip(names, other_call.node.args, strict=False))
        arguments |= {argument.arg: argument.value for argument in other_call.node.keywords if argument.arg}
        assert node.id in arguments, (
            f"{other_call.file}:{other_call.node.lineno}: {inside.name} is called without {node.id}"
        )
        texts |= _texts(arguments[node.id], other_call, calls)
    return texts
