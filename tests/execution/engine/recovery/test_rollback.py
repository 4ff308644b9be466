"""Rollbacks of real runs: all of a run or one step, what is refused and what stays, and one that is killed at any call."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records import record_builder, run_directories
from execplan.execution.engine.workspace.backup_store import BackupStore
from tests.conftest import COUNTED
from tests.execution.engine.kill_points import KILL
from tests.execution.engine.project_workspace import TreeEntries, build, read_tree
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = """\
# Build the parser

## Progress

- [ ] Write the module.
- [ ] Turn all over.

## Concrete Steps

```python {#make type=create_file target=src/new/deep/made.py task="Write the module"}
X = 1
```

```diff {#wire type=modify_file target=src/other.py needs=make}
--- a/src/other.py
+++ b/src/other.py
@@ -1 +1 @@
-y = 1
+y = 2
```

```text {#drop type=delete_file target=src/old.py}
Nobody calls it.
```

```sh {#turn outputs=src task="Turn all over"}
sh turn.sh
```

```diff {#more type=modify_file target=src/new/deep/made.py}
--- a/src/new/deep/made.py
+++ b/src/new/deep/made.py
@@ -1 +1 @@
-X = 1
+X = 2
```
"""
TURN = """\
rm -r sub && ln -s nowhere sub
rm to-folder && mkdir to-folder && echo x >to-folder/in
chmod 755 tool && chmod 700 empty && rmdir gone
mkdir -p fresh/deep && echo x >fresh/file
ln -sfn tool link
printf "" >emptied
cp tool src/new/copy
"""
FILES = {"turn.sh": TURN, "sub/inner/file": "x\n", "to-folder": "x\n", "tool": "x\n", "emptied": "x\n"}
STEPS = ["make", "wire", "drop", "turn", "more"]


def prepare(desk: InProcessRepository, plan: str = PLAN, turn: str = TURN) -> TreeEntries:
    """Have the plan approved; how all is before it is run."""
    desk.plan(plan)
    for name, content in {**FILES, "turn.sh": turn}.items():
        desk.write(name, content)
    for name in ("empty", "gone"):
        (desk.path / name).mkdir()
    (desk.path / "link").symlink_to("src")
    desk.write(".gitignore", "ignored/\n")
    desk.commit()
    desk.approve()
    return current_files(desk)


def current_files(desk: InProcessRepository) -> TreeEntries:
    """All but what is kept of runs."""
    tree = read_tree(desk.path, but=(".git",))
    return {path: entry for path, entry in tree.items() if not path.startswith(".agent/execplans/artifacts")}


@pytest.fixture
def files_before(desk: InProcessRepository) -> TreeEntries:
    """How all was before the run that the desk has done."""
    files = prepare(desk)
    result = desk.type("run")
    assert result.exit == 0, result
    return files


def entries(desk: InProcessRepository, kind: str = "") -> list[dict[str, Any]]:
    lines = (runs(desk)[-1] / "journal.jsonl").read_bytes().splitlines()
    return [entry for entry in map(json.loads, lines) if kind in ("", entry["kind"])]


def runs(desk: InProcessRepository) -> list[Path]:
    return sorted((desk.path / f".agent/execplans/artifacts/{NAME}/runs").iterdir())


def test_all_of_a_run(desk: InProcessRepository, files_before: TreeEntries) -> None:
    ran = current_files(desk)
    data = desk.data("rollback")
    assert current_files(desk) == files_before
    assert (data["steps"], data["whole"], data["reopened"]) == (STEPS, True, ["Write the module.", "Turn all over."])
    assert {"src/old.py", "src/other.py", "sub", "sub/inner", "sub/inner/file", "gone", "empty"} < set(data["restored"])
    assert {"src/new", "src/new/deep/made.py", "fresh/deep", "to-folder/in"} < set(data["removed"])
    kinds = [entry["kind"] for entry in entries(desk)]
    rollback_kinds = kinds[kinds.index("rollback") :]
    assert rollback_kinds == ["rollback", "restored", *["reopened"] * 2, "rolled_back"]
    (entry,) = entries(desk, "restored")
    assert {*entry["removed"]} == {*data["removed"]}
    assert {*entry["restored"]} == {*data["restored"]}
    backups = dict(line.rsplit(": ", 1) for line in data["kept"])
    assert {path: gzip.decompress((desk.path / backup).read_bytes()) for path, backup in backups.items()} == {
        path: content for path, (kind, content, _) in ran.items() if path in backups and kind == "file"
    }
    assert "src/new/deep/made.py" in backups
    assert desk.data("show", NAME, "--run", "1")["status"] == "rolled_back"
    desk.refused(1, "nothing-to-roll-back", "rollback")
    desk.refused(1, "nothing-to-roll-back", "rollback", "--step", "make")
    assert current_files(desk) == files_before


def test_what_it_would_do_is_said_and_not_done(desk: InProcessRepository, files_before: TreeEntries) -> None:
    def all_of_it() -> TreeEntries:
        return {
            path: entry for path, entry in read_tree(desk.path, but=()).items() if not path.startswith(".git/index")
        }

    ran = all_of_it()
    preview = desk.data("rollback", "--dry-run")
    step_preview = desk.data("rollback", "--step", "more", "--dry-run")
    assert all_of_it() == ran
    assert (step_preview["steps"], step_preview["restored"], step_preview["removed"]) == (
        ["more"],
        ["src/new/deep/made.py"],
        [],
    )
    did = desk.data("rollback")
    for name in ("steps", "restored", "removed", "reopened", "left"):
        assert sorted(preview[name]) == sorted(did[name])


def test_one_step_and_then_the_rest(desk: InProcessRepository, files_before: TreeEntries) -> None:
    error = desk.refused(1, "step-overwritten", "rollback", "--step", "make")
    assert error["candidates"] == ["more"]
    assert "src/new/deep/made.py" in error["message"]
    data = desk.data("rollback", "--step", "more")
    assert (data["steps"], data["restored"], data["whole"]) == (["more"], ["src/new/deep/made.py"], False)
    assert (desk.path / "src/new/deep/made.py").read_text() == "X = 1\n"
    data = desk.data("rollback", "--step", "1")
    assert (data["removed"], data["reopened"]) == (["src/new/deep", "src/new/deep/made.py"], ["Write the module."])
    assert data["left"] == ["src/new: it contains something else"]
    desk.refused(1, "nothing-to-roll-back", "rollback", "--step", "make")
    assert desk.data("show", NAME, "--run", "1")["status"] == "completed"
    data = desk.data("rollback")
    assert data["steps"] == ["wire", "drop", "turn"]
    remaining = current_files(desk)
    assert remaining.pop("src/new")[0] == "folder"  # made by a step that is rolled back, while something else was in it
    assert remaining == files_before


def test_a_step_that_is_none_or_never_ran(desk: InProcessRepository) -> None:
    prepare(desk)
    desk.refused(3, "no-such-run", "rollback")
    desk.type("run", "--step", "make")
    assert "make" in desk.refused(3, "no-such-step", "rollback", "--step", "mare")["candidates"]
    desk.refused(1, "nothing-to-roll-back", "rollback", "--step", "turn")
    assert desk.data("rollback")["steps"] == ["make"]


def test_what_changed_since_is_named_and_nothing_touched(desk: InProcessRepository, files_before: TreeEntries) -> None:
    desk.write("src/other.py", "y = 3\n")
    desk.write("fresh/file", "theirs\n")
    ran, count = current_files(desk), len(entries(desk))
    for options in ((), ("--dry-run",)):
        error = desk.refused(4, "changed-since", "rollback", *options)
        assert error["candidates"] == ["fresh/file", "src/other.py"]
        assert "fresh/file" in error["message"]
    assert (current_files(desk), len(entries(desk))) == (ran, count)
    desk.data("rollback", "--step", "more")
    desk.write("src/other.py", "y = 2\n")
    desk.write("fresh/file", "x\n")
    desk.data("rollback")
    assert current_files(desk) == files_before


def test_60_an_altered_backup_is_named_and_nothing_touched(
    desk: InProcessRepository, files_before: TreeEntries
) -> None:
    (changed,) = [
        change for entry in entries(desk, "result") for change in entry["changes"] if change["path"] == "src/old.py"
    ]
    backup = Path(BackupStore(desk.project()[0]).path(changed["before"][1]))
    good, ran = backup.read_bytes(), current_files(desk)
    backup.write_bytes(good[:-1] + b"x")
    error = desk.refused(6, "backup-altered", "rollback")
    assert str(backup) in error["message"]
    assert current_files(desk) == ran
    assert not entries(desk, "rollback")
    backup.write_bytes(good)
    desk.data("rollback")
    assert current_files(desk) == files_before


def test_a_disk_that_is_full_says_how_to_finish(
    desk: InProcessRepository, files_before: TreeEntries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ExecplanError("io-error", "full", hint="free some space; nothing was changed")

    monkeypatch.setattr(record_builder, "save_record", full)
    error = desk.refused(6, "io-error", "rollback")
    assert current_files(desk) == files_before
    assert error["hint"].startswith("free some space; then finish it: execplan rollback 1 -p ")


def test_what_somebody_put_into_a_folder_stays(desk: InProcessRepository, files_before: TreeEntries) -> None:
    desk.write("fresh/deep/mine", "theirs\n")
    desk.write("src/new/ignored/x", "theirs\n")
    data = desk.data("rollback")
    assert sorted(data["left"])[:3] == [
        "fresh/deep: it contains something else",
        "fresh: it contains something else",
        "src/new: it contains something else",
    ]
    files = current_files(desk)
    assert files["fresh/deep/mine"][1] == files["src/new/ignored/x"][1] == b"theirs\n"
    assert files_before.items() < files.items()


def test_a_step_that_says_so_keeps_what_it_changed(desk: InProcessRepository) -> None:
    """And so does what other steps made of the same file before it, for it was made of that."""
    keeps = PLAN.replace("{#more type=modify_file", "{#more rollback=false type=modify_file")
    before = prepare(desk, keeps.replace("{#turn outputs", "{#turn rollback=false outputs"), "cat src/other.py\n")
    assert desk.type("run").exit == 0
    data = desk.data("rollback")
    assert data["steps"] == ["make", "wire", "drop"]
    assert data["reopened"] == ["Write the module."]
    assert "more: its changes stay because its step has rollback=false" in data["left"]
    assert "src/new/deep/made.py: more changed it after make, and that change stays" in data["left"]
    files = current_files(desk)
    assert files.pop("src/new/deep/made.py")[1] == b"X = 2\n"
    assert "- [x] (2026-01-01 00:00Z) Turn all over." in (desk.path / f".agent/execplans/{NAME}.md").read_text()
    for name in ("src/new", "src/new/deep", f".agent/execplans/{NAME}.md"):
        files.pop(name)
        before.pop(name, None)
    assert files == before


def test_a_run_that_fails_is_rolled_back_by_itself(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nrollback_on = ["failure"]\n')
    before = prepare(desk, turn=f"{TURN}exit 3\n")
    result = desk.type("run", "--json")
    assert result.exit == 1
    assert current_files(desk) == before
    assert desk.data("show", NAME, "--run", "1")["status"] == "rolled_back"
    assert [entry["automatic"] for entry in entries(desk, "rollback")] == ["failure"]


def test_a_run_that_waits_has_its_end_first(desk: InProcessRepository) -> None:
    before = prepare(desk, PLAN.replace("{#turn outputs", "{#turn confirm outputs"))
    assert desk.type("run").exit == 8
    desk.data("rollback")
    assert current_files(desk) == before
    (ended,) = entries(desk, "ended")
    assert (ended["status"], ended["cause"]) == ("failed", "cancellation")
    desk.refused(1, "nothing-to-resume", "resume")


def killed(desk: InProcessRepository, at: str) -> None:
    """Run the plan until it dies at an entry."""
    desk.env[KILL] = at
    assert desk.run("run").exit == -signal.SIGKILL


@pytest.mark.parametrize(
    "at",
    [
        "make after 2",
        "make before 3",
        "wire before 6",
        "turn after 9",
        "turn before 10",
        "more after 12",
        "more before 13",
    ],
)
def test_a_run_that_was_cut_short(desk: InProcessRepository, at: str) -> None:
    """Killed behind the announcement of a step, or before its result is written: what it did by then is taken back too."""
    before = prepare(desk)
    step, when, number = at.split()
    killed(desk, f"{when}:{number}")
    assert (entries(desk)[-1]["kind"], entries(desk)[-1]["step"]) == ("intent", step)
    if step != "make":
        desk.refused(4, "run-cut-short", "rollback", "--step", "make")
    preview = desk.data("rollback", "--dry-run")
    did = desk.data("rollback")
    assert sorted(preview["removed"]) == sorted(did["removed"])
    assert current_files(desk) == before
    (ended,) = entries(desk, "ended")
    assert ended["cause"] == "cancellation"


def test_a_failure_that_was_taken_back_in_part(desk: InProcessRepository) -> None:
    """Killed between what is done to the files and the entry that says so: each file is as before, or as it was left."""
    before = prepare(desk, turn=f"{TURN}exit 3\n")
    killed(desk, "before:11")
    assert entries(desk)[-1]["kind"] == "result"
    (desk.path / "tool").chmod(0o755)
    (desk.path / "to-folder").unlink()
    desk.data("rollback")
    assert current_files(desk) == before


def test_what_a_killed_writer_left_beside_a_file_is_gone(desk: InProcessRepository) -> None:
    from execplan.core.files.atomic_files import temp_file_name

    before = prepare(desk)
    killed(desk, "after:5")
    desk.write(f"src/{temp_file_name('other.py')}", "y =")
    desk.data("rollback")
    assert current_files(desk) == before


def test_a_rollback_makes_one_commit(desk: InProcessRepository, files_before: TreeEntries) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", "Ran")
    desk.write("src/mine.py", "theirs\n")
    desk.git("add", "src/mine.py")
    data = desk.data("rollback", "--commit")
    commit_text = desk.git("show", "--stat=200", "--format=%H %s", "HEAD")
    assert commit_text.startswith(data["commit"])
    assert "roll back run 0001-" in commit_text.splitlines()[0]
    assert f".agent/execplans/{NAME}.md" in commit_text
    assert "journal.jsonl" in commit_text
    assert "mine" not in commit_text
    assert "A  src/mine.py" in desk.git("status", "--porcelain")


def test_another_at_work_is_named(desk: InProcessRepository, files_before: TreeEntries) -> None:
    ran = current_files(desk)
    with acquire_run_lock(desk.project()[0], "run 0002-00000000"):
        for options in ((), ("--dry-run",)):
            assert "run 0002-00000000" in desk.refused(5, "run-busy", "rollback", *options)["message"]
    assert current_files(desk) == ran


STRIDE = 3
"""Every so manieth call is tried here."""
CALLS = ("rename", "unlink", "rmdir", "mkdir", "symlink", "fchmod")
"""What changes a file, a folder or an entry; a kill in between leaves what they have left."""


@pytest.mark.exhaustive
def test_a_rollback_killed_at_any_call(
    desk: InProcessRepository, files_before: TreeEntries, record_property: Callable[[str, object], None]
) -> None:
    """Killed at each call that changes something, and done again: all is as it was before the run."""
    copy = desk.path.parent / "kept"
    shutil.copytree(desk.path, copy, symlinks=True, ignore=shutil.ignore_patterns("hooks", "objects", "info"))
    kill, ended, bad = 1 - STRIDE, False, []
    while not ended:
        kill += STRIDE
        ended = _rolled_back(desk, kill)
        result = desk.type("rollback", "--json")
        if result.exit and (result.exit != 1 or result.json["error"]["code"] != "nothing-to-roll-back"):
            bad.append((kill, result.out))
        elif differs := {path for path, _ in current_files(desk).items() ^ files_before.items()}:
            bad.append((kill, str(differs)))
        elif [entry["kind"] for entry in entries(desk)].count("rolled_back") != 1:
            bad.append((kill, "not rolled back once"))
        build(desk.path, {})
        for name in (".agent", ".git/execplan"):
            shutil.rmtree(desk.path / name)
        shutil.copytree(copy, desk.path, symlinks=True, dirs_exist_ok=True)
    record_property(
        COUNTED, f"rollback: killed at every {STRIDE}rd of {kill} calls that change something, and done again"
    )
    assert not bad, bad
    assert kill > 60


def _rolled_back(desk: InProcessRepository, kill: int) -> bool:
    """Roll back in a process that is killed before so manieth of the calls; whether it came to its end."""
    pid = os.fork()
    if pid == 0:
        count = [0]

        def dying(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
            count[0] += 1
            if count[0] == kill:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **keywords)

        try:
            project, ref = desk.project()
            from execplan.core.edits.plan_writer import WriteOptions
            from execplan.execution.engine.recovery.rollback import rollback

            run_paths = run_directories.find_run(project, ref, None)
            for name in CALLS:
                setattr(os, name, partial(dying, getattr(os, name)))
            rollback(run_paths, step=None, automatic="", observer=RunObserver(), options=WriteOptions(commit=False))
        except BaseException:  # noqa: BLE001 - the other end is told
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
    return status == 0
