"""What programs may depend on is recorded, so a break is a decision. `tests/cli/test_contract.py` compares the keys of answers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import public_surface
import pytest

from execplan.cli.commands import COMMANDS


def test_nothing_that_is_recorded_is_gone() -> None:
    broken = {line for line in public_surface.recorded() - public_surface.current() if not line.startswith("json ")}
    assert sorted(broken) == [], (
        "these are breaks; if they are intended, remove the lines from tests/public_surface.txt and name them in the changelog"
    )


def test_what_is_new_is_recorded() -> None:
    assert sorted(public_surface.current() - public_surface.recorded()) == [], "make generate"


def test_the_keys_of_each_command_are_recorded() -> None:
    with_keys = {line.split()[1] for line in public_surface.recorded() if line.startswith("json ")}
    assert sorted(COMMANDS.keys() ^ with_keys) == ["lsp", "mcp"]  # with --json these print nothing but the frame


def test_generating_keeps_what_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "public_surface.txt").write_text("command execplan vanished\njson add gone\n")
    monkeypatch.setattr(public_surface, "ROOT", tmp_path)
    lines = public_surface.render().splitlines()
    assert lines == sorted(public_surface.current() | {"command execplan vanished", "json add gone"})
