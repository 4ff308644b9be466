"""Random changes: their steps make the same tree, byte for byte, and the special ones are found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Text, apply_edits
from execplan.execution.tried_changes.change_reader import TriedChange, TriedFile
from execplan.execution.tried_changes.change_steps import TriedSteps, write_steps
from execplan.execution.tried_changes.hunk_groups import group_hunks
from tests.execution.tried_changes.test_change_steps import PLAN
from tests.in_process_repository import NAME, InProcessRepository

Tree = dict[str, tuple[bytes, bool]]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan without steps."""
    desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    for path in [*(desk.path / ".agent/execplans").glob("*.md"), desk.path / "Makefile", *desk.path.glob("src/*.py")]:
        path.unlink()
    desk.plan(PLAN, NAME)
    return desk


def read_files(desk: InProcessRepository) -> Tree:
    """The files of the repository, each with its content and whether it is executable."""
    return {
        path.relative_to(desk.path).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in desk.path.rglob("*")
        if path.is_file() and not {".git", ".agent"} & set(path.relative_to(desk.path).parts)
    }


def make_text(chance: random.Random) -> bytes:
    lines = [f"{chance.choice(['parse', 'read', 'x'])}({chance.randint(0, 99)}) # {number}" for number in range(30)]
    return ("\n".join(lines[: chance.randint(1, 30)]) + chance.choice(["\n", "\n", ""])).encode()


def change_at_random(desk: InProcessRepository, chance: random.Random) -> None:
    """Move, copy, edit, remove and add files."""
    for path in sorted(read_files(desk)):
        full_path = desk.path / path
        if not full_path.exists():
            continue
        action = chance.choice(["rename", "move", "move and edit", "copy", "edit", "remove", "replace", "nothing"])
        new_path = desk.path / chance.choice(["src", "new", "new/deep"]) / f"{chance.randint(0, 999)}-{full_path.name}"
        new_path.parent.mkdir(parents=True, exist_ok=True)
        data = full_path.read_bytes()
        if action in ("move", "move and edit", "rename"):
            full_path.rename(new_path)
        if action == "copy":
            new_path.write_bytes(data)
        if action == "move and edit":
            new_path.write_bytes(data.replace(b"\n", b"\nedited\n", 1))
        if action == "edit":
            lines = data.split(b"\n")
            lines[chance.randrange(len(lines))] += b" edited"
            full_path.write_bytes(b"\n".join(lines))
        if action == "replace":
            full_path.write_bytes(data.replace(b"parse", b"scan"))
        if action == "remove":
            full_path.unlink()
    desk.write(f"added/{chance.randint(0, 9)}.txt", "added\n")


@pytest.mark.parametrize("seed", range(8))
def test_the_steps_of_a_random_change_make_it_again(desk: InProcessRepository, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(9):
        path = desk.path / chance.choice(["src", "src/inner", "lib"]) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_text(chance))
        path.chmod(chance.choice([0o644, 0o755]))
    desk.commit()
    committed = read_files(desk)
    change_at_random(desk, chance)
    changed = read_files(desk)
    written = desk.data("compile", "--from-diff", "--restore")
    assert written["left_files"] == []
    assert read_files(desk) == committed
    desk.data("approve", "--digest", desk.data("evaluate")["digest"], "--allow-inferred")
    result = desk.type("run")
    while result.exit == 8:  # it asks after some steps
        result = desk.type("resume", "--answer", "go")
    assert result.exit == 0, result
    assert read_files(desk) == changed
    desk.data("rollback")
    assert read_files(desk) == committed


BODY = b"".join([b"line %d of this file\n" % number for number in range(9)])


def written_steps(
    *files: TriedFile, plan: str = PLAN, base: tuple[str, ...] = (), copies: dict[str, str] | None = None
) -> TriedSteps:
    """The steps of a change."""
    return write_steps(read_text(Text.from_str(plan)), TriedChange(files, (), base, copies or {}))


def file(path: str, before: bytes | None, after: bytes | None) -> TriedFile:
    """A changed file."""
    return TriedFile(path, before, after, 0o644, 0o644)


def types(result: TriedSteps) -> list[tuple[str, str]]:
    """The steps, each with its type and path."""
    return [(step.type, step.path) for step in result.steps]


def test_a_file_that_is_moved_and_edited_is_a_move_and_a_diff() -> None:
    result = written_steps(file("a.txt", BODY, None), file("b.txt", None, BODY.replace(b"line 3", b"LINE 3")))
    assert types(result) == [("move", "b.txt"), ("modify_file", "b.txt")]
    assert result.covered_paths == ("a.txt", "b.txt")
    other = written_steps(file("a.txt", BODY, None), file("b.txt", None, b"nothing alike\n" * 9))
    assert types(other) == [("delete_file", "a.txt"), ("create_file", "b.txt")]


def test_a_directory_is_moved_as_a_whole_only_if_nothing_else_was_there() -> None:
    files = [
        changed
        for name in "ab"
        for changed in (
            file(f"old/{name}.txt", BODY + name.encode(), None),
            file(f"new/{name}.txt", None, BODY + name.encode()),
        )
    ]
    base = ("old/a.txt", "old/b.txt", "z.txt")
    assert types(written_steps(*files, base=base)) == [("move", "new")]
    alone = [("move", "new/a.txt"), ("move", "new/b.txt")]
    assert types(written_steps(*files, base=(*base, "old/stays.txt"))) == alone
    assert types(written_steps(*files, base=(*base, "new/was-there.txt"))) == alone


def test_a_copy_comes_before_the_change_of_its_source() -> None:
    result = written_steps(
        file("a.txt", BODY, BODY + b"more\n"), file("b.txt", None, BODY), base=("a.txt",), copies={"b.txt": "a.txt"}
    )
    assert types(result) == [("copy", "b.txt"), ("modify_file", "a.txt")]


def test_a_shared_replacement_is_a_step_only_if_it_makes_all_bytes() -> None:
    before, after = b"parse(1)\nx\nparse(2)\n", b"scan(1)\nx\nscan(2)\n"
    both = [file("a.py", before, after), file("b.py", b"parse\n", b"scan\n")]
    (step,) = written_steps(*both).steps
    assert (step.type, step.paths) == ("replace", ("a.py", "b.py"))
    one_left = file("c.py", before, after.replace(b"scan(2)", b"parse(2)"))
    assert types(written_steps(*both, one_left)) == [("replace", "a.py"), ("modify_file", "c.py")]
    assert types(written_steps(both[0])) == [("modify_file", "a.py")]
    more = file("b.py", b"parse\n", b"scan\nmore\n")
    assert types(written_steps(both[0], more)) == [("modify_file", "a.py"), ("modify_file", "b.py")]


def test_the_same_steps_are_not_written_twice() -> None:
    plan = read_text(Text.from_str(PLAN))
    tried = TriedChange(
        (
            file("a.py", b"parse\n", b"scan\n"),
            file("b.py", b"parse()\n", b"scan()\n"),
            file("old.txt", BODY, None),
            file("z.txt", None, BODY),
        ),
        (),
    )
    first = write_steps(plan, tried)
    assert types(first) == [("move", "z.txt"), ("replace", "a.py")]
    again = write_steps(read_text(apply_edits(plan.text, first.change.edits)), tried)
    assert (again.steps, again.covered_paths) == ((), ("a.py", "b.py", "old.txt", "z.txt"))


def test_hunks_of_different_tasks_are_different_steps() -> None:
    before = b"".join([b"def f%d():\n    return %d\n\n\n" % (number, number) for number in range(9)])
    after = before.replace(b"return 1\n", b"return 11\n").replace(b"return 7\n", b"return 77\n")
    tasks = "- [ ] Change `f1`.\n- [ ] Change `f7` too.\n- [ ] "
    plan = PLAN.replace("- [ ] ", tasks, 1)
    result = written_steps(file("a.py", before, after), plan=plan)
    assert [(step.type, step.task) for step in result.steps] == [
        ("modify_file", "Change `f1`."),
        ("modify_file", "Change `f7` too."),
    ]
    assert [step.task for step in written_steps(file("a.py", before, after)).steps] == [""]
    parsed = read_text(Text.from_str(plan))
    assert [group.data for group in group_hunks(parsed, "a.py", before, after)] == [
        before.replace(b"return 1\n", b"return 11\n"),
        after,
    ]
