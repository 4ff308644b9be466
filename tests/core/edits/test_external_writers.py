"""Programs that ask for no lock: what they save while a plan is edited is read again, put back, or kept; never lost."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.clock import now
from execplan.core.edits import backup_copies
from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.errors import CONFLICT, INPUT, POLICY, ExecplanError
from execplan.core.files import atomic_files, open_directory
from execplan.core.files.open_directory import OpenDirectory
from execplan.core.plan import log_edits, task_edits
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.scaffold.plan_creation import create_plan
from tests import processes
from tests.conftest import Folder as Scratch
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.plan.plan_change import ChangeBuilder


def edit(repo: Scratch, changer: ChangeBuilder) -> EditResult:
    project, ref = plan_selection.select_plan(str(repo.path), "parser")
    return amend(project, ref, changer, WriteOptions(), command="done")


def save(path: Path, text: str) -> None:
    """Save as editors do: a new file takes the place of the old one."""
    other = path.with_name("saved")
    other.write_text(text)
    other.replace(path)


def before_exchange(monkeypatch: pytest.MonkeyPatch, *saves: Callable[[], object]) -> None:
    """Let an outsider save at the last moment before two files change places, once for each time."""
    pending = list(saves)
    exchange = OpenDirectory.exchange

    def late(self: OpenDirectory, one: str, two: str) -> bool:
        if pending:
            pending.pop(0)()
        return exchange(self, one, two)

    monkeypatch.setattr(OpenDirectory, "exchange", late)


FIRST_SAVE = CLEAN.replace("Write the scanner,", "First write the scanner,")
SECOND_SAVE = FIRST_SAVE.replace("Lines can be read.", "Lines and blocks can be read.")


@pytest.mark.parametrize("how", ["by a new file", "in place"])
def test_a_save_at_the_last_moment(repo: Scratch, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """It goes back into its place, is read, and the edit is made to it."""
    path = repo.plan()
    before_exchange(monkeypatch, partial(save if how == "by a new file" else Path.write_text, path, FIRST_SAVE))
    result = edit(repo, task_edits.complete_tasks(["2"], now()))
    text = path.read_text()
    assert "First write the scanner," in text
    assert text.count("- [x]") == 2
    assert result.warnings == ()
    assert backup_copies.list_backups(project_discovery.find(str(repo.path))) == []
    assert os.listdir(path.parent) == [path.name]


def test_two_saves_at_the_last_moment(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newer one stays, the older one is kept and named."""
    path = repo.plan()
    before_exchange(monkeypatch, lambda: save(path, FIRST_SAVE), lambda: save(path, SECOND_SAVE))
    result = edit(repo, task_edits.complete_tasks(["2"], now()))
    text = path.read_text()
    assert "Lines and blocks can be read." in text
    assert text.count("- [x]") == 2
    backups = backup_copies.list_backups(project_discovery.find(str(repo.path)))
    assert [Path(backup).read_text() for backup in backups] == [FIRST_SAVE]
    assert backups[0] in result.warnings[0]


def test_a_task_that_a_save_has_taken_out(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.plan()
    without_task = CLEAN.replace("- [ ] Build the parser.\n", "")
    before_exchange(monkeypatch, lambda: save(path, without_task))
    with pytest.raises(ExecplanError) as caught:
        edit(repo, task_edits.complete_tasks(["Build the parser"], now()))
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "task-gone")
    assert path.read_text() == without_task
    assert os.listdir(path.parent) == [path.name]


def test_a_file_that_never_holds_still(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.plan()
    texts = [CLEAN + "\n" * number for number in range(1, 99)]
    before_exchange(monkeypatch, *[partial(save, path, text) for text in texts])
    with pytest.raises(ExecplanError) as caught:
        edit(repo, task_edits.complete_tasks(["2"], now()))
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "changed-underneath")
    assert path.read_text() in texts
    assert repo.run("undo").exit == 1


@pytest.mark.parametrize("number", range(3))
def test_a_file_system_that_can_not_exchange(repo: Scratch, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    path = repo.plan()
    monkeypatch.setattr(open_directory, "_rename_with_flags", lambda *given: False)
    for _ in range(number):
        repo.ok("add", f"Task {number}")
    edit(repo, task_edits.complete_tasks(["2"], now()))
    assert path.read_text().count("- [x]") == 2
    assert os.listdir(path.parent) == [path.name]
    data = repo.ok("archive", "--force", "--reason", "Enough.")
    assert (repo.path / data["path"]).is_file()


def test_bytes_that_a_killed_writer_left_and_nobody_has_read(repo: Scratch) -> None:
    """Another program's save that was displaced when the writer was killed is kept; what the journal knows is not."""
    path = repo.plan()
    repo.ok("done", "2")
    leftover = path.with_name(atomic_files.temp_file_name(path.name))
    leftover.write_text(CLEAN)
    assert edit(repo, log_edits.add_outcome("One.")).warnings == ()
    leftover.write_text("")
    assert edit(repo, log_edits.add_outcome("Two.")).warnings == ()
    leftover.write_text(SECOND_SAVE)
    message = repo.run("outcome", "Three.").err
    backups = backup_copies.list_backups(project_discovery.find(str(repo.path)))
    assert [Path(backup).read_text() for backup in backups] == [SECOND_SAVE]
    assert f"its version is saved in {backups[0]}" in message
    assert not leftover.exists()


def plan_with_copy_outside(repo: Scratch) -> tuple[Path, Path, Path]:
    """A plan, and a folder outside that holds one of the same name."""
    path = repo.plan()
    outside = repo.path.parent / "outside"
    (outside / "artifacts").mkdir(parents=True)
    (outside / path.name).write_text(CLEAN)
    return path, path.parent, outside


def directory_contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("step", range(1, 4))
@pytest.mark.parametrize("link", ["plans", "above"])
@pytest.mark.parametrize("verb", ["done", "new"])
def test_33_a_folder_swapped_for_a_link(
    repo: Scratch, monkeypatch: pytest.MonkeyPatch, step: int, link: str, verb: str
) -> None:
    """Between any two looks at the way to a plan a folder on it becomes a link out: nothing outside changes."""
    _, plans, outside = plan_with_copy_outside(repo)
    victim = plans if link == "plans" else plans.parent
    if link == "above":
        (outside / "execplans").mkdir()
        (outside / "execplans/2026-01-01_parser.md").write_text(CLEAN)
    before = directory_contents(outside)
    realpath, count = os.path.realpath, [0]

    def late(path: str, **options: bool) -> str:
        real = realpath(path, **options)
        if "2026-01-01_parser" in str(path) or str(path).endswith("execplans"):
            count[0] += 1
            if count[0] == step and not victim.is_symlink():
                victim.rename(victim.with_name("aside"))
                victim.symlink_to(outside)
        return real

    project, ref = plan_selection.select_plan(str(repo.path), "parser")
    monkeypatch.setattr(os.path, "realpath", late)
    failed = None
    try:
        if verb == "done":
            amend(project, ref, task_edits.complete_tasks(["2"], now()), WriteOptions(), command="done")
        else:
            create_plan(project, "Another", "", [], WriteOptions())
    except ExecplanError as error:
        failed = error.exit
    monkeypatch.undo()
    assert victim.is_symlink() == (failed in (INPUT, CONFLICT, POLICY)), failed
    assert victim.is_symlink() or step > 1
    assert directory_contents(outside) == before


def test_33_a_folder_swapped_again_and_again(repo: Scratch) -> None:
    """Real commands while another process swaps the folder for a link out, and back."""
    import sys

    path, plans, outside = plan_with_copy_outside(repo)
    before = directory_contents(outside)
    script = (
        "import os, sys\nplans, aside, outside = sys.argv[1:]\n"
        "while True:\n    os.rename(plans, aside)\n    os.symlink(outside, plans)\n"
        "    os.unlink(plans)\n    os.rename(aside, plans)\n"
    )
    aside_path = str(plans.with_name("aside"))
    swapper = processes.start([sys.executable, "-c", script, str(plans), aside_path, str(outside)])
    try:
        exits = [repo.run("add", f"Task {number}").exit for number in range(60)]
    finally:
        swapper.kill()
        swapper.wait()
    assert set(exits) <= {0, 3, 4, 6, 7}, exits
    assert directory_contents(outside) == before
    directory = plans if (plans / path.name).is_file() and not plans.is_symlink() else Path(aside_path)
    added = (directory / path.name).read_text().count("Task ")
    assert added == exits.count(0)


def test_33_a_folder_that_is_gone_for_a_moment(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.plan()
    realpath = os.path.realpath
    vanished: list[str] = []

    def once(path: str, **options: bool) -> str:
        if not vanished and os.fspath(path).endswith(".md"):
            vanished.append(path)
            raise FileNotFoundError(errno.ENOENT, "gone", path)
        return realpath(path, **options)

    with monkeypatch.context() as swapped:
        swapped.setattr(os.path, "realpath", once)
        assert edit(repo, task_edits.complete_tasks(["2"], now())).changed
    assert vanished


@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), OSError(errno.EIO, "broken")])
def test_trouble_behind_the_replacement(repo: Scratch, monkeypatch: pytest.MonkeyPatch, trouble: BaseException) -> None:
    """The edit is on the disk, so the journal has it; of an error that harms nothing there is nothing to tell."""
    path = repo.plan()
    unlink = OpenDirectory.unlink

    def fails(self: OpenDirectory, name: str) -> None:
        if path.read_text() != CLEAN:
            raise trouble
        unlink(self, name)

    with monkeypatch.context() as late:
        late.setattr(OpenDirectory, "unlink", fails)
        if isinstance(trouble, OSError):
            assert edit(repo, task_edits.complete_tasks(["2"], now())).changed
        else:
            with pytest.raises(KeyboardInterrupt):
                edit(repo, task_edits.complete_tasks(["2"], now()))
    assert path.read_text() != CLEAN
    assert repo.ok("undo", "--any")["said"][0].startswith("undone: done 2")
    assert path.read_text() == CLEAN
    assert not list(path.parent.glob(".*"))
    assert backup_copies.list_backups(project_discovery.find(str(repo.path))) == []


def test_versions_of_plans_with_one_name_are_kept_at_once(repo: Scratch) -> None:
    """Each under the lock of its own plan: plans of two homes, or in folders of their own, may be called alike."""
    repo.plan()
    project = project_discovery.find(str(repo.path))
    texts = [f"{number} displaced".encode() for number in range(120)]
    with ThreadPoolExecutor(6) as pool:
        backups = list(pool.map(partial(backup_copies.save_backup, project, "plan.md"), texts))
    assert [Path(path).read_bytes() for path in backups] == texts
