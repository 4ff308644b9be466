"""Paths that a plan names: whatever they are, git's history is read, and only files of the repository are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.team.staleness.dated_repository import SETTINGS, add_plan, commit, make_plan, stale

if TYPE_CHECKING:
    from tests.conftest import Folder

PATHS = (
    *("../other/src/types.rs", "../src/old.py", "a/../../x.py", "a/../..", "../..", "/etc/passwd", "././/etc/passwd"),
    *("~/x.rs", ":(bad)/x.rs", ":!a/b.py", ":/x.py", "a/**/[x.py", "-f/x.py", "--all/x.py", "^main/x.py", "HEAD:x.py"),
    *(".git/config", "link/x.py", "link/../x.py", "a\tb/x.py", "a\u2028b/x.py", "x/./y/../z.py"),
)


def read_files(*paths: str) -> str:
    """A section that cites files."""
    return "## Context and Orientation\n\n" + "".join([f"Read `{path}`.\n" for path in paths])


@pytest.fixture
def linked(repo: Folder) -> Folder:
    """A repository with a file that is deleted later, and a link that leads out of it."""
    repo.write(".agent/execplan.toml", SETTINGS)
    repo.write("src/old.py", "x = 1\n")
    (repo.path / "link").symlink_to("/usr")
    return repo


@pytest.mark.parametrize("path", PATHS)
def test_no_path_stops_a_command(linked: Folder, path: str) -> None:
    """The deleted file is reported too: the paths of one plan don't keep others from being checked."""
    add_plan(linked, "01-names", make_plan("Name it", "- [ ] Do it.\n", read_files(path)))
    add_plan(linked, "02-drifted", make_plan("Drift", "- [ ] Do it.\n", read_files("src/old.py")))
    commit(linked, "2025-12-30", "Plans")
    (linked.path / "src/old.py").unlink()
    commit(linked, "2025-12-31", "Delete it")
    assert {name: finding["kind"] for name, finding in stale(linked).items()} == {"02-drifted": "drifted"}
    assert linked.run("lint", "--select", "EP513").exit == 0


def test_shipped_paths_outside_the_repository_are_skipped(linked: Folder) -> None:
    """They are no promised files, so the plan is delivered without them."""
    front = "links:\n  pr: '#12'\n  shipped: [src/old.py, a/../../x.py]\n"
    add_plan(linked, "01-shipped", make_plan("Ship it", "- [ ] Do it.\n", front=front))
    commit(linked, "2025-12-30", "Plans")
    commit(linked, "2025-12-31", "Ship it (#12)")
    assert stale(linked)["01-shipped"]["kind"] == "shipped but not checked off"


def test_a_path_from_a_nested_project_is_resolved_from_the_root(repo: Folder) -> None:
    repo.write("svc/api/.agent/execplan.toml", "")
    plan = make_plan("Read", "- [ ] Do it.\n", read_files("../../lib/x.py", "../../../lib/x.py"))
    repo.write("svc/api/.agent/execplans/01-reads.md", plan)
    repo.write("lib/x.py", "x = 1\n")
    commit(repo, "2025-12-30", "Plans")
    (repo.path / "lib/x.py").unlink()
    digest = commit(repo, "2025-12-31", "Delete it")
    result = repo.run("doctor", "--stale", "--json", cwd=repo.path / "svc/api")
    (finding,) = result.json["data"]["findings"]
    assert f"../../lib/x.py was deleted by {digest[:10]} Delete it" in finding["message"]
    assert "../../../lib" not in finding["message"]
