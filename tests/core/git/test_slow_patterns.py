"""Commands that go on without git's answer if an ignore pattern keeps git busy for hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Folder

PATTERN = "a*" * 30 + "b"


@pytest.fixture
def slow(repo: Folder) -> Folder:
    """A repository in which git needs exponential time to find untracked files."""
    repo.plan()
    repo.write(f"sources/{'a' * 200}x", "")
    return repo


@pytest.mark.parametrize("command", ["prime", "context"])
def test_overviews_go_on_without_git(slow: Folder, command: str) -> None:
    slow.write(".gitignore", PATTERN)
    result = slow.run(command)
    assert result.exit == 0
    assert "git status did not finish in time" in result.out + result.err or "git ls-files did not" in result.err
