"""A home whose plans lint has found to be as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plans import CLEAN
from tests.repo.caching import BAD, UNSTAMPED, Shelf, shelf


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A home with three plans that were found to be as they are."""
    made = shelf(tmp_path / "home", monkeypatch)
    for name, content in (("a.md", CLEAN), ("b.md", BAD), ("c.md", UNSTAMPED)):
        made.write(name, content)
    assert len(UNSTAMPED) == len(CLEAN)
    assert made.same() == ["a.md", "b.md", "c.md"]
    return made
