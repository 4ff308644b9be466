"""What rules may ask of the files around a plan, answered from real folders and repositories."""

from __future__ import annotations

import json

import pytest

from execplan.core.clock import current_minute
from execplan.core.git import git_query
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.linter.checking import repository_trees
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.rule_facts import RepositoryTree
from tests.conftest import Folder
from tests.plans import CLEAN


def tree_of(folder: Folder, *, staged: bool = False) -> RepositoryTree:
    """What a plan of the folder's home may ask."""
    return RepositoryTrees(is_staged=staged).tree_for(project_discovery.find(str(folder.path)))


@pytest.mark.parametrize("fixture", ["plain", "repo"])
def test_has_looks_below_the_root_and_nowhere_else(fixture: str, request: pytest.FixtureRequest) -> None:
    folder: Folder = request.getfixturevalue(fixture)
    folder.plan()
    folder.write("src/deep/reader.py", "")
    folder.write("../outside/secret", "")
    (folder.path / "out").symlink_to("../outside")
    (folder.path / "dangling").symlink_to("nowhere")
    (folder.path / "inside").symlink_to("src")
    has = tree_of(folder).has_path
    for path in ("src", "src/", "./src/deep", "src/deep/reader.py", "src/../src/deep", ".", "out", "dangling"):
        assert has(path), path
    assert has("inside/deep/reader.py")
    for path in ("", "..", "../outside", "../outside/secret", "src/../../outside", "out/secret", "/", "/etc/passwd"):
        assert not has(path), path
    for path in (str(folder.path), ".git", ".git/HEAD", "src/.git/../deep", "src\0", "src/reader.py", "x" * 5000):
        assert not has(path), path


def test_ends_is_what_git_tracks(repo: Folder) -> None:
    repo.write("packages/app/src/reader.py", "")
    repo.write("packages/app/src/ütf \n8.py", "")
    repo.git("add", "-A")
    repo.write("packages/app/src/untracked.py", "")
    ends = tree_of(repo).has_path_suffix
    for path in ("reader.py", "src/reader.py", "app/src", "app/src/", "packages", "packages/app/src/reader.py"):
        assert ends(path), path
    assert ends("src/ütf \n8.py")
    for path in ("eader.py", "rc/reader.py", "untracked.py", "Reader.py", "reader", "packages/src", "x/packages"):
        assert not ends(path), path


def test_without_git_ends_is_what_a_bounded_walk_finds(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    plain.plan()
    for path in ("src/reader.py", "node_modules/x/left.js", ".venv/lib/site.py"):
        plain.write(path, "")
    ends = tree_of(plain).has_path_suffix
    assert ends("src/reader.py")
    assert not ends("left.js")
    assert not ends("site.py")
    monkeypatch.setattr(repository_trees, "MAX_WALKED_FILES", 0)
    assert tree_of(plain).has_path_suffix("of a tree that is too large nothing is said to be missing")


def test_where_git_is_not_installed_the_disk_is_walked(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert tree_of(repo).has_path_suffix("README.md")


def test_git_is_asked_once_in_a_run(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = git_query.tracked_files

    def counted(project: Project) -> list[str]:
        calls.append(project)
        return real(project)

    monkeypatch.setattr(git_query, "tracked_files", counted)
    trees, project = RepositoryTrees(), project_discovery.find(str(repo.path))
    assert [trees.tree_for(project).has_path_suffix(name) for name in ("README.md", "x", "README.md")] == [
        True,
        False,
        True,
    ]
    assert len(calls) == 1


def test_each_plan_keeps_its_own_questions(repo: Folder) -> None:
    trees, project = RepositoryTrees(), project_discovery.find(str(repo.path))
    one, two = trees.tree_for(project), trees.tree_for(project)
    assert one.has_path("README.md")
    assert not two.has_path("src")
    assert one.answers == {("has", "README.md"): True}
    assert two.answers == {("has", "src"): False}


def test_the_same_id_elsewhere_in_the_home(repo: Folder) -> None:
    repo.plan(name="2026-01-01_parser")
    repo.plan(name="2026-01-02_other")
    repo.plan(name="2026-01-03_ü")
    for name in ("2026-01-01_Parser", "2026-01-03_u\u0308"):
        repo.write(f".agent/execplans/archive/{name}.md", CLEAN)
    same_id_plan = tree_of(repo).plan_with_same_id
    at = ".agent/execplans/{}.md".format
    assert same_id_plan(at("2026-01-01_parser")) == at("archive/2026-01-01_Parser")
    assert same_id_plan(at("archive/2026-01-01_Parser")) == at("2026-01-01_parser")
    assert same_id_plan(at("2026-01-03_ü")) == at("archive/2026-01-03_u\u0308")
    assert same_id_plan(at("2026-01-02_other")) == ""
    assert same_id_plan("docs/2026-01-01_parser.md") == ""  # a copy elsewhere is no plan of the home


def test_a_plan_that_is_named_through_a_link_is_itself(repo: Folder) -> None:
    repo.plan()
    (repo.path.parent / "way-in").symlink_to(repo.path)
    path = repo.path.parent / "way-in/.agent/execplans/2026-01-01_parser.md"
    assert tree_of(repo).plan_with_same_id(str(path)) == ""


def test_staged_takes_the_index_for_what_is_there(repo: Folder) -> None:
    repo.plan()
    path = repo.write("src/new.py", "")
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", CLEAN)
    repo.git("add", "-A")
    path.unlink()
    (repo.path / ".agent/execplans/archive/2026-01-01_parser.md").unlink()
    repo.write("untracked.py", "")
    plan = ".agent/execplans/2026-01-01_parser.md"
    disk, index = tree_of(repo), tree_of(repo, staged=True)
    assert (disk.has_path("src/new.py"), index.has_path("src/new.py"), index.has_path("src")) == (False, True, True)
    assert index.has_path("untracked.py")  # as a lint of the disk says
    assert not index.has_path("src/newer.py")
    assert (disk.plan_with_same_id(plan), index.plan_with_same_id(plan)) == (
        "",
        ".agent/execplans/archive/2026-01-01_parser.md",
    )
    repo.git("rm", "-q", "--cached", ".agent/execplans/archive/2026-01-01_parser.md")
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", CLEAN)
    assert tree_of(repo, staged=True).plan_with_same_id(plan) == ""


def test_evidence_tells_what_a_plan_was(repo: Folder) -> None:
    repo.plan(CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    archived = repo.ok("archive", "parser")
    path: str = archived["path"]
    assert tree_of(repo).archived_digest(path) == digest((repo.path / path).read_bytes())
    file = repo.path / archived["evidence"]
    evidence = json.loads(file.read_text())
    for wrong in ("{", "[]", json.dumps({**evidence, "id": "another"})):
        file.write_text(f'{{"schema": "execplan/evidence/1"{wrong[1:]}' if wrong[0] == "{" else wrong)
        assert tree_of(repo).archived_digest(path) == ""
    assert tree_of(repo).archived_digest(".agent/execplans/archive/none.md") == ""


def test_the_minute_is_that_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225659")
    assert current_minute() == 1767225600 // 60
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert current_minute() > 1767225600 // 60


def test_a_file_that_lies_nowhere_has_nothing_around_it(plain: Folder) -> None:
    from execplan.core.plan_store import plan_store
    from execplan.linter.checking.plan_check import CheckOptions, make_rule_context

    path = plain.write("plan.md", CLEAN)
    project = project_discovery.find(str(plain.path))
    assert make_rule_context(project, plan_store.ref_for_path(project, str(path)), CheckOptions()).tree is None
