"""The checks of a repository that `init` proposes, and that the guard allows once a person has added what it prints."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.core.scaffold.check_proposals import find_checks
from tests.agents.guard.guard_repository import GuardRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "text", "checks"),
    [
        ("Makefile", "test = 1\ncheck := 2\nall: test\nlint:\n\truff\ntest: lint\n", ["make test", "make lint"]),
        ("Makefile", "\ttest: no target\n", []),
        ("package.json", '{"scripts": {"build": "x", "test": "y", "start": "z"}}', ["npm run test", "npm run build"]),
        ("package.json", '{"scripts": {"test": "y"}, "packageManager": "pnpm@9.1.0"}', ["pnpm run test"]),
        ("package.json", '{"scripts": ["test"]}', []),
        ("package.json", "[" * 100_000, []),
        ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n", ["pytest ...", "ruff check ..."]),
        ("pyproject.toml", "[tool", []),
        ("Makefile", "test:\n" + "#" * (1 << 20), []),
    ],
)
def test_checks_are_found_in_the_files_of_a_repository(tmp_path: Path, name: str, text: str, checks: list[str]) -> None:
    assert find_checks(str(tmp_path)) == []
    (tmp_path / name).write_text(text)
    assert find_checks(str(tmp_path)) == checks


def test_a_lock_file_names_the_program_that_runs_scripts(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"scripts": {"test": "y"}}')
    (tmp_path / "yarn.lock").touch()
    assert find_checks(str(tmp_path)) == ["yarn run test"]


def test_what_init_prints_is_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = GuardRepository(tmp_path / "desk", monkeypatch)
    desk.write("Makefile", "test:\n\ttrue\n")
    shutil.rmtree(desk.path / ".agent")
    printed = desk.type("init").out
    assert desk.ask("make test").kind == "deny"
    start = printed.index("  [agent_checks]")
    desk.write("../.config/execplan/config.toml", printed[start:].split("next:")[0])
    assert desk.ask("make test").kind == "allow"
    assert "agent_checks" not in desk.type("init").out
