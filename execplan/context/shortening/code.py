"""What a reader of code needs first: what it imports and declares, with the first line of what is said about it."""

from __future__ import annotations

import ast
import re
import warnings

from execplan.context.shortening.part import REST, Part
from execplan.context.words import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Final

_ABOUT, _DECLARED, _INNER, _IMPORTED, _SHARED = range(5)
"""Ranks: what declares something that the task is about, or says what the file is; other declarations; those in classes;
imports; lines with words of the task."""
_LONG_SIGNATURE: Final = 8
"""Lines."""
_DECLARES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|open|"
    r"override|inline|extern|declare|sealed|data|const)\s+)*"
    r"(?:class|interface|struct|enum|trait|impl|union|func|fn|fun|function\*?|def|module|namespace|mod|macro_rules!|type|"
    r"protocol|extension|object|record|typedef|sub|proc|defmodule|defp|contract|create\s+(?:table|view|index))\b",
    re.IGNORECASE,
)
_ARROW = re.compile(
    r"\s*(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::[^=]+)?=>"
)
_C_LIKE = re.compile(r"[A-Za-z_][\w\s*&<>:,~]*\([^;]*\)[^;]*\{?\s*$")
_NO_FUNCTION = re.compile(r"(?:if|for|while|switch|return|else|do|catch|with)\b")
_IMPORTS = re.compile(r"\s*(?:import|from|use|using|require|include|#\s*include|package|@import|source)\b")
_COMMENT = re.compile(r"\s*(?://[/!]|#\s|/\*\*|\*\s|--\s|\"\"\")")


def python(lines: Sequence[str], words: Collection[str]) -> list[Part] | None:
    """The parts of Python code; None where it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    ranks = dict.fromkeys(range(len(lines)), REST)
    _document(tree, _ABOUT, ranks)
    for node, rank in _declared(tree, _DECLARED):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _rank(ranks, node.lineno - 1, node.end_lineno or node.lineno, _IMPORTED)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            mine = _ABOUT if shared(lines[node.lineno - 1], words) else rank
            body = node.body[0].lineno - 1
            _rank(ranks, node.lineno - 1, max(min(body, node.lineno - 1 + _LONG_SIGNATURE), node.lineno), mine)
            _document(node, mine, ranks)
        else:
            _rank(ranks, node.lineno - 1, node.lineno, rank)
    return _parts(lines, ranks, words)


def _declared(node: ast.AST, rank: int) -> Iterator[tuple[ast.stmt, int]]:
    """What is declared in a module or a class, and in what is in it, with ranks."""
    for each in getattr(node, "body", ()):
        if isinstance(each, ast.ClassDef):
            yield each, rank
            yield from _declared(each, _INNER)
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each, rank
        elif isinstance(each, ast.Import | ast.ImportFrom):
            yield each, _IMPORTED
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            yield each, _INNER
        elif isinstance(each, ast.If | ast.Try):
            yield from _declared(each, max(rank, _INNER))


def _document(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, rank: int, ranks: dict[int, int]
) -> None:
    """Give the first line of a docstring that has words its rank."""
    first = node.body[0] if node.body else None
    if (
        not isinstance(first, ast.Expr)
        or not isinstance(first.value, ast.Constant)
        or not isinstance(first.value.value, str)
    ):
        return
    lead = len(first.value.value) - len(first.value.value.lstrip())
    at = first.lineno - 1 + first.value.value[:lead].count("\n")
    _rank(ranks, at, at + 1, rank)


def _rank(ranks: dict[int, int], start: int, end: int, rank: int) -> None:
    for at in range(start, end):
        if at in ranks:
            ranks[at] = min(ranks[at], rank)


def other(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of code in another language, by what its lines look like."""
    ranks = {}
    for at, line in enumerate(lines):
        declares = _DECLARES.match(line) or _ARROW.match(line)
        if not declares and line[:1].strip() and _C_LIKE.match(line[:500]) and not _NO_FUNCTION.match(line):
            declares = _C_LIKE.match(line[:500])
        if declares:
            ranks[at] = _ABOUT if shared(line, words) else _DECLARED if line[:1].strip() else _INNER
        else:
            ranks[at] = _IMPORTED if _IMPORTS.match(line) else REST
    for at in range(min(len(lines), 3)):
        if lines[at].strip() and _COMMENT.match(lines[at]):
            ranks[at] = _ABOUT
    return _parts(lines, ranks, words)


def _parts(lines: Sequence[str], ranks: dict[int, int], words: Collection[str]) -> list[Part]:
    """The lines with their ranks; those with words of the task follow what is declared.

    Of the rest the bodies of what the task is about come first.
    """
    parts = []
    about = False
    for at, line in enumerate(lines):
        rank = ranks[at]
        about = rank == _ABOUT if rank < _IMPORTED else about
        if rank == REST:
            rank = _SHARED if shared(line, words) and line.strip() else REST if about else REST + 1
        parts.append(Part(line, at, rank if line.strip() else max(rank, REST)))
    return parts
