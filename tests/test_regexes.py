"""Regular expressions use nothing that a supported version of Python gets wrong."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import execplan

POSSESSIVE_GROUP = re.compile(r"\)(?:[?*+]|\{[0-9,]+\})\+")


def test_no_group_has_a_possessive_quantifier() -> None:
    """Before Python 3.11.5 a group that fails halfway leaves the match too long: `(?:ab)?+` matches "a" (CPython gh-106052)."""
    matches = [
        f"{path}:{node.lineno}: {node.value}"
        for path in sorted(Path(execplan.__path__[0]).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and POSSESSIVE_GROUP.search(node.value)
        and _is_regex(node.value)
    ]
    assert matches == []


def _is_regex(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True
