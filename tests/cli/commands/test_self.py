"""`self check`: what is installed, and whether the state of a project is known."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import execplan
from execplan.core.installation import EXTRAS
from tests.conftest import Folder
from tests.plans import CLEAN

ROOT = Path(__file__).resolve().parents[3]


def test_it_works_without_a_project(plain: Folder) -> None:
    data = plain.ok("self", "check")
    assert data["version"] == execplan.__version__
    assert data["state_format"] is None
    assert plain.run("self").out == plain.run("self", "check").out
    assert plain.run("self", "update").exit == 2


def test_each_extra_is_known() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert {*EXTRAS, "all"} == extras.keys()
    assert extras["all"] == [f"execplan[{','.join(EXTRAS)}]"]
    distributions = packages_distributions()
    for name, package in EXTRAS.items():
        names = {distribution.lower().replace("_", "-") for distribution in distributions[package]}
        assert any(requirement.startswith(tuple(names)) for requirement in extras[name]), name


def test_a_newer_format_of_the_state_stops_every_writer(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    assert repo.ok("self", "check")["state_format"] == 1
    repo.write(".git/execplan/format", "2\n")
    result = repo.run("done", "2", "--json")
    assert (result.exit, result.json["error"]["code"]) == (6, "newer-state")
    assert "execplan self check" in result.json["error"]["hint"]
    assert path.read_text() == CLEAN
    assert repo.run("next").exit == 0
    checked = repo.run("self", "check")
    assert (checked.exit, "knows only 1" in checked.out) == (1, True)
    assert "newer execplan" in repo.run("doctor").out
