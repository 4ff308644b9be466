"""The tasks that a run ticks: with a link to what was printed, and reopened to the byte."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from execplan import compose
from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan import reader, task_edits
from execplan.core.plan.model import DONE, OPEN
from execplan.core.plan.transcript_links import complete_run_task, find_transcript_link, reopen_run_task
from execplan.core.plan_store import plan_selection
from execplan.execution.engine import ticks
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.ticks import TickResult
from execplan.linter.runner import lint_plan
from tests.conftest import CLOCK, Folder
from tests.core.plan.test_plan_change import attempt, plans
from tests.execution.engine.step_repository import compile_steps
from tests.plans import CLEAN

MOMENT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
HREF = "artifacts/parser/runs/0001-0badcafe/transcripts/01-build.md"
PATH = f".agent/execplans/{HREF}"
PLAN = ".agent/execplans/parser.md"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the tests."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))


def shelf(repo: Folder, text: str = CLEAN, name: str = "parser") -> Any:
    """A repository with a plan, and a transcript."""
    repo.plan(text, name)
    repo.write(PATH, "printed").parent.joinpath("02 (b).md").write_text("printed", encoding="utf-8")
    return plan_selection.select_plan(str(repo.path), name)


def fences(*steps: tuple[str, str]) -> str:
    """Steps by their ids, with the tasks that they complete."""
    return "".join(
        [f"```sh {{#{name} {f'task={task!r}' if task else ''}}}\nmake {name}\n```\n\n" for name, task in steps]
    ).replace("'", '"')


def read(repo: Folder) -> bytes:
    return (repo.path / PLAN).read_bytes()


@pytest.mark.parametrize("is_required", [False, True])
def test_a_task_whose_check_the_policy_requires_stays_open(repo: Folder, *, is_required: bool) -> None:
    if is_required:
        repo.write(".agent/execplan.toml", "[execution]\nrequire_checks = true\n")
    text = CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the parser.\n  - Check: `make test`", 1)
    assert text != CLEAN
    project, ref = shelf(repo, text)
    document = compile_steps(fences(("build", "Build the parser")))
    marked = ticks.tick_task(project, ref, document, document.steps[0], PATH)
    assert ("the policy requires that the check passes" in marked.warning) is is_required
    assert (marked.task == "") is is_required


def test_a_task_gets_its_time_and_a_link_and_loses_both_again(repo: Folder) -> None:
    project, ref = shelf(repo)
    before, document = read(repo), compile_steps(fences(("build", "Build the parser")))
    marked = ticks.tick_task(project, ref, document, document.steps[0], PATH)
    assert marked == TickResult("Build the parser.")
    line = f"- [x] (2026-01-01 00:00Z) Build the parser.\n  - [transcript]({HREF})\n- [ ] Write the tests.\n"
    assert line.encode() in read(repo)
    result = repo.run("lint", "parser", "--json")
    assert result.exit == 0, result.out
    assert [task["state"] for task in repo.ok("show", "parser")["tasks"]] == ["done", "done", "open"]
    ticked = read(repo)
    assert ticks.tick_task(project, ref, document, document.steps[0], PATH) == TickResult(
        "Build the parser."
    )  # killed in between
    assert read(repo) == ticked
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", PATH) == TickResult(
        "Build the parser."
    )
    assert read(repo) == before
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", PATH) == TickResult()
    assert read(repo) == before


def test_a_task_that_somebody_has_ticked_is_not_the_run_s(repo: Folder) -> None:
    project, ref = shelf(repo)
    document = compile_steps(fences(("read", "Read lines")))
    before = read(repo)
    assert ticks.tick_task(project, ref, document, document.steps[0], PATH) == TickResult()
    assert read(repo) == before


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("Paint the shed", "no task contains 'Paint the shed'"),
        ("the", "matches 2 tasks"),
        ("9", "unknown task 9: the plan has 3 tasks"),
    ],
)
def test_no_step_fails_for_a_task_that_is_not_there(repo: Folder, task: str, why: str) -> None:
    project, ref = shelf(repo)
    document = compile_steps(fences(("build", task)))
    before = read(repo)
    marked = ticks.tick_task(project, ref, document, document.steps[0], PATH)
    assert not marked.task
    assert why in marked.warning
    assert "build" in marked.warning
    assert read(repo) == before


@pytest.mark.parametrize(
    "broken",
    [b"\xff\xfe", CLEAN.replace("- [ ] Write", "<<<<<<< ours\n- [ ] Write\n=======\n>>>>>>> theirs").encode(), None],
)
def test_nor_for_a_plan_that_is_broken_or_gone(repo: Folder, broken: bytes | None) -> None:
    project, ref = shelf(repo)
    document = compile_steps(fences(("build", "Build the parser")))
    if broken is None:
        (repo.path / PLAN).unlink()
    else:
        (repo.path / PLAN).write_bytes(broken)
    assert ticks.tick_task(project, ref, document, document.steps[0], PATH).warning
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", PATH).warning
    assert not (repo.path / PLAN).exists() if broken is None else read(repo) == broken


def test_what_the_task_had_before_comes_back(repo: Folder) -> None:
    text = CLEAN.replace("- [ ] Build", "- [ ] (YYYY-MM-DD HH:MMZ) Build").replace(
        "- [ ] Write", "- [ ] (2025-12-31 08:00Z) Write"
    )
    project, ref = shelf(repo, text)
    before, document = read(repo), compile_steps(fences(("build", "Build the parser"), ("test", "Write the tests")))
    second = PATH.replace("01-build", "02 (b)")
    assert ticks.tick_task(project, ref, document, document.steps[0], PATH).task
    assert ticks.tick_task(project, ref, document, document.steps[1], second).task
    assert b"transcripts/02%20%28b%29.md)" in read(repo)
    assert repo.run("lint", "parser").exit == 0
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", PATH).task
    assert ticks.reopen_task(project, ref, document, "test", "Write the tests.", second).task
    assert read(repo) == before


def test_a_task_that_was_edited_since_is_reopened_and_keeps_its_words(repo: Folder) -> None:
    project, ref = shelf(repo)
    document = compile_steps(fences(("build", "Build the parser")))
    ticks.tick_task(project, ref, document, document.steps[0], PATH)
    repo.ok("reword", "Build", "Build a better parser.", "-p", "parser")
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", PATH).task
    assert read(repo) == CLEAN.replace("[ ] Build the parser.", "[ ] Build a better parser.").encode()


def test_without_a_transcript_there_is_no_link(repo: Folder) -> None:
    project, ref = shelf(repo)
    before, document = read(repo), compile_steps(fences(("build", "Build the parser")))
    assert ticks.tick_task(project, ref, document, document.steps[0], "").task
    assert b"transcript" not in read(repo)
    assert ticks.reopen_task(project, ref, document, "build", "Build the parser.", "").task
    assert read(repo) == before


def test_a_step_of_a_plan_that_was_joined_ticks_the_plan_it_comes_from(repo: Folder) -> None:
    project, ref = shelf(repo)
    shelf(repo, CLEAN.replace("Build the parser", "Draw the plan"), "2026-02-02_docs")
    documents = [
        compile_steps(fences(("build", "Build the parser"))),
        compile_steps(fences(("build", "Draw the plan")), "2026-02-02_docs"),
    ]
    both = compose(documents, "release")
    results = [ticks.tick_task(project, ref._replace(id="release"), both, step, PATH) for step in both.steps]
    assert [result.task for result in results] == ["Build the parser.", "Draw the plan."]
    assert b"](artifacts/parser/" in (repo.path / ".agent/execplans/2026-02-02_docs.md").read_bytes()
    assert ticks.list_plan_files(project, ref._replace(id="release"), both) == {
        PLAN,
        ".agent/execplans/2026-02-02_docs.md",
    }
    step = both.steps[1].id
    assert ticks.reopen_task(project, ref._replace(id="release"), both, step, "Draw the plan.", PATH).task
    assert "transcript" in read(repo).decode()
    assert "transcript" not in (repo.path / ".agent/execplans/2026-02-02_docs.md").read_text(encoding="utf-8")


def test_the_last_step_of_a_task_completes_it() -> None:
    document = compile_steps(fences(("a", "Build it"), ("b", ""), ("c", "build  IT"), ("d", "Build it")))
    run_state = RunState(document)
    a, b, c, d = document.steps
    run_state.status_of.update(a="completed", b="completed")
    assert ticks.find_transcript_step(document, run_state, a) is None
    assert ticks.find_transcript_step(document, run_state, b) is None
    run_state.status_of.update(c="completed")
    assert ticks.find_transcript_step(document, run_state, c) is None
    run_state.status_of.update(d="skipped")
    assert ticks.find_transcript_step(document, run_state, d) == c
    run_state.status_of.update(d="failed")
    assert ticks.find_transcript_step(document, run_state, d) is None
    run_state.status_of.update(d="recovered")
    assert ticks.find_transcript_step(document, run_state, d) == d
    run_state.ticked_tasks["d"] = ("Build it.", "")
    assert ticks.find_transcript_step(document, run_state, d) is None
    run_state.ticked_tasks.clear()
    run_state.status_of.update(dict.fromkeys("acd", "skipped"))
    assert ticks.find_transcript_step(document, run_state, d) is None


@given(plans())
@settings(max_examples=100)
def test_a_tick_with_a_link_then_reopened_gives_the_bytes_back(data: bytes) -> None:
    for task in reader.read(data).tasks:
        ticked = attempt(data, complete_run_task(str(task.number), MOMENT, HREF))
        if ticked is None:
            continue
        if task.state == DONE:
            assert ticked == data
            continue
        assert attempt(ticked, complete_run_task(str(task.number), MOMENT, HREF)) == ticked
        plan = reader.read(ticked)
        link = find_transcript_link(plan, plan.tasks[task.number - 1], HREF)
        assert link >= 0
        remaining = [line for at, line in enumerate(plan.text.lines) if at not in (task.box_line, link)]
        assert remaining == [line for at, line in enumerate(reader.read(data).text.lines) if at != task.box_line]
        lines = [reader.read(content).text.lines[task.box_line] for content in (ticked, data)]
        previous_lines = (lines[0], lines[1])
        assert attempt(ticked, reopen_run_task(task.text, HREF, previous_lines)) == data
        if task.state == OPEN and task.timestamp is None:
            assert attempt(ticked, reopen_run_task(task.text, HREF, None)) == data


def lint_codes(data: bytes) -> list[str]:
    """What lint finds."""
    return sorted([finding.code for finding in lint_plan(reader.read(data))])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_same_with_every_kind_of_bullet(end: str) -> None:
    text = "# T\n\n## Progress\n\n1. [ ] One\n   and on\n\n   1. [ ] (2026-01-01) Nested\n\n2. [ ] Two\n\t- [ ] Tab\n* [ ] Star".replace(
        "\n", end
    )
    data = text.encode()
    for number in range(1, 6):
        ticked, _ = apply_change(data, complete_run_task(str(number), MOMENT, HREF))
        plan = reader.read(ticked)
        assert len(plan.tasks) == 5
        line = plan.text.lines[find_transcript_link(plan, plan.tasks[number - 1], HREF)]
        assert line.lstrip()[0] == ("*" if number == 5 else "-")
        assert lint_codes(ticked) == lint_codes(apply_change(data, task_edits.complete_tasks([str(number)], MOMENT))[0])
        task = reader.read(data).tasks[number - 1]
        previous_lines = (plan.text.lines[task.box_line], reader.read(data).text.lines[task.box_line])
        assert apply_change(ticked, reopen_run_task(task.text, HREF, previous_lines))[0] == data
