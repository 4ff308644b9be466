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

from execplan.core.edits.plan_writer import format_diff
from execplan.core.plan import reader
from execplan.core.plan.plan_change import plan_content
from tests.core.plan.test_plan_change import LINES, with_mark_of
from tests.state_machine.scratch_repository import PLANS, InProcessResult, ScratchRepository, template
from tests.state_machine.strategies import (
    FILLING,
    LOGGING,
    MARKING,
    PHRASE,
    PLAN_BYTES,
    POSITION,
    SELDOM,
    TASKING,
    TITLE,
    CommandCall,
    check_lines,
    is_repeatable,
    with_task_numbers,
)

COMPARED_FIELDS = ("path", "changed", "digest", "said", "moves", "followed", "evidence")
"""What a dry run tells as the real run does."""


MOVED = (b"", b"")
"""In place of the texts before and after an edit: the plan was moved or created."""


class PlanMachine(RuleBasedStateMachine):
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

    def path(self, index: int) -> str:
        """One of the plans outside the archive."""
        paths = self.world.plans()
        return paths[index % len(paths)]

    @initialize(texts=st.lists(PLAN_BYTES, min_size=1, max_size=3))
    def begin(self, texts: list[bytes]) -> None:
        """Plans that somebody wrote."""
        for number, text in enumerate(texts):
            (self.world.project / f"2026-01-0{number + 1}_plan.md").write_bytes(text)

    def run(
        self, verb: CommandCall, path: str, *, dry: bool, commit: bool = False
    ) -> tuple[InProcessResult, dict[str, bytes]]:
        """Run a command that writes, perhaps after a dry run, and what was there before; a refusal leaves all as it was."""
        world = self.world
        tree = world.tree()
        dry_result = None
        if dry:
            state = world.state()
            dry_result = world.run(*verb.command_line("--dry-run"))
            assert world.tree() == tree, verb
            assert world.state() == state, verb
        result = world.run(*verb.command_line(*["--commit"] * commit))
        if result.error and not (commit and result.exit in (5, 6)):
            assert world.tree() == tree, (verb, result)
        if dry_result is not None and not (commit and result.exit in (5, 6)):
            assert (dry_result.exit, dry_result.error.get("code")) == (result.exit, result.error.get("code")), (
                verb,
                dry_result,
                result,
            )
            for name in COMPARED_FIELDS:
                assert dry_result.data.get(name) == result.data.get(name), (verb, name)
        if dry_result is not None and path and result.exit == 0:
            assert dry_result.data["diff"] == expected_diff(tree[path], world.read(path), path), verb
        return result, tree

    def write(self, verb: CommandCall, path: str, *, dry: bool = False, commit: bool = False) -> InProcessResult:
        """Run a command that edits one plan; no other file changes."""
        result, tree = self.run(verb, path, dry=dry, commit=commit)
        new_tree = self.world.tree()
        changed = {name for name in {**tree, **new_tree} if tree.get(name) != new_tree.get(name)} - {path}
        artifacts = f"{PLANS}/artifacts/{Path(path).stem}/"
        for name in changed:  # `attach` adds its file, and its undo removes it
            assert verb.name in ("attach", "undo"), (verb, changed)
            assert name.startswith(artifacts), (verb, changed)
            assert (name in tree) is (verb.name == "undo"), (verb, changed)
            assert (name in new_tree) is (verb.name == "attach"), (verb, changed)
        if result.exit == 0:
            assert result.data["changed"] is (tree[path] != new_tree[path]), verb
            if tree[path] != new_tree[path] and verb.name != "undo":
                self.edits.setdefault(path, []).append((tree[path], new_tree[path]))
        return result

    @rule(title=TITLE, tasks=st.lists(PHRASE, max_size=2), dry=st.booleans())
    def new(self, title: str, tasks: list[str], dry: bool) -> None:
        """A new plan; no other file changes."""
        result, tree = self.run(CommandCall("new", tuple([f"--task={task}" for task in tasks]), (title,)), "", dry=dry)
        new_tree = self.world.tree()
        assert {name: new_tree.get(name) for name in tree} == tree
        assert set(new_tree) - set(tree) == ({result.data["path"]} if result.exit == 0 else set())

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

    def edit(self, index: int, verb: CommandCall, *, dry: bool, commit: bool) -> None:
        """An edit through the tool changes its own lines."""
        path = self.path(index)
        before = self.world.read(path)
        verb = with_task_numbers(verb, before)
        verb = verb._replace(options=(f"--plan={path}", *verb.options))
        result = self.write(verb, path, dry=dry, commit=commit)
        after = self.world.read(path)
        if result.exit == 0 and after != before:
            check_lines(verb, before, after)
            repeated, _ = self.run(verb, path, dry=False)
            assert not is_repeatable(verb) or (repeated.exit, repeated.data["changed"]) == (0, False), verb
            if repeated.exit == 0 and self.world.read(path) != after:
                self.edits.setdefault(path, []).append((after, self.world.read(path)))

    @precondition(has_plans)
    @rule(place=POSITION, dry=st.booleans())
    def undo(self, place: int, dry: bool) -> None:
        """The last edit is taken back, to the byte if nothing else has changed since."""
        path = self.path(place)
        before = self.world.read(path)
        edits = self.edits.get(path, [MOVED])
        if edits[-1:] in ([MOVED], []):  # what else changes then is for tests/state_machine/test_undo_sequences.py
            result, _ = self.run(CommandCall("undo", (f"--plan={path}",)), "", dry=dry)
            if result.exit == 0:
                self.edits.pop(path, None)
                self.edits.pop(result.data["path"], None)
            return
        result = self.write(CommandCall("undo", (f"--plan={path}",)), path, dry=dry)
        if edits and edits[-1][1] == before:
            assert (result.exit, self.world.read(path)) == (0, edits[-1][0])
            edits.pop()
        elif result.exit == 0:
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
        paths = self.world.archived()
        path = paths[place % len(paths)]
        self.move(CommandCall("restore", (), (path,)), path, dry=dry)

    @precondition(has_plans)
    @rule(place=POSITION, title=TITLE, dry=st.booleans())
    def rename(self, place: int, title: str, dry: bool) -> None:
        """A plan gets another title, and another name with it."""
        path = self.path(place)
        self.move(CommandCall("rename", (), (path, title)), path, dry=dry)

    def move(self, verb: CommandCall, path: str, *, dry: bool) -> None:
        """Run a command that moves a plan; no content is lost, and other plans change only where they follow."""
        result, tree = self.run(verb, "", dry=dry)
        new_tree = self.world.tree()
        if result.exit != 0:
            return
        new_path = result.data["path"]
        assert new_path in new_tree
        assert (path in new_tree) is (path == new_path)
        followed = {*result.data["followed"], path, new_path}
        contents = [Counter(_other_contents(files, followed)) for files in (tree, new_tree)]
        assert contents[0] == contents[1], (verb, path)
        if result.data["changed"]:
            self.edits[new_path] = [*self.edits.pop(path, []), MOVED]
        if verb.name != "archive" and not result.data["followed"]:
            old_content, new_content = [
                plan_content(reader.read(files[at])) for files, at in ((tree, path), (new_tree, new_path))
            ]
            assert (old_content.tasks, old_content.decisions, old_content.outcomes) == (
                new_content.tasks,
                new_content.decisions,
                new_content.outcomes,
            ) or _changed_folder(result)

    @precondition(has_plans)
    @rule(place=POSITION, unsafe=st.booleans(), dry=st.booleans())
    def fix(self, place: int, unsafe: bool, dry: bool) -> None:
        """What lint can mend is mended, once and for all."""
        path = self.path(place)
        arguments = ["lint", "--unsafe-fixes" if unsafe else "--fix", path]
        tree, before = self.world.tree(), self.world.read(path)
        if dry:
            dry_result = self.world.run(*arguments, "--dry-run")
            assert self.world.tree() == tree
        result = self.world.run(*arguments)
        after = self.world.read(path)
        assert {name for name, data in self.world.tree().items() if tree[name] != data} <= {path}
        if dry:
            assert [fixed.get("digest") for fixed in dry_result.data.get("mended", [])] == [
                fixed.get("digest") for fixed in result.data.get("mended", [])
            ]
        if after != before:
            self.edits.setdefault(path, []).append((before, after))
            self.world.run(*arguments)
            assert self.world.read(path) == after

    @precondition(has_plans)
    @rule(place=POSITION, who=st.sampled_from(("ann", "bob")), way=st.sampled_from(("--claim", "--release")))
    def claim(self, place: int, who: str, way: str) -> None:
        """A task is taken or given back; two never have the same one, and no file changes."""
        tree, path = self.world.tree(), self.path(place)
        result = self.world.run("next", path, f"{way}={who}")
        assert self.world.tree() == tree
        names = [(claim["id"], claim["by"]) for claim in result.data.get("taken", [])]
        assert len({name for name, _ in names}) == len(names)
        if way == "--claim" and result.data.get("task"):
            assert (result.data["task"]["id"], who) in names

    @precondition(has_plans)
    @rule(place=POSITION)
    def commit(self, place: int) -> None:
        """A plan is committed, and no file changes."""
        tree, path = self.world.tree(), self.path(place)
        result = self.world.run("commit", path)
        assert self.world.tree() == tree
        if result.data.get("commit"):
            names = self.world.git("show", "--name-only", "--format=", "-z", "HEAD").split("\0")[:-1]
            own_paths = (path, f"{PLANS}/artifacts/{Path(path).stem}/")
            assert all([name.startswith(own_paths) or name not in tree for name in names]), (
                names
            )  # or where it was before

    @precondition(has_plans)
    @rule(
        place=POSITION,
        at=st.integers(0, 200),
        lines=st.lists(LINES, max_size=3),
        taken=st.integers(0, 2),
        tool=st.booleans(),
    )
    def edit_by_hand(self, place: int, at: int, lines: list[str], taken: int, tool: bool) -> None:
        """Somebody changes lines of a plan, in an editor of their own or by `edit`."""
        path = self.path(place)
        before = self.world.read(path)
        old_lines = before.splitlines(keepends=True)
        at %= len(old_lines) + 1
        old_lines[at : at + taken] = [f"{line}\n".encode() for line in lines]
        after = b"".join(old_lines)
        if not tool:
            (self.world.path / path).write_bytes(after)
            return
        edited_file = self.world.path.parent / "edited.md"
        edited_file.write_bytes(after)
        os.environ["EDITOR"] = f"cp {edited_file}"
        result = self.world.run("edit", "--", path)
        if result.exit in (0, 1):
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


def expected_diff(before: bytes, after: bytes, path: str) -> str:
    """What a dry run shows of a change."""
    return format_diff(before, after, path) if before != after else ""


def _other_contents(files: dict[str, bytes], without: set[str]) -> list[bytes]:
    """The content of all files but some, and but the evidence of archived plans."""
    return [data for name, data in files.items() if name not in without and not name.endswith("evidence.json")]


def _changed_folder(result: InProcessResult) -> bool:
    """Whether a plan went to another folder, so that the paths in it may be others."""
    return bool(result.data["moves"])


@pytest.mark.exhaustive
@pytest.mark.hypothesis
def test_any_sequence_of_verbs() -> None:
    """Nothing else changes, nothing is lost, and what looks agrees with what is there."""
    example_count = os.environ.get("EXECPLAN_MACHINE", "")
    with TemporaryDirectory(prefix="execplan-") as folder:
        PlanMachine.root = Path(folder).resolve()
        template(PlanMachine.root / "template")
        run_state_machine_as_test(
            PlanMachine,
            settings=settings(
                max_examples=int(example_count) if example_count.isdecimal() else 12,
                stateful_step_count=25,
                suppress_health_check=list(HealthCheck),
            ),
        )
