"""`lint` as it is typed: what runs, what fails, what is mended, and whose rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

PLAN = ".agent/execplans/2026-01-01_parser.md"
UNSTAMPED = with_sections("## Progress\n\n- [x] Build the parser.\n- [ ] Write the tests.\n")
NO_REASON = UNSTAMPED.replace("  Rationale: A task is a line.\n", "")

RULE = '''
from execplan.linter.rule import WARNING, on_line, rule


@rule("TEAM1", WARNING)
def no_owner(plan, context):
    """No line says who owns the plan.

    Then nobody is asked.
    """
    if "Owner:" not in context.source.text:
        yield on_line(plan, max(plan.title_line, 0), "no line `Owner:`")
'''


def codes(folder: Folder, *arguments: str) -> list[str]:
    """What lint finds."""
    return [finding["code"] for finding in folder.run("lint", *arguments, "--json").json["data"]["findings"]]


@pytest.mark.parametrize("command", ["lint", "show", "next"])
def test_a_document_outside_the_plans_directories_is_not_made_a_plan_in_place(repo: Folder, command: str) -> None:
    """It would be archived with the plans."""
    repo.write("README.md", "# Parser\n\nIt parses.\n")
    assert repo.run(command, "README.md", "--json").json["next"][0] == "execplan new --from README.md"
    repo.write("notes/todo.md", "# Parser\n\n## Progress\n\n- [ ] Parse.\n")
    assert "--from" not in repo.run(command, "notes/todo.md").out


def test_selection_on_the_command_line(repo: Folder) -> None:
    repo.plan(NO_REASON)
    assert codes(repo) == ["EP202", "EP301"]
    assert codes(repo, "--select", "EP3") == ["EP301"]
    assert codes(repo, "--select", "EP2,EP3", "--ignore", "EP301") == ["EP202"]
    assert codes(repo, "--select", "EP2", "--select", "EP301") == ["EP202", "EP301"]
    assert codes(repo, "--level", "error") == ["EP301"]
    assert repo.run("lint", "--ignore", "EP").exit == repo.run("lint", "--select", "EP2", "--ignore", "EP2").exit == 2
    assert "--staged" in repo.run("lint", "--select", "EP508").err
    assert repo.run("lint", "--ignore", "EP301").exit == 0
    assert repo.run("lint", "--ignore", "EP301", "--profile", "strict").exit == 1
    assert repo.run("lint", "--ignore", "EP301", "--profile", "strict", "--level", "error").exit == 0


@pytest.mark.parametrize("flag", ["--select", "--ignore"])
def test_a_code_that_is_none(repo: Folder, flag: str) -> None:
    repo.plan()
    result = repo.run("lint", flag, "EP20,EP220", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "no-such-rule")
    assert "EP220" in result.json["error"]["message"]
    assert any(candidate.startswith("EP2") for candidate in result.json["error"]["candidates"])


@pytest.mark.parametrize("arguments", [(), (PLAN,), ("parser",), ("--staged",)])
def test_selection_in_the_settings(repo: Folder, arguments: tuple[str, ...]) -> None:
    repo.plan(NO_REASON)
    repo.git("add", "-A")
    repo.write(".agent/execplan.toml", "[lint]\nignore = ['EP202']\nlevels = { EP301 = 'hint' }\n")
    assert codes(repo, *arguments) == ["EP301"]
    assert repo.run("lint", *arguments).exit == 0
    assert codes(repo, *arguments, "--select", "EP202") == ["EP202"]
    repo.write(".agent/execplan.toml", "[lint]\nprofile = 'strict'\nselect = ['EP202']\n")
    assert repo.run("lint", *arguments).exit == 1
    assert repo.run("lint", *arguments, "--profile", "default").exit == 0


def test_settings_for_some_of_the_plans(repo: Folder) -> None:
    repo.plan(NO_REASON)
    repo.plan(NO_REASON, "2026-01-02_other")
    repo.plan(NO_REASON, "archive/2026-01-02_old")
    repo.write(
        "pyproject.toml",
        "[tool.execplan.lint]\nignore = ['EP301']\n[tool.execplan.lint.paths]\n"
        "'*_other.md' = { ignore = ['EP202'] }\n'.agent/execplans/archive' = { select = ['EP301', 'EP502'] }\n",
    )
    findings = [
        (finding["path"].rpartition("/")[2], finding["code"])
        for finding in repo.run("lint", "--json").json["data"]["findings"]
    ]
    assert findings == [
        ("2026-01-01_parser.md", "EP202"), ("2026-01-02_old.md", "EP502"), ("2026-01-02_old.md", "EP301"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "code", "exit_"),
    [
        ("ignore = 'EP202'", "bad-setting", 3),
        ("levels = { EP202 = 'fatal' }", "bad-setting", 3),
        ("profile = 'hard'", "bad-setting", 3),
        ("ignored = []", "unknown-setting", 3),
        ("paths = { 'x' = [] }", "bad-setting", 3),
        ("paths = { 'x' = { profile = 'ci' } }", "unknown-setting", 3),
        ("rules = ['rules.py']", "rules-of-repository", 7),
    ],
)
def test_settings_that_say_what_they_cannot(repo: Folder, table: str, code: str, exit_: int) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", f"[lint]\n{table}\n")
    for command in ("lint", "status"):
        result = repo.run(command, "--json")
        assert (result.exit, result.json["error"]["code"]) == (exit_, code)
        assert ".agent/execplan.toml: lint" in result.json["error"]["message"]


def test_names_of_rules_in_settings_stop_no_other_command(repo: Folder) -> None:
    repo.plan(NO_REASON)
    repo.write(".agent/execplan.toml", "[lint]\nignore = ['EP202']\nlevels = { EP3 = 'hint' }\n")
    for arguments in (("status",), ("list",), ("next",), ("done", "2")):
        repo.ok(*arguments)
    assert [finding["level"] for finding in repo.ok("lint")["findings"] if finding["code"] == "EP301"] == ["hint"]
    repo.write(".agent/execplan.toml", "[lint]\nignore = ['EP777']\n")
    repo.ok("status")
    result = repo.run("lint", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "no-such-rule")


def test_a_rule_of_ones_own_that_only_some_have_may_be_named_in_settings(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplan.toml", "[lint]\nignore = ['TEAM1']\n")
    assert codes(repo) == []
    rules_file = repo.write("../rules.py", RULE)
    assert codes(repo, "--rules", str(rules_file)) == []
    assert codes(repo, "--rules", str(rules_file), "--select", "TEAM1") == ["TEAM1"]


def test_rules_of_ones_own(repo: Folder) -> None:
    repo.plan()
    rules_file = repo.write("../rules.py", RULE)
    assert codes(repo, "--rules", "../rules.py") == ["TEAM1"]
    assert codes(repo, "--rules", str(rules_file), "--rules", str(rules_file)) == ["TEAM1"]
    repo.write("../.config/execplan/config.toml", f"[lint]\nrules = ['{rules_file}']\n")
    assert codes(repo) == codes(repo, PLAN) == ["TEAM1"]
    assert "TEAM1 no line `Owner:`" in repo.run("lint", PLAN).out
    repo.write("../.config/execplan/config.toml", "[lint]\nrules = ['~/rules.py']\n")
    assert codes(repo, "--profile", "strict") == ["TEAM1", "EP412"]
    repo.plan(CLEAN.replace("document.\n", "document.\n\nOwner: Ann\n\n<!-- execplan: ignore file TEAM1 -->\n", 1))
    assert codes(repo) == ["EP010"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (RULE.replace("TEAM1", "EP900"), "start with EP"),
        (RULE.replace("TEAM1", "EP101"), "already exists"),
        (RULE.replace("WARNING)", "'fatal')"), "fatal"),
        ("def (", "SyntaxError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
    ],
)
def test_rules_that_cannot_be_loaded(repo: Folder, source: str, why: str) -> None:
    repo.plan()
    repo.write("../rules.py", source)
    result = repo.run("lint", "--rules", "../rules.py", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "bad-rules")
    assert why in result.json["error"]["message"]
    assert repo.run("lint", "--rules", "no-such-entry").exit == 3
    assert repo.run("lint", "--rules", "../none.py").exit == 3


def test_a_rule_that_fails_is_reported_as_failed(repo: Folder) -> None:
    repo.plan()
    repo.write("../rules.py", RULE.replace('if "Owner:"', 'if 1 // 0 and "Owner:"'))
    result = repo.run("lint", "--rules", "../rules.py", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "rule-failed")
    assert "TEAM1" in result.json["error"]["message"]
    assert PLAN in result.json["error"]["message"]
    assert codes(repo, "--rules", "../rules.py", "--ignore", "TEAM1") == []


IDLE = CLEAN.replace("- [ ] Build", "<!-- execplan: ignore EP202 -->\n\n- [ ] Build")
FIXED = CLEAN.replace("- [ ] Build", "\n- [ ] Build")


def test_fix_goes_through_the_one_write_path(repo: Folder) -> None:
    path = repo.plan(IDLE)
    assert codes(repo) == ["EP010"]
    preview = repo.run("lint", "--fix", "--diff")
    assert "-<!-- execplan: ignore EP202 -->\n" in preview.out
    assert repo.run("lint", "--fix", "--dry-run").out == preview.out
    assert path.read_text() == IDLE
    result = repo.run("lint", "--fix", "--json")
    assert result.exit == 0
    assert result.json["data"]["findings"] == []
    assert [(fixed["path"], fixed["changed"], fixed["mended"]) for fixed in result.json["data"]["fixed"]] == [
        (PLAN, True, {"EP010": 1})
    ]
    assert path.read_text() == FIXED
    assert repo.run("lint", "--fix", "--json").json["data"]["fixed"] == []
    assert path.read_text() == FIXED
    assert repo.run("undo").exit == 0
    assert path.read_text() == IDLE


def test_fix_commits_what_it_fixed(repo: Folder) -> None:
    repo.plan(IDLE)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "A plan")
    result = repo.run("lint", "--fix", "--commit", "--json")
    assert result.json["data"]["fixed"][0]["commit"] == repo.git("rev-parse", "HEAD").strip()
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("text", [IDLE, IDLE.replace("- [ ]", "-")])
def test_archived_plans_are_not_fixed_and_no_output_says_that_they_can_be(repo: Folder, text: str) -> None:
    path = repo.plan(text, "archive/2026-01-01_old")
    result = repo.run("lint", "--fix", "--unsafe-fixes")
    assert path.read_text() == text
    assert ("--fix" in result.out + result.err, "EP" in result.out) == (False, True), result


def test_fix_continues_after_a_plan_that_cannot_be_fixed(repo: Folder) -> None:
    for at in range(3):
        repo.plan(IDLE, f"2026-01-0{at + 1}_parser")
    broken = repo.plan(IDLE + "\n<<<<<<< HEAD\n=======\n>>>>>>> x\n", "2026-01-02_parser")
    result = repo.run("lint", "--fix", "--json")
    assert result.exit == 1
    assert [fixed["path"][-20:-3] for fixed in result.json["data"]["fixed"]] == [
        "2026-01-01_parser",
        "2026-01-03_parser",
    ]
    assert "not fixed" in result.json["warnings"][0]
    assert "EP002" in {finding["code"] for finding in result.json["data"]["findings"]}
    assert IDLE in broken.read_text()


def test_fix_fixes_more_than_are_shown(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("Write the scanner, then the reader.", "- Write. \n" * 1500))
    assert repo.run("lint", "--fix").exit == 0
    assert "Write. \n" not in path.read_text()


@pytest.mark.parametrize("fault", ["yield 5", "raise SystemExit(4)", "yield on_line(plan, -3, 'x')"])
def test_a_rule_that_yields_no_place(repo: Folder, fault: str) -> None:
    repo.plan()
    repo.write("../rules.py", RULE.replace('yield on_line(plan, max(plan.title_line, 0), "no line `Owner:`")', fault))
    result = repo.run("lint", "--rules", "../rules.py", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "rule-failed")


@pytest.mark.parametrize("said", ["[lint", "lint = 3", "[lint]\nrule = []", "[other]\nx = 1"])
def test_own_settings_that_say_what_they_cannot(repo: Folder, said: str) -> None:
    repo.plan()
    repo.write("../.config/execplan/config.toml", said)
    assert repo.run("lint").exit == repo.run("lint", PLAN).exit == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--diff"], ["--dry-run"], ["--commit"], ["--staged", "--unsafe-fixes"], ["--staged", "--fix", "--diff"],
        ["--staged", "--fix", "--commit"], ["--staged", "parser"], ["--level", "bad"],
        ["--profile", "bad"], ["--select"],
    ],
)  # fmt: skip
def test_what_does_not_go_together(repo: Folder, arguments: list[str]) -> None:
    repo.plan()
    assert repo.run("lint", *arguments).exit == 2


def test_the_quick_way_says_the_same(repo: Folder) -> None:
    repo.plan(NO_REASON)
    repo.write(".agent/execplan.toml", "[lint]\nprofile = 'strict'\nignore = ['EP301']\n")
    quick, slow = repo.run("lint", PLAN), repo.run("lint", "parser")
    assert (quick.out, quick.exit) == (slow.out, slow.exit)
    assert quick.exit == 1


def test_a_rule_file_that_a_repository_brings_is_not_run(repo: Folder, tmp_path: Path) -> None:
    repo.plan()
    marker = tmp_path / "ran"
    repo.write("rules.py", f"open({str(marker)!r}, 'w')\n")
    repo.write("execplan_rules.py", f"open({str(marker)!r}, 'w')\n")
    repo.write(".config/execplan/config.toml", "[lint]\nrules = ['../../rules.py']\n")
    assert repo.run("lint").exit == 0
    assert not marker.exists()


@pytest.mark.parametrize("form", ["text", "concise", "sarif", "junit", "gitlab", "github"])
def test_no_form_shows_a_secret(repo: Folder, form: str) -> None:
    secret = "AKIAZ7QHRCW4T5ZLM9XD"  # the page of the rule has another one
    repo.plan(NO_REASON.replace("Read line by line.", f"Call it with {secret}.").replace("`make test` passes.", secret))
    result = repo.run("lint", "--format", form)
    assert "EP410" in result.out
    assert "EP301" in result.out
    assert "AKIA" in result.out
    assert secret not in result.out + result.err
    assert secret not in repo.run("lint", "--json").out


def test_a_baseline_that_exists_is_proposed_instead_of_another(repo: Folder) -> None:
    for number in range(70):
        repo.plan(f"# Build part {number}\n\nA living document.\n\n## Progress\n\n- [ ] Read it.\n", f"part-{number}")
    assert "next: execplan lint --write-baseline  #" in repo.run("lint").out
    repo.ok("lint", "--write-baseline")
    command = repo.run("lint").out.split("next: execplan lint --baseline ")[1].split("  #")[0]
    assert repo.run("lint", "--baseline", command).exit == 0


def test_a_merge_comes_before_the_baseline_and_is_never_in_it(repo: Folder) -> None:
    for number in range(70):
        repo.plan(f"# Build part {number}\n\nA living document.\n\n## Progress\n\n- [ ] Read it.\n", f"part-{number}")
    repo.plan(CLEAN.replace("- [ ] Build", "<<<<<<< HEAD\n- [ ] Build\n=======\n- [ ] Make\n>>>>>>> b\n- [ ] Build"))
    merge = "next: execplan merge 2026-01-01_parser"
    for arguments in (), ("--level", "warning"), ("--write-baseline",), ("--baseline", ".agent/lint-baseline.json"):
        commands = [line for line in repo.run("lint", *arguments).out.splitlines() if line.startswith("next: ")]
        assert commands == [merge]


def test_a_directory_is_checked_without_its_git_directory(repo: Folder) -> None:
    repo.plan()
    repo.write("notes.md", CLEAN)
    repo.ok("attach", "notes.md")
    repo.ok("undo")
    assert [*(repo.path / ".git").rglob("notes.md")], "undone attachments are kept in the git directory"
    result = repo.run("lint", ".")
    assert (result.exit, ".git" in result.out + result.err) == (0, False)


def test_a_code_block_that_hides_the_tasks_comes_first(repo: Folder) -> None:
    repo.plan(CLEAN.replace("## Purpose", "```\n\n## Purpose", 1))
    assert repo.run("lint", "--json").json["next"] == ["execplan explain EP003"]
    for command in ("status", "next", "prime"):
        assert "add 'First step'" not in repo.run(command).out
        assert "execplan lint 2026-01-01_parser" in repo.run(command).out


def test_a_section_with_part_of_a_standard_title_is_to_be_renamed_not_added_again(repo: Folder) -> None:
    repo.plan(CLEAN.replace("## Decision Log", "## Decision", 1))
    result = repo.run("lint", "--json").json
    assert "rename `## Decision`?" in str(result["data"]["findings"])
    assert result["next"] == ["execplan explain EP104"]


@pytest.mark.parametrize("title", ["Surprises", "Discoveries"])
def test_half_of_a_standard_title_is_enough_and_the_hint_makes_it_whole(repo: Folder, title: str) -> None:
    repo.plan(CLEAN.replace("## Surprises & Discoveries", f"## {title}", 1))
    repo.ok("discover", "Lines end in CRLF.", "--evidence", "`file a.txt`")
    result = repo.run("lint", "--json").json
    assert [finding["code"] for finding in result["data"]["findings"]] == ["EP107"]
    assert result["next"] == ["execplan lint 2026-01-01_parser --fix"]
    assert repo.run("lint", "--fix").exit == 0
    assert [entry["text"] for entry in repo.ok("show")["discoveries"]][-1:] == ["Lines end in CRLF."]
    assert repo.ok("lint")["findings"] == []


def test_a_log_entry_keeps_the_form_of_a_plan(repo: Folder) -> None:
    """A plan without tasks that is in another form gets a decision, and no other sections are then missing."""
    repo.plan("# Cache\n\n**Goal:** Faster.\n\n## Step 1: Measure\n\nRun it in the root.\n", "2026-01-01_cache")
    repo.ok("decide", "In memory", "--why", "It is fast.", "--create")
    assert codes(repo) == []
    assert repo.ok("convert", "--dry-run")["changed"]


@pytest.mark.parametrize("heading", ["Steps", "Step 1: Measure"])
def test_a_first_task_keeps_the_form_of_a_plan(repo: Folder, heading: str) -> None:
    """With the task, the section with findings is read as a log, and nothing else changes."""
    path = repo.plan(
        f"# Cache\n\n**Goal:** Faster.\n\n## {heading}\n\nRun it in the root.\n\n## Findings\n\n- It is slow.\n"
    )
    repo.ok("add", "Measure it", "--create")
    repo.ok("discover", "It is the disk", "--evidence", "iostat")
    assert "## Tasks\n\n- [ ] Measure it\n" in path.read_text()
    assert "- It is slow.\n\n- Observation: It is the disk\n  Evidence: iostat\n" in path.read_text()
    assert codes(repo) == []
