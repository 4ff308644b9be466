"""Calls that replace a text in files, or copy or move them, one file or one place after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.agents.guard.guard_context import PlannedStep
from execplan.agents.guard.tool_call import ToolCall
from execplan.execution.found_files import with_bound_files
from tests.agents.guard.matched_plan import MatchingRepository, cmd, drop, edit, write_call, writes
from tests.execution.plan_documents import loaded, plan

REPLACEMENT = {"paths": ["src/*.py"], "find": "line 2", "with": "LINE TWO", "count": 12}
TRANSFER = {"from": "many", "target": "more"}
STEPS = (
    writes(1, "rename", "replace", "file.replace", replacement=REPLACEMENT),
    writes(2, "copy", "copy", "file.copy", **{**TRANSFER, "target": "copies"}),
    writes(3, "move", "move", "file.move", **TRANSFER),
)


@pytest.fixture
def repository(tmp_path: Path) -> MatchingRepository:
    """A repository with a plan that finds its files."""
    repository = MatchingRepository(tmp_path)
    document = with_bound_files(loaded(plan(*STEPS, mode="agent")), repository.expected)
    repository.planned = tuple([PlannedStep(step.model_dump(), "LOW") for step in document.steps])
    for path in ("a.py", "c.py", "d.py"):
        for folder in ("copies", "more"):
            repository.expected[f"{folder}/{path}"] = repository.expected["src/new.py"]
    return repository


CALLS: dict[str, tuple[str, tuple[ToolCall, ...]]] = {
    "one place": ("rename", (edit("src/app.py", "line 2\n", "LINE TWO\n"),)),
    "place after place": (
        "rename",
        (edit("src/app.py", "line 2\n", "LINE TWO\n"), edit("src/app.py", "line 20\n", "LINE TWO0\n")),
    ),
    "another text": ("", (edit("src/app.py", "line 2\n", "line two\n"),)),
    "another place": ("", (edit("src/app.py", "line 3\n", "LINE TWO\n"),)),
    "a file without the text": ("", (edit("src/lines.py", "a\n", "LINE TWO\n"),)),
    "a file that was not found": ("", (edit("docs/old.md", "old", "LINE TWO"),)),
    "the file is removed": ("", (drop("src/app.py"),)),
    "a copy": ("copy", (write_call("copies/a.py", "a = 1\nz = 1\n"),)),
    "a copy with another text": ("", (write_call("copies/a.py", "a = 2\n"),)),
    "a copy of what was not found": ("", (write_call("copies/z.py", "z\n"),)),
    "a move": ("move", (cmd("mv many/d.py more/d.py"),)),
    "a move by git": ("move", (cmd("git mv many/d.py more/d.py"),)),
    "a move by hand": ("move", (write_call("more/d.py", "d = 1\n"), drop("many/d.py"))),
    "a move to another place": ("", (cmd("mv many/d.py more/e.py"),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_of_the_step_whose_work_they_do(repository: MatchingRepository, name: str) -> None:
    step, calls = CALLS[name]
    placed = [call._replace(cwd=str(repository.root)) for call in calls]
    (repository.root / "more").mkdir()
    (repository.root / "copies").mkdir()
    assert repository.steps(*placed) == ([step] if step else [])
