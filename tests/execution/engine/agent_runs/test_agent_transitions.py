"""What follows in an agent's run: failures by their strategies, questions, other verbs beside it, and the way back."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from execplan.execution import states
from execplan.execution.engine.agent_runs import guard_grant
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records.run_statuses import BY_AGENT, find_last_run
from tests.execution.engine.agent_runs.agent import COPY, DROP, HEAD, MAKE
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from tests.execution.engine.agent_runs.agent import Agent


def failing(attributes: str) -> str:
    """The first step, with what becomes of it when it fails."""
    return MAKE.replace("target=", f"{attributes} target=")


OTHER = "```python {#other type=create_file target=src/other2.py}\nX = 2\n```\n\n"


@pytest.mark.parametrize(
    ("said", "kind", "up_next", "status"),
    [
        ("", "fail", ["other"], states.IN_PROGRESS),
        ("retry=1", "retry", ["make", "other"], states.IN_PROGRESS),
        ("on-failure=skip", "skip", ["other"], states.IN_PROGRESS),
        ("on-failure=alternative:other", "alternative", ["other"], states.IN_PROGRESS),
        ("on-failure=replan", "replan", ["other"], states.IN_PROGRESS),
        ("on-failure=ask", "ask", [], states.IN_PROGRESS),
        ("on-failure=skip triggers=timeout", "fail", ["other"], states.IN_PROGRESS),
    ],
)
def test_each_strategy(agent: Agent, said: str, kind: str, up_next: list[str], status: str) -> None:
    agent.plan_steps(failing(said), OTHER)
    report = agent.report_failed("make", "failed", result="There is no disk.")
    assert (report["recovery"]["kind"], report["next_steps"], report["status"]) == (kind, up_next, status)
    assert agent.data("handoff")["next_steps"] == up_next


def test_a_retry_is_used_up(agent: Agent) -> None:
    agent.plan_steps(failing("retry=1"))
    agent.report_failed("make", "failed", result="First.")
    assert agent.report_failed("make", "failed", result="Second.")["recovery"]["kind"] == "fail"
    assert agent.last_run().run_state.status == states.FAILED


def test_an_alternative_stands_in_and_not_before(agent: Agent) -> None:
    agent.plan_steps(failing("on-failure=alternative:other"), OTHER)
    assert (
        "it is the alternative to make, which has not failed"
        in agent.report_refused(3, "bad-transition", "other")["message"]
    )
    agent.report_failed("make", "failed")
    agent.write("src/other2.py", "X = 2\n")
    assert agent.report_completed("other")["status"] == states.COMPLETED
    assert agent.entry_kinds()[-3:] == ["recovered", "ticked", "ended"]


def test_a_spare_alternative_and_a_condition_are_skipped(agent: Agent) -> None:
    third = (
        OTHER.replace("#other", "#third").replace("other2", "other3").replace("type", "when=missing:src/old.py type")
    )
    agent.plan_steps(failing("on-failure=alternative:other"), OTHER, third).make_file()
    assert agent.report_completed("make")["status"] == states.COMPLETED
    assert agent.entry_kinds().count("skipped") == 2


def test_a_condition_that_never_held_holds_up_nothing(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("type", "when=exists:nowhere type"), OTHER.replace("#other", "#other needs=make"))
    agent.begin()
    assert agent.entry_kinds() == ["begun", "skipped"]
    agent.write("src/other2.py", "X = 2\n")
    assert agent.report_completed("other")["status"] == states.COMPLETED


def test_a_question_waits_for_a_person(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP.replace("target=", "confirm=true target=")).make_file()
    agent.report_completed("make")
    error = agent.refused(8, "paused", "report", "drop", "--status", "completed", "--result", "x")
    assert error["candidates"] == ["go", "skip", "stop"]
    assert agent.entry_kinds()[-1] == "paused"
    agent.refused(8, "paused", "report", "drop", "--status", "completed", "--result", "x")
    assert agent.data("resume", "--dry-run")["answer"] is None
    agent.refused(8, "paused", "resume")
    assert "the agent continues run 0001-" in agent.type("resume", "--answer", "go").out
    (agent.path / "src/old.py").unlink()
    assert agent.report_completed("drop")["status"] == states.COMPLETED


@pytest.mark.parametrize(("answer", "status"), [("skip", states.COMPLETED), ("stop", states.FAILED)])
def test_a_person_skips_or_stops(agent: Agent, answer: str, status: str) -> None:
    agent.plan_steps(DROP.replace("target=", "confirm=true target="))
    agent.type("report", "drop", "--status", "completed", "--result", "x")
    agent.type("resume", "--answer", answer)
    assert agent.last_run().run_state.status == status
    assert (agent.path / "src/old.py").exists()


def test_a_checkpoint_is_answered_before_anybody_waits(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("target=", "checkpoint=true target="), DROP).make_file()
    agent.report_completed("make")
    agent.refused(2, "bad-answer", "resume", "--answer", "again")
    assert agent.type("resume", "--answer", "go").exit == 0
    (agent.path / "src/old.py").unlink()
    agent.report_completed("drop")
    agent.refused(1, "nothing-to-resume", "resume")


def test_a_failed_step_blocks_only_what_needs_it(agent: Agent) -> None:
    """The others continue; then the run fails, for the reason of the first failure, and a revision needs no approval."""
    third = OTHER.replace("#other", "#third needs=other").replace("other2", "other3")
    agent.plan_steps(failing(""), DROP.replace("#drop", "#drop needs=make"), OTHER, third)
    report = agent.report_failed("make", "failed", result="There is no disk.")
    assert (report["next_steps"], report["status"]) == (["other"], states.IN_PROGRESS)
    assert "steps that need make are blocked, the others continue" in report["recovery"]["words"]
    run_state = agent.last_run().run_state
    assert [run_state.status_of[name] for name in ("make", "drop", "other", "third")] == [
        states.FAILED,
        states.BLOCKED,
        states.PENDING,
        states.PENDING,
    ]
    assert "it needs make, which failed" in str(agent.data("show", "--run"))
    agent.report_refused(3, "bad-transition", "drop")
    agent.write("src/other2.py", "X = 2\n")
    assert agent.report_completed("other")["next_steps"] == ["third"]
    agent.write("src/other3.py", "X = 2\n")
    assert agent.report_completed("third")["status"] == states.FAILED
    end_entry = agent.last_run().run_state.end_entry
    assert end_entry is not None
    assert "There is no disk." in end_entry.fields["reason"]
    agent.data("replan", "--reason", "There is a disk now.")
    assert agent.data("handoff")["next_steps"] == ["make"]
    assert agent.make_file().report_completed("make")["next_steps"] == ["drop"]


def test_a_failed_step_is_replanned_while_the_others_continue(agent: Agent) -> None:
    agent.plan_steps(failing(""), DROP.replace("#drop", "#drop needs=make"), OTHER)
    agent.report_failed("make", "failed", result="There is no disk.")
    agent.data("replan", "--reason", "There is a disk now.")
    assert agent.data("handoff")["next_steps"] == ["make", "other"]
    assert agent.make_file().report_completed("make")["next_steps"] == ["drop", "other"]


def test_in_a_fixed_order_a_failed_step_ends_the_run(agent: Agent) -> None:
    agent.plan_steps("```text {execution require-sequential}\n```\n\n", failing(""), OTHER)
    report = agent.report_failed("make", "failed", result="There is no disk.")
    assert (report["next_steps"], report["status"]) == ([], states.FAILED)


def test_a_failed_run_is_taken_up_by_a_person(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP.replace("#drop", "#drop needs=make"))
    agent.report_failed("make", "failed")
    hint = agent.report_refused(4, "approval-used", "make")["hint"]
    assert "execplan replan 1 " in hint
    assert "execplan resume 1 " in agent.type("next").out
    assert agent.type("resume").exit == 0
    assert agent.make_file().report_completed("make")["next_steps"] == ["drop"]


def test_one_run_at_a_time(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).make_file()
    agent.report_completed("make")
    assert "handoff" in agent.refused(1, "run-under-way", "run")["hint"]
    agent.refused(1, "run-under-way", "run", "--dry-run")
    (summary,) = agent.data("runs")["runs"]
    assert (summary["agent"], summary["cut_short"], summary["state"]) == (True, False, "active")
    last_run = find_last_run(*agent.project())
    assert last_run is not None
    assert last_run.state == BY_AGENT
    assert agent.data("show", "--run")["agent"] is True


def test_an_agent_does_not_go_into_a_run_of_the_engine(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP.replace("target=", "confirm=true target="))
    assert agent.type("run").exit == 8
    agent.report_refused(1, "run-under-way", "drop")
    handoff = agent.data("handoff")
    assert handoff["approved"] is False
    assert "is in progress, but it is not an agent's run" in handoff["approval"]["why"][0]
    assert (handoff["run"]["agent"], handoff["next_steps"]) == (False, [])
    assert agent.type("resume", "--answer", "skip").exit == 0
    handoff = agent.data("handoff")
    assert [step["status"] for step in handoff["steps"]] == ["completed", "skipped"]
    assert agent.data("runs")["runs"][0]["done"] == 1
    assert agent.type("rollback").exit == 0
    assert agent.type("next", "--json").json["next"][0].startswith("execplan evaluate ")


def test_rollback_to_the_byte(agent: Agent) -> None:
    agent.write("out.txt", "before\n").chmod(0o600)
    agent.plan_steps(MAKE, DROP, COPY)
    agent.begin()
    agent.make_file()
    agent.report_completed("make")
    (agent.path / "src/old.py").unlink()
    agent.report_completed("drop")
    agent.write("out.txt", "y = 1\n")
    agent.report_completed("copy")
    assert agent.type("rollback").exit == 0
    assert (agent.path / "src/old.py").read_text() == "x = 1\n"
    assert (agent.path / "out.txt").read_text() == "before\n"
    assert os.stat(agent.path / "out.txt").st_mode & 0o777 == 0o600
    assert not (agent.path / "src/deep").exists()
    assert agent.type("show", "--section", "Progress").out.count("[ ]") == 2
    assert agent.type("audit", "--verify").exit == 0


def test_a_step_that_was_taken_back_is_done_again(agent: Agent) -> None:
    """Else the run would be completed, and the task ticked, without what the step had made."""
    agent.plan_steps(MAKE, DROP).begin()
    agent.make_file().report_completed("make")
    agent.type("rollback", "--step", "make")
    (agent.path / "src/old.py").unlink()
    report = agent.report_completed("drop")
    assert (report["status"], report["next_steps"]) == (states.IN_PROGRESS, ["make"])
    assert agent.entry_kinds().count("ticked") == 1
    assert agent.make_file().report_completed("make")["status"] == states.COMPLETED
    agent.type("rollback")
    assert (agent.path / "src/old.py").exists()
    assert not (agent.path / "src/deep").exists()


def test_the_same_words_for_another_run(agent: Agent) -> None:
    agent.plan_steps("```sh {#test}\nmake test\n```\n")
    first = agent.report_completed("test")
    assert agent.report_completed("test")["already"] is True
    agent.approve()
    assert agent.report("test", "completed", "--dry-run").out.startswith("would record step 1 (test) as completed")
    second = agent.report_completed("test")
    assert (second["already"], second["run"] != first["run"]) == (False, True)


def test_what_is_approved_of_a_failed_run_begins_no_other(agent: Agent) -> None:
    agent.plan_steps("```sh {#test}\nmake test\n```\n\n", DROP)
    agent.report_completed("test")
    agent.report_failed("drop", "failed")
    agent.approve()
    handoff = agent.data("handoff")
    assert (handoff["approved"], handoff["next_steps"]) == (False, [])
    assert "execplan resume" in agent.report_refused(1, "run-under-way", "drop")["hint"]
    assert agent.type("resume").exit == 0
    (agent.path / "src/old.py").unlink()
    assert agent.report_completed("drop")["status"] == states.COMPLETED


def test_rollback_of_what_was_in_hand(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP)
    agent.begin()
    allow_call(agent, "make")
    agent.make_file("half of it")
    assert agent.data("rollback")["steps"] == ["make"]
    assert not (agent.path / "src/deep").exists()
    assert agent.last_run().run_state.status == states.ROLLED_BACK


def test_what_was_in_hand_ends_with_the_run(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP.replace("target=", "on-failure=ask target="))
    agent.begin()
    allow_call(agent, "make")
    agent.make_file("half of it")
    agent.report_failed("drop", "failed")
    agent.type("resume", "--answer", "stop")
    attempt = agent.last_run().run_state.attempts["make"][0]
    assert attempt.performed is not None
    assert [change.path for change in attempt.performed.changes] == ["src/deep/made.py"]


def test_calls_are_told(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP)
    agent.begin()
    allow_call(agent, "make")
    agent.make_file().report_completed("make")
    assert "make, attempt 1: Write: src/deep/made.py" in agent.type("audit").out
    assert [call["tool"] for call in agent.data("show", "--run")["steps"][0]["calls"]] == ["Write"]
    assert agent.data("stats")["agent_calls"] == 1
    figures = agent.type("stats", "--format", "prometheus").out
    assert "plan_agent_calls_total 1.0" in figures
    assert "plan_agent_executions_total 1.0" in figures


def test_a_step_in_hand_is_reported_whatever_has_expired(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP)
    agent.begin()
    allow_call(agent, "make")
    agent.later(2 * 86_400)
    result = agent.make_file().report("make", "completed", "--json")
    assert result.exit == 0
    assert any("no more calls are allowed now: " in warning for warning in result.json["warnings"])


def test_a_folder_that_it_made_is_taken_back_file_by_file(agent: Agent) -> None:
    agent.plan_steps("```sh {#build outputs=dist}\nmake dist\n```\n")
    agent.begin()
    agent.write("dist/a/b.txt", "b\n")
    agent.write("dist/c.txt", "c\n")
    assert {change["path"] for change in agent.report_completed("build")["changes"]} == {"dist/a/b.txt", "dist/c.txt"}
    agent.type("rollback")
    assert not (agent.path / "dist").exists()


@pytest.mark.parametrize("committed", [True, False])
def test_what_was_changed_before_any_call_comes_back_from_the_last_commit_alone(agent: Agent, committed: bool) -> None:
    patch = "--- a/src/new.py\n+++ b/src/new.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n"
    agent.plan_steps("```diff {#wire type=modify_file target=src/new.py}\n" + patch + "```\n\n", approve=False)
    agent.write("src/new.py", "y = 1\n")
    if committed:
        agent.commit()
    agent.approve()
    agent.write("src/new.py", "y = 2\n")
    agent.report_completed("wire")
    if committed:
        assert agent.type("rollback").exit == 0
    else:
        assert "restore the file from git" in agent.refused(6, "backup-missing", "rollback")["hint"]
    assert (agent.path / "src/new.py").read_text() == ("y = 1\n" if committed else "y = 2\n")


def test_an_output_that_was_there_before_any_call_is_named(agent: Agent) -> None:
    agent.plan_steps(COPY.replace(" needs=make", ""), approve=False)
    agent.write("out.txt", "never committed\n")
    agent.approve()
    agent.write("out.txt", "y = 1\n")
    agent.report_completed("copy")
    assert "the previous content of out.txt" in agent.data("rollback")["left"][0]


def test_replanned_by_an_agent(agent: Agent) -> None:
    agent.patch.setenv("EXECPLAN_SESSION", "agent-7")
    agent.plan_steps(failing("on-failure=replan"), DROP)
    agent.report_failed("make", "failed")
    steps = '{"steps": [{"id": "made", "type": "create_file", "target": "src/made2.py", "content": "X = 2\\n"}]}'
    assert agent.data("replan", "--reason", "No disk.", "--new-information", steps)["revision"] == 2
    assert agent.last_run().run_state.replans[0].fields["session"] == "agent-7"
    agent.report_refused(4, "stale-approval", "made")
    agent.approve()
    agent.write("src/made2.py", "X = 2\n")
    assert agent.report_completed("made")["status"] == states.COMPLETED
    assert agent.last_run().run_state.document.revision == 2
    assert agent.type("audit", "--verify").exit == 0


def test_what_is_in_hand_is_reported_before_it_is_planned_anew(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).begin()
    allow_call(agent, "make")
    assert "report make" in agent.refused(4, "run-cut-short", "replan", "--reason", "No disk.")["hint"]


def test_doctor_knows_a_run_that_was_left_behind(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).make_file()
    agent.report_completed("make")
    assert agent.type("doctor").exit == 0
    journal = agent.last_run().run_paths.journal
    os.utime(journal, (0, 0))
    assert "no agent has continued its run" in agent.type("doctor").out


def test_it_begins_without_git(agent: Agent) -> None:
    """Then nobody knows what else has changed; all else is as with git."""
    agent.plan_steps(MAKE)
    os.rename(agent.path / ".git", agent.path.parent / "gone")
    agent.approve()
    assert agent.make_file().report_completed("make")["status"] == states.COMPLETED


def allow_call(agent: Agent, step: str) -> None:
    """Let a call of a step be allowed, as the guard does."""
    run = agent.last_run()
    attempt_fields: dict[str, Any] = {"step": step, "attempt": 1}
    with Journal(run.run_paths.journal) as journal:
        before = {
            path: list(state) for path, state in run.run_state.expected_states.items() if path == "src/deep/made.py"
        }
        journal.write(journal_entries.INTENT, **attempt_fields, by="person", before=before, snapshot=False)
        call_fields = {"tool": "Write", "what": "src/deep/made.py", "paths": ["src/deep/made.py"]}
        journal.write(journal_entries.CALLED, **attempt_fields, **call_fields, session=None, asked=False)


def test_an_agent_goes_on_with_a_revision_that_was_approved_already(agent: Agent) -> None:
    agent.plan_steps(failing("on-failure=replan"), DROP)
    agent.report_failed("make", "failed")
    replanned = agent.type("replan", "--reason", "No disk.").out
    assert "needs no new approval" in replanned
    assert "next: execplan handoff " in replanned
    handoff_text = agent.type("handoff").out
    assert "The run has a new revision: `revision 2 needs no new approval" in handoff_text
    assert "It waits for a person" not in handoff_text
    assert agent.data("handoff")["next_steps"] == ["make", "drop"]
    agent.make_file()
    assert agent.report_completed("make")["next_steps"] == ["drop"]
    (agent.path / "src/old.py").unlink()
    assert agent.report_completed("drop")["status"] == states.COMPLETED
    assert agent.entry_kinds().count("resumed") == 1
    assert agent.type("audit", "--verify").exit == 0


def test_an_agent_does_not_answer_for_a_person_with_a_revision(agent: Agent) -> None:
    agent.plan_steps(failing("on-failure=ask"), DROP)
    agent.report_failed("make", "failed")
    assert "a person must answer first" in agent.data("replan", "--reason", "No disk.")["needs_approval"][0]
    agent.make_file()
    agent.report_refused(4, "stale-approval", "make")


def test_an_agent_leaves_no_need_out(agent: Agent) -> None:
    agent.plan_steps(failing("on-failure=replan"), COPY)
    agent.report_failed("make", "failed")
    steps = json.loads(next(agent.path.rglob("execution-plan.json")).read_text())["steps"]
    independent_step = {**steps[1], "depends_on": []}
    del independent_step["number"]
    revision = agent.data(
        "replan", "--reason", "No disk.", "--new-information", json.dumps({"steps": [independent_step]})
    )
    assert revision["needs_approval"] == ["step copy no longer needs make"]


def test_a_revoked_approval_ends_what_an_agent_may_do(agent: Agent) -> None:
    """Also what was allowed by the warrant that was issued for the revision."""
    agent.plan_steps(failing("on-failure=replan"), DROP)
    agent.report_failed("make", "failed")
    agent.data("replan", "--reason", "No disk.")
    agent.begin()
    project, ref = agent.project()
    assert guard_grant.load(project, ref.id) is not None
    agent.data("approve", "--revoke")
    assert guard_grant.load(project, ref.id) is None
    agent.make_file()
    agent.report_refused(7, "not-approved", "make")


def test_a_step_in_progress_is_reported_before_a_replan(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).begin()
    allow_call(agent, "make")
    agent.make_file().plan(HEAD + MAKE + DROP.replace("Nobody", "No one"))
    assert agent.type("status").out.splitlines()[-1] == f"next: execplan handoff {NAME}"
    agent.report_completed("make")
    assert "execplan replan 1 " in agent.type("status").out.splitlines()[-1]
