"""Folders of artifacts without a plan, found when a whole home is checked."""

from __future__ import annotations

from tests.conftest import Folder
from tests.plans import CLEAN

AT = ".agent/execplans"


def orphan_paths(folder: Folder, *arguments: str) -> list[str]:
    """The folders that are reported."""
    data = folder.run("lint", "--json", *arguments).json["data"]
    return [finding["path"] for finding in data["findings"] if finding["code"] == "EP505"]


def test_folders_without_a_plan(repo: Folder) -> None:
    repo.plan()
    repo.write(f"{AT}/archive/2025-12-01_old.md", CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    for path in (
        "artifacts/2026-01-01_PARSER/run.log",  # some file systems know no case
        "artifacts/2025-12-01_old/run.log",  # left behind, but its plan is there
        "archive/artifacts/2025-12-01_old/run.log",
        "artifacts/2025-11-01_gone/run.log",
        "archive/artifacts/2025-11-02_gone/deep/run.log",
        "artifacts/shared/logo.png",
        "artifacts/2026-01-01.log",
        "artifacts/.2025/run.log",
    ):
        repo.write(f"{AT}/{path}", "x\n")
    (repo.path / AT / "artifacts/2025-11-03_empty").mkdir()
    assert orphan_paths(repo) == [f"{AT}/artifacts/2025-11-01_gone", f"{AT}/archive/artifacts/2025-11-02_gone"]
    assert orphan_paths(repo, f"{AT}/2026-01-01_parser.md") == []
    assert orphan_paths(repo, "--ignore", "EP505") == []
    result = repo.run("lint")
    assert (
        f"{AT}/artifacts/2025-11-01_gone:1:1 EP505 this is the artifacts directory of a plan that doesn't exist\n"
        in result.out
    )
    assert "2 warnings in 2 plans" in result.out
    assert result.exit == 0
    assert repo.run("lint", "--profile", "strict").exit == 1


def test_by_slug_every_folder_is_one_of_a_plan(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'name = "{slug}"\n')
    repo.plan(name="parser")
    for name in ("parser", "shared"):
        repo.write(f"{AT}/artifacts/{name}/run.log", "x\n")
    assert orphan_paths(repo) == [f"{AT}/artifacts/shared"]


def test_where_plans_lie_among_their_artifacts_there_is_nothing_to_find(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'layout = "folder"\n')
    repo.write(f"{AT}/2026-01-01_gone/run.log", "x\n")
    assert orphan_paths(repo) == []


def test_in_homes_below(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'homes = ["packages/app"]\n')
    repo.write(f"packages/app/{AT}/artifacts/2026-01-01_gone/run.log", "x\n")
    assert orphan_paths(repo) == [f"packages/app/{AT}/artifacts/2026-01-01_gone"]
