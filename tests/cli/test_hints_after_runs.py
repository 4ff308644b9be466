"""Hints after a run ended lead on: to the changed steps, to the plan's next task, and never to a refused command."""

from __future__ import annotations

import pytest

from execplan.execution.engine.error_hints import CORRECT_OR_EDIT
from tests.cli.approved_plan import ASKS, FAILS, MAKE, SEE, run_id, with_approved_plan
from tests.in_process_repository import NAME, InProcessRepository


def test_steps_compiled_after_a_rollback_are_evaluated(desk: InProcessRepository) -> None:
    plan = with_approved_plan(desk, MAKE, FAILS).path / f".agent/execplans/{NAME}.md"
    assert desk.type("run").exit == 1
    run = run_id(desk)
    if desk.data("show", NAME, "--run", run)["state"] != "rolled_back":
        assert desk.type("rollback").exit == 0
    evaluate = f"execplan evaluate {NAME}"
    for call in (("next",), ("show", NAME, "--run", run)):
        assert desk.type(*call).out.endswith(f"next: {CORRECT_OR_EDIT}, then: {evaluate}\n"), call
    plan.write_text(plan.read_text().replace("src/nowhere.py", "src/made.py"))
    assert desk.type("compile").exit == 0
    for call in (("next",), ("status",), ("show", NAME, "--run", run)):
        assert desk.type(*call).out.endswith(f"next: {evaluate}\n"), call
    assert f"Continue:\n  {evaluate}\n" in desk.type("prime").out


@pytest.mark.parametrize("reader", [{}, {"EXECPLAN_AGENT": "agent-1"}])
def test_after_a_rollback_the_steps_run_again_unchanged(desk: InProcessRepository, reader: dict[str, str]) -> None:
    """The cause may be outside the plan: a program that is missing, a full disk, a network that is down."""
    with_approved_plan(desk, MAKE, FAILS)
    assert desk.type("run").exit == 1
    if desk.data("show", NAME, "--run", run_id(desk))["state"] != "rolled_back":
        assert desk.type("rollback").exit == 0
    for name, value in reader.items():
        desk.patch.setenv(name, value)
    refused = desk.type("replan", "--reason", "It was missing.")
    assert refused.err.endswith(f"hint: {CORRECT_OR_EDIT}, then: execplan evaluate {NAME}\n")
    assert desk.type("next").out.endswith(f"next: {CORRECT_OR_EDIT}, then: execplan evaluate {NAME}\n")
    assert f"execplan approve {NAME}" in desk.type("evaluate").out.splitlines()[-1]
    desk.patch.delenv("EXECPLAN_AGENT", raising=False)
    desk.approve()
    assert desk.type("next").out.endswith(f"next: execplan run {NAME}\n")


def test_a_failed_run_whose_rest_is_approved_is_resumed_although_all_tasks_are_done(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, FAILS)
    assert desk.type("run").exit == 1
    tasks = [str(task["number"]) for task in desk.data("show", NAME)["tasks"] if task["state"] != "done"]
    desk.type("done", *tasks)
    assert "replan" in desk.type("next").out.splitlines()[-1]
    desk.approve()
    resume = f"next: execplan resume 1 -p {NAME}\n"
    for command in ("next", "status"):
        assert desk.type(command).out.endswith(resume), command


def test_after_a_completed_run_what_next_shows_is_next(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    last_line = desk.type("run", "--step", "make").out.splitlines()[-1]
    assert last_line.endswith(f" so that only see remain, then: execplan evaluate {NAME}")
    assert desk.type("next").out.splitlines()[-1] == last_line


def test_an_agent_learns_first_why_a_person_could_not_either(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    for agent in ((), ("--as", "alice")):
        desk.refused(1, "nothing-to-resume", "resume", *agent)
        hint = desk.refused(1, "nothing-to-replan", "replan", "--reason", "Wrong.", *agent)["hint"]
        assert hint == f"edit the steps in the plan, then: execplan evaluate {NAME}"
    desk.refused(3, "person-required", "rollback", "--as", "alice")
    assert desk.type("archive", NAME, "--force", "--reason", "Why.").exit == 0
    desk.refused(1, "archived-plan", "rollback", "-p", NAME, "--as", "alice")


def test_steps_that_have_run_are_not_to_be_edited(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    evaluation = desk.type("evaluate")
    assert evaluation.exit == 1
    lines = evaluation.out.splitlines()
    assert lines[-2] == "run 1 completed: these steps have run"
    assert lines[-1] == desk.type("next").out.splitlines()[-1] == desk.type("status").out.splitlines()[-1]


def test_what_ran_is_found_when_all_plans_are_archived(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    assert desk.type("archive", NAME, "--force", "--reason", "Why.").exit == 0
    desk.commit()
    assert desk.refused(3, "no-plan", "audit")["hint"] == f"name an archived one, as in: execplan audit {NAME}"
    hint = f"create one: execplan new 'Title'; or name an archived one, such as {NAME}"
    assert desk.refused(3, "no-plan", "show")["hint"] == hint
    assert desk.type("audit", NAME).exit == 0
    restore = f"restore the plan of the run first, as in: execplan restore {NAME}"
    assert desk.refused(3, "no-plan", "rollback", "2")["hint"] == restore
    assert desk.refused(3, "no-plan", "resume")["hint"] == restore


def test_a_damaged_journal_of_a_run_stops_no_advice(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run", "--step", "make").exit == 0
    for journal in [*desk.path.rglob("journal.jsonl"), *desk.path.glob(".git/execplan/runs/*.jsonl")]:
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join([*lines[:2], lines[2].replace("a", "b"), *lines[3:]]))
    assert desk.type("status").out.splitlines()[-1].startswith("next: do task 2 (See it), then: execplan done ")


@pytest.mark.parametrize("rolls_back", [True, False])
def test_what_stop_does_is_what_the_answer_says(desk: InProcessRepository, *, rolls_back: bool) -> None:
    if not rolls_back:
        desk.write("../.config/execplan/config.toml", "[execution]\nrollback_on = []\n")
    with_approved_plan(desk, MAKE, ASKS)
    outcome = "end the run as failed and " + ("roll it back" if rolls_back else "keep its changes")
    assert f"  stop  {outcome}\n" in desk.type("run").err
    assert f"  stop  {outcome}\n" in desk.type("resume", "--answer", "again").err
    assert desk.type("resume", "--answer", "stop").exit == 1
    assert (desk.path / "src/made.py").exists() != rolls_back


def test_without_a_terminal_each_hint_to_resume_has_the_answer(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, FAILS.replace("{#see", "{#see on-failure=ask"))
    assert desk.type("run").exit == 8
    resume = f"execplan resume {run_id(desk)} -p {NAME} --answer again"
    hint = desk.refused(8, "paused", "resume")["hint"]
    assert hint == (
        f"correct what failed, but nothing that a completed step has written, then: {resume}; "
        f"or edit the steps in the plan, then: execplan replan {run_id(desk)} -p {NAME} --reason 'What was wrong'"
    )
    for command in ("next", "status", "show", "show --run"):
        assert desk.type(*command.split()).out.endswith(f"next: {hint}\n"), command
    assert f"next: {resume}\n" in desk.type("runs").out
    preview = desk.type("resume", "--dry-run").out
    assert preview.endswith(f"next: {resume}\n")
    assert "  needs an answer (again, skip, stop): " in preview
    preview = desk.type("resume", "--dry-run", "--answer", "skip").out
    assert preview.endswith(f"next: {resume.replace('again', 'skip')}\n")
