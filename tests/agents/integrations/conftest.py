"""What the tests of integrations share."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Folder
from tests.shell import ROOT

SOURCES = (
    "execplan",
    "templates",
    "docs",
    "scripts",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
)


@pytest.fixture(scope="session")
def itself(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """This repository as pre-commit takes hooks from it; beside it is the program's store, so that it is built once."""
    clone = Folder(tmp_path_factory.mktemp("itself") / "execplan-itself")
    clone.path.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, clone.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, clone.path / name)
    clone.git("init", "-q")
    clone.git("add", "-A")
    clone.git("commit", "-qm", "As it is")
    return {"repo": str(clone.path), "rev": clone.git("rev-parse", "HEAD").strip()}
