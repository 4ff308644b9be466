"""archive, restore and rename: what moves, what follows, and the evidence."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from execplan.core.archive import plan_archive, plan_move
from execplan.core.archive.plan_relocation import renamed_id
from execplan.core.edits import journal_moves
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
HOME = ".agent/execplans"
ARTIFACTS = f"{HOME}/artifacts/2026-01-01_parser"
FILED = f"{HOME}/archive/artifacts/2026-01-01_parser"
REFERRING = with_sections(
    "## Context and Orientation\n\n"
    f"The reader is in `{HOME}/2026-01-01_parser.md`, [linked](2026-01-01_parser.md#progress), with\n"
    f"the log {HOME}/artifacts/2026-01-01_parser/run.log and [it](./artifacts/2026-01-01_parser/run.log);\n"
    "2026-01-01_parser comes first, 2026-01-01_parser-2 and docs/2026-01-01_parser.md do not.\n"
)


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below the home with its mode and content."""
    return {
        str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes())
        for path in sorted((root / ".agent").rglob("*"))
        if path.is_file()
    }


def filed(repo: Folder) -> None:
    """A finished plan with artifacts and a plan that names it, committed."""
    repo.plan(FINISHED)
    repo.plan(REFERRING, "2026-01-02_scanner")
    repo.write(f"{ARTIFACTS}/run.log", "ok\n")
    repo.write(f"{ARTIFACTS}/shots/a.png", bytes(range(256)))
    os.symlink("/etc/passwd", repo.path / ARTIFACTS / "out")
    os.symlink("/etc", repo.path / ARTIFACTS / "folder-out")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")


def test_evidence(repo: Folder) -> None:
    filed(repo)
    head = repo.git("rev-parse", "HEAD").strip()
    data = repo.ok("archive", "parser", "--commit")
    evidence = json.loads((repo.path / FILED / "execplan-evidence.json").read_text())
    assert evidence == {
        "schema": "execplan/evidence/1",
        "id": "2026-01-01_parser",
        "path": f"{HOME}/archive/2026-01-01_parser.md",
        "title": "Build the parser",
        "digest": data["digest"],
        "commit": head,
        "archived": "2026-01-01 00:00Z",
        "as": "completed",
        "by": None,
        "counts": {"open": 0, "done": 3, "other": 0, "total": 3},
        "run": None,
        "manifest": [
            {"path": "folder-out", "link": "/etc"},
            {"path": "out", "link": "/etc/passwd"},
            {"path": "run.log", "bytes": 3, "sha256": hashlib.sha256(b"ok\n").hexdigest()},
            {"path": "shots/a.png", "bytes": 256, "sha256": hashlib.sha256(bytes(range(256))).hexdigest()},
        ],
    }
    assert data["digest"] == hashlib.sha256((repo.path / data["path"]).read_bytes()).hexdigest()
    assert repo.git("status", "--porcelain") == ""


def test_evidence_names_the_artifacts_that_a_killed_try_has_moved(repo: Folder) -> None:
    filed(repo)
    (repo.path / FILED).parent.mkdir(parents=True)
    (repo.path / ARTIFACTS).rename(repo.path / FILED)
    repo.ok("archive", "parser")
    manifest = json.loads((repo.path / FILED / "execplan-evidence.json").read_text())["manifest"]
    assert [entry["path"] for entry in manifest] == ["folder-out", "out", "run.log", "shots/a.png"]


def test_a_rename_that_was_killed_between_its_two_moves_is_finished(repo: Folder) -> None:
    filed(repo)
    path = repo.plan(FINISHED.replace("# Build the parser", "# Build the reader"))
    new = ARTIFACTS.replace("parser", "build-the-reader")
    (repo.path / ARTIFACTS).rename(repo.path / new)
    repo.ok("rename", "2026-01-01_parser", "Build the reader")
    assert not path.exists()
    assert (repo.path / HOME / "2026-01-01_build-the-reader.md").exists()
    assert (repo.path / new / "run.log").exists()
    assert f"`{HOME}/2026-01-01_build-the-reader.md`" in (repo.path / HOME / "2026-01-02_scanner.md").read_text()


def test_evidence_of_a_plan_without_artifacts(repo: Folder) -> None:
    repo.plan(FINISHED)
    repo.ok("archive", "--commit")
    assert json.loads((repo.path / FILED / "execplan-evidence.json").read_text())["manifest"] == []
    assert repo.git("status", "--porcelain") == ""
    repo.ok("restore", "parser", "--commit")
    assert not (repo.path / FILED).exists()
    assert repo.git("status", "--porcelain") == ""


def test_paths_in_other_plans_follow_and_come_back(repo: Folder) -> None:
    filed(repo)
    before = tree(repo.path)
    data = repo.ok("archive", "parser", "--commit")
    assert data["followed"] == [f"{HOME}/2026-01-02_scanner.md"]
    text = (repo.path / HOME / "2026-01-02_scanner.md").read_text()
    assert text == REFERRING.replace(f"`{HOME}/2026", f"`{HOME}/archive/2026").replace(
        "](2026", "](archive/2026"
    ).replace(f"{HOME}/artifacts", f"{HOME}/archive/artifacts").replace("./artifacts", "./archive/artifacts")
    assert repo.git("status", "--porcelain") == ""
    assert repo.ok("restore", "parser", "--commit")["followed"] == [f"{HOME}/2026-01-02_scanner.md"]
    assert tree(repo.path) == before
    assert repo.git("diff", "HEAD~2", "--stat") == ""


def test_a_plan_names_its_own_artifacts_where_they_are(repo: Folder) -> None:
    path = repo.plan(FINISHED)
    repo.write("run.log", "ok\n")
    repo.ok("attach", "run.log")
    text = path.read_text()
    repo.ok("archive")
    moved = (repo.path / HOME / "archive" / path.name).read_text()
    assert f"`{FILED}/run.log`" in moved
    assert moved.replace(FILED, ARTIFACTS) == text
    repo.ok("restore", "parser")
    assert path.read_text() == text


def test_dry_run_tells_everything_and_does_nothing(repo: Folder) -> None:
    filed(repo)
    before = tree(repo.path)
    preview = repo.ok("archive", "parser", "--dry-run")
    assert tree(repo.path) == before
    result = repo.ok("archive", "parser")
    assert [preview[name] for name in ("moves", "followed", "digest")] == [
        result[name] for name in ("moves", "followed", "digest")
    ]
    assert f"+++ b/{HOME}/2026-01-02_scanner.md" in preview["diff"]


def test_an_archived_plan_stays_as_it_is_and_that_is_told(repo: Folder) -> None:
    filed(repo)
    old = repo.write(f"{HOME}/archive/2025-01-01_old.md", REFERRING.replace("(2026", "(../2026"))
    text = old.read_text()
    result = repo.run("archive", "parser")
    assert old.read_text() == text
    assert "2025-01-01_old.md is archived, so it still names the old path" in result.err


def test_a_plan_that_can_not_be_edited_is_told(repo: Folder) -> None:
    filed(repo)
    other = repo.plan(REFERRING + "\n<<<<<<< a\n=======\n>>>>>>> b\n", "2026-01-02_scanner")
    text = other.read_text()
    result = repo.run("archive", "parser")
    assert result.exit == 0
    assert "may still name the old path" in result.err
    assert other.read_text() == text


def test_superseded(repo: Folder) -> None:
    path = repo.plan()
    repo.plan(REFERRING, "2026-01-02_scanner")
    repo.ok("archive", "parser", "--as", "superseded", "--by", "scanner")
    text = (repo.path / HOME / "archive" / path.name).read_text()
    note = "Plan revision note: 2026-01-01 00:00Z - Superseded by 2026-01-02_scanner (Build the parser)\n"
    assert text == f"{CLEAN}\n{note}"
    evidence = json.loads((repo.path / FILED / "execplan-evidence.json").read_text())
    assert (evidence["as"], evidence["by"]) == ("superseded", "2026-01-02_scanner")
    assert repo.run("lint", "parser").exit == 0
    repo.ok("restore", "parser", "--reason", "Not so.")
    assert "Restored from the archive: Not so." in path.read_text()
    assert repo.ok("show", "parser")["state"] == "active"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--as", "superseded"], 2),
        (["--by", "scanner"], 2),
        (["--as", "superseded", "--by", "scanner", "--force", "--reason", "x"], 2),
        (["--as", "superseded", "--by", "parser"], 3),
        (["--as", "superseded", "--by", "nothing"], 3),
        (["--as", "lost"], 2),
    ],
)
def test_what_supersedes_nothing(repo: Folder, arguments: list[str], status: int) -> None:
    path = repo.plan()
    repo.plan(REFERRING, "2026-01-02_scanner")
    assert repo.run("archive", "parser", *arguments).exit == status
    assert path.read_text() == CLEAN


def test_restored_after_force_is_judged_again(repo: Folder) -> None:
    bad = CLEAN.replace("- [x] (2025-12-30 09:15Z)", "- [x]")
    path = repo.plan(bad)
    levels = {finding["code"]: finding["level"] for finding in repo.run("lint", "--json").json["data"]["findings"]}
    repo.ok("archive", "--force", "--reason", "x")
    assert repo.run("lint").exit == 0
    repo.ok("restore", "parser")
    levels_after = {
        finding["code"]: finding["level"] for finding in repo.run("lint", "--json").json["data"]["findings"]
    }
    assert levels_after == levels
    assert path.read_text().startswith(bad)
    assert repo.run("restore", "parser").out.startswith("not in the archive: ")


def test_restore_where_the_place_is_taken(repo: Folder) -> None:
    repo.plan(FINISHED)
    repo.ok("archive")
    path = repo.plan(CLEAN)
    before = tree(repo.path)
    result = repo.run("restore", f"{HOME}/archive/2026-01-01_parser.md", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == "target-taken"
    path.unlink()
    in_the_way = repo.write(f"{ARTIFACTS}/other.log", "ok\n")
    assert repo.run("restore", "parser").exit == 3
    in_the_way.unlink()
    del before[f"{HOME}/2026-01-01_parser.md"]
    assert tree(repo.path) == before


def test_a_move_that_fails_leaves_everything(repo: Folder) -> None:
    filed(repo)
    repo.write(f"{FILED}/x", "")
    before = tree(repo.path)
    assert repo.run("archive", "parser").exit == 3
    assert tree(repo.path) == before
    (repo.path / FILED / "x").unlink()
    (repo.path / FILED).rmdir()
    foreign = repo.write(f"{ARTIFACTS}/execplan-evidence.json", "mine\n")
    before = tree(repo.path)
    assert repo.run("archive", "parser").exit == 3
    assert foreign.read_text() == "mine\n"
    assert tree(repo.path) == before


def test_rename(repo: Folder) -> None:
    filed(repo)
    data = repo.ok("rename", "parser", "Build the line reader", "--commit")
    assert data["path"] == f"{HOME}/2026-01-01_build-the-line-reader.md"
    text = (repo.path / data["path"]).read_text()
    assert text == FINISHED.replace("# Build the parser", "# Build the line reader")
    assert (repo.path / HOME / "artifacts/2026-01-01_build-the-line-reader/run.log").is_file()
    other = (repo.path / HOME / "2026-01-02_scanner.md").read_text()
    assert "docs/2026-01-01_parser.md" in other
    assert "2026-01-01_parser-2" in other
    assert other.count("2026-01-01_build-the-line-reader") == 5
    assert repo.git("status", "--porcelain") == ""
    repo.ok("done", "1", "-p", "line-reader")
    assert repo.ok("rename", "line-reader", "Build the line reader")["changed"] is False


def test_an_empty_artifacts_directory_is_not_reported_as_moved(repo: Folder) -> None:
    repo.ok("new", "A plan", "--task", "One")
    preview = repo.ok("rename", "a-plan", "B plan", "--dry-run")["moves"]
    moves = repo.ok("rename", "a-plan", "B plan")["moves"]
    assert moves == preview == [{"from": f"{HOME}/2026-01-01_a-plan.md", "to": f"{HOME}/2026-01-01_b-plan.md"}]


def test_rename_to_a_name_that_is_taken_gets_a_number(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-01_scanner")
    assert repo.ok("rename", "2026-01-01_parser", "Scanner")["path"] == f"{HOME}/2026-01-01_scanner-2.md"


def test_edits_can_be_undone_after_a_rename(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2")
    repo.ok("rename", "parser", "Scanner")
    assert repo.ok("undo", "-p", "scanner")["said"][0].startswith("undone: rename, Scanner")
    assert repo.ok("undo", "-p", "parser")["said"][0].startswith("undone: done 2")
    assert (repo.path / HOME / "2026-01-01_parser.md").read_text() == CLEAN


@pytest.mark.parametrize(
    "heading", ["Build the parser\n================", "# Build the parser #", "#\tBuild the parser"]
)
def test_rename_in_any_heading(repo: Folder, heading: str) -> None:
    repo.plan(CLEAN.replace("# Build the parser", heading))
    data = repo.ok("rename", "parser", "Scan #")
    assert repo.ok("show", data["path"])["title"] == "Scan \\#"


def test_rename_of_an_archived_plan_is_refused(repo: Folder) -> None:
    repo.plan(FINISHED)
    repo.ok("archive")
    result = repo.run("rename", "parser", "Scanner", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "archived-plan")


@pytest.mark.parametrize(
    ("old", "title", "new"),
    [
        ("2026-01-01_build-the-parser", "Build the parser", "2026-01-01_scanner"),
        ("2026-01-01_parser", "Build the parser", "2026-01-01_scanner"),
        ("0012-build-the-parser", "Build the parser", "0012-scanner"),
        ("EP-0012-other-words", "Build the parser", "EP-0012-scanner"),
        ("FP-0112-build-the-parser", "Build the parser", "FP-0112-scanner"),
        ("execplan_build-the-parser", "Build the parser", "execplan_scanner"),
        ("parser", "", "scanner"),
        ("lz77_compress", "Other words", "scanner"),
        ("T012_compress", "Other words", "T012_scanner"),
        ("FP-0083-oss-demo", "FP-0083 - OSS Demo", "FP-0083-scanner"),
        ("2026-01-01-parser", "2026-01-01 Parser", "2026-01-01-scanner"),
        ("2026-01-01 some words, and more", "Build", "2026-01-01 scanner"),
    ],
)
def test_new_id(old: str, title: str, new: str) -> None:
    assert renamed_id(old, title, "Scanner") == new


def test_new_id_of_a_title_that_brings_the_number() -> None:
    assert renamed_id("FP-0083-oss-demo", "FP-0083 - OSS Demo", "FP-0083 - Scanner") == "FP-0083-scanner"


def test_what_was_moved_is_committed_later(repo: Folder) -> None:
    filed(repo)
    for arguments in (
        ["rename", "parser", "Build the reader"],
        ["archive", "reader"],
        ["restore", "reader"],
    ):
        path = repo.ok(*arguments)["path"]
        repo.ok("commit", path)
        repo.ok("commit", "scanner")
        assert repo.git("status", "--porcelain") == "", arguments
    repo.ok("rename", "reader", "Build one")
    repo.ok("rename", "build-one", "Build two")
    repo.ok("commit", "build-two")
    repo.ok("commit", "scanner")
    assert repo.git("status", "--porcelain") == ""


LINKS = with_sections(
    "## Context and Orientation\n\n"
    "[a](../execplans/2026-01-01_parser.md), [b](/.agent/execplans/2026-01-01_parser.md), "
    "./.agent/execplans/2026-01-01_parser.md and [c](<../../.agent/execplans/2026-01-01_parser.md#progress>);\n"
    "`git show HEAD:.agent/execplans/2026-01-01_parser.md`, https://example.org/2026-01-01_parser.md and\n"
    "[2026-01-01_parser.md](../docs/2026-01-01_parser.md) are something else.\n"
)


def test_paths_by_way_of_other_folders_follow(repo: Folder) -> None:
    repo.plan(FINISHED)
    path = repo.plan(LINKS, "2026-01-02_scanner")
    repo.ok("archive", "parser")
    archived = f"{HOME}/archive/2026-01-01_parser.md"
    before, after = LINKS.splitlines(), path.read_text().splitlines()
    line = f"[a](archive/2026-01-01_parser.md), [b](/{archived}), ./{archived} and "
    line += "[c](<archive/2026-01-01_parser.md#progress>);"
    assert [added for added in after if added not in before] == [line]
    repo.ok("restore", "parser")
    assert "[a](2026-01-01_parser.md), [b](/.agent/execplans/2026-01-01_parser.md)" in path.read_text()


def test_the_links_of_a_plan_lead_where_they_led(repo: Folder) -> None:
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.write("docs/the design.md", "x\n")
    repo.write(f"{ARTIFACTS}/run.log", "ok\n")
    links = (
        "[one](2026-01-02_scanner.md#progress), [two](../../docs/the%20design.md), [log](artifacts/2026-01-01_parser/run.log),"
        " [none](missing.md), [url](https://example.org/a.md), [here](#progress), [own](2026-01-01_parser.md)"
    )
    path = repo.plan(FINISHED.replace("Every command calls the reader first.", links))
    text = path.read_text()
    repo.ok("archive", "parser")
    moved = (repo.path / HOME / "archive" / path.name).read_text()
    assert moved == text.replace("(2026-01-02", "(../2026-01-02").replace("(../../docs", "(../../../docs")
    repo.ok("restore", "parser")
    assert path.read_text() == text


def test_commits_say_how_it_was_archived(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.ok("archive", "parser", "--force", "--reason", "Enough.", "--commit")
    assert repo.git("log", "-1", "--format=%s") == "plan(2026-01-01_parser): archive, by force: Enough.\n"
    repo.ok("restore", "parser", "--commit")
    assert repo.git("log", "-1", "--format=%s") == "plan(2026-01-01_parser): restore\n"
    repo.ok("archive", "parser", "--as", "superseded", "--by", "scanner", "--commit")
    assert repo.git("log", "-1", "--format=%s").endswith(": archive, superseded by 2026-01-02_scanner\n")


def test_an_archived_plan_is_found_by_the_path_that_it_left(repo: Folder) -> None:
    path = repo.plan(FINISHED)
    for name in (f"{HOME}/2026-01-01_parser.md", str(path)):
        assert repo.ok("archive", name)["path"] == f"{HOME}/archive/2026-01-01_parser.md"
    assert repo.run("done", "1", "-p", str(path)).exit == 1
    assert repo.run("archive", f"{HOME}/2026-01-01_lexer.md").exit == 3


def test_a_plan_without_a_heading_can_not_hold_the_reason(repo: Folder) -> None:
    path = repo.plan("Only words.\n")
    for arguments in (["revise", "Why."], ["archive", "--force", "--reason", "Why."]):
        result = repo.run(*arguments, "--json")
        assert (result.exit, result.json["error"]["code"]) == (3, "no-title")
    assert path.read_text() == "Only words.\n"


def test_a_restored_plan_whose_folder_held_only_evidence_is_restored_once(
    repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of a move when its plan has arrived is finished, however little there was to move."""
    path = repo.plan(FINISHED)
    repo.ok("archive")

    def broken(*arguments: object) -> None:
        raise ExecplanError("io-error", "a broken disk")

    project = project_discovery.find(str(repo.path))
    [ref] = plan_store.refs(project, archive=True)
    monkeypatch.setattr(plan_move, "update_references", broken)
    assert "a broken disk" in plan_archive.restore_plan(project, ref, WriteOptions()).warnings[0]
    assert (repo.path / ".git/execplan/move.json").exists()
    assert "is finished now" in repo.run("list").err
    assert path.read_text() == FINISHED
    assert not (repo.path / ".git/execplan/move.json").exists()


def test_claims_that_can_not_be_read_stop_no_move(repo: Folder) -> None:
    repo.plan(FINISHED)
    repo.ok("next", "parser", "--claim", "ann")
    (repo.path / ".git/execplan/claims.json").write_text("damaged")
    result = repo.run("archive", "parser", "--json")
    assert result.exit == 0
    assert "claims on the plan were not moved" in result.json["warnings"][0]
    assert repo.run("list").err == ""


def test_a_restore_that_fails_at_its_end_puts_the_evidence_back(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.plan(FINISHED)
    repo.ok("archive")
    before = tree(repo.path)

    def full(*arguments: object) -> None:
        raise ExecplanError("io-error", "no space left")

    project = project_discovery.find(str(repo.path))
    [ref] = plan_store.refs(project, archive=True)
    monkeypatch.setattr(journal_moves, "move_journal", full)
    with pytest.raises(ExecplanError, match="no space left"):
        plan_archive.restore_plan(project, ref, WriteOptions())
    assert tree(repo.path) == before
    assert not (repo.path / ".git/execplan/move.json").exists()


def test_a_plan_is_abandoned_and_restored_again_with_the_same_reason(repo: Folder) -> None:
    """Each archive and restore has a note of its own, so that the last one says which it is."""
    repo.plan()
    for _ in range(2):
        repo.ok("archive", "parser", "--as", "abandoned", "--reason", "No need")
        assert repo.run("doctor", "--json").json["data"]["findings"] == []
        assert repo.run("lint").exit == 0
        restored = repo.path / repo.ok("restore", "parser")["path"]
    notes = [line.rpartition(" - ")[2] for line in restored.read_text().splitlines() if "revision note" in line]
    assert notes == ["Archived as abandoned: No need", "Restored from the archive"] * 2


def test_files_with_the_name_of_a_plan_move_with_it(repo: Folder) -> None:
    repo.plan(FINISHED)
    names = ["2026-01-01_parser.json", "2026-01-01_parser.progress.md"]
    for name in names:
        repo.write(f"{HOME}/{name}", "text\n")
    other = repo.plan(CLEAN, "2026-01-01_parser.other")
    backup = repo.write(f"{HOME}/2026-01-01_parser.md.orig", "text\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    before = tree(repo.path)
    repo.ok("archive", "2026-01-01_parser")
    assert [(repo.path / HOME / "archive" / name).exists() for name in names] == [True, True]
    assert other.exists()
    assert backup.exists()
    repo.ok("undo")
    assert tree(repo.path) == before
    repo.ok("redo")
    repo.ok("commit", "2026-01-01_parser")
    assert repo.git("status", "--porcelain") == ""
    repo.ok("restore", "2026-01-01_parser")
    assert {name for name in tree(repo.path) if "evidence" not in name} == {*before}


def test_a_plan_that_shares_its_directory_moves_alone(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'layout = "folder"\n')
    for name, text in (("PLAN_haptics", CLEAN), ("TASK_haptics", FINISHED), ("NOTE_haptics", FINISHED)):
        repo.write(f"{HOME}/haptics/{name}.md", text)
    before = tree(repo.path)
    repo.ok("archive", "--complete")
    active = ["PLAN_haptics"]
    assert [plan["id"] for plan in repo.ok("list")["plans"]] == active
    assert [plan["id"] for plan in repo.ok("list", "--all")["plans"]] == [*active, "NOTE_haptics", "TASK_haptics"]
    repo.ok("undo")
    assert tree(repo.path) == before
    repo.ok("rename", "PLAN_haptics", "Turn it on")
    assert len(repo.ok("list")["plans"]) == 3
