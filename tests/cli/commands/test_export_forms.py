"""`export` to the forms of other programs: printed, or written to files that are not overwritten by accident."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

TEXT_FORMS = ("markdown", "json", "html", "github-issues", "superpowers")


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_text_is_printed_and_nothing_is_written(repo: Folder, form: str) -> None:
    path = repo.plan()
    result = repo.run("export", "--to", form)
    assert (result.exit, result.err) == (0, "")
    assert "Build the parser" in result.out
    data = repo.ok("export", "--to", form)
    assert (data["content"], data["losses"], data["to"]) == (result.out, [], form)
    assert path.read_text() == CLEAN
    assert repo.git("status", "--short", "--", ".agent").strip() in ("", "?? .agent/")


def test_losses_are_warnings_and_part_of_json(repo: Folder) -> None:
    repo.plan(with_sections("## Progress\n\n- [~] Read\n- [ ] Write\n"))
    result = repo.run("export", "--to", "github-issues")
    assert result.err == "execplan: warning: github-issues: in progress becomes open: 'Read'\n"
    json.loads(result.out)
    document = repo.run("export", "--to", "github-issues", "--json").json
    assert document["data"]["losses"] == ["in progress becomes open: 'Read'"]


@pytest.mark.parametrize("form", [*TEXT_FORMS, "docx"])
def test_a_file_with_other_content_is_replaced_only_by_force(repo: Folder, form: str) -> None:
    repo.plan()
    file = repo.write("out/file", "mine\n")
    result = repo.run("export", "--to", form, "--out", "out/file", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "not-an-export")
    assert file.read_text() == "mine\n"
    assert repo.ok("export", "--to", form, "--out", "out/file", "--force")["changed"] is True
    assert repo.ok("export", "--to", form, "--out", "out/file")["changed"] is False
    new = repo.ok("export", "--to", form, "--out", "new/deep/file", "--dry-run")
    assert new["changed"] is False
    assert not (repo.path / "new").exists()


@pytest.mark.parametrize("form", ["backlog", "openspec"])
def test_a_form_of_several_files_needs_a_directory(repo: Folder, form: str) -> None:
    repo.plan()
    assert repo.run("export", "--to", form).exit == 2
    preview = repo.run("export", "--to", form, "--out", "other", "--dry-run")
    assert (preview.exit, preview.out.count("would write other/")) == (0, preview.out.count("--- /dev/null\n"))
    assert not (repo.path / "other").exists()
    data = repo.ok("export", "--to", form, "--out", "other")
    assert data["files"]
    assert all((repo.path / path).is_file() for path in data["files"])
    assert repo.ok("export", "--to", form, "--out", "other")["changed"] is False


def test_a_change_of_one_file_stops_all(repo: Folder) -> None:
    repo.plan()
    files = repo.ok("export", "--to", "backlog", "--out", ".")["files"]
    (repo.path / files[-1]).write_text("mine\n")
    (repo.path / files[0]).unlink()
    assert repo.run("export", "--to", "backlog", "--out", ".").exit == 1
    assert not (repo.path / files[0]).exists()


def test_a_commit_has_the_files_only(repo: Folder) -> None:
    repo.plan()
    data = repo.ok("export", "--to", "html", "--out", "parser.html", "--commit")
    assert repo.git("show", "--name-only", "--format=").split() == ["parser.html"]
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("--to", "docx"), 2, "--out plan.docx"),
        (("--to", "html", "--out", "src"), 2, "src is a directory"),
        (("--to", "html", "--out", ".git/a.html"), 2, ".git/a.html"),
        (("--to", "html", "--out", ""), 2, "--out requires"),
        (("--to", "html", "--dry-run"), 2, "--out"),
        (("--to", "html", "--force"), 2, "--out"),
        (("--to", "make", "--out", "m", "--force"), 2, "--force"),
        (("--to", "word"), 2, "markdown"),
        (("--to", "html", "--out", "../a.html", "--commit"), 7, "outside"),
    ],
)
def test_wrong_arguments(repo: Folder, arguments: tuple[str, ...], status: int, text: str) -> None:
    repo.plan()
    repo.write("src/a.py", "")
    result = repo.run("export", *arguments)
    assert result.exit == status, result
    assert text in result.err


def test_secrets_are_masked(repo: Folder) -> None:
    secret = "AKIA" + "Q3EGRCW7T5ZLM2XB"
    repo.plan(with_sections(f"## Progress\n\n- [ ] Use {secret}\n"))
    for form in TEXT_FORMS:
        result = repo.run("export", "--to", form)
        assert secret not in result.out
        assert "secrets are masked" in result.err


def test_an_archived_plan_and_one_in_another_form_can_be_exported(repo: Folder) -> None:
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", CLEAN)
    assert "Build the parser" in repo.run("export", "parser", "--to", "markdown").out
    repo.write("openspec/changes/add-login/tasks.md", "## 1. Work\n\n- [ ] 1.1 Read\n")
    assert "1.1 Read" in repo.run("export", "openspec/changes/add-login/tasks.md", "--to", "superpowers").out
