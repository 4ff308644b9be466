"""`import`: a file becomes a plan, the next import updates it, and what the plan has changed stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Folder

JIRA = """\
Issue key,Summary,Status,Parent,Description,Assignee
P-1,Parser,In Progress,,"Reads
plans",Ann
P-2,Read lines,Done,P-1,,
P-3,Write,To Do,,,
"""


def _plan(repo: Folder) -> Path:
    [path] = (repo.path / ".agent/execplans").glob("*.md")
    return path


def _tasks(repo: Folder) -> list[tuple[str, int, str]]:
    tasks = repo.ok("show", str(_plan(repo)))["tasks"]
    return [(task["mark"], task["depth"], task["text"]) for task in tasks]


def _files(repo: Folder) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (repo.path / ".agent").rglob("*") if path.is_file()}


def test_a_file_becomes_a_plan(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    data = repo.ok("import", "jira.csv")
    assert data["path"] == ".agent/execplans/2026-01-01_jira.md"
    assert (data["form"], data["tasks"], data["changed"]) == ("jira", 3, True)
    assert _tasks(repo) == [
        ("~", 0, "Parser (id: P-1)"),
        ("x", 1, "Read lines (id: P-2)"),
        (" ", 0, "Write (id: P-3)"),
    ]
    assert "  - Details: assignee Ann\n  > Reads\n  > plans\n" in _plan(repo).read_text()
    record = json.loads((repo.path / data["artifacts"] / "jira.import.json").read_text())
    assert record["import"] == {"form": "jira", "source": "jira.csv", "number": 1}


def test_a_second_import_of_the_same_file_changes_nothing(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    files = _files(repo)
    data = repo.ok("import", "jira.csv")
    assert (data["changed"], data["said"], data["conflicts"]) == (False, [], [])
    assert _files(repo) == files
    assert "up to date with jira.csv" in repo.run("import", "jira.csv").out


def test_a_second_import_updates_states_texts_and_tasks(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    path = _plan(repo)
    path.write_text(path.read_text().replace("- [ ] Write (id: P-3)\n", "- [ ] Write (id: P-3)\n  - My note.\n"))
    changed = JIRA.replace("Parser,In Progress", "The parser,Done").replace("P-3,Write,To Do", "P-3,Write,In Progress")
    repo.write("Jira (2).csv", changed + "P-4,Blocks,To Do,P-1,,\nP-5,Test,To Do,,,\n")
    data = repo.ok("import", "Jira (2).csv")
    assert data["said"] == [
        "reworded: P-1 The parser",
        "done: P-1 The parser",
        "in progress: P-3 Write",
        "added: P-4 Blocks",
        "added: P-5 Test",
    ]
    assert _tasks(repo) == [
        ("x", 0, "The parser (id: P-1)"),
        ("x", 1, "Read lines (id: P-2)"),
        (" ", 1, "Blocks (id: P-4)"),
        ("~", 0, "Write (id: P-3)"),
        (" ", 0, "Test (id: P-5)"),
    ]
    assert "- [~] Write (id: P-3)\n  - My note.\n- [ ] Test (id: P-5)\n" in path.read_text()
    assert repo.ok("import", "Jira (2).csv")["changed"] is False


def test_what_both_have_changed_stays_and_is_reported_once(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    repo.ok("done", "P-3")
    repo.ok("reword", "P-1", "My parser")
    assert ("~", 0, "My parser (id: P-1)") in _tasks(repo)
    assert repo.ok("import", "jira.csv")["changed"] is False
    repo.write("jira.csv", JIRA.replace("P-3,Write,To Do", "P-3,Write,In Progress").replace("Parser,", "Their parser,"))
    result = repo.run("import", "jira.csv", "--json").json
    conflicts = [
        "P-1 Their parser: its text is now 'Their parser' in jira.csv, and 'My parser' in the plan, which stays",
        "P-3 Write: it is in progress in jira.csv, and done in the plan, which stays",
    ]
    assert result["data"]["conflicts"] == conflicts
    assert result["warnings"] == conflicts
    assert [mark for mark, _, _ in _tasks(repo)] == ["~", "x", "x"]
    files = _files(repo)
    assert repo.run("import", "jira.csv", "--json").json["warnings"] == []
    assert _files(repo) == files


def test_a_task_is_done_when_the_file_says(repo: Folder) -> None:
    repo.write("todo.txt", "Buy paper id:1\nCall Ann id:2\n")
    repo.ok("import", "todo.txt")
    repo.write("todo.txt", "x 2025-12-30 Buy paper id:1\nx Call Ann id:2\n")
    repo.ok("import", "todo.txt")
    assert [task["stamp"] for task in repo.ok("show")["tasks"]] == ["(2025-12-30 00:00Z)", "(2026-01-01 00:00Z)"]


def test_an_import_without_its_record_is_found_by_its_tasks(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    for path in (repo.path / repo.ok("import", "jira.csv")["artifacts"]).iterdir():
        path.unlink()
    repo.ok("done", "P-3")
    assert repo.ok("import", "jira.csv")["changed"] is True
    assert [mark for mark, _, _ in _tasks(repo)] == ["~", "x", "x"]
    assert repo.ok("import", "jira.csv")["changed"] is False


def test_removed_tasks_are_reported(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    path = _plan(repo)
    path.write_text(path.read_text().replace("- [ ] Write (id: P-3)\n", ""))
    repo.write("jira.csv", JIRA.replace("P-2,Read lines,Done,P-1,,\n", ""))
    result = repo.run("import", "jira.csv", "--json").json
    assert result["warnings"] == [
        "P-3 Write was removed from the plan, and is not added again",
        "P-2 Read lines is no longer in jira.csv; the plan keeps it",
    ]
    assert len(_tasks(repo)) == 2


def test_split_keeps_the_id_on_what_remains(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    repo.ok("split", "P-3", "--done", "Write lines", "--remaining", "Write blocks")
    assert ("x", 0, "Write lines") in _tasks(repo)
    assert (" ", 0, "Write blocks (id: P-3)") in _tasks(repo)
    assert repo.ok("import", "jira.csv")["changed"] is False


def test_an_import_is_one_operation(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    before = _files(repo)
    repo.write("jira.csv", JIRA.replace("To Do", "Done"))
    repo.ok("import", "jira.csv")
    assert len(_files(repo)) == len(before) + 1
    repo.ok("undo")
    assert _files(repo) == before
    assert repo.ok("import", "jira.csv")["said"] == ["done: P-3 Write"]
    repo.ok("undo")
    repo.ok("undo")
    assert list((repo.path / ".agent/execplans").glob("*.md")) == []


def test_a_commit_has_the_plan_and_its_record(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    data = repo.ok("import", "jira.csv", "--commit")
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    names = repo.git("show", "--name-only", "--format=").split()
    assert names == [".agent/execplans/2026-01-01_jira.md", f"{data['artifacts']}/jira.import.json"]
    assert repo.git("log", "-1", "--format=%s") == "plan(2026-01-01_jira): import jira.csv\n"
    repo.write("jira.csv", JIRA.replace("To Do", "Done"))
    data = repo.ok("import", "jira.csv", "--commit")
    assert repo.git("show", "--name-only", "--format=").split() == [
        ".agent/execplans/2026-01-01_jira.md",
        f"{data['artifacts']}/jira.import-2.json",
    ]


def test_a_dry_run_shows_the_diff_and_writes_nothing(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    files = _files(repo)
    new = repo.ok("import", "jira.csv", "--dry-run")
    assert "+- [ ] Write (id: P-3)\n" in new["diff"]
    assert _files(repo) == files
    repo.ok("import", "jira.csv")
    files = _files(repo)
    repo.write("jira.csv", JIRA.replace("To Do", "Done"))
    result = repo.run("import", "jira.csv", "--dry-run")
    assert "-- [ ] Write (id: P-3)\n+- [x] (2026-01-01 00:00Z) Write (id: P-3)\n" in result.out
    assert "done: P-3 Write" in result.out
    assert _files(repo) == files


def test_a_named_plan_takes_tasks_of_another_program(repo: Folder) -> None:
    path = repo.plan()
    repo.write("todo.txt", "Build the parser.\n(A) Read tables id:7\nx 2026-01-02 Write the tests. id:8\n")
    repo.ok("import", "todo.txt", "-p", "parser")
    assert _tasks(repo) == [
        ("x", 0, "Read lines."),
        (" ", 0, "Build the parser."),
        (" ", 0, "Read tables (id: 7)"),
        ("x", 0, "Write the tests. (id: 8)"),
    ]
    assert repo.ok("import", "todo.txt")["changed"] is False
    assert repo.ok("lint", str(path), "--select", "EP001")["findings"] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("openspec/changes/parser/tasks.md", "## 1. Work\n\n- [ ] 1.1 Read\n- [x] 1.2 Write\n"),
        (
            "docs/plans/parser.md",
            "# Parser\n\n**Status:** active\n\n## Tasks\n\n1. [ ] Read\n2. [ ] Write\n\n## Risks\n\nNone.\n",
        ),
        ("docs/plans/parser.md", "# Parser\n\n## Goal\n\nRead.\n\n## Next steps\n\nSee below.\n"),
        ("docs/plans/parser.md", "# Parser\r\n\r\n## Tasks\r\n\r\n* [ ] Read\r\n\r\n* [ ] Write\r\n"),
    ],
)
def test_plans_of_every_dialect_take_tasks(repo: Folder, path: str, text: str) -> None:
    file = repo.write(path, text)
    repo.write("todo.txt", "Read id:1\nTest id:2\n")
    repo.ok("init")
    repo.ok("import", "todo.txt", "-p", path)
    tasks = repo.ok("show", path)["tasks"]
    assert {"Read (id: 1)", "Test (id: 2)"} <= {task["text"].removeprefix("1.1 ") for task in tasks}
    assert ("\r\n" in text) == ("\r\n" in file.read_bytes().decode())
    assert repo.ok("import", "todo.txt", "-p", path)["changed"] is False


def test_a_plan_without_checkboxes_says_what_to_do(repo: Folder) -> None:
    repo.write("docs/plans/parser.md", "# Parser\n\n## Tasks\n\n| Task | Status |\n|---|---|\n| Read | done |\n")
    repo.write("todo.txt", "Test id:2\n")
    repo.ok("init")
    result = repo.run("import", "todo.txt", "-p", "docs/plans/parser.md")
    assert (result.exit, "execplan convert" in result.err) == (3, True)


def test_json_makes_the_same_plan_elsewhere(repo: Folder) -> None:
    repo.plan()
    plan = repo.ok("export", "parser", "--to", "json", "--out", "parser.json")
    assert plan["losses"] == []
    tasks = repo.ok("show", "parser")["tasks"]
    decisions = repo.ok("show", "parser")["decisions"]
    (repo.path / ".agent/execplans/2026-01-01_parser.md").unlink()
    repo.ok("import", "parser.json")
    assert [(task["mark"], task["text"], task["stamp"]) for task in repo.ok("show")["tasks"]] == [
        (task["mark"], task["text"], task["stamp"]) for task in tasks
    ]
    assert [entry["text"] for entry in repo.ok("show")["decisions"]] == [entry["text"] for entry in decisions]


def test_standard_input_and_a_title(repo: Folder) -> None:
    result = repo.run("import", "-", "--from", "todo-txt", "--title", "Errands", "--json", stdin=b"Buy paper\n")
    assert result.json["data"]["path"] == ".agent/execplans/2026-01-01_errands.md"
    assert repo.run("import", "-", stdin=b"").exit == 2
    again = ("import", "-", "--from", "todo-txt", "--json")
    assert repo.run(*again, "--title", "errands", stdin=b"Buy paper\n").json["data"]["changed"] is False
    other = repo.run(*again, "--title", "Other", stdin=b"Buy paper\n").json["data"]
    assert other["path"] == ".agent/execplans/2026-01-01_other.md"


def test_hostile_text_stays_in_its_task(repo: Folder) -> None:
    titles = [
        "<!--",
        "```",
        "a\nb",
        "# x",
        "- [x] y",
        "[l](javascript:a)",
        "<<<<<<< HEAD",
        "\x1b[31mred",
        "2026-01-01 z",
        "~~a~~",
        " ",
        "]]>",
        "{#id}",
    ]
    body = (
        "<!--\n```sh {#evil confirm}\nrm -rf .\n\n## Progress\n\n- [ ] not mine\n\n<<<<<<< HEAD\n=======\n>>>>>>> x\n"
    )
    issues = [
        {"id": f"b-{number}", "title": title, "issue_type": "task", "description": body}
        for number, title in enumerate(titles)
    ]
    repo.write("issues.jsonl", "\n".join(map(json.dumps, issues)))
    repo.ok("import", "issues.jsonl")
    tasks = _tasks(repo)
    assert [mark for mark, _, _ in tasks] == [" "] * len(titles)
    assert [text.rpartition(" (id: ")[2] for _, _, text in tasks] == [f"b-{number})" for number in range(len(titles))]
    assert "\x1b" not in _plan(repo).read_text()
    assert repo.run("compile", str(_plan(repo)), "--json").json["error"]["code"] == "no-steps"
    findings = repo.run("lint", str(_plan(repo)), "--json").json["data"]["findings"]
    assert [finding for finding in findings if finding["level"] == "error"] == []
    assert repo.ok("import", "issues.jsonl")["changed"] is False


def test_a_secret_is_not_imported(repo: Folder) -> None:
    token = "AKIA" + "Q3EGRCW7T5ZLM2XB"
    repo.write("todo.txt", f"Rotate it id:1\nUse {token} id:2\n")
    result = repo.run("import", "todo.txt", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "lint-errors")
    assert token not in result.out
    assert list((repo.path / ".agent/execplans").glob("*.md")) == []


@pytest.mark.parametrize(
    ("name", "content", "status", "text"),
    [
        ("missing.csv", None, 3, "missing.csv"),
        ("empty.csv", b"", 3, "is empty"),
        ("x.txt", b"hello\n", 3, "none of the forms that import reads"),
        ("plan.md", b"# P\n\n## Progress\n\n- [ ] a\n", 3, "execplan new --from"),
        ("issues.json", b"[" * 100_000, 3, "not JSON that can be read"),
        ("a.org", b"* Nothing to do\n", 3, "it has no tasks"),
        ("b.csv", b"Issue key,Summary,Status\n", 3, "it has no tasks"),
        ("jira.csv", b"Issue key,Summary\nA-1,a\nA-1,b\n", 3, "line 3"),
        ("jira.csv", b"Issue key,Summary\nA-1,\xff\n", 3, "line 2"),
    ],
)
def test_bad_files(repo: Folder, name: str, content: bytes | None, status: int, text: str) -> None:
    for plan in ("a", "b"):
        repo.write(f".agent/execplans/2026-01-01_{plan}.md", "# T\n\n## Progress\n\n- [ ] a\n")
    if content is not None:
        repo.write(name, content)
    result = repo.run("import", name)
    assert result.exit == status
    assert text in result.err
    assert "hint: " in result.err


def test_a_file_that_is_too_large(repo: Folder) -> None:
    with (repo.path / "jira.csv").open("wb") as file:
        file.truncate((50 << 20) + 1)
    result = repo.run("import", "jira.csv", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "too-large")


def test_twenty_imports_at_once_make_one_update(repo: Folder) -> None:
    repo.write("jira.csv", JIRA)
    repo.ok("import", "jira.csv")
    repo.write("jira.csv", JIRA.replace("To Do", "Done") + "P-4,Test,To Do,,,\n")
    results = repo.run_at_once([["import", "jira.csv", "--json"]] * 10)
    assert {result.exit for result in results} == {0}
    assert [text for _, _, text in _tasks(repo)].count("Test (id: P-4)") == 1
    assert repo.ok("import", "jira.csv")["changed"] is False
