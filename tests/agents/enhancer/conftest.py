"""What the tests of the enhancer share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.enhancer.enhancer_repository import EnhancerRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EnhancerRepository:
    """A repository with a plan of three steps, and a program to ask."""
    return EnhancerRepository(tmp_path / "repo", monkeypatch)
