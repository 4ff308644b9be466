"""`doctor` on plans: unreadable, in the wrong place, hidden, twice."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from tests.cli.doctor.doctor_findings import assert_clean, doctor, findings, only_finding, run_remedy
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN

CONFLICT = CLEAN.replace("None so far.", "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs")
OLD = CLEAN.replace("- [ ]", "- [x] (2025-12-30 10:00Z)")
"""Complete for more than a day."""


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "empty"), (b"a\0b", "NUL"), (b"# \xff", "UTF-8"), (b"#" * (5 << 20) + b"#", "bytes"), (CONFLICT, "markers")],
)
@pytest.mark.parametrize("name", ["2026-01-01_parser", "archive/2026-01-01_parser"])
def test_a_plan_that_can_not_be_read_or_written(repo: Folder, content: str | bytes, says: str, name: str) -> None:
    repo.plan(CLEAN, "2026-01-02_other")
    repo.plan(content, name)
    finding = findings(repo, "plans")[0]
    assert finding["level"] == "error"
    assert finding["path"] == f".agent/execplans/{name}.md"
    assert says in finding["message"]
    assert not finding["fixable"]


def test_the_line_of_the_first_marker(repo: Folder) -> None:
    repo.plan(CONFLICT)
    finding = only_finding(repo, "plans")
    assert CONFLICT.splitlines()[finding["line"] - 1].startswith("<<<<<<<")
    assert "3 conflict markers" in finding["message"]


def test_pipes_and_links_out(repo: Folder) -> None:
    os.mkfifo(repo.path / ".agent/execplans/pipe.md")
    (repo.path / ".agent/execplans/gone.md").symlink_to("nowhere.md")
    outside = repo.path.parent / "outside.md"
    outside.write_text(CLEAN)
    (repo.path / ".agent/execplans/out.md").symlink_to(outside)
    assert [finding["path"].rpartition("/")[2] for finding in findings(repo, "plans")] == [
        "gone.md",
        "out.md",
        "pipe.md",
    ]


def run_unprivileged(folder: Folder, *arguments: str) -> tuple[int, str]:
    """Run execplan with the rights that files give, and no others."""
    prefix = []
    if not os.getuid():
        need("setpriv")
        prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    command = [*prefix, sys.executable, "-m", "execplan", *arguments]
    completed = subprocess.run(command, cwd=folder.path, env=folder.env, capture_output=True, check=False)
    return completed.returncode, completed.stdout.decode() + completed.stderr.decode()


@pytest.mark.parametrize("name", ["archive", "nested", ""])
def test_a_folder_that_can_not_be_read(repo: Folder, name: str) -> None:
    repo.plan()
    folder = repo.path / ".agent/execplans" / name
    (folder / "a").mkdir(parents=True)
    folder.chmod(0)
    try:
        status, output = run_unprivileged(repo, "doctor")
    finally:
        folder.chmod(0o755)
    assert status == 1
    assert "plans may be hidden" in output
    assert str(folder.relative_to(repo.path)) in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "name",
    [
        "sub/2026-01-01_parser.md",
        "sub/deeper/plan.md",
        ".hidden.md",
        "saved.md.tmp",
        ".hidden/plan.md",
        "README.md",
        "plan.MD",
        "plan.markdown",
        "plan",
        "archive/2025/plan.md",
        "artifacts/plan.md",
        "archive/artifacts/plan.md",
    ],
)
def test_a_plan_that_list_does_not_show(repo: Folder, name: str) -> None:
    path = repo.write(f".agent/execplans/{name}", CLEAN)
    finding = only_finding(repo, "hidden")
    assert finding["level"] == "error"
    assert finding["path"] == f".agent/execplans/{name}"
    assert repo.ok("list", "--all")["plans"] == []
    run_remedy(repo, finding["mend"].partition(": ")[2])
    assert not path.exists()
    assert_clean(repo)
    assert len(repo.ok("list")["plans"]) == 1


def test_a_copy_among_the_artifacts_of_a_plan_is_not_hidden(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/before.md", CLEAN)
    repo.write(".agent/execplans/notes/thoughts.md", "# Thoughts\n")
    repo.write(".agent/execplans/README.md", "# Plans\n")
    repo.write(".agent/PLANS.md", CLEAN)
    assert_clean(repo)


def test_the_guide_and_the_templates_are_no_plans(repo: Folder) -> None:
    repo.write(
        ".agent/execplan.toml", 'guide = ".agent/execplans/PLANS.md"\ntemplates = ".agent/execplans/templates"\n'
    )
    repo.write(".agent/execplans/PLANS.md", CLEAN)
    repo.write(".agent/execplans/templates/ours.md", CLEAN)
    assert_clean(repo)


def test_links_to_folders(repo: Folder) -> None:
    inside = repo.write("docs/plans/a.md", CLEAN).parent
    (repo.path / ".agent/execplans/more").symlink_to(inside)
    assert "link to a directory" in only_finding(repo, "hidden")["message"]
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "a.md").write_text(CLEAN)
    (repo.path / ".agent/execplans/more").unlink()
    (repo.path / ".agent/execplans/more").symlink_to(outside)
    assert "link to a directory" in only_finding(repo, "hidden")["message"]


@pytest.mark.parametrize("layout", ["folder", "ExecPlan.md"])
def test_hidden_in_a_layout_of_folders(repo: Folder, layout: str) -> None:
    repo.write(".agent/execplan.toml", f'layout = "{layout}"\n')
    repo.ok("new", "Build the parser")
    plan_folder = next(
        folder for folder in (repo.path / ".agent/execplans").iterdir() if folder.is_dir() and folder.name != "archive"
    )
    (plan_folder / "copy.md").write_text(CLEAN)
    assert_clean(repo)
    repo.write(".agent/execplans/flat.md", CLEAN)
    repo.write(".agent/execplans/other/named.md", CLEAN)
    repo.write(".agent/execplans/other/with.md", CLEAN)
    repo.write(".agent/execplans/archive/old/deep/named.md", CLEAN)
    repo.write(".agent/execplans/archive/loose.md", CLEAN)
    hidden = {
        finding["path"].removeprefix(".agent/execplans/"): finding["mend"] for finding in findings(repo, "hidden")
    }
    assert {*hidden} == {"flat.md", "other/named.md", "other/with.md", "archive/old/deep/named.md", "archive/loose.md"}
    for path, remedy in hidden.items():
        name = "second" if path == "other/with.md" else ""
        assert ("OTHER-NAME" in remedy) == bool(name)
        run_remedy(repo, remedy.partition(": ")[2].replace("OTHER-NAME", name))
    assert_clean(repo)
    names = {plan["id"] for plan in repo.ok("list")["plans"]}
    assert names >= {"flat", "loose", "named", "other", "second"}
    assert len(names) == 6


def test_projects_that_the_settings_do_not_name_are_reported(repo: Folder) -> None:
    repo.plan()
    repo.write("web/.agent/execplans/a.md", CLEAN)
    hidden_check = next(check for check in doctor(repo)["checks"] if check["name"] == "hidden")
    assert "missing from the settings: web" in hidden_check["message"]


def test_files_that_are_no_plans(repo: Folder) -> None:
    repo.plan("# Scanner Implementation Plan\n\nWords only.\n", "2026-01-03_in-words")
    repo.plan()
    repo.plan("# Thoughts\n", "thoughts")
    repo.write(".agent/execplans/table.csv", "a,b\n")
    repo.write(".agent/execplans/2026-01-01_parser.md.orig", CLEAN)
    repo.write(".agent/execplans/archive/a.md~", CLEAN)
    assert [finding["path"].rpartition("/")[2] for finding in findings(repo, "files")] == [
        "thoughts.md",
        "2026-01-01_parser.md.orig",
        "a.md~",
    ]
    for finding in findings(repo, "files")[1:]:
        run_remedy(repo, finding["mend"].rpartition(": ")[2])
    (repo.path / ".agent/execplans/thoughts.md").unlink()
    assert_clean(repo)


def test_a_finished_plan_outside_the_archive(repo: Folder) -> None:
    repo.plan(OLD)
    finding = only_finding(repo, "places")
    assert finding["line"] == 1
    run_remedy(repo, finding["mend"])
    assert_clean(repo)


def test_a_finished_plan_with_errors_is_not_ready_for_the_archive(repo: Folder) -> None:
    repo.plan(OLD.replace("  Rationale: A task is a line.\n", ""))
    assert "no open tasks, but lint errors" in repo.run("status").out
    assert only_finding(repo, "places")["mend"] == "execplan lint 2026-01-01_parser"


def test_an_unfinished_plan_in_the_archive(repo: Folder) -> None:
    repo.plan(CLEAN, "archive/2026-01-01_parser")
    finding = only_finding(repo, "places")
    assert "archived with an open task" in finding["message"]
    run_remedy(repo, finding["mend"].partition(",")[0])
    assert_clean(repo)
    repo.ok("archive", "--force", "--reason", "No longer wanted.")
    assert_clean(repo)


def test_what_the_settings_leave_out_is_not_wrong(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", '[lint]\nignore = ["EP502", "EP503", "EP505"]\n')
    repo.plan(CLEAN, "archive/2026-01-01_parser")
    repo.plan(OLD, "2026-01-02_old")
    repo.write(".agent/execplans/artifacts/2026-01-03_gone/log.txt", "")
    assert_clean(repo)


@pytest.mark.parametrize(
    ("one_name", "other"),
    [("Plan", "plan"), ("caf\u00e9", "cafe\u0301"), ("plan", "archive/plan"), ("Stra\u00dfe", "archive/STRASSE")],
)
def test_two_plans_with_one_id(repo: Folder, one_name: str, other: str) -> None:
    repo.plan(CLEAN, one_name)
    repo.plan(CLEAN, other)
    if len(list((repo.path / ".agent/execplans").rglob("*.md"))) < 2:
        pytest.skip("the file system takes the two names for one")
    id_findings = [finding for finding in doctor(repo)["findings"] if finding["check"] == "ids"]
    assert len(id_findings) == 1
    run_remedy(repo, id_findings[0]["mend"])
    assert [finding for finding in doctor(repo)["findings"] if finding["check"] == "ids"] == []


def test_one_id_in_two_projects(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'homes = ["web"]\n')
    repo.plan(CLEAN, "parser")
    repo.write("web/.agent/execplans/parser.md", CLEAN)
    assert "web/.agent/execplans/parser.md" in only_finding(repo, "ids")["message"]


def test_artifacts_of_no_plan(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/log.txt", "")
    assert_clean(repo)
    repo.write(".agent/execplans/artifacts/2025-12-01_gone/log.txt", "")
    finding = only_finding(repo, "artifacts")
    assert finding["path"] == ".agent/execplans/artifacts/2025-12-01_gone"
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def test_artifacts_that_a_merge_has_left_where_the_plan_was(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    repo.git("switch", "-qc", "side")
    repo.ok("archive", "parser", "--as", "abandoned", "--reason", "No need", "--commit")
    repo.git("switch", "-q", "main")
    repo.ok("comment", "parser", "Which lines?", "--commit")
    repo.git("merge", "-q", "--no-edit", "side")
    finding = only_finding(repo, "artifacts")
    assert finding["path"] == ".agent/execplans/artifacts/2026-01-01_parser"
    run_remedy(repo, finding["mend"])
    assert_clean(repo)
    assert "Which lines?" in repo.run("show", "parser", "--comments").out
    repo.ok("restore", "parser")
    assert_clean(repo)


def test_artifacts_in_the_archive_of_an_open_plan(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/archive/artifacts/2026-01-01_parser/it's.txt", "1")
    run_remedy(repo, only_finding(repo, "artifacts")["mend"])
    assert_clean(repo)
    assert (repo.path / ".agent/execplans/artifacts/2026-01-01_parser/it's.txt").exists()
    repo.write(".agent/execplans/archive/artifacts/2026-01-01_parser/it's.txt", "2")
    repo.write(".agent/execplans/archive/artifacts/2026-01-01_parser/log.txt", "3")
    assert only_finding(repo, "artifacts")["mend"].endswith("join those that exist there too: it's.txt")


def test_a_plan_whose_id_looks_like_a_flag_is_named_by_its_path(repo: Folder) -> None:
    path = repo.plan(OLD, "-dash")
    mend = only_finding(repo, "places")["mend"]
    repo.ok(*shlex.split(mend)[1:])
    assert not path.exists()
    assert (
        f"restore this one: execplan restore {path.parent}/archive/-dash.md" in repo.run("done", "1", "-p", "dash").err
    )


def test_a_template_is_no_plan_that_is_hidden(repo: Folder) -> None:
    repo.plan(CLEAN, "TEMPLATE")
    assert_clean(repo)
    repo.plan(CLEAN, "README")
    assert only_finding(repo, "hidden")["mend"].endswith("/README.md .agent/execplans/OTHER-NAME.md")
