"""The examples that end each verb's help are typed in repositories in which they make sense."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.cli.app import FIRST_STEPS, load_command
from execplan.cli.commands import COMMAND_GROUPS, COMMANDS
from execplan.core.errors import PAUSED
from execplan.team.review.comment_threads import CommentRecord
from tests.needs import missing
from tests.plans import CLEAN, with_sections
from tests.shell import CommandResult, Shell

if TYPE_CHECKING:
    from pathlib import Path

PROGRESS = """\
## Progress

### Milestone 1

- [x] (2025-12-30 09:15Z) Read lines.
- [ ] Build the parser.
- [ ] Write the tests.
  - Check: `test -f draft.md`

### Milestone 2

- [ ] Read tables.
"""
STEP = """\
## Concrete Steps

```python {#api type=create_file target=docs/greet.py}
print("Hello")
```
"""
EXAMPLES = [
    pytest.param(example, id=example) for command_name in COMMANDS for example in load_command(command_name).examples
]


def in_progress(scratch: Path) -> Shell:
    """A repository with one plan that is worked on, one that is archived, a draft to file and logs to keep."""
    shell = Shell(scratch)
    shell.write(".agent/execplans/2026-01-01_parser.md", with_sections(PROGRESS))
    shell.write(".agent/execplans/archive/2025-12-01_scanner.md", with_sections("## Progress\n\n- [x] Scan lines.\n"))
    shell.write("draft.md", CLEAN)
    shell.write("base.md", CLEAN)
    shell.write("ours.md", CLEAN.replace("- [ ] Build", "- [x] Build"))
    shell.write("theirs.md", CLEAN.replace("- [ ] Write", "- [x] Write"))
    shell.write("input.json", '{"tool_name": "ExitPlanMode", "tool_input": {"plan": "# Sort the tables"}}\n')
    call = {"tool_name": "Read", "tool_input": {"file_path": "README.md"}, "cwd": str(shell.project)}
    shell.write("call.json", json.dumps({"hook_event_name": "PreToolUse", **call}))
    comment = CommentRecord("c7f3k80v5m1qx", "comment", "2025-12-31T10:00:00Z", "Bob", "Which line endings?")
    shell.write(".agent/execplans/artifacts/2026-01-01_parser/comments.jsonl", comment.to_line())
    shell.write("jira.csv", "Issue key,Summary,Status\nDEMO-1,Read lines,Done\n")
    shell.write("todo.txt", "(A) Buy paper\nx 2025-12-30 Call Ann\n")
    task = {"id": 1, "title": "Read lines", "status": "pending", "subtasks": []}
    shell.write("tasks.json", json.dumps({"master": {"tasks": [task]}}))
    shell.write("work.md", "Write the scanner, then the reader.\n")
    for name in ("build.log", "run.log", "before.png", "after.png"):
        shell.write(name, f"{name}: 12 passed\n")
    shell.write(".gitignore", "*.log\n*.png\n/*.md\n")
    for line in ("git init -q -b main", "git add -A", "git commit -q -m First", "execplan done 1 2 -q --commit"):
        assert shell.run(line).exit == 0
    return shell


def finished(scratch: Path) -> Shell:
    """The same with nothing left to do."""
    shell = in_progress(scratch)
    assert shell.run("execplan done 3 4 -q --commit").exit == 0
    return shell


def archived(scratch: Path) -> Shell:
    """The same with the plan in the archive."""
    shell = finished(scratch)
    assert shell.run("execplan archive parser -q --commit").exit == 0
    return shell


def with_step(scratch: Path) -> Shell:
    """A plan with a step, the document of it, and one that it can be joined with."""
    shell = Shell(scratch)
    shell.write(".agent/execplans/2026-01-01_parser.md", with_sections(STEP))
    assert shell.run("git init -q -b main").exit == 0
    assert shell.run("execplan compile --out plan.json").exit == 0
    writer = with_sections(STEP).replace("greet.py", "write.py")
    shell.write(".agent/execplans/2026-01-02_writer.md", writer.replace("# Build the parser", "# Build the writer"))
    shell.write(".agent/execplans/2026-01-03_both.md", CLEAN.replace("# Build the parser", "# Do all of it"))
    shell.env["EXECPLAN_PLAN"] = "parser"
    return shell


def approved(scratch: Path) -> Shell:
    """The same, with its approval."""
    shell = with_step(scratch)
    assert shell.run("execplan approve").exit == 0
    return shell


def after_run(scratch: Path) -> Shell:
    """The same, after its run."""
    shell = approved(scratch)
    assert shell.run("execplan run").exit == 0
    return shell


def paused(scratch: Path) -> Shell:
    """A plan whose run waits before its step."""
    shell = Shell(scratch)
    shell.write(".agent/execplans/2026-01-01_parser.md", with_sections(STEP.replace("#api", "#api confirm")))
    shell.write("steps.json", '{"found": "there is no server yet"}\n')
    for line, status in (("git init -q -b main", 0), ("execplan approve", 0), ("execplan run", PAUSED)):
        assert shell.run(line).exit == status
    return shell


def undone(scratch: Path) -> Shell:
    """A plan whose last edit was undone."""
    shell = in_progress(scratch)
    for line in ("execplan add 'Read trees.' -p parser -q", "execplan undo -q"):
        assert shell.run(line).exit == 0
    return shell


def with_new_plan(scratch: Path) -> Shell:
    """A new plan, in which nobody has worked."""
    shell = Shell(scratch)
    for line in ("git init -q -b main", "execplan init -q", "execplan new Parser -q"):
        assert shell.run(line).exit == 0
    return shell


def with_worktree(scratch: Path) -> Shell:
    """A plan that has a worktree."""
    shell = in_progress(scratch)
    assert shell.run("execplan worktree parser").exit == 0
    return shell


def with_tried_change(scratch: Path) -> Shell:
    """A plan on a branch with a committed change, and another change in the working tree."""
    shell = in_progress(scratch)
    shell.write("src/parse.py", "LIMIT = 1\n")
    for line in ("git switch -q -c work", "git add src", "git commit -q -m Parse"):
        assert shell.run(line).exit == 0
    shell.write("src/parse.py", "LIMIT = 2\n")
    return shell


def delegated(scratch: Path) -> Shell:
    """A plan that an agent carries out, and what its second step has printed."""
    shell = Shell(scratch)
    steps = "## Concrete Steps\n\n```sh {#build}\ngit status\n```\n\n```sh {#see expect=ok}\ngit log\n```\n"
    shell.write(".agent/execplans/2026-01-01_parser.md", with_sections(steps))
    shell.write("out.txt", "ok\n")
    for line in ("git init -q -b main", "execplan approve"):
        assert shell.run(line).exit == 0
    return shell


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Shell, Path]]:
    """The repositories, prepared once, and a copy of each: what is journaled knows where it lies, so that stays."""
    shells = []
    for make in (
        in_progress,
        finished,
        archived,
        with_step,
        approved,
        after_run,
        paused,
        delegated,
        undone,
        with_new_plan,
        with_worktree,
        with_tried_change,
    ):
        shell = make(tmp_path_factory.mktemp(make.__name__))
        shell.write(
            "../other/.agent/execplans/2026-01-01_lines.md", CLEAN.replace("# Build the parser", "# Read lines")
        )
        shells.append((shell, shell.scratch.with_name(f"{shell.scratch.name}-as-prepared")))
        shutil.copytree(shell.scratch, shells[-1][1], symlinks=True)
    return shells


FIRST_REPOSITORY = {
    "run": 4,
    "rollback": 5,
    "runs": 5,
    "audit": 5,
    "stats": 5,
    "resume": 6,
    "replan": 6,
    "handoff": 3,
    "report": 7,
    "export": 4,
    "redo": 8,
    "drop": 9,
    "worktree": 10,
}
"""The first of the places in which a verb that executes makes sense."""


_WARNS = (
    "execplan install",
    "execplan new",
    "execplan compile parser --enhance",
    "execplan worktree parser --as",
    "execplan archive parser",
    "execplan export parser --to",
)
"""Examples that may warn: of what a form can't hold, a hook that is not trusted yet, a title that is there already, an enhancer that gets no text, someone else's worktree, open comments."""

_PROGRAMS = {
    "done 3 --verify": ("bwrap", "there is no sandbox"),
    "--format svg": ("dot", "the program dot, which is part of graphviz, is not installed"),
}
"""Text of examples that use an optional program, with that program and what is printed without it."""


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str, repositories: list[tuple[Shell, Path]]) -> None:
    """It works where work goes on, else where all is done, else where that has been archived; or where there are steps."""
    tried: list[CommandResult] = []
    command = "rollback" if "--run" in example else example.split()[1]
    for shell, prepared in (
        repositories[FIRST_REPOSITORY.get(command, 3) :]
        if command in {*COMMAND_GROUPS["Execute"], *FIRST_REPOSITORY}
        else repositories[:3]
    ):
        shutil.rmtree(shell.scratch)
        shutil.copytree(prepared, shell.scratch, symlinks=True)
        # A server runs until it is stopped: tests/views/server runs it. Of a digest, examples show the first and the last digits.
        command_line = example.replace("execplan serve", "execplan serve --dry-run --port 0").replace("…", "0" * 58)
        tried.append(shell.run(command_line))
        assert tried[-1].exit not in (2, 70), tried[-1]
        if "--interactive" in example:  # tests/cli/test_interview.py runs it on a terminal
            assert (tried[-1].exit, "requires a terminal" in tried[-1].err) == (6, True)
            return
        if "--draft-with" in example:  # tests/agents/drafting runs it with a program
            assert (tried[-1].exit, "drafting.programs" in tried[-1].err) == (3, True)
            return
        if command == "job":  # tests/execution/export runs it with the digest of an export
            assert tried[-1].exit in (3, 4)
            return
        if command == "resume" and tried[-1].exit == PAUSED:  # asks on a terminal; tests/cli/commands runs it there
            return
        for text, (program, message) in _PROGRAMS.items():
            if text in example and missing(program):
                assert message in tried[-1].err
                return
        if tried[-1].exit == 0:
            assert "warning" not in tried[-1].err or example.startswith(_WARNS)
            return
    pytest.fail(f"{example}: {tried}")


def test_an_example_is_there_for_every_command_and_begins_with_it() -> None:
    for command_name in COMMANDS:
        examples = load_command(command_name).examples
        assert examples
        assert all(f"execplan {command_name}" in example for example in examples)


def test_first_steps(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for line in FIRST_STEPS:
        assert shell.run(line).exit == 0, line
