"""Definitions in code, such as functions and classes: where they begin and end, and what they are called.

Python is parsed. Other languages are read by their looks: a line that declares something begins a definition, and the
indentation shows where it ends.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

from execplan.core.named_tuple import NamedTuple

_MAX_SIGNATURE_LINES: Final = 8
"""Maximum lines of a signature."""
_MODIFIERS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|open|"
    r"override|inline|extern|declare|sealed|data|const|virtual|readonly|partial)\s+)*"
)
_CONTAINERS: Final = r"class|interface|struct|enum|trait|impl|union|module|namespace|mod|protocol|extension|object|record|defmodule|contract"
_FUNCTIONS: Final = r"func|fn|fun|function\*?|def|macro_rules!|type|typedef|sub|proc|defp|create\s+(?:table|view|index)"
_DECLARATION = re.compile(
    rf"\s*{_MODIFIERS}(?:(?P<container>{_CONTAINERS})|{_FUNCTIONS})\b(?:\s*<[^>]*>)?(?:\s*\([^)]*\))?\s*(?P<name>\w*)",
    re.IGNORECASE,
)
_ARROW_FUNCTION = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+(?P<name>\w+)\s*(?::[^=]+)?=\s*(?:[\w.]+\()?(?:async\s*)?(?:\([^)]*$|\([^)]*\)|\w+)\s*(?::[^=]+)?(?:=>|$)"
)
_CONSTANT = re.compile(rf"{_MODIFIERS}(?:const|let|var|static|val)\s+(?:mut\s+)?(?P<name>\w+)")
_TEST_CALL = re.compile(r"\s*(?P<name>describe|it|test|context)(?:\.\w+)*\(\s*['\"`]")
_METHOD = re.compile(
    rf"\s+{_MODIFIERS}(?:(?:get|set)\s+)?(?:[\w<>\[\],?.*&:]+\s+)*(?P<name>[A-Za-z_$#][\w$]*)\s*(?:<[^>]*>)?\([^;]*\)?[^;]*\{{\s*$"
)
_C_FUNCTION = re.compile(r"(?:[A-Za-z_][\w\s*&<>:,~]*?[\s*&])?(?P<name>~?[A-Za-z_][\w:]*)\s*\([^;]*\)?[^;]*\{?\s*$")
_CONTROL_FLOW = re.compile(
    r"\s*(?:[})\]]|(?:if|for|while|switch|return|else|do|catch|try|with|match|loop|await|throw|new|super|case|elif|assert|in|let|const|var|import|from|use|package)\b)"
)
_PREAMBLE = re.compile(r"\s*(?://|@|#\[|/\*|\*|#(?!\s*(?:include|define|if|endif)))")
"""A comment, decorator or attribute that belongs to the definition after it."""
_CLOSER = re.compile(r"\s*(?:[)\]}{]|end\b|where\b)")


class Definition(NamedTuple):
    """A function, class or similar; lines count from 0, and ends are exclusive."""

    name: str
    start: int
    """First line, with the decorators and comments before it."""
    signature_start: int
    """First line without the comments."""
    body_start: int
    """First line after the signature and the docstring's first line."""
    end: int
    is_container: bool
    """Whether it has definitions of its own, such as a class."""
    depth: int = 0
    """Number of containers around it."""


def read_definitions(lines: Sequence[str], *, is_python: bool) -> list[Definition]:
    """Return the definitions of a file in their order, without those inside of functions."""
    if is_python:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return list(_python_definitions(ast.parse("\n".join(lines)), lines, 0))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
    return list(_other_definitions(lines, 0, len(lines), 0))


def _python_definitions(node: ast.AST, lines: Sequence[str], depth: int) -> Iterator[Definition]:
    for child in getattr(node, "body", ()):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_container = isinstance(child, ast.ClassDef)
            first = min([child.lineno, *[decorator.lineno for decorator in child.decorator_list]]) - 1
            start = _preamble_start(lines, first)
            end = child.end_lineno or child.lineno
            body = child.body[0]
            body_start = max(min(body.lineno - 1, child.lineno - 1 + _MAX_SIGNATURE_LINES), child.lineno)
            if (
                isinstance(body, ast.Expr)
                and isinstance(body.value, ast.Constant)
                and isinstance(body.value.value, str)
            ):
                leading = len(body.value.value) - len(body.value.value.lstrip())
                body_start = min(body.lineno + body.value.value[:leading].count("\n"), end)
            yield Definition(child.name, start, first, body_start, end, is_container, depth)
            if is_container:
                yield from _python_definitions(child, lines, depth + 1)
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not depth:
            names = [
                node.id for node in ast.walk(child) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ]
            start, end = child.lineno - 1, child.end_lineno or child.lineno
            yield Definition(names[0] if names else "", start, start, start + 1, end, False, depth)
        elif isinstance(child, ast.If | ast.Try):
            yield from _python_definitions(child, lines, depth)


def _other_definitions(lines: Sequence[str], index: int, stop: int, depth: int) -> Iterator[Definition]:
    while index < stop:
        match = _match_declaration(lines[index], depth)
        if match is None:
            index += 1
            continue
        end = _block_end(lines, index, stop)
        is_container = (
            match["name"] in ("describe", "context")
            if match.re is _TEST_CALL
            else bool(match.groupdict().get("container"))
        )
        body_start = min(_signature_end(lines, index, end), end)
        yield Definition(match["name"], _preamble_start(lines, index), index, body_start, end, is_container, depth)
        if is_container:
            yield from _other_definitions(lines, body_start, end, depth + 1)
        index = end


def _match_declaration(line: str, depth: int) -> re.Match[str] | None:
    line = line[:500]
    if not line.strip():
        return None
    match = _DECLARATION.match(line) or _ARROW_FUNCTION.match(line) or _TEST_CALL.match(line)
    match = match or (None if depth else _CONSTANT.match(line))
    if match or _CONTROL_FLOW.match(line):
        return match
    return _METHOD.match(line) if depth else _C_FUNCTION.match(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block_end(lines: Sequence[str], index: int, stop: int) -> int:
    """Return the line after a block: before the next line that is not indented deeper and closes nothing."""
    indent, end = _indent(lines[index]), index + 1
    for at in range(index + 1, stop):
        line = lines[at]
        if not line.strip():
            continue
        if _indent(line) < indent or (_indent(line) == indent and not _CLOSER.match(line)):
            break
        end = at + 1
        if _indent(line) == indent and line.strip() in ("}", "};", "});", ")", ");", "end", "},", "})", "]", "];"):
            break
    return end


def _signature_end(lines: Sequence[str], index: int, end: int) -> int:
    """Return the line after a signature, which may take several lines."""
    for at in range(index, min(end, index + _MAX_SIGNATURE_LINES)):
        if lines[at].lstrip()[:7].lower() == "create ":
            break
        if lines[at].rstrip().endswith(("{", ":", ";", "=>", "do", "}", "{}")):
            return at + 1
        if at + 1 < end and lines[at + 1].strip() == "{":
            return at + 1
    return index + 1


def _preamble_start(lines: Sequence[str], index: int) -> int:
    """Return the first line of the comments and decorators directly before a definition."""
    indent = _indent(lines[index])
    while (
        index
        and lines[index - 1].strip()
        and _PREAMBLE.match(lines[index - 1])
        and _indent(lines[index - 1]) - indent in (0, 1)
    ):
        index -= 1
    return index
