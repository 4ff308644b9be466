"""A repository with an agent's run that was begun: made once, and put back to the byte, at its place, before each test."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import GuardRepository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```sh {#build max-invocations=3}
make parser
```

```sh {#check needs=build}
make check
```

```sh {#ship needs=build confirm}
make ship
```

```text {#drop type=delete_file target=src/old.py needs=check}
Nobody calls it.
```
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GuardRepository, Path]]:
    """The repository, whose step `build` was called once, and a copy of all around it."""
    with pytest.MonkeyPatch.context() as patch:
        scratch = tmp_path_factory.mktemp("guard")
        desk = GuardRepository(scratch / "work" / "repository", patch)
        desk.plan(PLAN)
        desk.commit()
        desk.approve()
        assert desk.ask("make parser").kind == "allow"
        shutil.copytree(scratch / "work", scratch / "kept", symlinks=True)
        yield desk, scratch


@pytest.fixture
def begun(prepared: tuple[GuardRepository, Path]) -> Iterator[GuardRepository]:
    """The repository as it was prepared."""
    desk, scratch = prepared
    os.chdir(scratch)
    shutil.rmtree(scratch / "work")
    shutil.copytree(scratch / "kept", scratch / "work", symlinks=True)
    outer = desk.patch
    with pytest.MonkeyPatch.context() as desk.patch:
        desk.patch.chdir(desk.path)
        yield desk
    desk.patch = outer
