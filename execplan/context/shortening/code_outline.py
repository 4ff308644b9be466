"""Outline of code: its imports and declarations, with the first line of each docstring."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from execplan.context.shortening.excerpt import REST_RANK, TextPart
from execplan.context.text_search import count_shared_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Final

_RELEVANT, _DECLARED, _INNER, _IMPORTED, _SHARED_WORDS = range(5)
"""Ranks of lines, from the most to the least important.

They are: declarations that share words with the task, and the file's description; other declarations; declarations
inside classes; imports; lines with words of the task.
"""
_MAX_SIGNATURE_LINES: Final = 8
"""Maximum lines of a signature."""
_DECLARATION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|open|"
    r"override|inline|extern|declare|sealed|data|const)\s+)*"
    r"(?:class|interface|struct|enum|trait|impl|union|func|fn|fun|function\*?|def|module|namespace|mod|macro_rules!|type|"
    r"protocol|extension|object|record|typedef|sub|proc|defmodule|defp|contract|create\s+(?:table|view|index))\b",
    re.IGNORECASE,
)
_ARROW_FUNCTION = re.compile(
    r"\s*(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::[^=]+)?=>"
)
_C_FUNCTION = re.compile(r"[A-Za-z_][\w\s*&<>:,~]*\([^;]*\)[^;]*\{?\s*$")
_CONTROL_FLOW = re.compile(r"(?:if|for|while|switch|return|else|do|catch|with)\b")
_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|include|#\s*include|package|@import|source)\b")
_COMMENT = re.compile(r"\s*(?://[/!]|#\s|/\*\*|\*\s|--\s|\"\"\")")


def split_python(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart] | None:
    """Split Python code into ranked parts; return None if it can't be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    ranks = dict.fromkeys(range(len(lines)), REST_RANK)
    _rank_docstring(tree, _RELEVANT, ranks)
    for node, rank in _iter_declarations(tree, _DECLARED):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _lower_ranks(ranks, node.lineno - 1, node.end_lineno or node.lineno, _IMPORTED)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node_rank = _RELEVANT if count_shared_words(lines[node.lineno - 1], keywords) else rank
            body_start = node.body[0].lineno - 1
            _lower_ranks(
                ranks,
                node.lineno - 1,
                max(min(body_start, node.lineno - 1 + _MAX_SIGNATURE_LINES), node.lineno),
                node_rank,
            )
            _rank_docstring(node, node_rank, ranks)
        else:
            _lower_ranks(ranks, node.lineno - 1, node.lineno, rank)
    return _build_parts(lines, ranks, keywords)


def _iter_declarations(node: ast.AST, rank: int) -> Iterator[tuple[ast.stmt, int]]:
    """Yield the declarations of a module or class and of the blocks inside it, with their ranks."""
    for child in getattr(node, "body", ()):
        if isinstance(child, ast.ClassDef):
            yield child, rank
            yield from _iter_declarations(child, _INNER)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, rank
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child, _IMPORTED
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            yield child, _INNER
        elif isinstance(child, ast.If | ast.Try):
            yield from _iter_declarations(child, max(rank, _INNER))


def _rank_docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, rank: int, ranks: dict[int, int]
) -> None:
    """Give a rank to the first nonblank line of a docstring."""
    first_statement = node.body[0] if node.body else None
    if (
        not isinstance(first_statement, ast.Expr)
        or not isinstance(first_statement.value, ast.Constant)
        or not isinstance(first_statement.value.value, str)
    ):
        return
    leading_chars = len(first_statement.value.value) - len(first_statement.value.value.lstrip())
    line_index = first_statement.lineno - 1 + first_statement.value.value[:leading_chars].count("\n")
    _lower_ranks(ranks, line_index, line_index + 1, rank)


def _lower_ranks(ranks: dict[int, int], start: int, end: int, rank: int) -> None:
    for line_index in range(start, end):
        if line_index in ranks:
            ranks[line_index] = min(ranks[line_index], rank)


def split_other_code(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split code in another language into ranked parts, by the appearance of its lines."""
    ranks = {}
    for line_index, line in enumerate(lines):
        declaration = _DECLARATION.match(line) or _ARROW_FUNCTION.match(line)
        if not declaration and line[:1].strip() and _C_FUNCTION.match(line[:500]) and not _CONTROL_FLOW.match(line):
            declaration = _C_FUNCTION.match(line[:500])
        if declaration:
            ranks[line_index] = (
                _RELEVANT if count_shared_words(line, keywords) else _DECLARED if line[:1].strip() else _INNER
            )
        else:
            ranks[line_index] = _IMPORTED if _IMPORT.match(line) else REST_RANK
    for line_index in range(min(len(lines), 3)):
        if lines[line_index].strip() and _COMMENT.match(lines[line_index]):
            ranks[line_index] = _RELEVANT
    return _build_parts(lines, ranks, keywords)


def _build_parts(lines: Sequence[str], ranks: dict[int, int], keywords: Collection[str]) -> list[TextPart]:
    """Build the parts from ranked lines; lines with words of the task come after declarations.

    Among the rest, the bodies of declarations that share words with the task come first.
    """
    parts = []
    is_relevant = False
    for line_index, line in enumerate(lines):
        rank = ranks[line_index]
        is_relevant = rank == _RELEVANT if rank < _IMPORTED else is_relevant
        if rank == REST_RANK:
            if count_shared_words(line, keywords) and line.strip():
                rank = _SHARED_WORDS
            elif is_relevant:
                rank = REST_RANK
            else:
                rank = REST_RANK + 1
        parts.append(TextPart(line, line_index, rank if line.strip() else max(rank, REST_RANK)))
    return parts
