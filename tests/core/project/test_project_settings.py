"""Settings are found where they are, and most files are not parsed to know that there are none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.project import settings_file
from execplan.core.project.project_settings import Settings, load, may_have_table
from execplan.core.project.setting_forms import fill
from tests.conftest import Folder


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("[tool.execplan]\ncommit = true\n", True),
        ("[ tool . execplan ]\n", True),
        ('[tool."execplan"]\n', True),
        ("[tool]\nexecplan = {commit = true}\n", True),
        ("tool.execplan.commit = true\n", True),
        ("[tool]\n'execplan'.commit = true\n", True),
        ('[project]\nname = "execplan"\n', False),
        ('[project.scripts]\nexecplan = "execplan.cli.main:main"\n[tool.mypy]\nfiles = ["execplan"]\n', False),
        ("[tool.ruff]\n", False),
    ],
)
def test_may_have_table(text: str, may: bool) -> None:
    assert may_have_table(text.encode()) is may
    assert may or "execplan" not in tomllib.loads(text).get("tool", {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('layout = "nested"', "ends in .md"),
        ('worktrees = "/srv/trees"', "next to"),
        ('worktrees = "../trees"', "../{repository}"),
        ('worktrees = "../{repository}"', "../{repository}"),
        ('worktrees = "../../{repository}.trees"', "../{repository}"),
        ('worktrees = "../{repository}.trees/../../.ssh"', "../{repository}"),
        ('worktrees = ".git/trees"', "../{repository}"),
        ('worktrees = "trees/{id}"', "only the fields {repository}"),
        ('worktree_branch = "plans"', "{slug} or {id}"),
        ('worktree_branch = "a..{slug}"', "branch name"),
        ('worktree_branch = "{slug}.lock"', "branch name"),
        ('worktree_branch = "/{slug}"', "branch name"),
        ('worktree_branch = "my plan {slug}"', "branch name"),
        ('worktree_branch = "{date}/{slug}"', "{slug}, {id}"),
        ('layout = "a/b.md"', "ends in .md"),
        ('name = "{number:x}_{slug}"', "width"),
        ('name = "{number:0400}_{slug}"', "width"),
        ('name = "{{x}}{slug}"', "brace"),
        ('name = "{slug}-{slug}-x"', "{slug} only once"),
        ('name = "{number:02}{number}{slug}"', "{number} only once"),
        ('name = "{hour}{slug}"', "{number}"),
        ('archive = "old/{hour}"', "{year}"),
        ('archive = "{year}/old"', "last directories"),
        ('archive = "old/{year}/more"', "last directories"),
        ('superseded = "../old"', "inside"),
        ('plans = ""', "inside"),
        ('archive = ".agent/execplans"', "is the directory of the plans"),
        ('plans = "docs/plans"\nsuperseded = "docs/plans"', "is the directory of the plans"),
        ('homes = "packages/a"', "list of strings"),
        ("homes = [1]", "list of strings"),
        ('homes = ["../b"]', "inside"),
        ('plans = "a\\u0000b"', "NUL character"),
        ('message = "a\\u0000b"', "NUL character"),
        ('[lint]\nignore = ["a\\u0000"]', "NUL character"),
        ('[lint.paths]\n"a\\u0000b" = {ignore = ["EP1"]}', "NUL character"),
        ('homes = ["a\\u001bb"]', "control characters"),
        ('plans = "a\\nb"', "control characters"),
        ('template = "a\\u007fb"', "control characters"),
        (f'plans = "{"a/" * 5000}b"', "at most 1024 bytes"),
        (f'message = "{"a" * 2000}"', "at most 1024 bytes"),
        (f'archive = "{"a/" * 40}b"', "at most 32 directories"),
        (f'homes = ["{"a/" * 40}b"]', "at most 32 directories"),
        (f'guide = "docs/{"a" * 300}.md"', "a name of more than 200 bytes"),
        ('message = "{verb.__class__.__mro__}"', "can contain only the fields"),
        ('message = "{verb!r}"', "can contain only the fields"),
        ('message = "{summary:>50}"', "can contain only the fields"),
        ('message = "{0}"', "can contain only the fields"),
        ('message = "{"', "can contain only the fields"),
        ('message = "}"', "can contain only the fields"),
        ('archive = "x/{year.__class__}"', "can contain only the fields"),
        ('name = "{date.__class__}_{slug}"', "can contain only the fields"),
    ],
)
def test_a_value_that_is_none(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / ".agent/execplan.toml"
    path.parent.mkdir()
    path.write_text(text + "\n")
    with pytest.raises(ExecplanError) as refused:
        load(str(tmp_path))
    assert refused.value.code == "bad-setting"
    assert words in refused.value.message


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    settings = Settings(
        plans='docs/"a" b/active',
        archive="docs/old/{year}/{month}",
        superseded="docs/given up",
        layout="ExecPlan.md",
        name="EP-{day}-{number:03}_{slug}",
        homes=("packages/a", "b"),
        commit=True,
        stalled_days=3,
    )
    path = tmp_path / ".agent/execplan.toml"
    path.parent.mkdir()
    path.write_bytes(settings_file.render_settings(settings))
    loaded = load(str(tmp_path))
    assert loaded is not None
    assert loaded.settings == settings


def test_a_settings_file_that_is_too_large_is_refused(plain: Folder) -> None:
    plain.plan()
    plain.write(".agent/execplan.toml", "# x\n" * (1 << 18) + "unknown = 1\n")
    result = plain.run("list", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "too-large")


@pytest.mark.parametrize(
    ("text", "words"),
    [(f"commit = {'[' * 3000}{']' * 3000}", "nested too deeply"), (f"stalled_days = {'9' * 5000}", "digits")],
)
def test_what_is_no_toml(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / ".agent/execplan.toml"
    path.parent.mkdir()
    path.write_text(text + "\n")
    with pytest.raises(ExecplanError, match=words) as refused:
        load(str(tmp_path))
    assert refused.value.code == "bad-toml"


@pytest.mark.parametrize("size", [1000, 3000, 20_000])
def test_a_nested_document_is_an_error_wherever_settings_are_read(plain: Folder, size: int) -> None:
    plain.plan()
    deep = f"x = {'[' * size}{']' * size}\n"
    for file in (".agent/execplan.toml", "pyproject.toml", "../.config/execplan/config.toml"):
        path = plain.write(file, f"[tool.execplan]\n{deep}")
        for command in ("list", "lint", "doctor", "new"):
            result = plain.run(command, *(["A title"] if command == "new" else []))
            assert result.exit in ((0, 1, 3) if "config" in file or command == "doctor" else (3,)), result
            assert "bug" not in result.err
        path.unlink()


def test_no_directory_is_made_for_a_path_that_is_too_deep(plain: Folder) -> None:
    plain.write("README.md", "Read me.\n")
    plain.write(".agent/execplan.toml", f'plans = "{"a/" * 1000}"\n')
    for call in (["new", "A title"], ["init"], ["list"]):
        assert plain.run(*call).exit == 3
    assert not (plain.path / "a").exists()
    (plain.path / ".agent/execplan.toml").unlink()
    assert plain.run("init", "--plans", "a/" * 1000).exit != 0
    assert not (plain.path / "a").exists()


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("plan({id}): {summary}", "plan(x): {verb} {id.y}"),
        ("{{{id}}} {n:03}", "{x} 007"),
        ("none", "none"),
        ("", ""),
    ],
)
def test_fields_are_filled_in_and_nothing_is_evaluated(form: str, text: str) -> None:
    assert fill(form, {"id": "x", "summary": "{verb} {id.y}", "n": 7}) == text


@pytest.mark.parametrize(
    "form", ["{", "}", "{id", "id}", "{}", "{n.real}", "{id[0]}", "{id!s}", "{id:>9}", "{n:x}", "{ id}"]
)
def test_what_is_no_field(form: str) -> None:
    with pytest.raises(ValueError, match=r"^.*$"):
        fill(form, {"id": "x", "n": 7})


def test_a_commit_message_with_fields(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", 'message = "{verb} {{of}} {id}: {summary} ({title})"\n')
    repo.ok("add", "Handle {id.__class__}", "--commit")
    subject = repo.git("log", "-1", "--format=%s").strip()
    assert subject.startswith("add {of} 2026-01-01_parser: ")
    assert "{id.__class__}" in subject
    assert subject.endswith("(Build the parser)")
