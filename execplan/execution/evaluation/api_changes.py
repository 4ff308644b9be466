"""Changes of what other code can use: public routes and exported definitions, by the patterns in dangers.toml."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from execplan.execution.risk.command_risk import CRITICAL, HIGH, MEDIUM, CommandRisk
from execplan.execution.risk.dangers_data import DATA

_MAX_CHARS = 1 << 20
_MAX_SIGNATURE = 2000
"""Maximum length of parameters, in characters."""
_METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS TRACE CONNECT WEBSOCKET".split())
_MAX_SHOWN = 5
"""Maximum number of names in a reason."""


def rate_api_changes(step: Mapping[str, Any]) -> Iterator[CommandRisk]:
    """Yield the risks of a step for those who use the files that it writes, as far as the step shows what it changes."""
    if step.get("content"):
        yield from _rate_change(step.get("target") or "", step["content"], "")
    if step.get("patch"):
        for path, new_text, old_text in _patch_sides(step["patch"], step.get("target") or ""):
            yield from _rate_change(path, new_text, old_text)
    if step.get("replacement"):
        replacement = step["replacement"]
        for path in step.get("files") or replacement["paths"]:
            yield from _rate_change(path, replacement["with"], replacement["find"])


def _rate_change(path: str, new_text: str, old_text: str) -> Iterator[CommandRisk]:
    """Yield the risks of the routes and definitions that a change adds, changes or removes in a file.

    A new definition is no risk: nothing uses it yet.
    """
    parts = path.split("/")
    if len(new_text) + len(old_text) > _MAX_CHARS or any(
        [fnmatchcase(part, pattern) for part in parts for pattern in DATA["internal"]]
    ):
        return
    new_routes, old_routes = _routes(path, new_text), _routes(path, old_text)
    for level, action, routes in (
        (CRITICAL, "removes or changes", old_routes - new_routes),
        (MEDIUM, "adds", new_routes - old_routes),
    ):
        if routes:
            yield CommandRisk(level, (f"`{path}`: {action} the public {_format_names('route', routes)}",))
    new_exports, old_exports = _exports(path, new_text), _exports(path, old_text)
    removed = old_exports.keys() - new_exports
    changed = {
        name for name in old_exports.keys() - removed if not _is_compatible(path, old_exports[name], new_exports[name])
    }
    for action, names in (("removes", removed), ("changes the parameters or the result of", changed)):
        if names:
            yield CommandRisk(HIGH, (f"`{path}`: {action} {_format_names('', names)}, which other code can use",))


def _patch_sides(patch: str, target: str) -> Iterator[tuple[str, str, str]]:
    """Yield each file of a unified diff: its path, or the target, and the shown lines after and before the change.

    Unchanged lines count on both sides: the change may be in the middle of a definition. A removed file has its old
    path.
    """
    path, new_lines, old_lines = target, [""], [""]
    for previous, line in pairwise(["", *patch.split("\n")]):
        if line.startswith("+++ ") and previous.startswith("--- "):
            yield path, "\n".join(new_lines), "\n".join(old_lines[:-1])
            new_lines, old_lines = [""], [""]
            name = line[4:].partition("\t")[0]
            path = (
                previous[4:].partition("\t")[0].removeprefix("a/") if name == "/dev/null" else name.removeprefix("b/")
            )
        elif line.startswith("@@"):
            new_lines.append("")
            old_lines.append("")
        else:
            if line[:1] in ("+", " "):
                new_lines.append(line[1:])
            if line[:1] in ("-", " "):
                old_lines.append(line[1:])
    yield path, "\n".join(new_lines), "\n".join(old_lines)


def _format_names(noun: str, names: set[str]) -> str:
    """Return names as a list, such as "routes `a` and `b`"."""
    items = [f"`{name}`" for name in sorted(names)[:_MAX_SHOWN]]
    if len(names) > _MAX_SHOWN:
        items.append(f"{len(names) - _MAX_SHOWN} more")
    listed = f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else items[0]
    return f"{noun}{'s' * (len(names) > 1)} {listed}" if noun else listed


def _patterns(kind: str, path: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that count in a file."""
    name = path.rpartition("/")[2]
    suffix = f".{name.rpartition('.')[2].lower()}"
    for suffixes, patterns in DATA[kind]:
        if suffix in suffixes:
            yield from [re.compile(pattern, re.MULTILINE) for pattern in patterns]


def _routes(path: str, text: str) -> set[str]:
    """Return the routes that a text declares, as `GET /users`, or `/users` if the declaration names no HTTP method."""
    routes = set()
    for pattern in _patterns("routes", path):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            method, route = (groups.get("method") or "").upper(), groups.get("path") or "/"
            routes.add(f"{method} {route}" if method in _METHODS else route)
    return routes


def _exports(path: str, text: str) -> dict[str, set[str]]:
    """Return the exported definitions of a text, each with its signatures; without `(`, a definition has none."""
    exports: dict[str, set[str]] = {}
    for pattern in _patterns("exports", path):
        for match in pattern.finditer(text):
            is_function = match[0].endswith("(")
            signature = _signature(text, match.end() - 1) if is_function else ""
            exports.setdefault(match["name"], set()).add(signature)
    return exports


def _signature(text: str, start: int) -> str:
    """Return the parameters that begin at a parenthesis, and the rest of the line up to the body, without whitespace."""
    depth = 0
    for index, char in enumerate(text[start : start + _MAX_SIGNATURE], start):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            rest = re.split(r"[{;]|=>|=\s|\s(?:do|where)\b|\n", text[index + 1 :][:_MAX_SIGNATURE], maxsplit=1)[0]
            return _without_space(text[start : index + 1] + rest.rstrip().removesuffix(":"))
    return _without_space(text[start : start + _MAX_SIGNATURE].split("\n\n", 1)[0])


def _without_space(text: str) -> str:
    """Return a text without insignificant whitespace and without a comma at the end of a list."""
    compact = re.sub(r"\s+", " ", text)
    return re.sub(r",\)", ")", re.sub(r"\s*([(){}\[\],:<>=*&|])\s*", r"\1", compact)).strip()


def _is_compatible(path: str, old_signatures: set[str], new_signatures: set[str]) -> bool:
    """Return whether each old signature is still valid."""
    if not path.endswith((".py", ".pyi")):
        return old_signatures <= new_signatures
    return all([any([_accepts(new, old) for new in new_signatures]) for old in old_signatures])


def _accepts(new: str, old: str) -> bool:
    """Return whether a function of Python with new parameters can be called as before."""
    new_args, old_args = _parse_parameters(new), _parse_parameters(old)
    if new_args is None or old_args is None:
        return new == old
    new_positional, old_positional = [
        [arg.arg for arg in (*args.posonlyargs, *args.args)] for args in (new_args, old_args)
    ]
    new_names = {*new_positional, *[arg.arg for arg in new_args.kwonlyargs]}
    has_old_names = {arg.arg for arg in old_args.kwonlyargs} <= new_names or new_args.kwarg is not None
    return (
        new_positional[: len(old_positional)] == old_positional
        and has_old_names
        and _required(new_args) <= _required(old_args)
        and all([getattr(new_args, kind) or not getattr(old_args, kind) for kind in ("vararg", "kwarg")])
    )


def _parse_parameters(signature: str) -> ast.arguments | None:
    """Return the parameters of a signature of Python, or None if it can't be parsed."""
    try:
        tree = ast.parse(f"def f{signature}: pass")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    function = tree.body[0]
    return function.args if isinstance(function, ast.FunctionDef) else None


def _required(args: ast.arguments) -> set[str]:
    """Return the names of the parameters without a default."""
    positional = [*args.posonlyargs, *args.args]
    required = positional[: len(positional) - len(args.defaults)]
    required += [arg for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None]
    return {arg.arg for arg in required}
