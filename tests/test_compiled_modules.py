"""What mypyc compiles otherwise than Python runs it does not occur in the layers that are compiled."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "execplan"
MODULES = [
    PACKAGE / "clock.py",
    *[path for layer in ("text", "plan", "linter") for path in (PACKAGE / layer).rglob("*.py")],
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_bounds_of_slices_have_no_effects(path: Path) -> None:
    """Bounds of a slice may be evaluated twice."""
    slices = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Slice)]
    parts = [part for bounds in slices for part in ast.walk(bounds)]
    assert not [ast.unparse(part) for part in parts if isinstance(part, ast.NamedExpr)]
    assert not [
        ast.unparse(part) for part in parts if isinstance(part, ast.Attribute) and part.attr in ("pop", "popleft")
    ]
