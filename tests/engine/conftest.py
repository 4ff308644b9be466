"""What the tests of the engine share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.commanding import Yard
from tests.engine.ledgers import Kept
from tests.repo.approving import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """A folder to run commands in."""
    return Yard(tmp_path)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository whose plan has steps."""
    return Desk(tmp_path / "repo", monkeypatch)


@pytest.fixture
def kept(desk: Desk) -> Kept:
    """A plan whose ledger is about to be written."""
    return Kept(desk)
