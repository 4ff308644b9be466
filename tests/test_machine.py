"""Any sequence of verbs on any plans, with others who edit by hand and change branches: nothing else changes, nothing is lost.

EXECPLAN_MACHINE is how many sequences are tried; a few unless told.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
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

from execplan.edits.plan_writer import format_diff
from execplan.plan import reader
from execplan.plan.plan_change import plan_content
from tests.machine.drawn import (
    FILLING,
    LOGGING,
    MARKING,
    POSITION,
    PHRASE,
    SELDOM,
    TASKING,
    PLAN_BYTES,
    TITLE,
    CommandCall,
    check_lines,
    with_task_numbers,
    is_repeatable,
)
from tests.machine.world import PLANS, CommandResult, ScratchRepository, template
from tests.plan.test_properties import LINES, with_mark_of

SAME = ("path", "changed", "digest", "said", "moves", "followed", "evidence")
"""What a dry run tells as the real run does."""


MOVED = (b"", b"")
"""In place of the texts before and after an edit: the plan was moved or created."""


class Machine(RuleBasedStateMachine):
    """A repository, and those who work in it."""

    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.world = ScratchRepository(self.root / "template", self.root / "repo")
        self.edits: dict[str, list[tuple[bytes, bytes]]] = {}
        """Of each plan the texts before and after the edits that can be taken back."""
        self.branches = ["main"]

    def teardown(self) -> None:
        """Leave the repository."""
        self.world.close()

    def has_plans(self) -> bool:
        """Whether there is a plan outside the archive."""
        return bool(self.world.plans())

    def has_archived(self) -> bool:
        """Whether there is an archived plan."""
        return bool(self.world.archived())

    def path(self, place: int) -> str:
        """One of the plans outside the archive."""
        found = self.world.plans()
        return found[place % len(found)]

    @initialize(texts=st.lists(PLAN_BYTES, min_size=1, max_size=3))
    def begin(self, texts: list[bytes]) -> None:
        """Plans that somebody wrote."""
        for number, text in enumerate(texts):
            (self.world.project / f"2026-01-0{number + 1}_plan.md").write_bytes(text)

    def run(self, verb: CommandCall, path: str, *, dry: bool, commit: bool = False) -> tuple[CommandResult, dict[str, bytes]]:
        """Run a command that writes, perhaps after a dry run, and what was there before; a refusal leaves all as it was."""
        world = self.world
        tree = world.tree()
        tried = None
        if dry:
            state = world.state()
            tried = world.run(*verb.command_line("--dry-run"))
            assert world.tree() == tree, verb
            assert world.state() == state, verb
        told = world.run(*verb.command_line(*["--commit"] * commit))
        if told.error and not (commit and told.exit in (5, 6)):
            assert world.tree() == tree, (verb, told)
        if tried is not None and not (commit and told.exit in (5, 6)):
            assert (tried.exit, tried.error.get("code")) == (told.exit, told.error.get("code")), (verb, tried, told)
            for name in SAME:
                assert tried.data.get(name) == told.data.get(name), (verb, name)
        if tried is not None and path and told.exit == 0:
            assert tried.data["diff"] == shown(tree[path], world.read(path), path), verb
        return told, tree

    def write(self, verb: CommandCall, path: str, *, dry: bool = False, commit: bool = False) -> CommandResult:
        """Run a command that edits one plan; no other file changes."""
        told, tree = self.run(verb, path, dry=dry, commit=commit)
        now = self.world.tree()
        changed = {name for name in {**tree, **now} if tree.get(name) != now.get(name)} - {path}
        artifacts = f"{PLANS}/artifacts/{Path(path).stem}/"
        assert all([verb.name == "attach" and name.startswith(artifacts) for name in changed]), (verb, changed)
        if told.exit == 0:
            assert told.data["changed"] is (tree[path] != now[path]), verb
            if tree[path] != now[path] and verb.name != "undo":
                self.edits.setdefault(path, []).append((tree[path], now[path]))
        return told

    @rule(title=TITLE, tasks=st.lists(PHRASE, max_size=2), dry=st.booleans())
    def new(self, title: str, tasks: list[str], dry: bool) -> None:
        """A new plan; no other file changes."""
        told, tree = self.run(CommandCall("new", tuple([f"--task={each}" for each in tasks]), (title,)), "", dry=dry)
        now = self.world.tree()
        assert {name: now.get(name) for name in tree} == tree
        assert set(now) - set(tree) == ({told.data["path"]} if told.exit == 0 else set())

    @precondition(has_plans)
    @rule(place=POSITION, verb=MARKING, dry=st.booleans(), commit=SELDOM)
    def mark(self, place: int, verb: CommandCall, dry: bool, commit: bool) -> None:
        """Tasks are ticked or opened again."""
        self.edit(place, verb, dry=dry, commit=commit)

    @precondition(has_plans)
    @rule(place=POSITION, verb=TASKING, dry=st.booleans(), commit=SELDOM)
    def task(self, place: int, verb: CommandCall, dry: bool, commit: bool) -> None:
        """Tasks come, or say something else."""
        self.edit(place, verb, dry=dry, commit=commit)

    @precondition(has_plans)
    @rule(place=POSITION, verb=LOGGING, dry=st.booleans(), commit=SELDOM)
    def log(self, place: int, verb: CommandCall, dry: bool, commit: bool) -> None:
        """An entry comes."""
        self.edit(place, verb, dry=dry, commit=commit)

    @precondition(has_plans)
    @rule(place=POSITION, verb=FILLING, dry=st.booleans(), commit=SELDOM)
    def fill(self, place: int, verb: CommandCall, dry: bool, commit: bool) -> None:
        """The text of a section changes."""
        self.edit(place, verb, dry=dry, commit=commit)

    def edit(self, place: int, verb: CommandCall, *, dry: bool, commit: bool) -> None:
        """An edit through the tool changes its own lines."""
        path = self.path(place)
        before = self.world.read(path)
        verb = with_task_numbers(verb, before)
        verb = verb._replace(options=(f"--plan={path}", *verb.options))
        told = self.write(verb, path, dry=dry, commit=commit)
        after = self.world.read(path)
        if told.exit == 0 and after != before:
            check_lines(verb, before, after)
            again, _ = self.run(verb, path, dry=False)
            assert not is_repeatable(verb) or (again.exit, again.data["changed"]) == (0, False), verb
            if again.exit == 0 and self.world.read(path) != after:
                self.edits.setdefault(path, []).append((after, self.world.read(path)))

    @precondition(has_plans)
    @rule(place=POSITION, dry=st.booleans())
    def undo(self, place: int, dry: bool) -> None:
        """The last edit is taken back, to the byte if nothing else has changed since."""
        path = self.path(place)
        before = self.world.read(path)
        edits = self.edits.get(path, [MOVED])
        if edits[-1:] in ([MOVED], []):  # what else changes then is for tests/test_undo_machine.py
            told, _ = self.run(CommandCall("undo", (f"--plan={path}",)), "", dry=dry)
            if told.exit == 0:
                self.edits.pop(path, None)
                self.edits.pop(told.data["path"], None)
            return
        told = self.write(CommandCall("undo", (f"--plan={path}",)), path, dry=dry)
        if edits and edits[-1][1] == before:
            assert (told.exit, self.world.read(path)) == (0, edits[-1][0])
            edits.pop()
        elif told.exit == 0:
            self.edits.pop(path, None)  # which of them it was depends on what changed since

    @precondition(has_plans)
    @rule(place=POSITION, how=st.sampled_from(("", "force", "superseded")), by=POSITION, dry=st.booleans())
    def archive(self, place: int, how: str, by: int, dry: bool) -> None:
        """A plan is filed away, with all that belongs to it; one that is in the archive stays there."""
        path = (self.world.plans() + self.world.archived())[place % len(self.world.plans() + self.world.archived())]
        options: tuple[str, ...] = ("--force", "--reason=Given up.") if how == "force" else ()
        if how == "superseded":
            options = ("--as=superseded", f"--by={self.path(by)}")
        self.move(CommandCall("archive", options, (path,)), path, dry=dry)

    @precondition(has_archived)
    @rule(place=POSITION, dry=st.booleans())
    def restore(self, place: int, dry: bool) -> None:
        """A plan is taken back."""
        found = self.world.archived()
        path = found[place % len(found)]
        self.move(CommandCall("restore", (), (path,)), path, dry=dry)

    @precondition(has_plans)
    @rule(place=POSITION, title=TITLE, dry=st.booleans())
    def rename(self, place: int, title: str, dry: bool) -> None:
        """A plan gets another title, and another name with it."""
        path = self.path(place)
        self.move(CommandCall("rename", (), (path, title)), path, dry=dry)

    def move(self, verb: CommandCall, path: str, *, dry: bool) -> None:
        """Run a command that moves a plan; no content is lost, and other plans change only where they follow."""
        told, tree = self.run(verb, "", dry=dry)
        now = self.world.tree()
        if told.exit != 0:
            return
        new = told.data["path"]
        assert new in now
        assert (path in now) is (path == new)
        followed = {*told.data["followed"], path, new}
        kept = [Counter(_others(files, followed)) for files in (tree, now)]
        assert kept[0] == kept[1], (verb, path)
        if told.data["changed"]:
            self.edits[new] = [*self.edits.pop(path, []), MOVED]
        if verb.name != "archive" and not told.data["followed"]:
            old, then = [plan_content(reader.read(files[at])) for files, at in ((tree, path), (now, new))]
            assert (old.tasks, old.decisions, old.outcomes) == (then.tasks, then.decisions, then.outcomes) or _moved(
                told
            )

    @precondition(has_plans)
    @rule(place=POSITION, unsafe=st.booleans(), dry=st.booleans())
    def mend(self, place: int, unsafe: bool, dry: bool) -> None:
        """What lint can mend is mended, once and for all."""
        path = self.path(place)
        line = ["lint", "--unsafe-fixes" if unsafe else "--fix", path]
        tree, before = self.world.tree(), self.world.read(path)
        if dry:
            tried = self.world.run(*line, "--dry-run")
            assert self.world.tree() == tree
        told = self.world.run(*line)
        after = self.world.read(path)
        assert {name for name, data in self.world.tree().items() if tree[name] != data} <= {path}
        if dry:
            assert [each.get("digest") for each in tried.data.get("mended", [])] == [
                each.get("digest") for each in told.data.get("mended", [])
            ]
        if after != before:
            self.edits.setdefault(path, []).append((before, after))
            self.world.run(*line)
            assert self.world.read(path) == after

    @precondition(has_plans)
    @rule(place=POSITION, who=st.sampled_from(("ann", "bob")), way=st.sampled_from(("--claim", "--release")))
    def claim(self, place: int, who: str, way: str) -> None:
        """A task is taken or given back; two never have the same one, and no file changes."""
        tree, path = self.world.tree(), self.path(place)
        told = self.world.run("next", path, f"{way}={who}")
        assert self.world.tree() == tree
        names = [(each["id"], each["by"]) for each in told.data.get("taken", [])]
        assert len({name for name, _ in names}) == len(names)
        if way == "--claim" and told.data.get("task"):
            assert (told.data["task"]["id"], who) in names

    @precondition(has_plans)
    @rule(place=POSITION)
    def commit(self, place: int) -> None:
        """A plan is committed, and no file changes."""
        tree, path = self.world.tree(), self.path(place)
        told = self.world.run("commit", path)
        assert self.world.tree() == tree
        if told.data.get("commit"):
            names = self.world.git("show", "--name-only", "--format=", "-z", "HEAD").split("\0")[:-1]
            own = (path, f"{PLANS}/artifacts/{Path(path).stem}/")
            assert all([name.startswith(own) or name not in tree for name in names]), names  # or where it was before

    @precondition(has_plans)
    @rule(
        place=POSITION,
        at=st.integers(0, 200),
        lines=st.lists(LINES, max_size=3),
        taken=st.integers(0, 2),
        tool=st.booleans(),
    )
    def by_hand(self, place: int, at: int, lines: list[str], taken: int, tool: bool) -> None:
        """Somebody changes lines of a plan, in an editor of their own or by `edit`."""
        path = self.path(place)
        before = self.world.read(path)
        parts = before.splitlines(keepends=True)
        at %= len(parts) + 1
        parts[at : at + taken] = [f"{line}\n".encode() for line in lines]
        after = b"".join(parts)
        if not tool:
            (self.world.path / path).write_bytes(after)
            return
        given = self.world.path.parent / "edited.md"
        given.write_bytes(after)
        os.environ["EDITOR"] = f"cp {given}"
        told = self.world.run("edit", "--", path)
        if told.exit in (0, 1):
            after = with_mark_of(before, after)
            assert self.world.read(path) == after
            if after != before:
                self.edits.setdefault(path, []).append((before, after))
        else:
            assert self.world.read(path) == before

    @rule(name=st.sampled_from(("main", "other")))
    def checkout(self, name: str) -> None:
        """All is committed, and another branch checked out."""
        self.world.git("add", "-A")
        self.world.git("commit", "-q", "--allow-empty", "-m", "All")
        self.world.git("checkout", "-q", *([] if name in self.branches else ["-b"]), name)
        self.branches = sorted({*self.branches, name})

    @invariant()
    def agrees(self) -> None:
        """The verbs that look agree, and nothing lies about."""
        self.world.check()


def shown(before: bytes, after: bytes, path: str) -> str:
    """What a dry run shows of a change."""
    return format_diff(before, after, path) if before != after else ""


def _others(files: dict[str, bytes], without: set[str]) -> list[bytes]:
    """The content of all files but some, and but the evidence of archived plans."""
    return [data for name, data in files.items() if name not in without and not name.endswith("evidence.json")]


def _moved(told: CommandResult) -> bool:
    """Whether a plan went to another folder, so that the paths in it may be others."""
    return bool(told.data["moves"])


@pytest.mark.hypothesis
def test_any_sequence_of_verbs() -> None:
    """Nothing else changes, nothing is lost, and what looks agrees with what is there."""
    told = os.environ.get("EXECPLAN_MACHINE", "")
    with TemporaryDirectory(prefix="execplan-") as folder:
        Machine.root = Path(folder).resolve()
        template(Machine.root / "template")
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=int(told) if told.isdecimal() else 12,
                stateful_step_count=25,
                suppress_health_check=list(HealthCheck),
            ),
        )
