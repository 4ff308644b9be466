"""`doctor` as a verb: what it says when all is well, where it works, and what it refuses."""

from __future__ import annotations

import pytest

from execplan.cli.doctor.doctor_check import CHECKS
from execplan.cli.doctor.doctor_runner import CHECK_MODULES
from tests.cli.doctor.doctor_findings import assert_clean, doctor, findings, only_finding
from tests.conftest import Folder
from tests.plans import CLEAN

DEFAULT_CHECKS = [name for name, check in CHECKS.items() if not check.is_about_staleness]
"""The checks that run without `--stale`."""


def test_without_problems_it_prints_one_line_and_lists_its_checks_with_v(repo: Folder) -> None:
    repo.plan()
    result = repo.run("doctor")
    assert result.exit == 0
    assert result.err == ""
    assert result.out == f"no problems found ({len(DEFAULT_CHECKS)} checks passed)\n"
    summary, empty, *lines = repo.run("doctor", "-v").out.splitlines()
    assert (summary + "\n", empty) == (result.out, "")
    assert [line.split()[0] for line in lines] == DEFAULT_CHECKS
    assert "1 plan, 0 archived" in "\n".join(lines)
    data = doctor(repo)
    assert [check["name"] for check in data["checks"]] == DEFAULT_CHECKS
    assert all(check["ok"] for check in data["checks"])
    assert data["findings"] == data["fixed"] == data["forgotten"] == []
    assert_clean(repo)


def test_every_check_says_what_holds() -> None:
    assert {check.find_problems.__module__ for check in CHECKS.values()} == {
        family.__name__ for family in CHECK_MODULES
    }
    for check in CHECKS.values():
        assert check.sentence.strip(), check.name


def test_it_writes_nothing(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(CLEAN)
    repo.write(".agent/execplans/x.md.orig", "")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    before = {file: file.stat().st_mtime_ns for file in repo.path.rglob("*") if file.is_file()}
    assert doctor(repo)["findings"]
    assert doctor(repo, "--fix", "--dry-run")["findings"]
    assert {file: file.stat().st_mtime_ns for file in repo.path.rglob("*") if file.is_file()} == before


def test_nothing_is_made_without_git(plain: Folder) -> None:
    plain.plan()
    assert_clean(plain)
    assert not (plain.path / ".agent/.state").exists()


def test_what_is_wrong_is_told_in_words(repo: Folder) -> None:
    repo.plan(b"\xff\xfe")
    result = repo.run("doctor")
    assert result.exit == 1
    assert ".agent/execplans/2026-01-01_parser.md:1: error: the file is UTF-16" in result.out
    assert "  fix: convert it to UTF-8" in result.out
    assert result.out.startswith("1 problem found; none can be fixed automatically (")
    assert repo.run("doctor", "-q").out == repo.run("doctor").out
    assert "Python is new enough" not in result.out
    assert "Python is new enough" in repo.run("doctor", "-v").out


@pytest.mark.parametrize("arguments", [["--dry-run"], ["--commit"], ["parser"]])
def test_usage(repo: Folder, arguments: list[str]) -> None:
    assert repo.run("doctor", *arguments).exit == 2


def test_exit_after_fix_is_1_as_long_as_something_is_left(repo: Folder) -> None:
    repo.plan()
    leftover = repo.write(".agent/execplans/x.md.orig", "")
    repo.ok("install", "merge-driver")
    repo.git("config", "--unset", "merge.execplan.driver")
    result = repo.run("doctor", "--fix")
    assert result.exit == 1
    assert "made .git/config" in result.out
    assert "x.md.orig: warning" in result.out
    leftover.unlink()
    repo.git("config", "--unset", "merge.execplan.driver")
    result = repo.run("doctor", "--fix")
    assert result.exit == 0
    assert "no other problems found (" in result.out


def test_in_a_bare_repository(repo: Folder) -> None:
    repo.git("init", "-q", "--bare", "bare")
    assert repo.run("-C", "bare", "doctor").exit == 6


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("plns = 'x'\n", "plns"),
        ("plans = 3\n", "plans"),
        ("plans = [\n", "execplan.toml"),
        ("name = '{nope}'\n", "name"),
    ],
)
def test_broken_settings(repo: Folder, content: str, says: str) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", content)
    data = doctor(repo)
    (finding,) = data["findings"]
    assert finding["check"] == "settings"
    assert finding["path"] == ".agent/execplan.toml"
    assert says in finding["message"]
    skipped = [check for check in data["checks"] if not check["ok"] and check["name"] != "settings"]
    assert len(skipped) > 10
    assert all("not checked" in check["message"] for check in skipped)
    assert doctor(repo, "--fix")["fixed"] == []


def test_two_settings(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", "plans = 'plans'\n")
    repo.write("pyproject.toml", "[tool.execplan]\nplans = 'plans'\n")
    assert "both" in doctor(repo)["findings"][0]["message"]


def test_settings_of_a_project_that_is_named(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", 'homes = ["web", "api"]\n')
    repo.write("web/.agent/execplan.toml", "nope = 1\n")
    settings_findings = findings(repo, "settings")
    assert [finding["path"] for finding in settings_findings] == ["web/.agent/execplan.toml", ""]
    assert "api" in settings_findings[1]["message"]
    repo.write("web/.agent/execplan.toml", "")
    repo.write("web/.agent/execplans/a.md", CLEAN)
    repo.run("init", "api")
    assert_clean(repo)


def test_a_template_and_rules_that_are_not_there(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", 'template = "featur"\n')
    assert "feature" in only_finding(repo, "settings")["mend"]
    repo.write(".agent/execplan.toml", 'template = "feature"\n')
    assert_clean(repo)
    user_settings = repo.write("config/execplan/config.toml", '[lint]\nrules = ["/nowhere/rules.py"]\n')
    assert (
        "/nowhere/rules.py"
        in only_finding(repo, "settings", XDG_CONFIG_HOME=str(user_settings.parent.parent))["message"]
    )
    user_settings.write_text('[execution]\nsandbox = "perhaps"\n')
    assert (
        "execution.sandbox"
        in only_finding(repo, "settings", XDG_CONFIG_HOME=str(user_settings.parent.parent))["message"]
    )


def test_a_folder_that_is_a_link_out(repo: Folder) -> None:
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "a.md").write_text(CLEAN)
    (repo.path / ".agent/execplans").rmdir()
    (repo.path / ".agent/execplans").symlink_to(outside)
    (finding,) = doctor(repo)["findings"]
    assert "outside of the repository" in finding["message"]


def test_folders(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'plans = "plans"\narchive = "done"\n')
    finding = only_finding(repo, "folders")
    assert finding["path"] == "plans"
    assert finding["fixable"]
    doctor(repo, "--fix", "--dry-run")
    assert not (repo.path / "plans").exists()
    assert doctor(repo, "--fix")["fixed"][0]["message"] == "created plans"
    assert_clean(repo)
    repo.write("done", "a file")
    assert only_finding(repo, "folders")["path"] == "done"


def test_init_fixes_a_missing_folder(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'plans = "plans"\n')
    assert only_finding(repo, "folders")["mend"] == "execplan init"
    repo.ok("init")
    assert_clean(repo)


def test_many_plans_to_archive_are_one_line(repo: Folder) -> None:
    done = CLEAN.replace("- [ ]", "- [x] (2025-12-30 09:15Z)")
    for number in range(6):
        is_ready = number % 2  # the remedy archives these, and says of the others what they lack
        plan = done if is_ready else done.replace("  Rationale: ", "  Note: ")
        repo.plan(plan, f"2026-01-0{number + 1}_p{number}")
    lines = repo.run("doctor").out.splitlines()
    assert [line for line in lines if "6 plans are complete and not archived" in line]
    assert "  fix: execplan archive --complete" in lines
    assert len([finding for finding in doctor(repo)["findings"] if "not archived" in finding["message"]]) == 6
