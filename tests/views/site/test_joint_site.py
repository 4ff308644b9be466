"""A site of several projects: a directory for each, links between them, and nothing of the machine's directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.several_projects import Neighbors, active, tree_state
from tests.views.site.html_safety import Page, check_page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

UI = "2026-01-01_ui"


@pytest.fixture
def neighbors(tmp_path: Path) -> Neighbors:
    """Repositories side by side."""
    return Neighbors(tmp_path)


@pytest.fixture
def app(neighbors: Neighbors) -> Folder:
    """A repository with a plan whose ID another one has, too."""
    neighbors.add("lib", ui=active("lib ui"))
    text = (
        active("app ui") + "\n## Context\n\nSee [the other](../../../lib/.agent/execplans/2026-01-01_ui.md#context).\n"
    )
    return neighbors.add("app", ui=text)


def read(site: Path, name: str) -> Page:
    """Check a page and return it."""
    return check_page((site / name).read_text("utf-8"))


def build(app: Folder, *names: str) -> Path:
    """Build the site of the projects with these names next to them."""
    options = [option for name in names for option in ("--project", f"../{name}")]
    app.ok("site", "--out", "../site", *options)
    return app.path.parent / "site"


def test_each_project_has_a_directory(app: Folder) -> None:
    site = build(app, "app", "lib")
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"charts.html"}
    plan_pages = {f"projects/{name}/plans/{UI}.html" for name in ("app", "lib")}
    assert pages == {"index.html", "decisions.html", "archive.html", *plan_pages}
    assert plan_pages <= read(site, "index.html").links().keys()
    for page in plan_pages:
        for target in read(site, page).links():
            path = os.path.normpath(os.path.join(site, os.path.dirname(page), target.partition("#")[0]))
            assert target.startswith("#") or os.path.exists(path), (page, target)


def test_links_lead_to_plans_of_other_projects(app: Folder) -> None:
    site = build(app, "app", "lib")
    page, link = f"projects/app/plans/{UI}.html", f"../../../projects/lib/plans/{UI}.html#section-context"
    assert link in read(site, page).links()
    assert not any(["lib" in target for target in read(build(app, "app"), page).links()])


def test_artifacts_and_secrets_are_treated_as_in_the_site_of_one(app: Folder, neighbors: Neighbors) -> None:
    secret = "ghp_" + "a1B2" * 9
    lib = neighbors.directory / "lib"
    artifacts = lib / f".agent/execplans/artifacts/{UI}"
    artifacts.mkdir(parents=True)
    (artifacts / "notes.txt").write_text(f"The token is {secret}.\n")
    (artifacts / ".env").write_text(f"TOKEN={secret}\n")
    plan = lib / f".agent/execplans/{UI}.md"
    plan.write_text(plan.read_text() + f"\n## Notes\n\nThe token is {secret}.\n")
    site = build(app, "app", "lib")
    assert (site / f"projects/lib/files/{UI}/notes.txt").read_text() == "The token is [redacted].\n"
    for path in site.rglob("*"):
        if path.is_file():
            content = path.read_text()
            assert secret not in content, path
            assert str(neighbors.directory) not in content, path


def test_nothing_is_written_twice_and_pages_of_removed_projects_vanish(app: Folder) -> None:
    site = build(app, "app", "lib")
    before = tree_state(site)
    build(app, "app", "lib")
    assert tree_state(site) == before
    build(app, "app")
    assert not (site / "projects/lib").exists()


def test_a_site_is_never_in_another_project(app: Folder, neighbors: Neighbors) -> None:
    before = tree_state(neighbors.directory / "lib")
    for directory in ("../lib/site", "../lib/.agent/site", "../lib/.git/site"):
        error = app.run("site", "--out", directory, "--project", "../lib", "--json").json["error"]
        assert (error["code"], error["exit"]) == ("not-a-site", 3), directory
    assert app.run("site", "--project", "../lib").exit == 2
    assert tree_state(neighbors.directory / "lib") == before


@pytest.mark.parametrize("names", [["lib", "LIB"], ["a b", "a?b"], ["x\ny", "<b>"], ["work/lib", "play/lib"]])
def test_names_of_projects_become_different_directories(neighbors: Neighbors, app: Folder, names: list[str]) -> None:
    for name in names:
        if name != "lib":
            neighbors.add(name, ui=active("ui"))
    site = build(app, *names)
    directories = os.listdir(site / "projects")
    assert len({name.casefold() for name in directories}) == 2
    assert all([(site / "projects" / name / f"plans/{UI}.html").exists() for name in directories])
    read(site, "index.html")


def test_a_project_that_can_not_be_read_does_not_hide_the_others(app: Folder, neighbors: Neighbors) -> None:
    claims = neighbors.directory / "lib/.git/execplan/claims.json"
    claims.parent.mkdir()
    claims.write_text("{")
    result = app.run("site", "--out", "../site", "--project", ".", "--project", "../lib")
    assert (result.exit, "lib: " in result.err) == (1, True)
    assert (neighbors.directory / f"site/projects/app/plans/{UI}.html").exists()
