"""A plan in an editor."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN


def editor(repo: Folder, script: str) -> str:
    """A command that edits the file that it is given."""
    path = repo.write("bin/editor", f"#!/bin/sh\nset -e\n{script}\n")
    path.chmod(0o755)
    return str(path)


def copies(repo: Folder) -> list[Path]:
    folder = repo.path / ".git/execplan/edit"
    return list(folder.iterdir()) if folder.is_dir() else []


def test_what_was_edited_is_written_and_linted(repo: Folder) -> None:
    path = repo.plan()
    result = repo.run("edit", EDITOR=editor(repo, 'sed -i s/Lines/Bytes/ "$1"'))
    assert result.exit == 0
    assert path.read_text() == CLEAN.replace("Lines", "Bytes")
    assert copies(repo) == []
    repo.ok("undo")
    assert path.read_text() == CLEAN


def test_findings_are_reported(repo: Folder) -> None:
    path = repo.plan()
    result = repo.run("edit", "--json", EDITOR=editor(repo, 'sed -i "/^## Decision Log/d" "$1"'))
    assert result.exit == 1
    assert result.json["data"]["changed"] is True
    assert "EP104" in {finding["code"] for finding in result.json["data"]["findings"]}
    assert "Decision Log" not in path.read_text()


def test_nothing_changed(repo: Folder) -> None:
    path = repo.plan()
    assert repo.run("edit").out == "no changes\n"
    assert path.read_text() == CLEAN
    assert copies(repo) == []


def test_what_others_changed_meanwhile_stays(repo: Folder) -> None:
    path = repo.plan()
    script = f'cd "{repo.path}"; sed -i "s/src.reader.py/src\\/scan.py/" "{path}"; sed -i s/Lines/Bytes/ "$1"'
    assert repo.run("edit", EDITOR=editor(repo, script)).exit == 0
    assert path.read_text() == CLEAN.replace("Lines", "Bytes").replace("src/reader.py", "src/scan.py")


def test_where_both_changed_the_same_line_the_copy_is_kept(repo: Folder) -> None:
    path = repo.plan()
    both = f'sed -i s/Lines/Blocks/ "{path}"; sed -i s/Lines/Bytes/ "$1"'
    result = repo.run("edit", EDITOR=editor(repo, both))
    assert result.exit == 4
    assert path.read_text() == CLEAN.replace("Lines", "Blocks")
    assert [kept_copy.read_text() for kept_copy in copies(repo)] == [CLEAN.replace("Lines", "Bytes")]
    assert str(copies(repo)[0]) in result.err


def test_a_copy_that_was_kept_is_not_written_over(repo: Folder) -> None:
    path = repo.plan()
    for word in ("Bytes", "Blocks"):
        path.write_text(CLEAN)
        both = f'sed -i s/Lines/Rows/ "{path}"; sed -i s/Lines/{word}/ "$1"'
        assert repo.run("edit", EDITOR=editor(repo, both)).exit == 4
    kept_texts = sorted(kept_copy.read_text() for kept_copy in copies(repo))
    assert kept_texts == sorted(CLEAN.replace("Lines", word) for word in ("Bytes", "Blocks"))


def test_in_a_worktree(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    worktree = repo.path.parent / "other"
    repo.git("worktree", "add", "-q", str(worktree))
    assert repo.run("edit", cwd=worktree, EDITOR=editor(repo, 'sed -i s/Lines/Bytes/ "$1"')).exit == 0
    assert (worktree / ".agent/execplans/2026-01-01_parser.md").read_text() == CLEAN.replace("Lines", "Bytes")


def test_a_text_that_can_not_be_read_is_kept_and_refused(repo: Folder) -> None:
    path = repo.plan()
    result = repo.run("edit", EDITOR=editor(repo, 'printf "a\\000b" >"$1"'))
    assert result.exit == 3
    assert path.read_text() == CLEAN
    assert [kept_copy.read_bytes() for kept_copy in copies(repo)] == [b"a\0b"]
    assert str(copies(repo)[0]) in result.err


def test_no_editor(repo: Folder) -> None:
    repo.plan()
    assert repo.run("edit", EDITOR="").exit == 6
    failed = repo.run("edit", EDITOR="no-such-editor-at-all")
    assert failed.exit == 6
    assert "EDITOR" in failed.err
    assert repo.run("edit", EDITOR=editor(repo, "exit 3")).exit == 6
    assert copies(repo) == []


def test_structure_may_be_fixed(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("Lines can be read.", "~~~\nnever closed"))
    assert repo.run("edit", EDITOR=editor(repo, 'sed -i s/^never.closed/\\&\\\\n~~~/ "$1"')).exit == 0
    assert path.read_text() == CLEAN.replace("Lines can be read.", "~~~\nnever closed\n~~~")


def test_ctrl_c_keeps_what_was_changed(repo: Folder) -> None:
    path = repo.plan()
    repo.env["EDITOR"] = editor(repo, f'sed -i s/Lines/Bytes/ "$1"; touch "{repo.path}/begun"; exec sleep 30 >&- 2>&-')
    running = repo.start("edit")
    while not (repo.path / "begun").exists():
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert path.read_text() == CLEAN
    assert str(copies(repo)[0]) in err.decode()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/no/such/editor", "the editor /no/such/editor can't be started: no such file or directory"),
        ("false", "the editor false reported an error"),
        ("vi 'x", "the command in VISUAL or EDITOR has a quote that is never closed"),
    ],
)
def test_an_editor_that_does_not_work(repo: Folder, command: str, message: str) -> None:
    repo.plan()
    result = repo.run("edit", EDITOR=command)
    hint = "hint: set VISUAL or EDITOR to a working command\n"
    assert (result.exit, result.err) == (6, f"execplan: {message}\n{hint}")
