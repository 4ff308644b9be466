"""Settings are found where they are, and most files are not parsed to know that there are none."""

from __future__ import annotations

import tomllib

import pytest

from execplan.repo.settings import may_have_table


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("[tool.execplan]\ncommit = true\n", True),
        ("[ tool . execplan ]\n", True),
        ('[tool."execplan"]\n', True),
        ("[tool]\nexecplan = {commit = true}\n", True),
        ("tool.execplan.commit = true\n", True),
        ("[tool]\n'execplan'.commit = true\n", True),
        ('[project]\nname = "execplan"\n', False),
        ('[project.scripts]\nexecplan = "execplan.cli.main:main"\n[tool.mypy]\nfiles = ["execplan"]\n', False),
        ("[tool.ruff]\n", False),
    ],
)
def test_may_have_table(text: str, may: bool) -> None:
    assert may_have_table(text.encode()) is may
    assert may or "execplan" not in tomllib.loads(text).get("tool", {})
