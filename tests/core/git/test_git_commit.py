"""`--commit` in repositories with unusual paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Folder


@pytest.mark.parametrize("name", ["$HOME", "a $PATH b", "${HOME}", "~", "a%HOME%", 'quote"s', "new\nline"])
def test_the_path_is_taken_literally(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.mkdir()
    folder = Folder(path)
    folder.git("init", "-q", "-b", "main")
    folder.plan()
    folder.git("add", "-A")
    folder.git("commit", "-qm", "A plan")
    result = folder.run("done", "2", "--commit")
    assert (result.exit, result.err) == (0, "")
    assert folder.git("status", "--porcelain") == ""
    assert len(folder.git("log", "--format=%h").split()) == 2
