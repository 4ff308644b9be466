"""The file with the index: where it is, what it says, and that writers in parallel leave a current one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

FRONT = "---\nowner: Bo | Co\nupdated: 2026-01-05\nlinks:\n  issue: https://example.org/a/b/issues/12\n  pr: [13]\n  docs: docs/a(b).md\n---\n\n"
LINKS = "[#12](https://example.org/a/b/issues/12), #13, [a(b).md](../../docs/a%28b%29.md)"
README = ".agent/execplans/README.md"


def rows(folder: Folder, path: str = README) -> list[str]:
    """The rows of an index."""
    return [line for line in (folder.path / path).read_text().splitlines() if line.startswith("| [")]


def test_a_row_for_each_open_plan(repo: Folder) -> None:
    repo.plan(FRONT + CLEAN, "2026-01-02_b")
    repo.plan(CLEAN.replace("# Build the parser", "# Fix `a|b` [x](y) <!-- z"), "2026-01-01_a")
    repo.plan(b"\xff", "2026-01-03_c")
    repo.plan(CLEAN, "archive/2025-01-01_old")
    data = repo.ok("index", "--write")
    assert data["indexes"][0]["path"] == README
    assert data["indexes"][0]["changed"] is True
    assert rows(repo) == [
        r"| [Fix `a\|b` \[x\](y) \<!-- z](2026-01-01_a.md) | active | 1/3 |  | 2025-12-30 |  |",
        f"| [Build the parser](2026-01-02_b.md) | active | 1/3 | Bo \\| Co | 2026-01-05 | {LINKS} |",
        "| [2026-01-03_c](2026-01-03_c.md) | broken |  |  |  |  |",
    ]
    text = (repo.path / README).read_text()
    assert "Archived plans: [archive](archive/)\n<!-- execplan:index:end -->\n" in text
    assert repo.ok("index", "--write")["indexes"][0]["changed"] is False
    assert (repo.path / README).read_text() == text


@pytest.mark.parametrize(("front", "date"), [("", "2026-01-04"), ("---\ncreated: 2026-01-03\n---\n\n", "2026-01-03")])
def test_a_plan_without_dates_has_that_of_its_creation(repo: Folder, front: str, date: str) -> None:
    repo.plan(f"{front}# New\n\n## Progress\n\n- [ ] Start\n", "2026-01-04_new")
    repo.ok("index", "--write")
    assert rows(repo) == [f"| [New](2026-01-04_new.md) | active | 0/1 |  | {date} |  |"]


def test_the_index_does_not_depend_on_git_or_the_time(repo: Folder) -> None:
    """So it is the same before and after the commit that contains it."""
    repo.plan()
    repo.ok("index", "--write")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plan")
    assert repo.run("lint", "--select", "EP512", SOURCE_DATE_EPOCH="1900000000").exit == 0
    assert repo.run("index", "--json", SOURCE_DATE_EPOCH="1900000000").json["data"]["indexes"][0]["current"] is True


@pytest.mark.parametrize(
    ("settings", "files", "path"),
    [
        ("", (), ".agent/execplans/README.md"),
        ("", (".agent/execplans/index.md",), ".agent/execplans/index.md"),
        ('index_file = "docs/plans.md"\n', (), "docs/plans.md"),
        ('plans = "docs/exec-plans/active"\narchive = "docs/exec-plans/completed"\n', (), "docs/exec-plans/README.md"),
        (
            'plans = "docs/exec-plans/active"\narchive = "docs/exec-plans/completed"\n',
            ("docs/exec-plans/index.md",),
            "docs/exec-plans/index.md",
        ),
        ('plans = "plans"\narchive = "done"\n', (), "plans/README.md"),
    ],
)
def test_the_place(repo: Folder, settings: str, files: tuple[str, ...], path: str) -> None:
    repo.write(".agent/execplan.toml", settings)
    for name in files:
        repo.write(name, "# Mine\n")
    assert repo.ok("index", "--write")["indexes"][0]["path"] == path
    text = (repo.path / path).read_text()
    assert text.startswith("# Mine\n" if files else "# Plans\n")
    assert "There are no open plans." in text
    assert repo.ok("list")["plans"] == []


@pytest.mark.parametrize(
    ("setting", "exit_status", "says"),
    [
        ('"../x.md"', 3, "inside the repository"),
        ('"docs/plans.txt"', 3, ".md"),
        ("1", 3, "string"),
        ('".agent/execplans/overview.md"', 3, "would be a plan"),
        ('".agent/execplans/archive/overview.md"', 3, "would be a plan"),
    ],
)
def test_a_wrong_setting(repo: Folder, setting: str, exit_status: int, says: str) -> None:
    repo.write(".agent/execplan.toml", f"index_file = {setting}\n")
    result = repo.run("index", "--write")
    assert (result.exit, says in result.err) == (exit_status, True), result


def test_a_link_out_of_the_repository_is_not_followed(repo: Folder) -> None:
    outside = repo.path.parent / "outside.md"
    outside.write_text("# Outside\n")
    (repo.path / ".agent/execplans/README.md").symlink_to(outside)
    assert repo.run("index", "--write").exit == 7
    assert outside.read_text() == "# Outside\n"


def test_a_link_to_another_file_of_the_repository_is_not_followed(repo: Folder) -> None:
    settings = repo.write(".agent/execplan.toml", "stalled_days = 7\n")
    (repo.path / ".agent/execplans").mkdir(parents=True, exist_ok=True)
    (repo.path / ".agent/execplans/README.md").symlink_to("../execplan.toml")
    assert "linked-index" in repo.run("index", "--write", "--json").out
    assert settings.read_text() == "stalled_days = 7\n"


def test_damaged_markers_are_reported_with_the_line(repo: Folder) -> None:
    repo.plan()
    path = repo.write(README, "# Mine\n\n<!-- execplan:index:begin -->\n")
    result = repo.run("index", "--write")
    assert result.exit == 3
    assert f"{README}:3: the plan index that begins here has no end" in result.err
    assert path.read_text().startswith("# Mine\n\n")
    assert f"{README}:3:1 EP001 the plan index that begins here has no end" in repo.run("lint").out
    path.write_text("# Mine\n\n<!-- execplan:index:end -->\n")
    assert f"{README}:3: a plan index ends here without a beginning" in repo.run("index", "--write").err
    assert f"{README}:3:1 EP001 a plan index ends here without a beginning" in repo.run("lint").out


def test_dry_run_shows_the_diff(repo: Folder) -> None:
    repo.plan()
    result = repo.run("index", "--write", "--dry-run")
    assert "+| [Build the parser](2026-01-01_parser.md)" in result.out
    assert f"would be created: {README} (1 open plan)" in result.out
    assert not (repo.path / README).exists()
    assert repo.run("index", "--dry-run").exit == 2


def test_the_commit_has_only_the_index(repo: Folder) -> None:
    repo.plan()
    repo.write("other.txt", "x")
    repo.git("add", "other.txt")
    commit = repo.ok("index", "--write", "--commit")["indexes"][0]["commit"]
    assert repo.git("show", "--format=%s", "--name-only", commit).split("\n\n") == [
        "plan(index): update the plan index",
        f"{README}\n",
    ]


def test_writers_in_parallel_leave_a_current_index(repo: Folder) -> None:
    for number in range(4):
        repo.plan(CLEAN, f"2026-01-0{number + 1}_plan")
    repo.ok("index", "--write")
    writers = [
        process
        for number in range(4)
        for process in (repo.start("done", "2", "-p", f"2026-01-0{number + 1}_plan"), repo.start("index", "--write"))
    ]
    assert [process.wait(timeout=60) for process in writers] == [0] * 8
    repo.ok("index", "--write")
    assert [row.split(" | ")[2] for row in rows(repo)] == ["2/3"] * 4
    leftovers = [path.name for path in Path(repo.path / ".agent/execplans").iterdir() if path.name.startswith(".")]
    assert leftovers == []
