"""The list of several projects: names, directories that are no projects, and projects that are already included."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery, user_settings
from execplan.core.project.project_list import list_all_projects, list_projects, unique_names
from execplan.core.project.project_state import lock, make_state_dir
from tests.several_projects import Neighbors, active
from tests.team.dependencies.plan_files import plan_text

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.core.project.project import Project

PART = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=3).filter(
    lambda part: part not in (".", "..")
)


@pytest.fixture
def neighbors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Neighbors:
    """Repositories, with a home directory of their own."""
    neighbors = Neighbors(tmp_path)
    monkeypatch.setenv("HOME", str(neighbors.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return neighbors


def project(path: Path) -> Project:
    """The project of a directory, as the current one."""
    return project_discovery.require(str(path))


@given(st.lists(st.lists(PART, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts)), unique=True))
def test_names_are_unique_ends_of_the_directories(directories: list[str]) -> None:
    names = unique_names(directories)
    assert all(directory.endswith(f"/{name}") for name, directory in zip(names, directories, strict=True))
    assert len(set(names)) == len(names)


def test_a_name_is_as_short_as_it_can_be() -> None:
    assert unique_names(["/a/x/app", "/b/x/app", "/b/lib", "/"]) == ["a/x/app", "b/x/app", "lib", "/"]


def test_only_the_current_project_can_be_written(neighbors: Neighbors) -> None:
    app, lib = neighbors.add("app", ui=active("ui")), neighbors.add("lib", ui=active("ui"))
    listed = list_projects([str(app.path), str(lib.path / ".agent")], project(app.path)).projects
    assert [(entry.origin.name, entry.project.is_read_only, entry.command_directory) for entry in listed] == [
        ("app", False, ""),
        ("lib", True, str(lib.path)),
    ]
    for write in (lambda: make_state_dir(listed[1].project, "locks"), lambda: lock(listed[1].project, "x", "test")):
        with pytest.raises(ExecplanError) as error:
            write()
        assert (error.value.code, error.value.exit) == ("other-project", 7)
        assert error.value.hint == f"work there: execplan -C {lib.path} status"
    assert not (lib.path / ".git/execplan").exists()


def test_what_is_no_project_does_not_hide_the_others(neighbors: Neighbors) -> None:
    lib = neighbors.add("lib", ui=active("ui"))
    bad = neighbors.add("bad")
    bad.write(".agent/execplan.toml", "no TOML\n")
    nested = neighbors.add("nested")
    nested.write(".agent/execplan.toml", 'homes = ["gone"]\n')
    (neighbors.directory / "empty").mkdir()
    (neighbors.directory / "file").write_text("x")
    paths = [str(neighbors.directory / name) for name in ("gone", "file", "empty", "bad", "nested", "lib")]
    listed = list_projects(paths, None)
    assert [entry.project.base for entry in listed.projects] == [str(lib.path)]
    expected = [
        "no such file or directory",
        "not a directory",
        "is not in an ExecPlan project",
        "execplan.toml",
        "gone",
    ]
    assert [part in problem for part, problem in zip(expected, listed.problems, strict=True)] == [True] * 5
    with pytest.raises(ExecplanError, match="no such file or directory") as error:
        list_projects(paths[:2], None)
    assert (error.value.code, error.value.exit, len(error.value.candidates)) == ("no-such-project", 3, 1)


def test_a_project_is_included_once(neighbors: Neighbors) -> None:
    app, lib = neighbors.add("app", ui=active("ui")), neighbors.add("lib", ui=active("ui"))
    app.git("worktree", "add", "-q", "../app-2")
    lib.write("part/.agent/execplans/x.md", plan_text("x", "A"))
    lib.write(".agent/execplan.toml", 'homes = ["part"]\n')
    os.symlink(lib.path, neighbors.directory / "link")
    paths = [str(neighbors.directory / name) for name in ("app", "lib", "link", "app-2", "lib/part")]
    listed = list_projects(paths, project(app.path))
    assert [entry.project.base for entry in listed.projects] == [str(app.path), str(lib.path)]
    assert listed.problems == ()
    assert [notice.split("/")[-1] for notice in listed.notices] == [
        "link is listed twice",
        "app, whose plans are already included",
        "lib, whose plans are already included",
    ]


def test_a_worktree_is_named_after_its_repository(neighbors: Neighbors) -> None:
    app = neighbors.add("app", ui=active("ui"))
    app.git("worktree", "add", "-q", "../elsewhere")
    (listed,) = list_projects([str(neighbors.directory / "elsewhere")], None).projects
    assert (listed.origin.name, os.path.basename(listed.origin.path)) == ("app", "elsewhere")


def test_the_list_in_the_settings_comes_after_the_current_project(neighbors: Neighbors) -> None:
    app, lib = neighbors.add("app", ui=active("ui")), neighbors.add("lib", ui=active("ui"))
    app.git("worktree", "add", "-q", "../app-2")
    neighbors.list_in_settings("../../../lib", str(app.path), "~/../gone")
    for current in (app.path, neighbors.directory / "app-2"):
        listed = list_all_projects(project(current))
        assert [entry.project.base for entry in listed.projects] == [str(current), str(lib.path)]
        assert [entry.project.is_read_only for entry in listed.projects] == [False, True]
        assert (len(listed.problems), listed.notices) == (1, ())
    assert [entry.project.base for entry in list_all_projects(None).projects] == [str(lib.path), str(app.path)]


@pytest.mark.parametrize("value", ["'x'", "[1]", "['']", "{ a = 'b' }", "true"])
def test_a_wrong_list_is_an_error(neighbors: Neighbors, value: str) -> None:
    neighbors.list_in_settings()
    with open(user_settings.path(), "w", encoding="utf-8") as file:
        file.write(f"projects = {value}\n")
    with pytest.raises(ExecplanError, match="projects must be a list of directories") as error:
        list_all_projects(None)
    assert (error.value.code, error.value.exit) == ("bad-setting", 3)


def test_an_empty_list_is_an_error(neighbors: Neighbors) -> None:
    with pytest.raises(ExecplanError) as error:
        list_all_projects(None)
    assert (error.value.code, error.value.exit) == ("no-projects-listed", 3)


def test_a_repository_lists_no_projects(neighbors: Neighbors) -> None:
    app = neighbors.add("app", ui=active("ui"))
    app.write(".agent/execplan.toml", 'projects = ["/"]\n')
    with pytest.raises(ExecplanError, match="names directories to read, which a repository can't do") as error:
        project(app.path)
    assert error.value.code == "loosened-policy"
