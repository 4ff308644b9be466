"""Editors for tests: one for the tests of a file that only read, and one for each test that writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import Folder
from tests.views.language_server.editor import Editor, editing

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def editor(repo: Folder) -> Iterator[Editor]:
    """An editor in a repository without plans."""
    with editing(repo) as editor:
        yield editor


@pytest.fixture(scope="module")
def shared_editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor in a repository with two plans, one of which needs a task of the other."""
    from tests.plans import CLEAN, STEPS

    folder = Folder(tmp_path_factory.mktemp("shared") / "repo")
    folder.path.mkdir()
    folder.git("init", "-q", "-b", "main")
    folder.plan(STEPS)
    folder.plan(DEPENDENT, DEPENDENT_NAME)
    folder.plan(CLEAN.replace("Build the parser", "Rôle 🚀 de l'analyseur", 1), "2026-01-03_role")
    folder.write("src/reader.py", "def read(): ...\n")
    folder.write("src/deep/scanner.py", "")
    with editing(folder) as editor:
        yield editor


DEPENDENT_NAME = "2026-01-02_use"
DEPENDENT = """\
---
depends_on:
  - parser
---

# Use the parser

This ExecPlan is a living document.

## Purpose / Big Picture

The reader in `src/reader.py` is used. See [the plan](2026-01-01_parser.md).

## Progress

- [x] (2025-12-30 09:15Z) Read the parser's plan.
- [ ] Call it, needs parser#2.
"""
