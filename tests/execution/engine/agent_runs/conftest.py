"""An agent for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.agent_runs.agent import Agent

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """In a repository with a plan that nobody has approved."""
    (tmp_path / ".config/execplan").mkdir(parents=True)
    (tmp_path / ".config/execplan/config.toml").write_text('[execution]\nsandbox = "off"\n')
    return Agent(tmp_path / "repo", monkeypatch)
