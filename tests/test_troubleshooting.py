"""Every message of docs/how-to/troubleshoot.md is what is printed when that happens."""

from __future__ import annotations

import gzip
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.crash.test_disks import run_in_namespace, shell_line
from tests.execution.engine.run_scenario import (
    ARTIFACTS,
    COUNTS,
    FILES,
    NAME,
    RunScenario,
    SignalledResult,
    run_and_signal,
    wait_for,
)

ROOT = Path(__file__).resolve().parents[1]
PLAN = """\
# Plan

This ExecPlan is a living document.

## Progress

- [ ] Do it.

## Concrete Steps

```text {#change type=modify_file target=made/keep.txt lines=1}
changed
```

STEP
"""
FILE_LIMIT = "[execution]\nfile_mb = 1\n"
LAST_STEP = "```sh {#last outputs=made/last.txt}\nsh count.sh last\n```"
SLOW = f"touch {COUNTS}/started\nsleep 60\n"


def stage_of(folder: Path, step: str, settings: str = "") -> RunScenario:
    """A plan that changes a file, and then does something."""
    return RunScenario(folder, PLAN.replace("STEP", f"{step}\n\n{LAST_STEP}"), {**FILES, "slow.sh": SLOW}, settings)


def ran(folder: Path, step: str, settings: str = "") -> Result:
    """What comes of running it."""
    return stage_of(folder, step, settings).run("run", NAME)


def changed_since(folder: Path) -> Result:
    """A target has changed after the approval."""
    scenario = stage_of(folder, LAST_STEP.replace("last", "first"))
    scenario.repo.write("made/keep.txt", "by hand\n")
    return scenario.run("run", NAME)


def nobody(folder: Path) -> Result:
    """The approval was revoked, and then there is none."""
    scenario = stage_of(folder, LAST_STEP.replace("last", "first"))
    for path in (scenario.repo.path / ARTIFACTS / "approvals").iterdir():
        path.unlink()
    return scenario.run("run", NAME)


def waits(folder: Path) -> Result:
    """A checkpoint."""
    return ran(folder, "```sh {#first checkpoint outputs=made/first.txt}\nsh count.sh first\n```")


def cut_short(folder: Path) -> Result:
    """The engine is killed while a command is at work."""
    scenario = stage_of(folder, "```sh {#slow}\nsh slow.sh\n```")
    run_and_signal(scenario, f"{COUNTS}/started", signal.SIGKILL, "run", NAME)
    return scenario.run("resume", "-p", NAME)


def completed(folder: Path) -> RunScenario:
    """A run that has come to its end."""
    scenario = stage_of(folder, LAST_STEP.replace("last", "first"))
    assert scenario.run("run", NAME).exit == 0
    return scenario


def refused(folder: Path) -> Result:
    """A file was changed after the run."""
    scenario = completed(folder)
    scenario.repo.write("made/keep.txt", "by hand\n")
    return scenario.run("rollback", "-p", NAME)


def altered(folder: Path) -> Result:
    """The backups hold something else."""
    scenario = completed(folder)
    for path in (scenario.repo.path / ".git/execplan/backups").rglob("*.gz"):
        path.write_bytes(gzip.compress(b"something else\n"))
    return scenario.run("rollback", "-p", NAME)


def broken(folder: Path) -> Result:
    """A record of the ledger was edited."""
    scenario = completed(folder)
    path = scenario.repo.path / ARTIFACTS / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b"made/keep.txt", b"made/kept.txt"))
    return scenario.run("audit", NAME, "--verify")


def full(folder: Path) -> Result:
    """No space is left."""
    scenario = stage_of(folder, LAST_STEP.replace("last", "first"))
    fill = "cp -a world small; mount -t tmpfs -o size=2m tmpfs world; cp -a small/. world; cd world; dd if=/dev/zero of=fill bs=1k"
    return run_in_namespace(
        scenario.folder, f"{fill} 2>/dev/null || true; cd repo; {shell_line(('run', NAME))}", scenario.repo.env
    )


def busy(folder: Path) -> Result:
    """Another run is at work."""
    scenario = stage_of(folder, "```sh {#slow}\nsh slow.sh\n```")
    process = scenario.repo.start("run", NAME)
    try:
        wait_for(scenario.repo.path / COUNTS / "started")
        return scenario.run("run", NAME)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def no_sandbox(folder: Path) -> Result:
    """The policy wants one, and the program is not found."""
    scenario = stage_of(
        folder, LAST_STEP.replace("last", "first"), '[execution]\nsandbox = "required"\nprograms = "warn"\n'
    )
    empty = folder / "programs"
    empty.mkdir()
    for name in ("git", "sh", "cp"):
        (empty / name).symlink_to(str(shutil.which(name)))
    return scenario.repo.run("run", NAME, PATH=str(empty))


PROVOKED: dict[str, Callable[[Path], Result | SignalledResult]] = {
    "The plan is not approved": nobody,
    "The approval is stale": changed_since,
    "A step took too long": lambda folder: ran(folder, "```sh {#slow timeout=1}\nsleep 60\n```"),
    "The validation of a step failed": lambda folder: ran(folder, "```sh {#check expect=no}\necho yes\n```"),
    "A limit was reached": lambda folder: ran(
        folder, "```sh {#large shell}\nhead -c 5000000 /dev/zero >made/large\n```", FILE_LIMIT
    ),
    "The sandbox is missing": no_sandbox,
    "The run is paused": waits,
    "A run was interrupted": cut_short,
    "A rollback stops": refused,
    "A backup is missing or altered": altered,
    "The audit log is broken": broken,
    "The disk is full": full,
    "Another run is active": busy,
}


def sections() -> dict[str, str]:
    """The messages of the page, by what they are about."""
    text = (ROOT / "docs" / "how-to" / "troubleshoot.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## (.+?)\n\n```text\n(.*?)```$", text, re.MULTILINE | re.DOTALL))


def test_every_section_has_a_message_and_a_cause() -> None:
    text = (ROOT / "docs" / "how-to" / "troubleshoot.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(sections()) == list(PROVOKED)


@pytest.mark.parametrize("about", PROVOKED)
def test_the_message_is_printed(tmp_path: Path, about: str) -> None:
    result = PROVOKED[about](tmp_path)
    output = result.out + result.err
    assert result.exit not in (0, 70), result
    assert "Traceback" not in output
    expected = "[^\n]*".join(map(re.escape, sections()[about].split("…")))
    assert re.search(expected, output), output
