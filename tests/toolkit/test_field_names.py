"""Errors of tools name tools and fields."""

from __future__ import annotations

import asyncio

import pytest

from execplan.toolkit.project_tools import ProjectTools
from tests.conftest import Folder


@pytest.mark.parametrize(
    ("tool", "arguments", "message", "hint"),
    [
        ("next_task", {}, "no plan specified; 2 are open", "specify one with `plan`"),
        (
            "record",
            {"kind": "decision", "text": "x", "plan": "a"},
            "missing option `detail`",
            "see the fields of the tool",
        ),
        (
            "archive",
            {"plan": "a", "ended": "abandoned"},
            "`ended` abandoned requires `reason`",
            "archive(ended='abandoned', reason='Why it is abandoned')",
        ),
        ("edit_task", {"action": "done", "task": "nothing", "plan": "a"}, "", "see the tasks: show()"),
        ("context", {"budget": 10, "plan": "a"}, "`budget` must be a whole number", "see the fields of the tool"),
    ],
)
def test_an_error_names_fields(plain: Folder, tool: str, arguments: dict[str, object], message: str, hint: str) -> None:
    for name in ("2026-01-01_a", "2026-01-01_b"):
        plain.plan(name=name)
    document = asyncio.run(getattr(ProjectTools(plain.path), tool)(**arguments))
    assert message in document["error"]["message"]
    assert document["error"]["hint"] == hint
