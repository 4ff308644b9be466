"""Settings are found where they are, and most files are not parsed to know that there are none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from execplan.errors import ExecplanError
from execplan.repo.adoption import settings_file
from execplan.repo.settings import Settings, load, may_have_table
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
        ('layout = "a/b.md"', "ends in .md"),
        ('name = "{number:x}_{slug}"', "width"),
        ('name = "{number:0400}_{slug}"', "width"),
        ('name = "{{x}}{slug}"', "brace"),
        ('name = "{slug}-{slug}-x"', "{slug} once"),
        ('name = "{number:02}{number}{slug}"', "{number} once"),
        ('name = "{hour}{slug}"', "{number}"),
        ('archive = "old/{hour}"', "{year}"),
        ('archive = "{year}/old"', "last folders"),
        ('archive = "old/{year}/more"', "last folders"),
        ('superseded = "../old"', "inside"),
        ('plans = ""', "inside"),
        ('homes = "packages/a"', "list of strings"),
        ("homes = [1]", "list of strings"),
        ('homes = ["../b"]', "inside"),
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
    path.write_bytes(settings_file.content(settings))
    found = load(str(tmp_path))
    assert found is not None
    assert found.settings == settings


def test_a_settings_file_that_is_too_large_is_refused(plain: Folder) -> None:
    plain.plan()
    plain.write(".agent/execplan.toml", "# x\n" * (1 << 18) + "unknown = 1\n")
    result = plain.run("list", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "too-large")
