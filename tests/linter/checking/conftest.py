"""A home whose plans lint has found to be as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.linter.checking.lint_project import BAD, UNSTAMPED, LintProject, make_lint_project
from tests.plans import CLEAN


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LintProject:
    """A home with three plans that were found to be as they are."""
    lint_project = make_lint_project(tmp_path / "home", monkeypatch)
    for name, content in (("a.md", CLEAN), ("b.md", BAD), ("c.md", UNSTAMPED)):
        lint_project.write(name, content)
    assert len(UNSTAMPED) == len(CLEAN)
    assert lint_project.lint_consistently() == ["a.md", "b.md", "c.md"]
    return lint_project
