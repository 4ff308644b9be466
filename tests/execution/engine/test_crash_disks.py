"""A disk that fills up at whatever a run writes: journal, ledger, transcripts, backups, targets."""

from __future__ import annotations

import shutil

import pytest

from tests.crash.test_disks import run_in_namespace, shell_line
from tests.execution.engine.run_scenario import FILES, NAME, RunScenario

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
LINES = "\n".join([f"line {number} of what is written" for number in range(2000)])
SCRIPTS = {
    "first.sh": "seq 2000\nseq 3000 >made/first.txt\n",
    "last.sh": "seq 2000\nseq 3000 >made/last.txt\n",
    "made/big.txt": "first\nfirst\n" + "".join([f"{number * 7919}\n" for number in range(9000)]),
    "made/other.txt": "".join([f"{number * 104729}\n" for number in range(9000)]),
}
SIZES = (24, 72, 160)
"""KB that are free when the run begins: it fills up before the first entry, and at steps that write."""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> RunScenario:
    """A plan whose steps write, and whose run is not rolled back by itself."""
    plan = PLAN.replace("LINES", LINES).replace("@@ -1 +1 @@", "@@ -1,2 +1,2 @@")
    repository = RunScenario(
        tmp_path_factory.mktemp("disk"), plan, {**FILES, **SCRIPTS}, settings="[execution]\nrollback_on = []\n"
    )
    repository.run("run", NAME)
    repository.save("ran")
    return repository


@pytest.mark.exhaustive
@pytest.mark.parametrize("free", SIZES)
def test_38_a_disk_that_fills_up(scenario: RunScenario, free: int) -> None:
    fill_up(scenario, free)


def fill_up(scenario: RunScenario, free: int) -> None:
    """Run where so many KB are free, make space, resume, and compare."""
    scenario.restore("ran")
    expected = scenario.tree()
    scenario.restore("approved")
    ran = run_in_namespace(
        scenario.folder,
        "rm -rf small freed; cp -a world small; mount -t tmpfs -o size=6m tmpfs world; cp -a small/. world; cd world\n"
        f"dd if=/dev/zero of=fill bs=1k 2>/dev/null || true; truncate -s -{free}K fill; cd repo; set +e\n"
        f"{shell_line(('run', NAME))} >&2; echo ran $?; find . -name '.execplan-*' -not -path './.git/*'; rm ../fill\n"
        f"{shell_line(('resume', '-p', NAME))} >&2 || {shell_line(('run', NAME))} >&2; echo resumed $?\n"
        f"{shell_line(('audit', NAME, '--verify'))} >&2; echo verified $?; cp -a .. ../../freed",
        scenario.repo.env,
    )
    printed = ran.out.splitlines()
    assert printed[0] in ("ran 1", "ran 6"), ran
    assert "Traceback" not in ran.err, ran
    assert "no space left on device" in ran.err.lower(), ran
    assert printed[1:] == ["resumed 0", "verified 0"], ran
    shutil.rmtree(scenario.world)
    (scenario.folder / "freed").rename(scenario.world)
    assert scenario.tree() == expected
