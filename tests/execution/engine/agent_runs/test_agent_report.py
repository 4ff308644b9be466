"""What an agent says of a step: checked, recorded once, ticked; and what is refused."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from execplan.execution import states
from tests.execution.engine.agent_runs.agent import COPY, DROP, HEAD, MAKE
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from tests.conftest import Result
    from tests.execution.engine.agent_runs.agent import Agent

PRINT = '```sh {#see needs=make expect="X = …"}\ncat src/deep/made.py\n```\n\n'


def test_from_the_first_report_to_the_end(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    report = agent.report_completed("make", result="Made it.")
    assert (report["task"], report["next_steps"]) == ("Write it.", ["copy"])
    assert report["changes"] == [{"path": "src/deep/made.py", "kind": "created"}]
    assert report["do"]["what"] == "do step 2 (copy)"
    assert report["do"]["then"].startswith("execplan report copy ")
    agent.write("out.txt", "y = 1\n")
    report = agent.report_completed("2", "--commit")
    assert (report["status"], report["next_steps"]) == (states.COMPLETED, [])
    assert report["commit"] == agent.git("rev-parse", "HEAD").strip()
    assert agent.entry_kinds() == [
        "begun", *("intent", "result", "ticked") * 2, "ended",
    ]  # fmt: skip
    plan = agent.type("show", "--section", "Progress").out
    assert plan.count("[x]") == 2
    assert "transcripts/01-make.md" in plan
    assert json.loads(next(agent.path.rglob("record.json")).read_text())["mode"] == "agent"
    assert agent.type("audit", "--verify").exit == 0
    figures = agent.data("stats")
    assert (figures["agent_runs"], figures["steps"], figures["executions"]["completed"]) == (
        1,
        {"completed": 2, "failed": 0},
        1,
    )


def test_work_of_an_earlier_step_that_is_not_reported_yet_is_to_be_reported(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.write("out.txt", "y = 1\n")
    error = agent.report("copy", "completed", "--json").json["error"]
    assert error["code"] == "stale-approval"
    assert "report that first: execplan report make -p " in error["hint"]
    agent.report_completed("make")


def test_after_a_failure_there_is_one_way_for_a_wrong_file_and_for_an_approval_of_the_rest(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).write("src/deep/made.py", "X = 2\n")
    data = agent.report_failed("make")
    assert [command[:18] for command in data["recovery"]["commands"]] == ["execplan replan 1 "]
    agent.make_file()
    assert "needs no new approval" in agent.type("replan", "1", "--reason", "A wrong file.").out
    agent.report_completed("make")
    agent.report_failed("copy", "failed")
    error = agent.type("run", "--json").json["error"]
    assert (error["code"], "execplan replan 1 -p " in error["hint"]) == ("approval-used", True)
    agent.approve("--allow-inferred")
    assert "next: execplan resume 1 -p " in agent.type("next").out
    assert "execplan resume " in agent.type("run", "--json").json["error"]["hint"]
    assert agent.type("resume", "1").exit == 0


def test_an_agent_needs_nobody_to_resume_its_run(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    monkeypatch.setenv("EXECPLAN_AGENT", "agent-a")
    agent.report_completed("make")
    hints = [agent.type("resume", "1", "--json").json["error"]["hint"]]
    agent.report_failed("copy", "failed")
    hints.append(agent.type("resume", "1", "--json").json["error"]["hint"])
    assert [hint.split()[:4] for hint in hints] == [
        ["continue", "it:", "execplan", "handoff"],
        ["continue", "it:", "execplan", "replan"],
    ]


def test_after_a_checkpoint_everything_says_that_the_run_waits(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("{#make", "{#make checkpoint"), COPY)
    agent.report_failed("make", "failed")
    assert agent.type("replan", "--reason", "Try again.").exit == 0
    agent.make_file()
    answer = "execplan resume"
    question = "waiting for an answer: step make is a checkpoint: continue?"
    report = agent.report("make")
    assert question in report.out
    assert f"next: {answer} 0001-" in report.out
    assert agent.report_completed("make")["next_steps"] == []
    for command in ("next", "status", "prime"):
        shown = agent.type(command).out
        assert question in shown, command
        assert answer in shown, command
    handoff = agent.type("handoff").out
    assert "Nothing, until a person answers." in handoff
    assert "which failed" not in handoff
    assert agent.type("resume", "1", "--dry-run").exit == 0
    assert "next: execplan handoff" in agent.type("resume", "1").out
    agent.write("out.txt", "y = 1\n")
    assert agent.report_completed("copy")["status"] == states.COMPLETED


def test_without_an_approval_nothing_begins(agent: Agent) -> None:
    agent.plan_steps(MAKE, approve=False).make_file()
    assert "execplan evaluate" in agent.report_refused(7, "not-approved", "make")["hint"]
    assert agent.entry_kinds() == []


def test_not_its_turn_and_no_such_step_begin_nothing_and_take_no_approval(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY)
    assert "copy needs make, which is not completed yet" in agent.report_refused(3, "bad-transition", "copy")["message"]
    assert agent.report_refused(3, "no-such-step", "mkae")["candidates"] == ["make", "copy"]
    assert agent.type("approve", "--check").exit == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "src/deep/made.py does not exist"),
        ("X = 2\n", "src/deep/made.py differs from the plan on line 1"),
        ("X = 1", "the final newline is missing"),
        ("X = 1\n\n", "it ends with a newline that is not in the plan"),
    ],
)
def test_a_file_must_be_there_to_the_byte(agent: Agent, content: str | None, words: str) -> None:
    agent.plan_steps(MAKE)
    if content is not None:
        agent.make_file(content)
    report = agent.report_failed("make")
    assert words in report["reason"]
    assert (report["cause"], report["recovery"]["kind"], report["status"]) == ("expectation", "fail", states.FAILED)
    assert "[x]" not in agent.type("show", "--section", "Progress").out


def test_what_should_be_gone(agent: Agent) -> None:
    agent.plan_steps(DROP)
    assert "src/old.py still exists" in agent.report_failed("drop")["reason"]


def test_patches_and_lines_to_the_byte(agent: Agent) -> None:
    patch = "--- a/src/other.py\n+++ b/src/other.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n"
    wire = "```diff {#wire type=modify_file target=src/other.py}\n" + patch + "```\n\n"
    agent.plan_steps(wire, "```python {#line type=modify_file target=src/old.py lines=1-1}\nx = 3\n```\n")
    agent.write("src/other.py", "y = 2\n")
    assert agent.report("wire", "completed", "--dry-run").exit == 0
    agent.report_completed("wire")
    agent.write("src/old.py", "x = 4\n")
    assert "src/old.py differs from the plan on line 1" in agent.report_failed("line")["reason"]
    agent.type("rollback")
    assert (agent.path / "src/other.py").read_text() == "y = 1\n"
    assert (agent.path / "src/old.py").read_text() == "x = 1\n"


def test_outputs_must_be_there(agent: Agent) -> None:
    agent.plan_steps(COPY.replace(" needs=make", ""))
    assert "it did not create out.txt" in agent.report_failed("copy")["reason"]


def test_evidence_is_compared_and_kept_without_secrets(agent: Agent) -> None:
    agent.patch.setenv("API_TOKEN", "kq7Zr2vX9mLp4Ws8")
    agent.plan_steps(MAKE, PRINT).make_file()
    agent.report_completed("make")
    agent.write("seen.txt", "X = 1\nkq7Zr2vX9mLp4Ws8\n\x1b[31m")
    response = agent.report("see", "completed", "--json", "--evidence", "seen.txt")
    assert (response.exit, response.json["warnings"]) == (0, [])
    (transcript,) = (agent.path / ".agent").rglob("02-see.md")
    assert "    | X = 1\n" in transcript.read_text()
    assert "kq7Zr2vX9mLp4Ws8" not in transcript.read_text()
    assert "\x1b" not in transcript.read_text()


def test_what_was_expected_and_is_not_shown_is_warned_of(agent: Agent) -> None:
    agent.plan_steps(MAKE, PRINT).make_file()
    agent.report_completed("make")
    (warning,) = agent.report("see", "completed", "--json").json["warnings"]
    assert warning == "the output of see was not checked: it was reported without --evidence"


def test_evidence_that_comes_too_late_is_no_repeated_report(agent: Agent) -> None:
    agent.plan_steps(MAKE, PRINT, DROP).make_file()
    agent.report_completed("make")
    agent.write("seen.txt", "Y = 1\n")
    agent.report_completed("see")
    assert agent.report_completed("see")["already"] is True
    for options in ((), ("--dry-run",)):
        late = agent.report_refused(3, "bad-transition", "see", "completed", "--evidence", "seen.txt", *options)
        assert late["message"] == "step see is already completed: As planned."
    (agent.path / "src/old.py").unlink()
    agent.report_completed("drop")
    agent.report_refused(4, "approval-used", "see", "completed", "--evidence", "seen.txt")


def test_the_same_evidence_is_a_repeated_report(agent: Agent) -> None:
    agent.plan_steps(MAKE, PRINT, DROP).make_file()
    agent.report_completed("make")
    agent.write("seen.txt", "X = 1\n")
    agent.report_completed("see", "--evidence", "seen.txt")
    for options in (("--evidence", "seen.txt"), ()):
        assert agent.report_completed("see", *options)["already"] is True


@pytest.mark.parametrize("strategy", ["", " on-failure=replan"])
@pytest.mark.parametrize("command", ["resume 1", "replan 1 --reason Corrected."])
def test_a_corrected_file_is_reported_again(agent: Agent, strategy: str, command: str) -> None:
    """After a resume and after a replan of the same steps. A rollback removes what the agent has done."""
    change = "```diff {#change type=modify_file target=src/other.py needs=make}\n@@ -1 +1 @@\n-y = 1\n+y = 2\n```\n\n"
    agent.plan_steps(MAKE.replace("{#make", "{#make" + strategy), change)
    for step, path, wrong, right in (
        ("make", "src/deep/made.py", "X = 2\n", "X = 1\n"),
        ("change", "src/other.py", "y = 3\n", "y = 2\n"),
    ):
        agent.write(path, wrong)
        assert agent.report_failed(step)["status"] == states.FAILED
        for view in ("status", "next"):
            assert "run 1 failed" in agent.type(view).out, view
        commands = agent.type("status", "--json").json["next"]
        assert [command.split()[1] for command in commands[:2]] == ["replan", "resume"]
        assert "Nothing: the run failed." in agent.type("handoff").out
        agent.write(path, right)
        result = agent.type(*command.split())
        assert (result.exit, result.out.splitlines()[-1]) == (0, f"next: execplan handoff {NAME}"), result
        assert agent.type("evaluate").exit == 0
        assert f"then report it: `{step}`" in agent.type("handoff").out
        agent.report_completed(step)
    assert agent.type("rollback").exit == 0
    assert not (agent.path / "src/deep/made.py").exists()
    assert (agent.path / "src/other.py").read_text() == "y = 1\n"


def test_edited_steps_of_an_agents_run_lead_to_a_replan(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY, DROP).make_file()
    agent.report_completed("make")
    agent.plan(HEAD + MAKE + COPY.replace("out.txt", "copy.txt") + DROP)
    replan = f"execplan replan 1 -p {NAME} --reason 'What was wrong'"
    for view in ("status", "next", "show", "handoff", "evaluate", "show --run"):
        assert agent.type(*view.split()).out.splitlines()[-1] == f"next: {replan}", view
    assert agent.data("handoff")["next_steps"] == []
    assert replan in agent.report_refused(4, "other-document", "copy")["hint"]
    assert replan in agent.refused(4, "other-document", "resume")["hint"]
    assert agent.type("replan", "--reason", "Another name.").exit == 0
    agent.approve("--allow-inferred")
    agent.write("copy.txt", "y = 1\n")
    agent.report_completed("copy")


def test_evidence_that_is_not_what_was_expected(agent: Agent) -> None:
    agent.plan_steps(MAKE, PRINT).make_file()
    agent.report_completed("make")
    agent.write("seen.txt", "Y = 1\n")
    assert (
        "its output is not as expected: line 1 of the expected output, 'X = …', is not in the output"
        in agent.report_failed("see", "completed", "--evidence", "seen.txt")["reason"]
    )


def test_evidence_from_elsewhere_is_refused(agent: Agent) -> None:
    agent.plan_steps(MAKE).make_file()
    for name in ("/etc/passwd", ".git/config", "../.config/execplan/key"):
        agent.report_refused(7, "evidence-outside", "make", "completed", "--evidence", name)
    agent.report_refused(3, "no-such-file", "make", "completed", "--evidence", "nowhere.txt")


def test_the_test_behind_a_step_decides(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("target=", 'test-after="grep -q y src/other.py" target=')).make_file()
    report = agent.report("make", "completed", "--dry-run", "--json").json["data"]
    assert (report["recorded"], report["tested"]) == (False, False)
    assert agent.report_completed("make")["checks"] == {
        "pre": "passed",
        "post": "passed",
        "tests_run": 1,
        "tests_passed": 1,
    }


def test_a_test_that_fails(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("target=", 'test-after="grep -q z src/other.py" target=')).make_file()
    assert "its test grep -q z src/other.py failed" in agent.report_failed("make")["reason"]


def test_the_same_words_again_and_others(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.report_completed("make")
    before = agent.entry_kinds()
    repeated = agent.report_completed("make")
    assert (repeated["already"], repeated["recorded"]) == (True, False)
    agent.report_refused(3, "bad-transition", "make", "failed")
    assert agent.entry_kinds() == before


def test_many_at_once_are_recorded_once(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    results: list[Result] = []
    line = ("report", "make", "--status", "completed", "--result", "As planned.", "--json")
    threads = [threading.Thread(target=lambda: results.append(agent.run(*line))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.exit for result in results] == [0] * 6, [result for result in results if result.exit]
    assert sorted([result.json["data"]["already"] for result in results]) == [False] + [True] * 5
    assert agent.entry_kinds().count("result") == 1
    assert agent.type("audit", "--verify").exit == 0


def test_what_it_only_reads_must_be_as_it_was(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.report_completed("make")
    agent.write("out.txt", "y = 1\n")
    agent.write("src/other.py", "y = 2\n")
    assert "src/other.py: different content (" in agent.report_refused(4, "drifted", "copy")["candidates"][0]
    assert agent.report_failed("copy", "failed")["status"] == states.FAILED


def test_another_target_than_the_reported_one_has_changed_before(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).make_file()
    (agent.path / "src/old.py").unlink()
    assert "src/old.py" in agent.report_refused(4, "stale-approval", "make")["candidates"][0]


def test_what_else_has_changed_is_warned_of(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP, COPY)
    agent.begin()
    agent.make_file().write("stray.txt", "?\n")
    agent.write("src/other.py", "y = 3\n")
    warnings = agent.report("make", "completed", "--json").json["warnings"]
    assert [warning.partition(" ")[0] for warning in warnings] == ["src/other.py", "stray.txt"]
    (agent.path / "src/old.py").unlink()
    assert agent.report("drop", "completed", "--json").json["warnings"] == []


def test_an_approval_that_expires_lets_nothing_more_begin(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP).make_file()
    agent.report_completed("make")
    agent.later(2 * 86_400)
    agent.report_refused(4, "approval-expired", "drop")
    agent.approve("--step", "drop")
    (agent.path / "src/old.py").unlink()
    assert agent.report_completed("drop")["status"] == states.COMPLETED
    assert agent.entry_kinds()[-4:] == ["resumed", "intent", "result", "ended"]


def test_a_step_that_is_not_approved(agent: Agent) -> None:
    agent.plan_steps(MAKE, DROP, approve=False)
    agent.approve("--step", "make")
    agent.make_file()
    agent.report_completed("make")
    (agent.path / "src/old.py").unlink()
    assert "drop (HIGH) is not approved" in agent.report_refused(7, "step-not-approved", "drop")["message"]


def test_a_dry_run_writes_nothing(agent: Agent) -> None:
    agent.plan_steps(MAKE).make_file()
    before = agent.git("status", "--porcelain"), sorted(map(str, (agent.path / ".git/execplan").rglob("*")))
    assert agent.report("make", "completed", "--dry-run", "--json").json["data"]["recorded"] is False
    result = agent.report("make", "failed", "--dry-run", result="api_key=kq7Zr2vX9mLp4Ws8")
    assert result.exit == 0
    assert "kq7Zr2" not in result.out
    assert (agent.git("status", "--porcelain"), sorted(map(str, (agent.path / ".git/execplan").rglob("*")))) == before


def test_a_directory_that_an_earlier_step_made_is_as_expected(agent: Agent) -> None:
    make = "```sh {#make outputs=build}\nmkdir build\n```\n\n"
    show = "```sh {#show needs=make inputs=build}\nls build\n```\n\n"
    agent.plan_steps(make, show)
    (agent.path / "build").mkdir()
    agent.report_completed("make")
    agent.report_completed("show")
