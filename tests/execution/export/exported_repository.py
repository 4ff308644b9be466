"""A repository whose plan has steps for every kind of job, approved and committed."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from execplan.execution.export.exported_plan import export_plan
from tests.cli.approved_plan import sandbox_off
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.export.exported_plan import ExportedPlan

HEAD = """\
# Greet

## Progress

- [ ] Write it.
- [ ] Build it.
- [ ] Check it.

## Concrete Steps

"""
STEPS = (
    HEAD
    + """```python {#write type=create_file target=src/greet.py task="Write it"}
print("hello $(x)")
```

```text {#drop type=delete_file target=src/old.py}
Nobody calls it.
```

```sh {#build inputs=src/greet.py outputs=out/lines.txt,out/bin,out/link shell=sh task="Build it" retry=1}
mkdir -p out/bin && python3 src/greet.py > out/lines.txt
printf '#!/bin/sh\\n' > out/bin/run && chmod 755 out/bin/run && ln -s bin/run out/link
```

```sh {#check needs=build inputs=out/lines.txt expect="hello $(x)" task="Check it"}
cat out/lines.txt
```
"""
)
"""A plan of three jobs: `write`, `drop` and `build`, which need a person, and `check`."""
REPLACING_STEPS = (
    HEAD
    + """```sh {#renew checkpoint inputs=seed outputs=dist shell=sh}
rm -r dist && mkdir dist && cp seed dist/new
```

```sh {#nest checkpoint inputs=dist outputs=plain shell=sh}
find dist | sort > listed && rm plain && mkdir plain && mv listed plain
```

```sh {#flatten checkpoint inputs=plain outputs=tree shell=sh}
rm -r tree && cp plain/listed tree
```

```sh {#list inputs=dist,plain,tree outputs=list.txt shell=sh}
find dist plain tree | sort > list.txt
```
"""
)
"""A plan of four jobs whose steps remove files in a directory, and replace a file by a directory and the other way around."""
REPLACED_FILES = {"seed": "x\n", "plain": "x\n", "dist/old": "x\n", "dist/sub/old": "x\n", "tree/old": "x\n"}
LISTED_FILES = "dist\ndist/new\nplain\nplain/listed\ntree\n"
RUN_ID = re.compile(rb"\d{4}-[0-9a-f]{8}")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return sandbox_off(InProcessRepository(tmp_path / "desk", monkeypatch))


def approve(desk: InProcessRepository, plan: str = STEPS) -> InProcessRepository:
    """Approve a plan, and commit everything."""
    desk.plan(plan)
    desk.commit()
    desk.approve("--allow-inferred")
    desk.commit()
    return desk


def exported(desk: InProcessRepository) -> ExportedPlan:
    """The approved plan as jobs."""
    return export_plan(*desk.project(), uses_checkout=True)


def clone(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """A new clone of the repository for a job, which is the working directory from now on."""
    path = desk.path.parent / name
    subprocess.run(["git", "clone", "-q", desk.path, path], check=True)
    monkeypatch.chdir(path)
    return path


def tree(path: Path) -> dict[str, tuple[str, object]]:
    """The files of a directory with modes, links and content, apart from Git's and the evidence of runs.

    IDs of runs, to whose transcripts the plan refers, are replaced.
    """
    entries: dict[str, tuple[str, object]] = {}
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if name.startswith((".git/", ".agent/execplans/artifacts")) or name in (".git", "plan.mk"):
            continue
        if file.is_symlink():
            entries[name] = ("link", str(file.readlink()))
        elif file.is_dir():
            entries[name] = ("directory", "")
        else:
            entries[name] = (oct(file.stat().st_mode), RUN_ID.sub(b"RUN", file.read_bytes()))
    return entries


def copy(desk: InProcessRepository, name: str) -> Path:
    """A copy of the repository at another place."""
    path = desk.path.parent / name
    shutil.copytree(desk.path, path, symlinks=True)
    return path
