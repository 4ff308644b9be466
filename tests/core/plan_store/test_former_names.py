"""A former name of a plan never selects another plan whose name it is a part of."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.dependencies.plan_files import plan_text

OLD, LONGER, NEW = "2026-01-01_build-the-parse", "2026-01-01_build-the-parser", "2026-01-01_read-lines"
REFUSAL = f"is a former name; the plan was renamed to {NEW}"


@pytest.fixture
def renamed(repo: Folder) -> Folder:
    """A renamed plan, and one whose ID begins with the former ID of the first."""
    repo.plan(CLEAN.replace("Build the parser", "Build the parse", 1), OLD)
    repo.plan(CLEAN, LONGER)
    _commit_all(repo)
    repo.ok("rename", OLD, "Read lines")
    return repo


def _commit_all(folder: Folder) -> None:
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "Plans")


def _commit_and_forget(folder: Folder) -> None:
    """Commit everything and remove the journals, which another clone does not have."""
    _commit_all(folder)
    shutil.rmtree(folder.path / ".git/execplan")


@pytest.mark.parametrize("name", [OLD, OLD.upper(), f"{OLD}.md", f".agent/execplans/{OLD}.md", "build-the-parse"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_former_name_is_refused_with_the_new_one(renamed: Folder, name: str, is_committed: bool) -> None:
    if is_committed:
        _commit_and_forget(renamed)
    for call in (["done", "2", "-p", name], ["show", name], ["archive", name, "--force", "--reason", "x"]):
        error = renamed.run(*call, "--json").json["error"]
        assert REFUSAL in error["message"], call
        assert (error["hint"], error["candidates"]) == (f"use the new name: {NEW}", [NEW]), call
    assert REFUSAL in renamed.run("done", "2", EXECPLAN_PLAN=name).err
    assert (renamed.path / f".agent/execplans/{LONGER}.md").read_text() == CLEAN


def test_renames_before_an_archive_count_too(renamed: Folder) -> None:
    _commit_and_forget(renamed)
    renamed.ok("rename", NEW, "Scan lines")
    _commit_and_forget(renamed)
    renamed.ok("archive", "scan-lines", "--force", "--reason", "Given up.")
    for name in (OLD, NEW):
        assert "renamed to 2026-01-01_scan-lines" in renamed.run("done", "2", "-p", name).err
    _commit_all(renamed)
    assert "renamed to 2026-01-01_scan-lines" in renamed.run("done", "2", "-p", OLD).err


def test_parts_of_names_and_the_history_of_a_former_name(renamed: Folder) -> None:
    _commit_all(renamed)
    assert renamed.ok("show", "build-the")["id"] == LONGER
    assert f"was: {OLD}" in renamed.run("log", OLD).out


def test_a_new_plan_takes_a_former_name(renamed: Folder) -> None:
    renamed.plan(CLEAN, OLD)
    assert renamed.ok("show", OLD)["id"] == renamed.ok("show", "build-the-parse")["id"] == OLD


def test_a_former_name_that_is_part_of_the_new_one_still_selects_the_plan(repo: Folder) -> None:
    repo.plan(CLEAN.replace("Build the parser", "Parser", 1), "2026-01-01_parser")
    repo.ok("rename", "parser", "Parser for lines")
    assert repo.ok("show", "2026-01-01_parser")["id"] == "2026-01-01_parser-for-lines"


@pytest.mark.parametrize("name", [OLD, "build-the-parse"])
def test_a_dependency_on_a_former_name_means_no_other_plan(renamed: Folder, name: str) -> None:
    _commit_all(renamed)
    renamed.plan(plan_text("C", f"Use it (needs {name}#1)", needs=name), "2026-01-02_c")
    message = f"depends on {name}: the plan was renamed to {NEW}"
    assert message in renamed.run("next", "2026-01-02_c").err
    findings = renamed.run("lint", "2026-01-02_c", "--json").json["data"]["findings"]
    assert any([f"the plan was renamed to {NEW}" in finding["message"] for finding in findings])
    assert LONGER not in renamed.run("graph", "2026-01-02_c").out
