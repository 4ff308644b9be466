"""Every code that the package refuses with, read out of its source: what `explain` must have a page for."""

from __future__ import annotations

import ast
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from execplan import errors

PACKAGE = Path(errors.__file__).parent


class Raised(NamedTuple):
    """A place where a code is raised."""

    code: str
    exit: int
    place: str
    """File and line, from the package."""


class _Call(NamedTuple):
    node: ast.Call
    file: Path
    inside: ast.FunctionDef | None


@cache
def raised() -> list[Raised]:
    """Each code of each `ExecplanError(…)`; a code that can't be told from the source fails an assertion."""
    calls = [call for path in sorted(PACKAGE.rglob("*.py")) for call in _calls(path)]
    found = []
    for call in calls:
        if _name(call.node.func) == "ExecplanError":
            place = f"{call.file.relative_to(PACKAGE.parent)}:{call.node.lineno}"
            status = next(each.value for each in call.node.keywords if each.arg == "exit")
            assert isinstance(status, ast.Name), f"{place}: exit is no constant of errors.py"
            for code in _texts(call.node.args[0], call, calls):
                found.append(Raised(code, getattr(errors, status.id), place))
    return found


def _calls(path: Path) -> list[_Call]:
    """Every call in a file, with the function that it stands in."""
    found = []

    def walk(node: ast.AST, inside: ast.FunctionDef | None) -> None:
        if isinstance(node, ast.Call):
            found.append(_Call(node, path, inside))
        for child in ast.iter_child_nodes(node):
            walk(child, node if isinstance(node, ast.FunctionDef) else inside)

    walk(ast.parse(path.read_text(encoding="utf-8")), None)
    return found


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
    names = [each.arg for each in (*inside.args.args, *inside.args.kwonlyargs)] if inside else []
    assert isinstance(node, ast.Name), f"{call.file}:{node.lineno}: which code is this?"
    assert node.id in names, f"{call.file}:{node.lineno}: which code is {node.id}?"
    assert inside is not None
    found: set[str] = set()
    names = [name for name in names if name not in ("self", "cls")]
    for other in calls:
        if _name(other.node.func) != inside.name or (inside.name.startswith("_") and other.file != call.file):
            continue
        given = dict(zip(names, other.node.args, strict=False))
        given |= {each.arg: each.value for each in other.node.keywords if each.arg}
        assert node.id in given, f"{other.file}:{other.node.lineno}: {inside.name} is called without {node.id}"
        found |= _texts(given[node.id], other, calls)
    return found
