"""Any sequence of operations on any plans: n undos give the tree before them byte for byte, and n redos bring it back.

With git and hands between them, no undo fails internally, loses text, or changes a file if it is refused.

EXECPLAN_MACHINE is how many sequences are tried; a few unless told.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.state_machine.scratch_repository import PLANS, InProcessResult, ScratchRepository, template
from tests.state_machine.strategies import (
    FILLING,
    LOGGING,
    MARKING,
    PHRASE,
    PLAN_BYTES,
    POSITION,
    TASKING,
    TITLE,
    CommandCall,
    with_task_numbers,
)

GIT_LINES = st.sampled_from(
    (
        (),
        ("restore .",),
        ("restore .", "clean -fdq"),
        ("reset -q --hard HEAD~1",),
        ("switch -q -f other",),
        ("switch -q -f main",),
        ("add -A", "commit -q --allow-empty -m All"),
        ("stash -q -u",),
    )
)
COMMIT = st.sampled_from(((), ("--commit",)))


class UndoMachine(RuleBasedStateMachine):
    """A repository, and the trees that it went through."""

    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.world = ScratchRepository(self.root / "template", self.root / "repo")
        self.trees = [self.world.tree()]
        self.position = 0

    def teardown(self) -> None:
        """Leave the repository."""
        self.world.close()

    @initialize(texts=st.lists(PLAN_BYTES, min_size=1, max_size=3))
    def begin(self, texts: list[bytes]) -> None:
        """Plans that somebody wrote, which name each other."""
        for number, text in enumerate(texts, 1):
            names = b"\nSee 2026-01-01_plan, `archive/2026-01-02_plan.md` and [one](2026-01-01_plan.md).\n"
            (self.world.project / f"2026-01-0{number}_plan.md").write_bytes(text + names)
        self.trees = [self.world.tree()]

    def has_plans(self) -> bool:
        """Whether there is a plan outside the archive."""
        return bool(self.world.plans())

    def has_any(self) -> bool:
        """Whether there is a plan."""
        return bool(self.world.plans() or self.world.archived())

    def operate(self, *line: str) -> InProcessResult:
        """Run a command that is one operation, or none."""
        result = self.world.run(*line)
        tree = self.world.tree()
        if result.exit != 0 or not result.data["changed"]:
            assert tree == self.trees[self.position], (line, result)
            return result
        self.trees[self.position + 1 :] = [tree]
        self.position += 1
        return result

    @rule(title=TITLE, tasks=st.lists(PHRASE, max_size=2))
    def new(self, title: str, tasks: list[str]) -> None:
        """A new plan."""
        self.operate("new", *[f"--task={task}" for task in tasks], "--", title)

    @precondition(has_plans)
    @rule(place=POSITION, verb=MARKING | TASKING | LOGGING | FILLING)
    def edit(self, place: int, verb: CommandCall) -> None:
        """An edit."""
        path = self.world.plans()[place % len(self.world.plans())]
        verb = with_task_numbers(verb, self.world.read(path))
        self.operate(*verb._replace(options=(f"--plan={path}", *verb.options)).command_line())

    @precondition(has_any)
    @rule(place=POSITION, verb=st.sampled_from(("archive", "restore", "rename", "drop")), title=TITLE)
    def move(self, place: int, verb: str, title: str) -> None:
        """A plan goes elsewhere."""
        paths = self.world.plans() + self.world.archived()
        path = paths[place % len(paths)]
        options = {"archive": ("--force", "--reason=Given up."), "drop": ("--force",)}.get(verb, ())
        self.operate(verb, *options, "--", path, *([title] if verb == "rename" else []))

    @rule(count=st.integers(1, 4))
    def undo(self, count: int) -> None:
        """The last operations are undone, byte for byte."""
        for _ in range(count):
            result = self.world.run("undo")
            if self.position:
                self.position -= 1
                assert result.exit == 0, result
            else:
                assert result.error["code"] == "nothing-to-undo", result
            assert self.world.tree() == self.trees[self.position]

    @rule(count=st.integers(1, 4))
    def redo(self, count: int) -> None:
        """What was undone comes back, byte for byte."""
        for _ in range(count):
            result = self.world.run("redo")
            if self.position + 1 < len(self.trees):
                self.position += 1
                assert result.exit == 0, result
            else:
                assert result.error["code"] == "nothing-to-redo", result
            assert self.world.tree() == self.trees[self.position]

    @rule(verb=st.sampled_from(("undo", "redo")))
    def preview(self, verb: str) -> None:
        """A dry run changes nothing."""
        state = self.world.state()
        self.world.run(verb, "--dry-run")
        assert self.world.state() == state
        assert self.world.tree() == self.trees[self.position]

    @rule()
    def commit(self) -> None:
        """All is committed."""
        self.world.git("add", "-A")
        self.world.git("commit", "-q", "--allow-empty", "-m", "All")

    @invariant()
    def lists(self) -> None:
        """The list has as many as can be undone and redone."""
        data = self.world.run("undo", "--list").data
        assert (len(data["undo"]), len(data["redo"])) == (self.position, len(self.trees) - 1 - self.position)
        assert not [name for name in self.world.tree() if os.path.basename(name).startswith(".execplan-")]
        assert all(path.startswith(PLANS) for path in self.world.plans())


class GitMachine(RuleBasedStateMachine):
    """A repository in which git and a person move, restore and change the plans between the operations."""

    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.world = ScratchRepository(self.root / "template", self.root / "repo")
        self.world.git("branch", "other")
        self.marks = 0

    def teardown(self) -> None:
        """Leave the repository."""
        self.world.close()

    def mark(self) -> str:
        """Return text that is nowhere else."""
        self.marks += 1
        return f"Mark {self.marks}."

    def marked(self) -> set[bytes]:
        """The marks in all files."""
        return {mark for data in self.world.tree().values() for mark in re.findall(rb"Mark \d+\.", data)}

    def has_any(self) -> bool:
        """Whether there is a plan."""
        return bool(self.world.plans() or self.world.archived())

    def plan(self, place: int) -> str:
        """One of all plans."""
        paths = self.world.plans() + self.world.archived()
        return paths[place % len(paths)]

    @initialize()
    def begin(self) -> None:
        """A plan in the last commit, and one that git doesn't know."""
        for number in (1, 2):
            self.world.run("new", f"Plan {number}", f"--task={self.mark()}", *(["--commit"] if number == 1 else []))

    @precondition(has_any)
    @rule(
        place=POSITION,
        command=st.sampled_from(
            (
                ("new", "A", "--task=One"),
                ("done", "1", "-p", "PLAN"),
                ("decide", "A", "--why", "B", "-p", "PLAN"),
                ("attach", "README.md", "-p", "PLAN"),
                ("archive", "PLAN", "--force", "--reason", "Given up."),
                ("archive", "PLAN", "--as", "abandoned", "--reason", "Given up."),
                ("restore", "PLAN"),
                ("rename", "PLAN", "C"),
                ("rename", "PLAN", "A!"),
            )
        ),
        flags=COMMIT,
        lines=GIT_LINES,
        verbs=st.lists(st.sampled_from(("undo", "undo", "redo")), max_size=4),
    )
    def operate(
        self, place: int, command: tuple[str, ...], flags: tuple[str, ...], lines: tuple[str, ...], verbs: list[str]
    ) -> None:
        """An operation on a plan, committed or not; then git changes the tree, and operations are undone and redone."""
        path = self.plan(place)
        self.world.run(*[path if word == "PLAN" else word for word in command], *flags)
        self.run_git(lines)
        for verb in verbs:
            self.reverse(verb)

    def run_git(self, lines: tuple[str, ...]) -> None:
        """Run git; some of it can't be done, such as going back from the first commit."""
        for line in lines:
            try:
                self.world.git(*line.split(" "))
            except CalledProcessError:
                break

    @precondition(has_any)
    @rule(place=POSITION, name=st.sampled_from(("archive/", "archive/superseded/", "", "2026-01-01_a.md")))
    def move_by_hand(self, place: int, name: str) -> None:
        """A file is moved by hand."""
        path = self.plan(place)
        target = self.world.project / (name if name.endswith(".md") else f"{name}{os.path.basename(path)}")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.world.path / path).rename(target)

    @precondition(has_any)
    @rule(place=POSITION, is_first=st.booleans())
    def write_by_hand(self, place: int, is_first: bool) -> None:
        """A line is written by hand."""
        path = self.world.path / self.plan(place)
        text, line = path.read_bytes(), f"\n{self.mark()}\n".encode()
        path.write_bytes(line + text if is_first else text + line)

    @rule(verb=st.sampled_from(("undo", "redo")), flags=COMMIT)
    def reverse(self, verb: str, flags: tuple[str, ...] = ()) -> None:
        """An operation is undone or redone, or refused; whatever a person has written stays."""
        before, marks = self.world.tree(), self.marked()
        result = self.world.run(verb, *flags)
        if result.exit or not result.data["changed"]:
            assert self.world.tree() == before, result
        elif result.data["operation"]["command"] != "new":
            assert self.marked() == marks, result

    @invariant()
    def nothing_is_left_over(self) -> None:
        """No move is unfinished."""
        assert not (self.world.path / ".git/execplan/move.json").exists()


@pytest.mark.parametrize("machine", [UndoMachine, GitMachine])
def test_any_sequence_is_undone_and_redone(machine: type[UndoMachine | GitMachine]) -> None:
    """Operations, undos and redos in any order."""
    example_count = os.environ.get("EXECPLAN_MACHINE", "")
    with TemporaryDirectory(prefix="execplan-") as folder:
        machine.root = Path(folder).resolve()
        template(machine.root / "template")
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=int(example_count) if example_count.isdecimal() else 12,
                stateful_step_count=25,
                suppress_health_check=list(HealthCheck),
            ),
        )
