"""Branches on which a plan is edited, for tests that let git merge them."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan import reader
from execplan.core.plan.log_edits import add_decision, add_discovery, add_revision_note
from execplan.core.plan.task_edits import add_task, complete_tasks
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder
    from tests.conftest import Folder

PLAN = ".agent/execplans/2026-01-01_parser.md"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
OURS = (
    complete_tasks(["2"], MOMENT),
    add_task("Handle CRLF", MOMENT),
    add_decision("Keep bytes", "Nothing is lost.", "Ann", MOMENT),
)
THEIRS = (
    complete_tasks(["3"], MOMENT),
    add_task("Handle tabs", MOMENT),
    add_decision("Read twice", "It is simpler.", "Ben", MOMENT),
    add_discovery("CR ends lines", "`old.md` has one."),
    add_revision_note("The tree was given up.", MOMENT),
)
BOTH = ("Handle CRLF", "Handle tabs", "Keep bytes", "Read twice", "CR ends lines", "The tree was given up.")
"""What OURS and THEIRS bring in."""


def edited(text: str | bytes, *changers: ChangeBuilder) -> str:
    """A plan after some verbs."""
    data = text if isinstance(text, bytes) else text.encode()
    for changer in changers:
        data, _ = apply_change(data, changer)
    return data.decode()


def commit(folder: Folder, content: str, name: str = PLAN) -> None:
    """Commit a file."""
    folder.write(name, content)
    folder.git("add", "-A")
    folder.git("commit", "-qm", "Change")


def fork(folder: Folder, ours: str, theirs: str, base: str = CLEAN, name: str = PLAN) -> None:
    """Commit a base, what `theirs` makes of it on the branch side, and ours on main, where we are then."""
    commit(folder, base, name)
    folder.git("checkout", "-qb", "side")
    commit(folder, theirs, name)
    folder.git("checkout", "-q", "main")
    commit(folder, ours, name)


def git(folder: Folder, *arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run git, which may fail."""
    command, environment = ["git", *arguments], {**folder.env, **env}
    return subprocess.run(
        command, cwd=cwd or folder.path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def plan(folder: Folder, name: str = PLAN) -> ParsedPlan:
    """The plan as it lies there."""
    return reader.read((folder.path / name).read_bytes())


def marked(folder: Folder, name: str = PLAN) -> str:
    """The text of the plan, in which the sides of a conflict are called ours and theirs: newer versions of git name them."""
    text = re.sub(r"^(<{7,}) .*$", r"\1 ours", (folder.path / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.sub(r"^(>{7,}) .*$", r"\1 theirs", text, flags=re.MULTILINE)


def states(folder: Folder, name: str = PLAN) -> dict[str, str]:
    """The tasks of the plan by their words."""
    return {task.text: task.state for task in plan(folder, name).tasks}
