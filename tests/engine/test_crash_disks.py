"""A disk that fills up at whatever a run writes: journal, ledger, transcripts, backups, targets."""

from __future__ import annotations

import shutil

import pytest

from tests.crash.test_disks import apart, line
from tests.engine.stage import FILES, NAME, Stage

PLAN = """\
# Fill

This ExecPlan is a living document.

## Progress

- [ ] Fill.

## Concrete Steps

```sh {#first effect=idempotent outputs=made/first.txt}
sh first.sh
```

```text {#write type=create_file target=made/write.txt task="Fill"}
LINES
```

```diff {#change type=modify_file target=made/big.txt}
--- a/made/big.txt
+++ b/made/big.txt
@@ -1 +1 @@
-first
+second
 first
```

```text {#drop type=delete_file target=made/other.txt}
Nobody reads it.
```

```sh {#last effect=idempotent outputs=made/last.txt}
sh last.sh
```
"""
LINES = "\n".join([f"line {each} of what is written" for each in range(2000)])
SCRIPTS = {
    "first.sh": "seq 2000\nseq 3000 >made/first.txt\n",
    "last.sh": "seq 2000\nseq 3000 >made/last.txt\n",
    "made/big.txt": "first\nfirst\n" + "".join([f"{each * 7919}\n" for each in range(9000)]),
    "made/other.txt": "".join([f"{each * 104729}\n" for each in range(9000)]),
}
SIZES = (24, 72, 160)
"""KB that are free when the run begins: it fills up before the first entry, and at steps that write."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A plan whose steps write, and whose run is not rolled back by itself."""
    plan = PLAN.replace("LINES", LINES).replace("@@ -1 +1 @@", "@@ -1,2 +1,2 @@")
    made = Stage(
        tmp_path_factory.mktemp("disk"), plan, {**FILES, **SCRIPTS}, settings="[execution]\nrollback_on = []\n"
    )
    made.run("run", NAME)
    made.keep("ran")
    return made


@pytest.mark.parametrize("free", SIZES)
def test_38_a_disk_that_fills_up(stage: Stage, free: int) -> None:
    fill_up(stage, free)


def fill_up(stage: Stage, free: int) -> None:
    """Run where so many KB are free, make space, resume, and compare."""
    stage.back("ran")
    wanted = stage.tree()
    stage.back("approved")
    ran = apart(
        stage.folder,
        "rm -rf small freed; cp -a world small; mount -t tmpfs -o size=6m tmpfs world; cp -a small/. world; cd world\n"
        f"dd if=/dev/zero of=fill bs=1k 2>/dev/null || true; truncate -s -{free}K fill; cd repo; set +e\n"
        f"{line(('run', NAME))} >&2; echo ran $?; find . -name '.execplan-*' -not -path './.git/*'; rm ../fill\n"
        f"{line(('resume', '-p', NAME))} >&2 || {line(('run', NAME))} >&2; echo resumed $?\n"
        f"{line(('audit', NAME, '--verify'))} >&2; echo verified $?; cp -a .. ../../freed",
        stage.repo.env,
    )
    said = ran.out.splitlines()
    assert said[0] in ("ran 1", "ran 6"), ran
    assert "Traceback" not in ran.err, ran
    assert "no space left on device" in ran.err.lower(), ran
    assert said[1:] == ["resumed 0", "verified 0"], ran
    shutil.rmtree(stage.world)
    (stage.folder / "freed").rename(stage.world)
    assert stage.tree() == wanted
