"""A repository whose user has named a program that drafts plans."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.in_process_repository import InProcessRepository

PROGRAM = Path(__file__).with_name("scripted_program.py")


class DraftingRepository(InProcessRepository):
    """What is typed there, and what the program was sent."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.folder = path.parent / "kept"
        self.folder.mkdir()
        self.plans = path / ".agent/execplans"
        self.existing_plans = self.plan_files()

    def settings(self, text: str) -> None:
        """Write the user's own."""
        file = self.path.parent / ".config/execplan/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def configure(self, *behavior: str, extra: str = "") -> None:
        """Let the program `model` answer in this way."""
        for prompt in self.folder.iterdir():
            prompt.unlink()
        argv = [sys.executable, "-I", "-S", str(PROGRAM), str(self.folder), *behavior]
        self.settings(f"[drafting]\nprograms = {{ model = {json.dumps(shlex.join(argv))} }}\n{extra}")

    def prompts(self) -> list[str]:
        """What it was sent."""
        return [path.read_text() for path in sorted(self.folder.glob("prompt*.md"))]

    def plan_files(self) -> list[str]:
        """The files below the plans."""
        return sorted(str(path) for path in self.plans.rglob("*"))

    def assert_nothing_written(self) -> None:
        """No plan is there, and no draft."""
        assert self.plan_files() == self.existing_plans
        assert not (self.path / ".git/execplan/drafts").exists()


@pytest.fixture
def drafting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DraftingRepository:
    """A repository with a program that drafts plans."""
    return DraftingRepository(tmp_path / "repo", monkeypatch)
