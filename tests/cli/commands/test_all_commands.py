"""What each verb does, on real folders."""

from __future__ import annotations

import json

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

COMPLETE_PLAN = with_sections("## Progress\n\n- [x] (2025-12-30 09:15Z) Read lines.\n")


def test_init_is_idempotent_and_keeps_what_is_there(plain: Folder) -> None:
    guide = plain.write(".agent/PLANS.md", "ours\n")
    entries = plain.ok("init", "--dry-run")["paths"]
    assert not (plain.path / ".agent" / "execplans").exists()
    assert [entry["path"] for entry in entries if not entry["made"]] == [".agent/PLANS.md"]
    assert plain.ok("init")["changed"] is True
    assert guide.read_text() == "ours\n"
    assert (plain.path / ".agent/execplans/archive/artifacts").is_dir()
    assert (plain.path / ".agent/execplans/artifacts").is_dir()
    settings = (plain.path / ".agent/execplan.toml").read_bytes()
    assert all(line.startswith(b"#") or not line for line in settings.splitlines())
    assert plain.ok("init")["changed"] is False
    assert (plain.path / ".agent/execplan.toml").read_bytes() == settings


def test_init_leaves_settings_in_pyproject(plain: Folder) -> None:
    plain.write("pyproject.toml", '[tool.execplan]\nplans = "plans"\narchive = "plans/old"\n')
    plain.ok("init")
    assert not (plain.path / ".agent/execplan.toml").exists()
    assert (plain.path / "plans/old").is_dir()
    assert plain.ok("new", "Build the parser")["path"] == "plans/2026-01-01_build-the-parser.md"


def test_a_guide_of_any_name_is_a_file(plain: Folder) -> None:
    plain.write(".agent/execplan.toml", 'guide = "docs/HOW-TO-PLAN"\nplans = "plans.md"\n')
    plain.ok("init")
    assert (plain.path / "docs/HOW-TO-PLAN").is_file()
    assert (plain.path / "plans.md").is_dir()


def test_a_new_plan_never_has_a_name_that_is_passed_over(plain: Folder) -> None:
    plain.write(".agent/execplan.toml", 'name = "{slug}"\n')
    new_plan = plain.ok("new", "Readme")
    assert new_plan["id"] == "readme-2"
    assert [plan["id"] for plan in plain.ok("list")["plans"]] == ["readme-2"]


def test_init_makes_what_the_settings_name_whatever_it_is_called(plain: Folder) -> None:
    plain.write("pyproject.toml", '[tool.execplan]\nplans = "plans.md"\nguide = "docs/GUIDE"\n')
    plain.ok("init")
    assert (plain.path / "plans.md").is_dir()
    assert (plain.path / "docs/GUIDE").read_text().startswith("# ")


def test_settings_file_says_every_setting(plain: Folder) -> None:
    from execplan.core.project.project_settings import Settings

    plain.ok("init")
    path = plain.path / ".agent/execplan.toml"
    text = path.read_text()
    assert all(f"\n# {name} = " in text for name in Settings()._asdict())
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    path.write_text("\n".join(lines))
    assert plain.run("list").exit == 0


def test_wrong_settings(plain: Folder) -> None:
    for text, expected in (
        ("stalled = 3\n", "stalled_days"),
        ("commit = 1\n", "true or false"),
        ('plans = "../out"\n', "inside"),
        ('name = "{date}"\n', "{slug}"),
        ('message = "{no}"\n', "{summary}"),
        ("stalled_days = 0\n", "at least 1"),
        ("x = [\n", "Invalid value"),
    ):
        plain.write(".agent/execplan.toml", text)
        result = plain.run("list")
        assert result.exit == 3, text
        assert expected in result.err
    plain.write(".agent/execplan.toml", "")
    plain.write("pyproject.toml", "[tool.execplan]\ncommit = true\n")
    assert plain.run("list").exit == 3


def test_settings_that_cannot_be_read_are_not_passed_over(repo: Folder) -> None:
    repo.plan()
    (repo.path / ".agent/execplan.toml").symlink_to("execplan.toml")
    result = repo.run("done", "2")
    assert result.exit == 3
    assert "execplan.toml" in result.err


def test_new_writes_the_skeleton(repo: Folder) -> None:
    from execplan.core.plan.outline import NAMES

    result = repo.run("new", "Build the parser!", "--purpose", "Plans are read.", "--task", "Read", "--task", "Test")
    assert result.exit == 0
    assert result.out.splitlines()[0] == ".agent/execplans/2026-01-01_build-the-parser.md"
    command = "execplan set 'Context and Orientation' 'New text' -p 2026-01-01_build-the-parser"
    assert f"next: fill in 7 sections, for example: {command}\n" in result.out
    data = repo.ok("show")
    assert [section["name"] for section in data["sections"]] == list(NAMES)
    assert data["title"] == "Build the parser!"
    assert data["state"] == "draft"
    assert [task["text"] for task in data["tasks"]] == ["Read", "Test"]
    assert (repo.path / ".agent/execplans/artifacts/2026-01-01_build-the-parser").is_dir()
    text = (repo.path / data["path"]).read_text()
    labels = ("- Observation:", "  Evidence:", "- Decision:", "  Rationale:", "  Date/Author:")
    assert all(label in text for label in labels)


def test_new_without_task_has_a_first_one_to_replace(repo: Folder) -> None:
    """It passes lint, which names it, and the first task that is added takes its place."""
    path = repo.ok("new", "Build the parser")["path"]
    template = (repo.path / path).read_text()
    assert template.count("- [ ] ") == 1
    findings = repo.ok("lint")["findings"]
    assert {finding["code"] for finding in findings} == {"EP109"}
    assert "Progress still contains placeholder text" in [finding["message"].partition(" (")[0] for finding in findings]
    waiting = repo.run("next", "--json").json
    assert waiting["data"]["state"] == "draft"
    assert any("execplan add 'First step'" in command for command in waiting["next"])
    assert repo.run("archive").exit == 1
    repo.ok("add", "Read lines")
    tasks = [line for line in (repo.path / path).read_text().splitlines() if line.startswith("- [")]
    assert tasks == ["- [ ] Read lines"]
    assert "Progress" not in str(repo.ok("lint")["findings"])
    repo.ok("undo")
    assert (repo.path / path).read_text() == template


def test_new_from_a_file(repo: Folder) -> None:
    source = repo.write("drafts/2025-12-31_parser.md", CLEAN.replace("\n", "\r\n"))
    data = repo.ok("new", "--from", str(source))
    assert data["id"] == "2025-12-31_parser"
    assert (repo.path / data["path"]).read_bytes() == source.read_bytes()
    assert repo.ok("new", "--from", "-", stdin=CLEAN.encode())["id"] == "2026-01-01_build-the-parser"
    odd = repo.write("drafts/notes.md", CLEAN)
    assert repo.ok("new", "--from", str(odd))["id"] == "2026-01-01_build-the-parser-2"
    bad = repo.write("drafts/bad.md", CLEAN.replace("## Progress", "## Prog"))
    before = sorted((repo.path / ".agent/execplans").iterdir())
    result = repo.run("new", "--from", str(bad), "--json")
    assert result.exit == 1
    assert [(finding["code"], finding["path"]) for finding in result.json["data"]["findings"]] == [
        ("EP104", "drafts/bad.md")
    ]
    assert f"  {bad}:1:1 EP104 " in repo.run("new", "--from", str(bad)).err
    assert sorted((repo.path / ".agent/execplans").iterdir()) == before


def test_the_format_s_own_script(repo: Folder) -> None:
    import subprocess
    import sys
    from pathlib import Path

    script = Path(__file__).resolve().parents[3] / "scripts" / "new_execplan.py"
    run = [sys.executable, str(script), "short description"]
    completed = subprocess.run(run, cwd=repo.path, env=repo.env, capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines()[0] == ".agent/execplans/2026-01-01_short-description.md"


def test_list_status_next(repo: Folder) -> None:
    repo.plan()
    repo.plan(COMPLETE_PLAN, "2026-01-02_done")
    repo.plan(b"# T\0\n", "2026-01-03_broken")
    repo.write(".agent/execplans/archive/2025-01-01_old.md", COMPLETE_PLAN)
    repo.write(".agent/execplans/README.md", "no plan\n")
    listed = repo.run("list", "--json")
    assert listed.exit == 1
    plans = {plan["id"]: plan for plan in listed.json["data"]["plans"]}
    assert {name: plan["state"] for name, plan in plans.items()} == {
        "2026-01-01_parser": "active",
        "2026-01-02_done": "complete",
        "2026-01-03_broken": "broken",
    }
    assert plans["2026-01-01_parser"]["counts"] == {"open": 2, "done": 1, "other": 0, "total": 3}
    assert "NUL" in plans["2026-01-03_broken"]["error"]
    everything = repo.run("list", "--all", "--json").json["data"]["plans"]
    assert [plan["state"] for plan in everything][-1] == "archived"
    status = repo.run("status", "--json")
    assert status.exit == 1
    assert status.json["data"]["states"] == {
        "broken": 1,
        "active": 1,
        "draft": 0,
        "complete": 1,
        "archived": 1,
        "document": 0,
    }
    assert [plan["state"] for plan in status.json["data"]["plans"]] == ["broken", "active", "complete"]
    assert status.json["data"]["plans"][1]["next"]["text"] == "Build the parser."
    assert status.json["data"]["plans"][1]["stalled"] is False
    following = repo.run("next", "--json")
    assert following.exit == 1  # a broken plan is among those that it looked at
    assert following.json["data"]["task"]["number"] == 2
    assert repo.ok("next", "parser")["task"]["number"] == 2
    assert repo.ok("next", "2026-01-02_done")["task"] is None
    assert repo.run("show", "broken").exit == 3
    assert repo.run("status", "broken").exit == 1


def test_stalled(repo: Folder) -> None:
    import os

    text = with_sections("## Progress\n\n- [x] (2025-12-01) Read.\n- [ ] Test.\n").replace("2025-12-30", "2025-12-01")
    path = repo.plan(text)
    os.utime(path, (1764547200, 1764547200))  # 2025-12-01
    assert repo.ok("status")["plans"][0]["stalled"] is True
    assert "(stalled)" in repo.run("status").out
    path.touch()
    assert repo.run("status", SOURCE_DATE_EPOCH="").exit == 0


def test_show_a_section(repo: Folder) -> None:
    text = CLEAN.replace("\n", "\r\n")
    repo.plan(text)
    data = repo.ok("show", "--section", "decisions")
    assert data["section"] == "Decision Log"
    assert data["text"].startswith("## Decision Log\r\n\r\n- Decision: Read line by line.\r\n")
    assert data["text"] in text
    lines = text.split("\r\n")[data["line_start"] - 1 : data["line_end"]]
    assert "\r\n".join(lines) + "\r\n" == data["text"]
    result = repo.run("show", "--section", "Progess")
    assert result.exit == 3
    assert "did you mean 'Progress'?" in result.err


def test_show_reports_everything(repo: Folder) -> None:
    extra = "\n## Risks\n\n- [ ] not a task\n\nPlan revision note: 2026-01-01 00:00Z - Split.\n"
    repo.plan(CLEAN + extra)
    data = repo.ok("show")
    assert [box["section"] for box in data["checklists"]] == ["Risks"]
    assert data["revisions"][0]["text"] == "Split."
    assert data["decisions"][0]["author"] == "Ann"
    assert data["discoveries"][0]["evidence"] == "`tests/test_lines.py::test_last` failed."
    assert data["outcomes"] == [{"text": "Lines can be read.", "date": None, "line_start": 28, "line_end": 28}]
    task = data["tasks"][0]
    assert (task["stamp"], task["mark"], task["state"], task["depth"]) == ("(2025-12-30 09:15Z)", "x", "done", 0)
    assert data["sections"][-1]["name"] is None
    assert repo.ok("done", task["id"])["changed"] is False


def test_tasks_by_id_number_and_text(repo: Folder) -> None:
    path = repo.plan()
    name = repo.ok("show")["tasks"][1]["id"]
    for query in (name, name.upper(), "2", "build the", "PARSER  build"):
        assert repo.ok("done", query)["changed"] is True
        assert repo.ok("reopen", query)["changed"] is True
        assert path.read_text() == CLEAN
    result = repo.run("done", "the")
    assert result.exit == 3
    assert "2. Build the parser." in result.err
    assert "3. Write the tests." in result.err
    assert repo.run("done", "9").exit == 3
    assert "Write the tests." in repo.run("done", "wrote the tests").err
    assert path.read_text() == CLEAN


def test_text_is_found_without_its_markup(repo: Folder) -> None:
    repo.plan(with_sections("## Progress\n\n- [ ] Run `make test` in the **root** ([how](x.md))\n- [ ] Run it\n"))
    assert repo.ok("done", "make test in the root (how)")["said"][0].startswith("done: 1.")


def test_all_or_none(repo: Folder) -> None:
    path = repo.plan()
    assert repo.run("done", "2", "9").exit == 3
    assert path.read_text() == CLEAN
    assert repo.ok("done", "2", "3", "2")["said"] == ["done: 2. Build the parser.", "done: 3. Write the tests."]


def test_a_task_that_is_done_is_not_added_again(repo: Folder) -> None:
    path = repo.plan()
    data = repo.ok("add", "read  LINES.")
    assert data["changed"] is False
    assert data["said"] == [f"already in the plan, done: 1. Read lines.  [{data['tasks'][0]['id']}]"]
    assert path.read_text() == CLEAN


def test_text_from_a_file_and_from_standard_input(repo: Folder) -> None:
    repo.plan()
    text_file = repo.write("words.txt", "Handle\nCRLF\n")
    repo.ok("add", f"@{text_file}")
    repo.ok("add", "-", stdin=b"Handle CR\n")
    repo.ok("add", "@@ann reviews")
    repo.ok("decide", "Keep bytes", "--why", "-", stdin=b"Nothing is lost.\n")
    texts = [task["text"] for task in repo.ok("show")["tasks"]]
    assert texts[3:] == ["Handle CRLF", "Handle CR", "@ann reviews"]
    assert repo.ok("show")["decisions"][1]["rationale"] == "Nothing is lost."
    assert repo.run("add", "@nowhere").exit == 3
    assert repo.run("add", "-").exit == 2


def test_author(repo: Folder) -> None:
    repo.plan()
    call = ["decide", "--why", "Nothing is lost."]
    repo.ok(*call, "One", "--author", "Bob / Cid")
    repo.ok(*call, "Two")
    repo.env.pop("EXECPLAN_AUTHOR")
    repo.env.pop("GIT_AUTHOR_NAME")
    repo.git("config", "user.name", "Dora")
    repo.ok(*call, "Three")
    repo.git("config", "--unset", "user.name")
    repo.ok(*call, "Four")
    repo.write(".agent/execplan.toml", 'author = "Eve"\n')
    repo.ok(*call, "Five")
    authors = [decision["author"] for decision in repo.ok("show")["decisions"]]
    assert authors[1:4] == ["Bob / Cid", "Ann", "Dora"]
    assert authors[4] not in ("", "Dora")
    assert authors[5] == "Eve"


def test_supersedes(repo: Folder) -> None:
    repo.plan()
    repo.ok("decide", "Read bytes", "--why", "Nothing is lost.", "--supersedes", "line by line")
    assert repo.ok("show")["decisions"][1]["supersedes"] == "Read line by line. (2025-12-30)"
    assert repo.run("decide", "X", "--why", "y", "--supersedes", "nothing like it").exit == 3
    assert repo.run("decide", "X", "--why", "y", "--supersedes", "read").exit == 3


def test_archive(repo: Folder) -> None:
    path = repo.plan()
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/run.log", "ok\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    result = repo.run("archive", "--json")
    assert result.exit == 1
    assert len(result.json["data"]["reasons"]) == 2
    assert path.exists()
    repo.ok("done", "2", "3")
    preview = repo.ok("archive", "--dry-run")
    assert path.exists()
    assert [move["to"] for move in preview["moves"]] == [
        ".agent/execplans/archive/artifacts/2026-01-01_parser",
        ".agent/execplans/archive/2026-01-01_parser.md",
    ]
    data = repo.ok("archive", "--commit")
    assert not path.exists()
    assert data["path"] == ".agent/execplans/archive/2026-01-01_parser.md"
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("show", "--name-status", "--no-renames", "--format=").split() == [
        "D", ".agent/execplans/2026-01-01_parser.md",
        "A", ".agent/execplans/archive/2026-01-01_parser.md",
        "A", ".agent/execplans/archive/artifacts/2026-01-01_parser/execplan-evidence.json",
        "A", ".agent/execplans/archive/artifacts/2026-01-01_parser/run.log",
        "D", ".agent/execplans/artifacts/2026-01-01_parser/run.log",
    ]  # fmt: skip
    assert repo.ok("archive", "parser")["changed"] is False
    assert repo.run("lint").exit == 0


def test_archive_by_force_says_beforehand_what_the_digest_will_be(plain: Folder) -> None:
    plain.plan()
    call = ("archive", "--force", "--reason", "Overtaken.")
    preview = plain.ok(*call, "--dry-run")
    assert preview["digest"] == plain.ok(*call)["digest"]


def test_archive_names_no_commit_where_there_is_no_git(plain: Folder) -> None:
    plain.plan(COMPLETE_PLAN)
    assert plain.run("archive", "--json").json["next"] == []


def test_archive_by_force_records_why(repo: Folder) -> None:
    repo.plan()
    data = repo.ok("archive", "--force", "--reason", "The customer\nleft.")
    text = (repo.path / data["path"]).read_text()
    assert text == CLEAN + "\nPlan revision note: 2026-01-01 00:00Z - Archived by force: The customer left.\n"
    assert repo.ok("lint")["findings"] == []
    assert repo.run("new", "x").exit == 0


def test_a_dry_run_of_an_archive_shows_the_digest_to_come(repo: Folder) -> None:
    path = repo.plan()
    before = path.read_bytes()
    force = ("archive", "--force", "--reason", "The customer left.")
    digest = repo.ok(*force, "--dry-run")["digest"]
    assert path.read_bytes() == before
    assert digest == repo.ok(*force)["digest"]


def test_force_never_overrides_what_stops_an_edit(repo: Folder) -> None:
    text = CLEAN + "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    path = repo.plan(text)
    assert repo.run("archive", "--force", "--reason", "x").exit == 3
    assert path.read_text() == text


def test_lint_of_files_needs_no_project(plain: Folder) -> None:
    good = plain.write("good.md", CLEAN)
    bad = plain.write("bad.md", CLEAN.replace("- [x] (2025-12-30 09:15Z)", "- [x]").replace("# Build", "Build"))
    result = plain.run("lint", "good.md", "bad.md")
    assert result.exit == 1
    assert result.out.splitlines() == [
        "bad.md:1:1 EP101 no title: start with a line such as `# Build the parser`",
        "     1 | Build the parser",
        "       | ^ error",
        "bad.md:11:1 EP202 task 1 is done but has no timestamp",
        "    11 | - [x] Read lines.",
        "       | ^ warning",
        "1 error, 1 warning in 2 plans",
        "next: execplan explain EP101",
    ]
    document = plain.run("lint", str(good), str(bad), "--json").json
    assert document["ok"] is False
    assert document["error"] is None
    finding = document["data"]["findings"][1]
    assert finding == {
        "code": "EP202",
        "level": "warning",
        "path": str(bad),
        "line": 11,
        "column": 1,
        "end_line": 11,
        "end_column": 17,
        "message": "task 1 is done but has no timestamp",
        "fix": None,
    }
    assert plain.run("lint", "nowhere.md").exit in (3, 6)
    assert plain.run("explain", "EP202").out.startswith("EP202 (warning)\n")
    assert plain.run("explain", "ep202", "--json").json["data"]["code"] == "EP202"
    assert plain.run("explain", "EP999").exit == 3


def test_lint_of_a_file_that_is_not_there_asks_for_no_project(plain: Folder) -> None:
    result = plain.run("lint", "nope.md", "--json")
    assert result.exit == 3
    assert result.json["error"]["message"] == "can't read nope.md: no such file or directory"
    assert plain.run("lint", "nope").exit == 6


def test_quick_lint_and_the_command_agree(plain: Folder) -> None:
    plain.write("bad.md", CLEAN.replace("# Build", "Build"))
    quick = plain.run("lint", "bad.md")
    slow = plain.run("-C", ".", "lint", "bad.md")
    assert quick == slow
    assert quick.exit == 1


def test_commit(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/run.log", "ok\n")
    repo.write("mine.txt", "staged\n")
    repo.git("add", "mine.txt")
    assert repo.ok("commit", "--dry-run")["paths"] == [
        ".agent/execplans/2026-01-01_parser.md",
        ".agent/execplans/artifacts/2026-01-01_parser/run.log",
    ]
    data = repo.ok("commit", "-m", "first words")
    assert data["changed"] is True
    assert repo.git("log", "-1", "--format=%s").strip() == "plan(2026-01-01_parser): first words"
    assert repo.git("status", "--porcelain") == "A  mine.txt\n"
    repeated = repo.ok("commit")
    assert repeated["changed"] is False
    assert repeated["commit"] is None


def test_commit_as_a_setting(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'commit = true\nmessage = "[{verb}] {title}: {summary}"\n')
    repo.plan()
    assert repo.ok("done", "2")["commit"]
    assert repo.git("log", "-1", "--format=%s").strip() == "[done] Build the parser: done 2, Build the parser."
    assert repo.ok("done", "3", "--no-commit")["commit"] is None


def test_a_folder_of_plans_is_linted(plain: Folder) -> None:
    plain.write("plans/a.md", CLEAN)
    plain.write("plans/deep/b.md", "")
    data = plain.run("lint", "plans", "--json").json["data"]
    assert data["plans"] == 2
    assert [(finding["path"], finding["code"]) for finding in data["findings"]] == [
        (str(plain.path / "plans/deep/b.md"), "EP001")
    ]


def test_output_is_plain_text_elsewhere_than_on_a_terminal(repo: Folder) -> None:
    repo.plan(CLEAN.replace("# Build the parser", "# " + "Build the parser " * 12))
    assert "\x1b" not in repo.run("list").out
    assert len(repo.run("list").out.splitlines()) == 1
    assert json.loads(repo.run("list", "--json").out)["ok"] is True


def test_ten_inits_at_once(plain: Folder) -> None:
    results = plain.run_at_once([("init",)] * 10)
    assert [result.exit for result in results] == [0] * 10, results
    assert plain.ok("init")["changed"] is False
    assert [path.name for path in (plain.path / ".agent").iterdir() if path.name.endswith(".tmp")] == []


def test_init_commits_what_an_earlier_init_could_not(repo: Folder) -> None:
    hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert repo.run("init", "--commit").exit == 6
    hook.unlink()
    assert repo.ok("init", "--commit")["commit"]
    assert repo.git("show", "--name-only", "--format=").split() == [".agent/PLANS.md", ".agent/execplan.toml"]
    repo.write(".agent/PLANS.md", "ours\n")
    assert repo.ok("init", "--commit")["commit"] is None


def test_archive_while_others_write(repo: Folder) -> None:
    repo.plan(COMPLETE_PLAN)
    results = repo.run_at_once([*[("outcome", f"Seen {at}.") for at in range(6)], ("archive",)])
    assert results[-1].exit == 0, results
    assert {result.exit for result in results[:-1]} <= {0, 1, 3, 4}
    text = (repo.path / ".agent/execplans/archive/2026-01-01_parser.md").read_text()
    for at, result in enumerate(results[:-1]):
        assert (f"Seen {at}." in text) == (result.exit == 0)


def test_of_two_plans_with_one_id_the_current_one_is_meant(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", COMPLETE_PLAN)
    for name in ("2026-01-01_parser", "parser"):
        assert repo.ok("show", name)["state"] == "active"
    assert repo.ok("show", ".agent/execplans/archive/2026-01-01_parser.md")["state"] == "archived"


def test_an_empty_name_names_nothing(repo: Folder) -> None:
    path = repo.plan()
    for call in (
        ["done", "2", "-p", ""],
        ["show", " "],
        ["next", ""],
        ["archive", ""],
        ["commit", ""],
        ["lint", ""],
        ["status", ""],
        ["add", "x", "--after", ""],
        ["add", "x", "--under", ""],
        ["decide", "x", "--why", "y", "--supersedes", ""],
    ):
        assert repo.run(*call).exit == 3, call
    assert path.read_text() == CLEAN
