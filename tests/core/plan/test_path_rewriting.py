"""Paths and ids in plans, respelled."""

from __future__ import annotations

import pytest

from execplan.core.plan.path_rewriting import PathReplacement, apply_replacements

PLAN = [
    PathReplacement("plans/p.md", "plans/archive/p.md", False),
    PathReplacement("p.md", "archive/p.md", False),
    PathReplacement("plans/artifacts/p", "plans/archive/artifacts/p", True),
    PathReplacement("2026-01-01_p", "2026-01-01_q", False),
]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("see plans/p.md.", "see plans/archive/p.md."),
        ("`plans/p.md`, [it](plans/p.md#progress)", "`plans/archive/p.md`, [it](plans/archive/p.md#progress)"),
        ("plans/p.md:12: x", "plans/archive/p.md:12: x"),
        ("p.md and <p.md>", "archive/p.md and <archive/p.md>"),
        ("plans/artifacts/p/run.log", "plans/archive/artifacts/p/run.log"),
        ("plans/artifacts/p.", "plans/archive/artifacts/p."),
        ("2026-01-01_p, 2026-01-01_p's", "2026-01-01_q, 2026-01-01_q's"),
        ("(2026-01-01_p)", "(2026-01-01_q)"),
        (
            "[p.md](p.md), [2026-01-01_p](<plans/p.md>)",
            "[archive/p.md](archive/p.md), [2026-01-01_q](<plans/archive/p.md>)",
        ),
    ],
)
def test_what_is_named(before: str, after: str) -> None:
    assert apply_replacements(before, PLAN) == after


@pytest.mark.parametrize(
    "text",
    [
        "other/plans/p.md", "plans/p.md.bak", "plans/p.mdx", "xp.md", "step.md", "up-p.md", "../p.md", "plans/artifacts/pq",
        "2026-01-01_pq", "2026-01-01_p-2", "x2026-01-01_p", "2026-01-01_p/x", "2026-01-01_p.txt", "/p.md", "~p.md",
        "[p.md](../docs/p.md)", "[2026-01-01_p](https://example.org/2026-01-01_p)",
    ],
)  # fmt: skip
def test_what_is_something_else(text: str) -> None:
    assert apply_replacements(text, PLAN) == text
