"""A program drafts a plan: it is checked like any other, errors go back once, and no failure loses or leaves anything."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.agents.drafting.conftest import DraftingRepository
from tests.execution.engine.command_folder import is_alive, until

NEW = ("new", "Build the writer", "--draft-with", "model")


def test_a_draft_becomes_a_plan(drafting: DraftingRepository) -> None:
    for behavior in ("plan", "wrapped"):
        drafting.configure(behavior)
        data = drafting.data(*NEW)
        text = (drafting.path / data["path"]).read_text()
        assert text.startswith("# Build the writer\n")
        assert "```markdown" not in text
        assert text.endswith("yet.\n")
        assert [task["state"] for task in drafting.data("show", data["id"])["tasks"]] == ["open", "open"]
        (call,) = data["draft"]["calls"]
        assert call["bytes"] == len(drafting.prompts()[0].encode())
        assert data["draft"]["program"] == "model"


def test_a_dry_run_shows_the_draft_and_what_was_sent(drafting: DraftingRepository) -> None:
    drafting.configure("plan")
    data = drafting.data(*NEW, "--dry-run")
    assert "+- [ ] Write the parser." in data["diff"]
    assert data["draft"]["requests"] == drafting.prompts()
    drafting.assert_nothing_written()
    drafting.configure("broken")
    result = drafting.type(*NEW, "--dry-run")
    assert result.exit == 1
    assert "## Steps" in result.out
    assert "the draft has 1 error:" in result.out
    drafting.assert_nothing_written()


def test_errors_go_back_once(drafting: DraftingRepository) -> None:
    drafting.configure("broken", "plan")
    assert len(drafting.data(*NEW)["draft"]["calls"]) == 2
    first, second = drafting.prompts()
    assert "EP102" not in first
    assert "Progress" in second.partition("Your draft has errors.")[2].partition("The draft, as data")[0]
    assert "## Steps" in second


def test_steps_as_the_prompt_teaches_them_compile(drafting: DraftingRepository) -> None:
    drafting.configure("wrong-steps", "steps")
    plan = drafting.data(*NEW)["id"]
    _, second = drafting.prompts()
    assert "EP602 unknown attribute status" in second.partition("Your draft has errors.")[2]
    document = json.loads(drafting.type("compile", plan, "--out", "-").out)
    steps = [(step["id"], step["type"], step["task"], step["inferred"]) for step in document["steps"]]
    assert steps == [
        ("check", "execute_command", "Read one line", False),
        ("reader", "create_file", None, False),
    ]


def test_a_draft_that_stays_wrong_is_kept(drafting: DraftingRepository) -> None:
    for behaviors, problem in (
        (("broken",), "Progress"),
        (("done",), "task 1 is checked off, but nothing has been done yet"),
        (("refuses",), ""),
        (("binary",), ""),
        (("broken", "fails"), "Progress"),
    ):
        drafting.configure(*behaviors)
        error = drafting.refused(1, "draft-errors", *NEW)
        assert len(drafting.prompts()) == 2
        assert problem in "\n".join(error["candidates"])
        assert ("exit 3: no credit left" in error["message"]) == ("fails" in behaviors)
        kept = error["hint"].rpartition(" ")[2]
        assert Path(kept).is_file()
        assert drafting.plan_files() == drafting.existing_plans
    text = Path(kept).read_text().replace("## Steps", "## Progress")
    Path(kept).write_text(text)
    created = drafting.data("new", "--from", kept)
    assert (drafting.path / created["path"]).read_text() == text


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("fails", "exit 3: no credit left"),
        ("dies", "it was ended by signal 9"),
        ("floods", "its answer is longer than 512 kilobytes"),
        ("silent", "it printed no answer"),
        ("waits", "it took longer than 1 s"),
    ],
)
def test_no_answer(drafting: DraftingRepository, behavior: str, reason: str) -> None:
    drafting.configure(behavior, extra="seconds = 1\n" if behavior == "waits" else "")
    error = drafting.refused(6, "drafting-failed", *NEW)
    assert error["message"] == f"model gave no draft: {reason}; nothing was written"
    drafting.assert_nothing_written()


def test_what_can_not_be_started(drafting: DraftingRepository) -> None:
    drafting.settings('[drafting]\nprograms = { model = "no-such-program --now" }\n')
    error = drafting.refused(6, "drafting-failed", *NEW)
    assert "program not found: no-such-program; nothing was sent" in error["message"]


def test_settings(drafting: DraftingRepository) -> None:
    drafting.refused(3, "no-drafting-program", *NEW)
    drafting.configure("plan")
    assert "model" in drafting.refused(3, "no-drafting-program", "new", "A", "--draft-with", "mode")["hint"]
    for text, code, status in (
        ('programs = { model = "a" }\nshell = 1\n', "unknown-setting", 3),
        ('programs = "claude -p"\n', "bad-setting", 3),
        ('programs = { model = "a \'b" }\n', "bad-setting", 3),
        ('programs = { model = "a" }\nseconds = 0\n', "bad-setting", 3),
        (f'programs = {{ model = "{drafting.path}/tools/model" }}\n', "program-of-repository", 7),
    ):
        drafting.settings(f"[drafting]\n{text}")
        drafting.refused(status, code, *NEW)
    drafting.configure("plan")
    drafting.write(".agent/execplan.toml", '[drafting]\nprograms = { model = "touch pwned" }\n')
    drafting.refused(3, "loosened-policy", *NEW)
    assert not drafting.prompts()


def test_options_that_exclude_it(drafting: DraftingRepository) -> None:
    drafting.configure("plan")
    for arguments in (("--from", "x.md"), ("--interactive", "Title"), ("--list-templates",)):
        drafting.refused(2, "usage", "new", "--draft-with", "model", *arguments)
    drafting.refused(2, "usage", "new", "--draft-with", "model")
    assert not drafting.prompts()


def test_it_is_interrupted(drafting: DraftingRepository) -> None:
    drafting.configure("waits")
    process = drafting.start(*NEW)
    until((drafting.folder / "seen.json").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert not is_alive(json.loads((drafting.folder / "seen.json").read_text())["pid"])
    drafting.assert_nothing_written()


def test_what_it_gets(drafting: DraftingRepository) -> None:
    drafting.patch.setenv("MODEL_KEY", "for-the-model-only")
    drafting.patch.setenv("OTHER_KEY", "not-for-the-model")
    drafting.configure("plan", extra='environment = ["MODEL_KEY"]\n')
    drafting.data(*NEW)
    observed = json.loads((drafting.folder / "seen.json").read_text())
    assert observed["files"] == []
    assert not os.path.exists(observed["cwd"])
    assert observed["env"]["MODEL_KEY"] == "for-the-model-only"
    assert "OTHER_KEY" not in observed["env"]
    assert "for-the-model-only" not in drafting.prompts()[0]


def test_a_dangerous_draft_is_only_text(drafting: DraftingRepository) -> None:
    drafting.configure("dangerous")
    data = drafting.data(*NEW)
    assert not (drafting.path / "pwned").exists()
    assert drafting.data("approve", data["id"], "--list")["approvals"] == []
    assert drafting.type("evaluate", data["id"]).exit == 1


def test_verbose_lines_say_what_is_sent(drafting: DraftingRepository) -> None:
    drafting.configure("plan")
    result = drafting.run(*NEW, "-v")
    size = len(drafting.prompts()[0].encode())
    assert f"sending {size:,} bytes (redacted: nothing), SHA-256 " in result.err
    assert f"sent {size:,} bytes (redacted: nothing)" in result.out
