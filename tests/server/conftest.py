"""A server for the tests of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.running_server import RunningServer

if TYPE_CHECKING:
    from tests.conftest import Folder


@pytest.fixture
def server(repo: Folder) -> RunningServer:
    """A server of a repository with one plan; it ends with the test."""
    repo.plan()
    return RunningServer(repo)
