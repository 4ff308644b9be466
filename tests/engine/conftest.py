"""What the tests of commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.commanding import Yard

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """A folder to run commands in."""
    return Yard(tmp_path)
