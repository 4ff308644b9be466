"""`doctor` on what was left: by processes that were killed, by editors, by plans that are gone."""

from __future__ import annotations

import os

import pytest

from execplan.core.files import atomic_files
from execplan.core.project import project_discovery, project_state
from tests.cli.doctor.doctor_findings import age, assert_clean, doctor, findings, only_finding, run_remedy
from tests.conftest import Folder
from tests.plans import CLEAN

TEMPORARY = ".execplan-0123456789abcdef.tmp"
NOBODY = 4194305
"""No process has this number."""


@pytest.mark.parametrize(
    "folder",
    ["", ".agent", ".agent/execplans", ".agent/execplans/archive", ".agent/execplans/artifacts", ".git/hooks"],
)
@pytest.mark.parametrize("name", [TEMPORARY, f".execplan-copy-{NOBODY}-0.tmp", ".execplan-new.tmp"])
def test_a_temporary_file_of_a_process_that_was_killed(repo: Folder, folder: str, name: str) -> None:
    repo.plan()
    path = repo.write(os.path.join(folder, name), "")
    finding = only_finding(repo, "temporary")
    assert finding["path"] == os.path.join(folder, name)
    doctor(repo, "--fix", "--dry-run")
    assert path.exists()
    assert doctor(repo, "--fix")["fixed"][0]["message"] == f"removed {os.path.join(folder, name)}"
    assert not path.exists()
    assert_clean(repo)


def test_what_a_killed_writer_displaced_is_kept(repo: Folder) -> None:
    """It may be what an editor saved while the writer was killed."""
    path = repo.plan()
    repo.ok("done", "2")
    leftover = path.with_name(atomic_files.temp_file_name(path.name))
    for content in (path.read_text(), CLEAN):
        leftover.write_text(content)
        doctor(repo, "--fix")
        assert_clean(repo)
    for name in (leftover, path.with_name(TEMPORARY)):
        name.write_text("Saved by hand.\n")
        only_finding(repo, "temporary")
        backup_path = only_finding(repo, "recovered", "--fix")["path"]
        assert not name.exists()
        assert (repo.path / backup_path).read_text() == "Saved by hand.\n"
        (repo.path / backup_path).unlink()
    assert_clean(repo)


def test_what_a_process_still_writes_is_left_alone(repo: Folder) -> None:
    path = repo.plan()
    repo.write(f".agent/execplans/.execplan-copy-{os.getpid()}-0.tmp", "")
    repo.write(".agent/execplans/.execplan-notes.tmp", "")
    repo.write(".agent/notes.new", "")
    assert_clean(repo)
    project = project_discovery.find(str(repo.path))
    path.with_name(atomic_files.temp_file_name(path.name)).write_text("half")
    for lock in ("project", str(path)):
        with project_state.lock(project, lock, "a test"):
            assert_clean(repo)
    only_finding(repo, "temporary")


def test_what_was_displaced_beside_a_file(repo: Folder) -> None:
    repo.plan()
    repo.write("AGENTS.md.displaced-1", "Saved by hand.\n")
    finding = only_finding(repo, "recovered")
    assert finding["path"] == "AGENTS.md.displaced-1"
    assert doctor(repo, "--fix")["findings"]
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def test_half_a_journal(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2")
    journal = next((repo.path / ".git/execplan/journal").iterdir())
    repo.write(f".git/execplan/journal/{journal.name}.new", "")
    assert only_finding(repo, "temporary")["fixable"]
    doctor(repo, "--fix")
    assert_clean(repo)
    assert journal.exists()


def test_a_copy_that_an_editor_left(repo: Folder) -> None:
    path = repo.plan()
    copy = repo.write(".git/execplan/edit/1-2026-01-01_parser.md", CLEAN)
    assert_clean(repo)
    age(copy, 25 * 3600)
    doctor(repo, "--fix")
    assert not copy.exists()
    copy.write_text(CLEAN + "\nBy hand.\n")
    finding = only_finding(repo, "copies")
    assert finding["path"] == ".git/execplan/edit/1-2026-01-01_parser.md"
    assert doctor(repo, "--fix")["findings"]
    assert copy.exists()
    path.write_text(CLEAN + "\nBy hand.\n")
    assert_clean(repo)
    path.write_text(CLEAN)
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def test_what_edit_keeps_is_found(repo: Folder) -> None:
    path = repo.plan()
    editor = repo.write("editor.sh", f"sed -i s/Build/Write/ $1; sed -i s/Build/Make/ '{path}'\n")
    assert repo.run("edit", EDITOR=f"sh {editor}").exit == 4
    assert only_finding(repo, "copies")["path"].startswith(".git/execplan/edit/")


def test_a_recovery_file(repo: Folder) -> None:
    repo.plan()
    repo.write(".git/execplan/recovered/parser.md", CLEAN)
    finding = only_finding(repo, "recovered")
    assert doctor(repo, "--fix")["findings"]
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def test_the_journal_of_a_plan_that_is_gone(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    journal = next((repo.path / ".git/execplan/journal").iterdir())
    age(journal, 31 * 24 * 3600)
    assert_clean(repo)
    path.unlink()
    assert only_finding(repo, "journals")["path"] == f".git/execplan/journal/{journal.name}"
    doctor(repo, "--fix")
    assert not journal.exists()
    assert_clean(repo)


def test_the_journal_of_a_plan_that_went_lately_or_that_git_knows(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    journal = next((repo.path / ".git/execplan/journal").iterdir())
    repo.plan(CLEAN, "other")
    repo.git("switch", "-q", "-c", "side")
    repo.git("add", str(path))
    repo.git("commit", "-q", "-m", "Plan")
    repo.git("switch", "-q", "main")
    assert not path.exists()
    age(journal, 31 * 24 * 3600)
    assert_clean(repo)
    repo.git("branch", "-D", "side")
    assert only_finding(repo, "journals")
    age(journal, -2 * 24 * 3600)
    assert_clean(repo)


def test_the_journal_of_a_plan_of_another_project(repo: Folder) -> None:
    repo.plan()
    repo.write("web/.agent/execplans/a.md", CLEAN)
    repo.ok("done", "2", "-p", "web/.agent/execplans/a.md")
    age(next((repo.path / ".git/execplan/journal").iterdir()), 31 * 24 * 3600)
    assert_clean(repo)


def test_a_claim_on_a_plan_that_is_gone(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("next", "--claim", "ann")
    assert_clean(repo)
    path.rename(path.with_name("other.md"))
    finding = only_finding(repo, "claims")
    assert "ann" in finding["message"]
    assert finding["path"] == ".agent/execplans/2026-01-01_parser.md"


def test_claims_that_are_damaged(repo: Folder) -> None:
    repo.plan()
    repo.write(".git/execplan/claims.json", "[[1")
    finding = only_finding(repo, "claims")
    assert "claims.json can't be read" in finding["message"]
    (repo.path / ".git/execplan/claims.json").unlink()
    assert_clean(repo)


def test_the_state_of_a_folder_without_git(plain: Folder) -> None:
    plain.plan()
    plain.ok("done", "2")
    plain.write(f".agent/.state/edit/{TEMPORARY}", "")
    assert findings(plain, "temporary")[0]["path"] == f".agent/.state/edit/{TEMPORARY}"
    doctor(plain, "--fix")
    assert_clean(plain)
