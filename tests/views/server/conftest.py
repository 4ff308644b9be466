"""A server for the tests of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import Folder
from tests.views.server.running_server import RunningServer, serve_repository

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server(repo: Folder) -> RunningServer:
    """A server of a repository with one plan; it ends with the test."""
    repo.plan()
    return RunningServer(repo)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server for the tests of a file that only send requests, and write nothing."""
    yield from serve_repository(_create_repository, tmp_path_factory.mktemp("shared") / "repo")


def _create_repository(folder: Folder) -> None:
    folder.git("init", "-q", "-b", "main")
    folder.write("README.md", "# A project\n")
    folder.plan()
