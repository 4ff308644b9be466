"""Repositories that keep plans already: recognised, set up, and worked in, with nothing moved."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import find_corpus
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder

COMPLETE_PLAN = with_sections("## Progress\n\n- [x] (2025-12-30 09:15Z) Read lines.\n")
INIT_FILES = {".agent/execplan.toml", ".agent/PLANS.md"}


class Layout(NamedTuple):
    """A repository that keeps plans: the first is open, the second done, the third archived."""

    paths: tuple[str, str, str]
    ids: tuple[str, str, str]
    new: str
    """Where a plan goes that is called `Write the reader`."""
    archived: str
    """Where the second goes."""
    also: tuple[str, ...] = ()
    """Archived, too."""


LAYOUTS = {
    "exec-plans": Layout(
        ("docs/exec-plans/active/a.md", "docs/exec-plans/active/b.md", "docs/exec-plans/completed/c.md"),
        ("a", "b", "c"),
        "docs/exec-plans/active/write-the-reader.md",
        "docs/exec-plans/completed/b.md",
    ),
    "flat with completed": Layout(
        ("docs/execplans/execplan_a.md", "docs/execplans/execplan_b.md", "docs/execplans/completed/execplan_c.md"),
        ("execplan_a", "execplan_b", "execplan_c"),
        "docs/execplans/execplan_write-the-reader.md",
        "docs/execplans/completed/execplan_b.md",
    ),
    "numbered": Layout(
        ("docs/execplans/active/0012-a.md", "docs/execplans/active/0003-b.md", "docs/execplans/completed/0001-c.md"),
        ("0012-a", "0003-b", "0001-c"),
        "docs/execplans/active/0013-write-the-reader.md",
        "docs/execplans/completed/0003-b.md",
    ),
    "plans": Layout(
        ("plans/FP-0112-a.md", "plans/FP-0111-b.md", "plans/archive/FP-0001-c.md"),
        ("FP-0112-a", "FP-0111-b", "FP-0001-c"),
        "plans/FP-0113-write-the-reader.md",
        "plans/archive/FP-0111-b.md",
    ),
    "superseded": Layout(
        ("execplans/active/a.md", "execplans/active/b.md", "execplans/completed/c.md"),
        ("a", "b", "c"),
        "execplans/active/write-the-reader.md",
        "execplans/completed/b.md",
        ("execplans/superseded/d.md",),
    ),
    "agent plans": Layout(
        (".agent/plans/2026-01-01-a.md", ".agent/plans/2026-01-02-b.md", ".agent/plans/archive/2025-01-01-c.md"),
        ("2026-01-01-a", "2026-01-02-b", "2025-01-01-c"),
        ".agent/plans/2026-01-01-write-the-reader.md",
        ".agent/plans/archive/2026-01-02-b.md",
    ),
    "agents done": Layout(
        (".agents/execplans/a b, c.md", ".agents/execplans/b (KO).md", ".agents/done/c.md"),
        ("a b, c", "b (KO)", "c"),
        ".agents/execplans/write-the-reader.md",
        ".agents/done/b (KO).md",
    ),
    "agents exec-plans": Layout(
        (".agents/exec-plans/active/a.md", ".agents/exec-plans/active/b.md", ".agents/exec-plans/completed/c.md"),
        ("a", "b", "c"),
        ".agents/exec-plans/active/write-the-reader.md",
        ".agents/exec-plans/completed/b.md",
    ),
    "folders": Layout(
        (
            ".agent/exec_plans/active/EP-002_a/EP-002_a.md",
            ".agent/exec_plans/active/EP-003_b/EP-003_b.md",
            ".agent/exec_plans/archive/EP-001_c/EP-001_c.md",
        ),
        ("EP-002_a", "EP-003_b", "EP-001_c"),
        ".agent/exec_plans/active/EP-004_write-the-reader/EP-004_write-the-reader.md",
        ".agent/exec_plans/archive/EP-003_b/EP-003_b.md",
    ),
    "folders by day": Layout(
        (
            ".agent/exec_plans/active/EP-20251230-001_a/EP-20251230-001_a.md",
            ".agent/exec_plans/active/bb/EP-20251230-002_bb.md",
            ".agent/exec_plans/complete/2025/12/21/EP-20251221-001_c/EP-20251221-001_c.md",
        ),
        ("EP-20251230-001_a", "EP-20251230-002_bb", "EP-20251221-001_c"),
        ".agent/exec_plans/active/EP-20260101-001_write-the-reader/EP-20260101-001_write-the-reader.md",
        ".agent/exec_plans/complete/2026/01/01/EP-20251230-002_bb/EP-20251230-002_bb.md",
    ),
    "epics": Layout(
        ("docs/epics/a/ExecPlan.md", "docs/epics/control-plane/ExecPlan.md", "docs/epics/archive/c/ExecPlan.md"),
        ("a", "control-plane", "c"),
        "docs/epics/write-the-reader/ExecPlan.md",
        "docs/epics/archive/control-plane/ExecPlan.md",
    ),
    "docs plans": Layout(
        ("docs/plans/2026-01-01-a.md", "docs/plans/2026-01-01-b.md", "docs/plans/archive/2025-01-01-c.md"),
        ("2026-01-01-a", "2026-01-01-b", "2025-01-01-c"),
        "docs/plans/2026-01-01-write-the-reader.md",
        "docs/plans/archive/2026-01-01-b.md",
    ),
    "hidden plans": Layout(
        (".plans/a.md", ".plans/b.md", ".plans/done/c.md"),
        ("a", "b", "c"),
        ".plans/write-the-reader.md",
        ".plans/done/b.md",
    ),
    "default": Layout(
        (
            ".agent/execplans/2026-01-01_a.md",
            ".agent/execplans/2026-01-01_b.md",
            ".agent/execplans/archive/2025-01-01_c.md",
        ),
        ("2026-01-01_a", "2026-01-01_b", "2025-01-01_c"),
        ".agent/execplans/2026-01-01_write-the-reader.md",
        ".agent/execplans/archive/2026-01-01_b.md",
    ),
}
"""The layouts that FORMAT.md names, and those of the corpus."""


@pytest.fixture
def bare(repo: Folder) -> Folder:
    """A git repository without a home."""
    (repo.path / ".agent" / "execplans").rmdir()
    (repo.path / ".agent").rmdir()
    return repo


def tree(path: Path) -> dict[str, bytes]:
    """Every file with its bytes, and every empty folder."""
    contents: dict[str, bytes] = {}
    for folder, folders, files in os.walk(path):
        if ".git" in folders:
            folders.remove(".git")
        relative = os.path.relpath(folder, path)
        for name in files:
            contents[os.path.normpath(f"{relative}/{name}")] = Path(folder, name).read_bytes()
        if not folders and not files:
            contents[f"{relative}/"] = b""
    return contents


def commit_plans(folder: Folder, layout: Layout) -> None:
    """Write the plans of a layout, with a sibling that is none."""
    for path, content in zip(layout.paths, (CLEAN, COMPLETE_PLAN, COMPLETE_PLAN), strict=True):
        folder.write(path, content)
    for path in layout.also:
        folder.write(path, CLEAN)
    folder.write(f"{os.path.dirname(layout.paths[0])}/README.md", "# How we plan\n")
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "Plans")


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_worked_in(bare: Folder, name: str) -> None:
    """From `init` to `archive`, in each layout; nothing else in the tree changes at any step."""
    layout = LAYOUTS[name]
    commit_plans(bare, layout)
    before = tree(bare.path)
    first, second, third = layout.ids

    check = bare.run("init", "--check", "--json")
    assert check.exit == 1
    assert tree(bare.path) == before
    (project,) = check.json["data"]["homes"]
    assert (project["plans"], project["archived"], project["broken"]) == (2, 1 + len(layout.also), [])
    assert [misfit["path"] for misfit in project["misfits"]] == [layout.paths[1]]
    assert check.json["data"]["elsewhere"] == check.json["data"]["others"] == []

    assert bare.ok("init")["homes"] == check.json["data"]["homes"]
    after = tree(bare.path)
    assert set(after) - set(before) == INIT_FILES
    assert {path: after[path] for path in before} == before
    assert bare.ok("init")["changed"] is False
    assert tree(bare.path) == after
    assert bare.run("init", "--check").exit == 0

    plans = {plan["id"]: plan for plan in bare.ok("list", "--all")["plans"]}
    assert {plan["path"] for plan in plans.values()} == {*layout.paths, *layout.also}
    assert [plans[plan_id]["state"] for plan_id in layout.ids] == ["active", "complete", "archived"]
    assert {plan["id"] for plan in bare.ok("list")["plans"]} == {first, second}
    assert bare.ok("status")["states"]["archived"] == 1 + len(layout.also)
    assert bare.ok("lint")["plans"] == 3 + len(layout.also)
    for path, plan in zip(layout.paths, layout.ids, strict=True):
        plan_data = bare.ok("show", path)
        assert plan_data["id"] == plan
        assert plan_data == bare.ok("show", plan)

    assert bare.ok("done", "2", "-p", first, "--commit")["path"] == layout.paths[0]
    assert bare.git("show", "--name-only", "--format=", "-z").strip("\0") == layout.paths[0]
    assert bare.run("done", "1", "-p", third).exit == 1

    new_plan = bare.ok("new", "Write the reader")
    assert new_plan["path"] == layout.new
    assert bare.ok("show", new_plan["id"])["path"] == layout.new
    assert bare.ok("new", "Write the reader")["id"] not in (new_plan["id"], *layout.ids)

    archived = bare.ok("archive", second, "--commit")
    assert archived["path"] == layout.archived
    assert bare.ok("show", second)["state"] == "archived"
    assert not (bare.path / layout.paths[1]).exists()
    assert bare.ok("archive", second)["changed"] is False
    assert set(bare.git("show", "--name-only", "--no-renames", "--format=", "-z").strip("\0").split("\0")) == {
        archived["evidence"],
        layout.paths[1],
        layout.archived,
    }
    final = tree(bare.path)
    untouched = set(before) - {*layout.paths[:2]}
    assert {path: final[path] for path in untouched} == {path: before[path] for path in untouched}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_plan_is_archived_and_restored(bare: Folder, name: str) -> None:
    """archive, restore and rename find their way in each layout; after archive and restore all is as it was."""
    layout = LAYOUTS[name]
    commit_plans(bare, layout)
    bare.ok("init")
    first, second, _ = layout.ids
    bare.write("run.log", "12 passed\n")
    bare.ok("attach", "run.log", "-p", second, "--create")
    bare.git("add", "-A")
    bare.git("commit", "-q", "-m", "All")
    before = tree(bare.path)
    archived = bare.ok("archive", second, "--as", "superseded", "--by", first, "--commit")
    assert bare.ok("show", second)["path"] == archived["path"]
    assert bare.git("status", "--porcelain") == ""
    back = bare.ok("restore", second, "--commit")
    assert bare.git("status", "--porcelain") == ""
    assert back["path"] == bare.ok("show", second)["path"]
    bare.ok("archive", second)
    bare.ok("restore", second)
    after = tree(bare.path)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert {path for path in changed if path.endswith(".md")} == {layout.paths[1], back["path"]}
    renamed = bare.ok("rename", second, "Write the lexer", "--commit")
    assert bare.ok("show", renamed["path"])["title"] == "Write the lexer"
    assert "lexer" in renamed["path"]
    assert bare.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["folders", "folders by day", "epics"])
def test_a_plan_s_folder_moves_with_it(bare: Folder, name: str) -> None:
    """What lies beside a plan in its own folder are its artifacts."""
    layout = LAYOUTS[name]
    commit_plans(bare, layout)
    bare.ok("init")
    folder = os.path.dirname(layout.paths[1])
    bare.write(f"{folder}/logs/run.txt", "12 passed\n")
    dry = bare.ok("archive", layout.ids[1], "--dry-run")
    assert (bare.path / folder / "logs/run.txt").exists()
    moved = bare.ok("archive", layout.ids[1])
    assert moved["moves"] == dry["moves"] == [{"from": folder, "to": os.path.dirname(layout.archived)}]
    assert not (bare.path / folder).exists()
    assert (bare.path / os.path.dirname(layout.archived) / "logs/run.txt").read_text() == "12 passed\n"
    paths = bare.ok("commit", layout.ids[1])["paths"]
    assert {layout.archived, f"{os.path.dirname(layout.archived)}/logs/run.txt"} <= set(paths)
    assert bare.git("status", "--porcelain", "--", layout.archived) == ""


def test_a_taken_folder_in_the_archive_is_refused(bare: Folder) -> None:
    layout = LAYOUTS["epics"]
    commit_plans(bare, layout)
    bare.ok("init")
    bare.write("docs/epics/archive/control-plane/notes.txt", "old\n")
    before = tree(bare.path)
    result = bare.run("archive", "control-plane", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "target-taken")
    assert tree(bare.path) == before


@pytest.mark.parametrize(
    "guide", [".agent/PLANS.md", "PLANS.md", "docs/PLANS.md", ".agents/PLANS.md", "docs/exec-plans/PLANS.md"]
)
def test_the_guide_that_is_there_is_the_guide(bare: Folder, guide: str) -> None:
    bare.write("docs/exec-plans/active/a.md", CLEAN)
    bare.write(guide, "ours\n")
    data = bare.ok("init")
    assert data["homes"][0]["settings"]["guide"] == guide
    assert [entry["path"] for entry in data["paths"] if entry["made"]] == [".agent/execplan.toml"]
    assert bare.ok("init")["changed"] is False


def test_a_guide_counts_where_there_is_no_plan_yet(bare: Folder) -> None:
    bare.write("docs/PLANS.md", "ours\n")
    assert bare.ok("init")["homes"][0]["settings"]["guide"] == "docs/PLANS.md"
    assert not (bare.path / ".agent/PLANS.md").exists()
    assert bare.ok("init")["changed"] is False


def test_both_are_used_and_one_of_them_on_demand(bare: Folder) -> None:
    for name in ("docs/execplans/a", "docs/execplans/b", "plans/0001-c"):
        bare.write(f"{name}.md", CLEAN)
    bare.write("notes/d.md", CLEAN)
    data = bare.ok("init")
    assert [entry["settings"]["plans"] for entry in data["homes"]] == ["docs/execplans", "plans"]
    assert (data["others"], data["elsewhere"]) == ([], ["notes/d.md"])
    assert [plan["id"] for plan in bare.ok("list")["plans"]] == ["a", "b", "0001-c"]
    check = bare.run("init", "--check")
    assert (check.exit, "elsewhere: notes/d.md" in check.out) == (0, True)
    bare.write("exec-plans/f.md", CLEAN)
    assert (
        "add it to directories in the settings, or use only it: execplan init --plans exec-plans"
        in bare.run("init", "--check").out
    )
    path = bare.path / ".agent/execplan.toml"
    path.write_text(path.read_text().replace("# commit = false", "commit = true"))
    assert bare.ok("init", "--plans", "plans", "--dry-run")["changed"] is True
    assert "commit = true" in path.read_text()
    assert [plan["id"] for plan in bare.ok("list")["plans"]] == ["a", "b", "0001-c"]
    assert bare.ok("init", "--plans", "plans", "--no-commit")["homes"][0]["settings"]["name"] == "{number:04}-{slug}"
    assert [plan["id"] for plan in bare.ok("list")["plans"]] == ["0001-c"]
    assert "\ncommit = true" in path.read_text()
    assert bare.ok("init", "--plans", "plans", "--no-commit")["changed"] is False
    bare.write("docs/exec-plans/active/e.md", CLEAN)
    assert bare.ok("init", "--plans", "docs/exec-plans", "--no-commit")["changed"] is True
    assert [plan["id"] for plan in bare.ok("list")["plans"]] == ["e"]
    assert bare.ok("init", "--plans", "docs/exec-plans/active", "--no-commit")["changed"] is False
    assert bare.ok("init", "--plans", "docs/exec-plans", "--no-commit")["changed"] is False


def test_settings_that_a_person_wrote_are_not_replaced(bare: Folder) -> None:
    bare.write("plans/a.md", CLEAN)
    path = bare.write(".agent/execplan.toml", '# ours\nplans = "docs/plans"\n')
    result = bare.run("init", "--plans", "plans", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "home-exists")
    assert path.read_text().startswith("# ours")
    assert set(tree(bare.path)) == {"README.md", "plans/a.md", ".agent/execplan.toml"}


@pytest.mark.parametrize("folder", ["..", ".", "../elsewhere", "/"])
def test_a_folder_elsewhere_is_refused(bare: Folder, folder: str) -> None:
    result = bare.run("init", "--plans", folder, "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "bad-folder")
    assert set(tree(bare.path)) == {"README.md"}


def test_a_folder_that_is_not_there_yet_is_made(bare: Folder) -> None:
    bare.ok("init", "--plans", "docs/plans")
    assert bare.ok("new", "Write the reader")["path"] == "docs/plans/2026-01-01_write-the-reader.md"
    assert (bare.path / "docs/plans/archive/artifacts").is_dir()
    assert not (bare.path / ".agent/execplans").exists()


def test_what_others_wrote_is_passed_by(bare: Folder) -> None:
    bare.write("plans/a.md", CLEAN)
    for name in ("node_modules/x/plans/b.md", "vendor/y/plans/c.md", "tests/fixtures/plans/d.md", "sub/.git/HEAD"):
        bare.write(name, CLEAN)
    bare.write("sub/plans/e.md", CLEAN)
    bare.write("{{ name }}/plans/f.md", CLEAN)
    bare.write(os.fsdecode(b"caf\xe9/plans/g.md"), CLEAN)
    bare.write("plans/PLANS.md", CLEAN)
    bare.write("docs/about.md", "# About\n\n## Progress\n\nMuch.\n\n## Decisions\n\nFew.\n")
    (bare.path / "linked").symlink_to("plans")
    data = bare.run("init", "--check", "--json").json["data"]
    assert data["homes"][0]["plans"] == 1
    assert data["others"] == data["elsewhere"] == []


def test_check_reports_what_is_broken_and_what_does_not_fit(bare: Folder) -> None:
    bare.write("docs/exec-plans/active/a.md", COMPLETE_PLAN)
    bare.write("docs/exec-plans/active/b.md", b"\xff\xfe")
    bare.write("docs/exec-plans/completed/c.md", CLEAN)
    bare.write("docs/exec-plans/completed/d.md", COMPLETE_PLAN)
    bare.ok("init")
    check = bare.run("init", "--check", "--json")
    assert check.exit == 0
    (project,) = check.json["data"]["homes"]
    assert [broken_plan["path"] for broken_plan in project["broken"]] == ["docs/exec-plans/active/b.md"]
    assert project["misfits"] == [
        {"path": "docs/exec-plans/active/a.md", "why": "complete, but not archived"},
        {"path": "docs/exec-plans/completed/c.md", "why": "archived with 2 open tasks"},
    ]
    text = bare.run("init", "--check").out
    assert all(phrase in text for phrase in ("docs/exec-plans/active/a.md: complete", "with 2 open tasks", "broken: "))


def test_a_plan_given_up_is_archived_too(bare: Folder) -> None:
    commit_plans(bare, LAYOUTS["superseded"])
    bare.ok("init")
    assert bare.ok("show", "d")["state"] == "archived"
    assert bare.run("done", "1", "-p", "execplans/superseded/d.md").exit == 1
    assert bare.ok("new", "d")["id"] == "d-2"


def test_check_and_commit_exclude_each_other(bare: Folder) -> None:
    assert bare.run("init", "--check", "--commit").exit == 2
    assert bare.run("init", "README.md").exit == 3


CORPUS = find_corpus()


def _repositories() -> dict[str, list[tuple[str, str]]]:
    """The plans of each repository of the corpus: their real paths, and the files that hold them."""
    plans: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if CORPUS is not None:
        with (CORPUS / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                plans[row["owner/repo"]].append((row["path"], row["file"]))
    return plans


REPOSITORIES = _repositories()


@pytest.mark.skipif(CORPUS is None, reason="needs the corpus of real plans beside the checkout")
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_real_repository(bare: Folder, name: str) -> None:
    """Every real plan is found or told, and one of them is ticked; nothing else changes."""
    assert CORPUS is not None
    plans = dict(REPOSITORIES[name])
    for path, file in plans.items():
        bare.write(path, (CORPUS / file).read_bytes())
    before = tree(bare.path)
    data = bare.ok("init")
    elsewhere = {*data["elsewhere"]}
    for other_folder in data["others"]:
        elsewhere |= {path for path in plans if path.startswith(f"{other_folder['folder']}/")}
    listed = bare.run("list", "--all", "--json").json["data"]["plans"]
    paths = [plan["path"] for plan in listed]
    assert sorted(paths) == sorted(set(plans) - elsewhere)
    assert len(listed) * 2 > len(plans) or data["others"]
    assert len(set(paths)) == len(listed)
    assert bare.run("lint").exit in (0, 1)
    assert bare.run("status").exit == 0
    for plan in [plan for plan in listed if plan["state"] == "active" and plan["counts"]["open"]][:1]:
        tasks = bare.ok("show", plan["path"])["tasks"]
        task = next(task for task in tasks if task["state"] == "open")
        assert bare.ok("done", task["id"], "-p", plan["path"])["path"] == plan["path"]
        assert {path for path, data in tree(bare.path).items() if before.get(path, data) != data} == {plan["path"]}
        bare.write(plan["path"], before[plan["path"]])
    new_plan = bare.ok("new", "Write the reader")
    assert new_plan["path"] not in plans
    assert new_plan["path"].startswith(data["homes"][0]["settings"]["plans"])
    assert new_plan["id"] in {plan["id"] for plan in bare.run("list", "--json").json["data"]["plans"]}
    after = tree(bare.path)
    assert {path: after[path] for path in before} == before
    assert bare.run("init", "--check").exit == 0


def test_a_folder_that_settings_can_not_name(repo: Folder) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "execplan", "init", "--plans", b"\xff"],
        cwd=repo.path,
        env=repo.env,
        capture_output=True,
        check=False,
    )
    assert completed.returncode == 3
    assert b"is not UTF-8, as settings require" in completed.stderr


def test_what_includes_plans_elsewhere_is_printed(bare: Folder) -> None:
    for path in ("docs/execplans/a", "docs/execplans/b", "docs/execplans/teams/x/c", "notes/d", "ROADMAP"):
        bare.write(f"{path}.md", CLEAN)
    lines = bare.run("init").out.splitlines()
    start = lines.index("to include them in all commands, add to .agent/execplan.toml:") + 1
    addition = [line.strip() for line in lines[start:] if line.startswith("  ")]
    assert addition[0] == 'files = ["ROADMAP.md"]'
    settings = bare.path / ".agent/execplan.toml"
    settings.write_text(settings.read_text() + "\n".join(["", *addition, ""]))
    assert len(bare.ok("list")["plans"]) == 5
    assert bare.ok("init")["elsewhere"] == []


def test_a_further_directory_is_added_to_those_that_init_wrote(bare: Folder) -> None:
    for path in ("docs/exec-plans/active/a", "docs/exec-plans/backlog/b", "docs/plans/c", "notes/d"):
        bare.write(f"{path}.md", CLEAN)
    (line,) = [line for line in bare.run("init").out.splitlines() if line.startswith("  directories = ")]
    settings = bare.path / ".agent/execplan.toml"
    others = [other for other in settings.read_text().splitlines() if not other.startswith("directories = ")]
    settings.write_text("\n".join([*others[:1], line, *others[1:], ""]))
    assert len(bare.ok("list")["plans"]) == 4
    assert bare.ok("init")["elsewhere"] == []


def test_a_directory_with_plans_in_two_layouts_keeps_both(bare: Folder) -> None:
    epics = ["docs/epics/x/ExecPlan", "docs/epics/y/ExecPlan", "docs/epics/flat", "docs/epics/x/Other"]
    for path in ("docs/execplans/a", "docs/execplans/b", "docs/execplans/c", *epics):
        bare.write(f"{path}.md", CLEAN)
    (addition,) = [line.strip() for line in bare.run("init").out.splitlines() if line.startswith("  files = ")]
    settings = bare.path / ".agent/execplan.toml"
    settings.write_text(f"{addition}\n{settings.read_text()}")
    assert len(bare.ok("list")["plans"]) == 7
    assert bare.ok("init")["elsewhere"] == []


def test_committing_what_init_wrote_is_suggested(bare: Folder) -> None:
    first = bare.run("init", "--json").json["next"]
    assert first == ["execplan new 'Title'", "execplan init --commit"]
    assert bare.run(*first[1].split()[1:], "--json").json["next"] == first[:1]
    assert bare.git("status", "--porcelain") == ""
    bare.git("rm", "-rq", ".agent")
    assert "to commit these files: execplan init --commit\n" in bare.run("init").out
    (bare.path / "package").mkdir()
    assert bare.run("init", "package", "--json").json["next"][-1] == "execplan init package --commit"
