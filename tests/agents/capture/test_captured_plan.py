"""`new --from` with plans of agent programs, and plans that hooks capture: created, updated, and never in the way."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.plan import outline, reader
from execplan.core.plan.model import DONE, OPEN
from tests.agents.capture.test_native_plan import NAMES, SAMPLES
from tests.plans import CLEAN

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from tests.conftest import Folder

PLANS = ".agent/execplans"
FIRST = """\
# Plan: Keep notes

Notes are kept in a file.

1. Write the reader.
2. Write the writer.

## Verification

`make test` passes.
"""
SECOND = """\
# Plan: Keep notes

Notes are kept in a file, one for each day.

1. Write the reader.
2. Choose the file by the date.

## Verification

`make test` passes, also at midnight.
"""


def hook_input(program: str, text: str, session: str = "s1", **other: Any) -> bytes:
    """Return what a program gives its hook."""
    fields: dict[str, Any] = {"session_id": session, **other}
    if program == "claude":
        fields |= {"hook_event_name": "PermissionRequest", "tool_name": "ExitPlanMode", "tool_input": {"plan": text}}
    else:
        message = f"Here it is:\n<proposed_plan>\n{text}</proposed_plan>\nShall I?"
        fields |= {"hook_event_name": "Stop", "turn_id": "t1", "last_assistant_message": message}
    return json.dumps(fields).encode()


def capture(repo: Folder, text: str, session: str = "s1", program: str = "claude") -> None:
    """Run the hook's command, and expect that it prints nothing."""
    result = repo.run("new", "--from", "-", "--hook", program, stdin=hook_input(program, text, session))
    assert result == (0, "", "")


def plan_files(repo: Folder) -> list[Path]:
    """Return the plans of a repository."""
    return sorted((repo.path / PLANS).glob("*.md"))


def only_plan(repo: Folder) -> ParsedPlan:
    """Return the only plan of a repository."""
    (path,) = plan_files(repo)
    return reader.read(path.read_bytes())


def originals(repo: Folder) -> list[bytes]:
    """Return the content of all artifacts."""
    return [path.read_bytes() for path in sorted((repo.path / PLANS / "artifacts").rglob("*.md"))]


def section_text(plan: ParsedPlan, name: str) -> str:
    """Return the text of a section."""
    section = plan.section(name)
    assert section is not None
    return "\n".join(plan.text.lines[section.body_start : section.end])


@pytest.mark.parametrize("name", NAMES)
def test_import_keeps_the_original_and_passes_lint(repo: Folder, name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    source = repo.write(name, data)
    created = repo.ok("new", "--from", str(source))
    assert originals(repo) == [data]
    text = (repo.path / created["path"]).read_text()
    assert f"`{created['artifacts']}/{name}`: original plan (" in text
    findings = repo.run("lint", created["path"], "--json").json["data"]["findings"]
    errors = [finding["code"] for finding in findings if finding["level"] == "error"]
    assert errors == ([] if reader.parse(text).tasks else ["EP201"]), "as in a new plan without tasks"
    assert repo.run("undo").exit == 0
    assert not plan_files(repo)
    assert not originals(repo)


def test_one_commit_has_the_plan_and_its_original(repo: Folder) -> None:
    repo.ok("new", "--from", str(SAMPLES / "claude_sections.md"), "--commit")
    changed = repo.git("show", "--name-only", "--format=%s").splitlines()
    assert [Path(line).name for line in changed[2:]] == [
        "2026-01-01_rate-limits-for-the-public-api.md",
        "claude_sections.md",
    ]
    assert repo.git("status", "--porcelain", PLANS) == ""


def test_a_dry_run_writes_nothing(repo: Folder) -> None:
    result = repo.run("new", "--from", str(SAMPLES / "claude_sections.md"), "--dry-run")
    assert "+- [ ] Count requests" in result.out
    assert not plan_files(repo)


@pytest.mark.parametrize("text", [CLEAN, CLEAN.replace("\n", "\r\n"), "\ufeff" + CLEAN])
def test_an_execplan_is_added_byte_for_byte(repo: Folder, text: str) -> None:
    created = repo.ok("new", "--from", "-", stdin=text.encode())
    assert (repo.path / created["path"]).read_bytes() == text.encode()
    assert originals(repo) == []


@pytest.mark.parametrize("text", [CLEAN.replace("## Decision Log", "## Decisions made"), f"```\n{CLEAN}```\n"])
def test_a_broken_execplan_is_still_refused(repo: Folder, text: str) -> None:
    assert repo.run("new", "--from", "-", stdin=text.encode()).exit == 1
    assert not plan_files(repo)


def test_a_secret_is_refused(repo: Folder) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = repo.run("new", "--from", "-", stdin=f"# Deploy\n\nUse {secret} for it.\n".encode())
    assert result.exit == 1
    assert "EP410" in result.err
    assert not plan_files(repo)


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_hook_captures_a_plan_once(repo: Folder, program: str) -> None:
    repo.ok("init")
    for _ in range(2):
        capture(repo, FIRST, program=program)
    plan = only_plan(repo)
    assert plan.title == "Plan: Keep notes"
    assert [task.text for task in plan.tasks] == ["Write the reader.", "Write the writer."]
    assert [text.rstrip() for text in originals(repo)] == [FIRST.rstrip().encode()]


@pytest.mark.parametrize("session", ["s1", "s2"])
def test_a_revision_updates_the_plan_and_keeps_what_happened(repo: Folder, session: str) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    repo.ok("done", "1")
    repo.ok("add", "Ask Mara about the format.")
    repo.ok("decide", "One file for each day.", "--why", "Old ones can be removed.")
    repo.ok("discover", "Dates are local.", "--evidence", "`date` says so.")
    repo.ok("set", "Context and Orientation", "The notes are in `notes/`.")
    capture(repo, SECOND, session)
    plan = only_plan(repo)
    assert [(task.state, task.text) for task in plan.tasks] == [
        (DONE, "Write the reader."),
        (OPEN, "Choose the file by the date."),
        (OPEN, "Ask Mara about the format."),
    ]
    assert plan.tasks[0].timestamp is not None
    assert [decision.text for decision in plan.decisions] == ["One file for each day."]
    assert [discovery.text for discovery in plan.discoveries] == ["Dates are local."]
    assert "The notes are in `notes/`." in section_text(plan, outline.CONTEXT)
    assert "one for each day" in section_text(plan, outline.PURPOSE)
    assert "also at midnight" in section_text(plan, outline.VALIDATION)
    assert sorted(originals(repo)) == sorted([FIRST.encode(), SECOND.encode()])
    assert section_text(plan, outline.ARTIFACTS).count("original plan from Claude Code") == 2
    assert repo.run("lint", "--json").exit in (0, 1)


def test_a_task_that_is_done_stays_when_it_is_no_longer_planned(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    repo.ok("done", "2")
    capture(repo, SECOND)
    assert [(task.state, task.text) for task in only_plan(repo).tasks] == [
        (DONE, "Write the writer."),
        (OPEN, "Write the reader."),
        (OPEN, "Choose the file by the date."),
    ]


def test_an_edited_section_is_merged_with_the_revision(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    (path,) = plan_files(repo)
    path.write_text(
        path.read_text().replace("1. Write the reader.", "0. Look at the old reader.\n1. Write the reader.")
    )
    capture(repo, SECOND)
    work = section_text(only_plan(repo), outline.WORK)
    assert "0. Look at the old reader." in work
    assert "2. Choose the file by the date." in work


def test_the_old_plan_can_be_had_back(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    (path,) = plan_files(repo)
    before = path.read_bytes()
    capture(repo, SECOND)
    assert path.read_bytes() != before
    repo.ok("undo")
    assert path.read_bytes() == before
    repo.ok("redo")
    assert path.read_bytes() != before


def test_one_undo_removes_the_plan_and_its_original(repo: Folder) -> None:
    repo.ok("init")
    repo.write("notes.plan.md", FIRST)
    result = repo.run("new", "--from", "notes.plan.md")
    assert "attached the original as .agent/execplans/artifacts/" in result.out
    (path,) = plan_files(repo)
    before = path.read_bytes()
    assert [row["command"] for row in repo.ok("undo", "--list")["undo"]] == ["new"]
    assert repo.ok("undo", "--dry-run")["diff"].count("\n+") == 1
    assert repo.ok("undo")["operation"]["command"] == "new"
    assert (plan_files(repo), originals(repo)) == ([], [])
    assert repo.ok("redo")["operation"]["command"] == "new"
    assert (path.read_bytes(), originals(repo)) == (before, [FIRST.encode()])


def test_another_plan_of_the_same_session_is_another_plan(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    capture(repo, "# Export as CSV\n\nReports can be downloaded.\n\n1. Add a route\n2. Link it\n")
    assert len(plan_files(repo)) == 2


def test_tasks_of_a_revision_replace_that_of_the_template(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, "# Export as CSV\n\nReports can be downloaded.\n")
    assert [task.text for task in only_plan(repo).tasks] == ["The first step of the work"]
    capture(repo, "# Export as CSV\n\nReports can be downloaded.\n\n1. Add a route\n2. Link it\n")
    assert [task.text for task in only_plan(repo).tasks] == ["Add a route", "Link it"]


def test_a_new_title_in_the_same_session_is_a_revision_and_in_another_one_it_is_not(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    retitled = SECOND.replace("# Plan: Keep notes", "# Plan: Daily notes")
    capture(repo, retitled)
    assert only_plan(repo).title == "Plan: Daily notes"
    capture(repo, retitled.replace("Daily", "Weekly"), "s2")
    assert len(plan_files(repo)) == 2


def test_an_archived_plan_is_not_updated(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    assert repo.run("archive", "--force", "--reason", "Later.").exit == 0 or repo.run("archive", "--force").exit == 0
    archived = [path.read_bytes() for path in sorted((repo.path / PLANS / "archive").rglob("*.md"))]
    capture(repo, SECOND)
    assert len(plan_files(repo)) == 1
    assert [path.read_bytes() for path in sorted((repo.path / PLANS / "archive").rglob("*.md"))] == archived


def test_a_renamed_plan_is_found_by_its_title(repo: Folder) -> None:
    repo.ok("init")
    capture(repo, FIRST)
    (path,) = plan_files(repo)
    path.rename(path.with_name("2026-01-01_notes.md"))
    (repo.path / PLANS / "artifacts" / path.stem).rename(repo.path / PLANS / "artifacts" / "2026-01-01_notes")
    capture(repo, SECOND)
    assert [path.name for path in plan_files(repo)] == ["2026-01-01_notes.md"]


def test_codex_has_the_plan_in_its_transcript_only(repo: Folder) -> None:
    repo.ok("init")
    earlier = {
        "type": "message",
        "role": "assistant",
        "content": [{"text": "<proposed_plan>\n# Old\n</proposed_plan>"}],
    }
    text = f"<proposed_plan>\n{FIRST}</proposed_plan>"
    items: list[dict[str, Any]] = [
        {"type": "response_item", "payload": earlier},
        {"type": "turn_context", "payload": {"turn_id": "t1"}},
        {"type": "response_item", "payload": {**earlier, "content": [{"type": "output_text", "text": text}]}},
        {"type": "event_msg", "payload": {"type": "token_count"}},
    ]
    transcript = repo.write("rollout.jsonl", "".join([json.dumps(item) + "\n" for item in items]))
    fields = {"transcript_path": str(transcript), "last_assistant_message": "Here it is:", "turn_id": "t1"}
    data = json.dumps({"hook_event_name": "Stop", "session_id": "s1", **fields}).encode()
    assert repo.run("new", "--from", "-", "--hook", "codex", stdin=data) == (0, "", "")
    assert only_plan(repo).title == "Plan: Keep notes"
    transcript.write_text("".join([json.dumps(item) + "\n" for item in items[:2]]))
    for path in plan_files(repo):
        path.unlink()
    assert repo.run("new", "--from", "-", "--hook", "codex", stdin=data) == (0, "", "")
    assert not plan_files(repo), "the plan of an earlier turn is not captured again"


def gemini_input(repo: Folder, name: str, session: str = "s1") -> bytes:
    """Return what Gemini CLI gives its hook when it has asked about a plan; its transcripts are beside the repository."""
    fields = {
        "hook_event_name": "AfterTool",
        "session_id": session,
        "transcript_path": str(repo.path.parent / "state/chats/session.jsonl"),
        "tool_name": "exit_plan_mode",
        "tool_input": {"plan_filename": name},
    }
    return json.dumps(fields).encode()


def test_the_file_of_a_plan_of_gemini_is_captured(repo: Folder) -> None:
    repo.ok("init")
    file = repo.path.parent / "state/s1/plans/notes.md"
    file.parent.mkdir(parents=True)
    for text in (FIRST, SECOND):
        file.write_text(text)
        assert repo.run("new", "--from", "-", "--hook", "gemini", stdin=gemini_input(repo, "notes.md")) == (0, "", "")
        assert only_plan(repo).title == "Plan: Keep notes"
    assert len(originals(repo)) == 2


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("missing.md", "s1"),
        ("../../secret.md", "s1"),
        ("secret.md", ".."),
        ("", "s1"),
        ("notes.md", ""),
        ("link.md", "s1"),
        ("bytes.md", "s1"),
    ],
)
def test_no_other_file_is_captured_as_a_plan_of_gemini(repo: Folder, name: str, session: str) -> None:
    repo.ok("init")
    plans = repo.path.parent / "state/s1/plans"
    plans.mkdir(parents=True)
    (repo.path.parent / "plans").mkdir()
    for path in (repo.path.parent / "state/secret.md", repo.path.parent / "plans/secret.md", plans / "notes.md"):
        path.write_text(FIRST)
    (plans / "link.md").symlink_to("missing.md")
    (plans / "bytes.md").write_bytes(b"# X\n\n\xff\n")
    assert repo.run("new", "--from", "-", "--hook", "gemini", stdin=gemini_input(repo, name, session)) == (0, "", "")
    assert not plan_files(repo)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"tool_name": "Bash", "tool_input": {"plan": "# X"}}',
        b'{"tool_name": "ExitPlanMode", "tool_input": "x"}',
        b'{"tool_name": "ExitPlanMode", "tool_input": {"plan": 5}}',
        b'{"tool_name": "ExitPlanMode", "tool_input": {"plan": " "}}',
        b'{"last_assistant_message": "no plan", "transcript_path": "/nowhere", "turn_id": "t"}',
        b'{"tool_name": "exit_plan_mode", "tool_input": {"plan_filename": "a.md"}, "session_id": "s"}',
        b'{"tool_name": "exit_plan_mode", "tool_input": ["a.md"], "session_id": "s", "transcript_path": "/a/b/c"}',
        b"[" * 9000,
    ],
)
@pytest.mark.parametrize("program", ["claude", "codex", "gemini"])
def test_other_input_is_ignored(repo: Folder, program: str, data: bytes) -> None:
    repo.ok("init")
    assert repo.run("new", "--from", "-", "--hook", program, stdin=data) == (0, "", "")
    assert not plan_files(repo)


@pytest.mark.parametrize("text", ["\ud800\0 # odd", "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n", "```\n", "|" * 500])
def test_odd_plans_are_captured(repo: Folder, text: str) -> None:
    repo.ok("init")
    result = repo.run("new", "--from", "-", "--hook", "claude", stdin=hook_input("claude", text))
    assert (result.exit, result.out) == (0, "")
    assert len(plan_files(repo)) == 1, result


def test_a_plan_with_a_secret_is_captured_without_it(repo: Folder) -> None:
    repo.ok("init")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = repo.run("new", "--from", "-", "--hook", "claude", stdin=hook_input("claude", f"# D\n\nUse {secret}.\n"))
    assert (result.exit, result.out) == (0, "")
    files = [path for path in (repo.path / ".agent").rglob("*.md") if path.name != "PLANS.md"]
    assert len(files) == 2, "the plan and the original"
    assert all("Use [redacted]." in path.read_text() for path in files)


def test_without_a_project_nothing_happens(repo: Folder) -> None:
    shutil.rmtree(repo.path / ".agent")
    before = sorted(os.listdir(repo.path))
    capture(repo, FIRST)
    assert sorted(os.listdir(repo.path)) == before


def test_the_session_directory_decides(repo: Folder, tmp_path: Path) -> None:
    repo.ok("init")
    data = hook_input("claude", FIRST, cwd=str(repo.path))
    other = tmp_path / "other"
    other.mkdir()
    assert repo.run("new", "--from", "-", "--hook", "claude", stdin=data, cwd=other) == (0, "", "")
    assert only_plan(repo).tasks


@pytest.mark.parametrize("heading", ["Concrete Steps", "Steps"])
def test_a_short_plan_with_annotated_steps_keeps_them(repo: Folder, heading: str) -> None:
    step = '```python {#make type=create_file target=greet.py task="Greet"}\nprint("Hello")\n```\n'
    text = f"# Greet everybody\n\n## Progress\n\n- [ ] Greet.\n\n## {heading}\n\n{step}"
    created = repo.ok("new", "--from", "-", stdin=text.encode())
    assert step in (repo.path / created["path"]).read_text()
    assert [task["text"] for task in repo.ok("show")["tasks"]] == ["Greet."]
    assert [step["id"] for step in repo.ok("compile")["steps"]] == ["make"]
    assert not [
        finding for finding in repo.run("lint", "--json").json["data"]["findings"] if finding["level"] == "error"
    ]
