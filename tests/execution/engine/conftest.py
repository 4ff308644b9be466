"""What the tests of the engine share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.audited_plan import AuditedPlan
from tests.execution.engine.command_folder import CommandFolder
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def command_folder(tmp_path: Path) -> CommandFolder:
    """A folder to run commands in."""
    return CommandFolder(tmp_path)


@pytest.fixture
def audited_plan(desk: InProcessRepository) -> AuditedPlan:
    """A plan whose ledger is about to be written."""
    return AuditedPlan(desk)
