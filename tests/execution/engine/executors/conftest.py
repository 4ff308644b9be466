"""What the tests of executors share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.executors.cluster import Cluster
from tests.execution.engine.run_repository import RunRepository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository in which plans run."""
    return RunRepository(tmp_path / "repository", monkeypatch)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    cluster = Cluster(tmp_path / "cluster")
    yield cluster
    cluster.close()
