"""Agents that know only the hints: each hint has the form for whoever reads it, and leads to the next step."""

from __future__ import annotations

import shlex
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import click
import pytest

from execplan.cli.app import group
from execplan.core.plan_store import hint_reader
from tests.cli.approved_plan import ASKS, FAILS, HEAD, MAKE, SEE, with_approved_plan
from tests.cli.test_unfinished_run import ONE_TASK
from tests.commands import check_command
from tests.plans import with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder
    from tests.in_process_repository import InProcessRepository

PLAN = "2026-01-01_parser"
AGENTS = ("agent-1", "agent-2", "agent-3")


def plan_of(count: int) -> str:
    """A plan with open tasks."""
    tasks = "".join([f"- [ ] Do part {number}.\n" for number in range(1, count + 1)])
    return with_sections(f"## Progress\n\n{tasks}\n## Outcomes & Retrospective\n\nNone yet.\n")


def hint(output: str) -> str:
    """The command of a hint; for work, the one that comes after it."""
    line = output.splitlines()[-1]
    assert line.startswith("next: "), output
    return line[line.index("execplan ") :]


def test_three_agents_that_follow_the_hints_do_each_task_once(repo: Folder) -> None:
    repo.plan(plan_of(12))

    def work(name: str) -> list[str]:
        command, done = f"execplan next {PLAN} --as {name}", []
        while command.startswith(("execplan next ", "execplan done ")):
            result = repo.run(*shlex.split(command)[1:])
            assert result.exit == 0, (command, result)
            done += [line for line in result.out.splitlines() if line.startswith("done: ")]
            if not result.out.splitlines()[-1].startswith("next: ") or "next: wait until " in result.out:
                break  # others have claimed what is left
            command = hint(result.out)
        return done

    with ThreadPoolExecutor(len(AGENTS)) as pool:
        done = [line for lines in pool.map(work, AGENTS) for line in lines]
    assert sorted(done) == sorted([f"done: {number}. Do part {number}." for number in range(1, 13)])


def test_a_dozen_claims_take_few_lines_and_a_released_one_leads_on(repo: Folder) -> None:
    repo.plan(plan_of(12))
    for number in range(1, 12):
        repo.ok("next", PLAN, "--claim", f"agent-{number}")
    lines = repo.run("next", "--as", "agent-12").out.splitlines()
    assert lines[0].startswith("12. ")
    assert lines[6] == "and 6 more; all: --json"
    status = repo.run("status").out
    assert "5. by agent-5 and 6 more" in status
    released = repo.run("next", "--release", "agent-3", "--to", "agent-12", "--as", "agent-12").out
    assert released.endswith(f"\nnext: execplan next {PLAN} --claim --as agent-12\n")


@pytest.mark.parametrize("by_option", [True, False])
def test_a_named_agent_is_told_to_claim_in_one_form(repo: Folder, by_option: bool) -> None:
    repo.plan(plan_of(3))
    name = ["--as", "agent-1"] if by_option else []
    if not by_option:
        repo.env["EXECPLAN_AGENT"] = "agent-1"
    claim = f"execplan next {PLAN} --claim --as agent-1"
    for command in (["next"], ["status"], ["show"]):
        assert hint(repo.run(*command, *name).out) == claim
        document = repo.run(*command, *name, "--json").json
        assert document["next"][0] == claim
        assert "do" not in document["data"]
    assert f"\nContinue:\n  {claim}\n" in repo.run("prime", *name).out
    assert hint(repo.run("add", "Do more.", *name).out) == claim
    check_command(claim)
    done = hint(repo.run(*shlex.split(claim)[1:]).out)
    assert done.endswith(" -p 2026-01-01_parser --as agent-1")
    assert hint(repo.run("next", *name).out) == done
    assert hint(repo.run(*shlex.split(done)[1:]).out) == claim


def test_hints_to_write_have_the_name_of_the_caller_and_a_text(repo: Folder) -> None:
    """The hints are run as they are printed, without standard input; then `undo --as` finds them."""
    filling = hint(repo.run("new", "Read lines", "--task", "Do it.", "--as", "ann").out)
    assert filling.startswith("execplan set 'Purpose / Big Picture' 'New text' -p ")
    assert filling.endswith("_read-lines --as ann")
    repo.ok(*shlex.split(filling)[1:])
    repo.ok("undo", "--as", "ann")
    outcome = hint(repo.run("done", "1", "--as", "ann").out)
    assert outcome.startswith("execplan outcome 'What works now' -p ")
    repo.ok(*shlex.split(outcome)[1:])
    repo.ok("undo", "--as", "ann")
    mark = hint(repo.run("review", "--as", "ann").out)
    assert repo.run(*shlex.split(mark)[1:]).out.splitlines()[-1].startswith("recorded: ann has reviewed ")
    assert "no changes since ann reviewed it" in repo.run("review", "--as", "ann").out
    repo.env["EXECPLAN_AGENT"] = "ann"
    assert hint(repo.run("done", "1").out) == outcome.removesuffix(" --as ann")


def test_who_has_claimed_is_told_to_claim_again(repo: Folder) -> None:
    repo.plan(plan_of(3))
    assert hint(repo.run("done", "1").out) == f"execplan next {PLAN}"
    done = hint(repo.run("next", "--claim").out)
    assert hint(repo.run(*shlex.split(done)[1:]).out) == f"execplan next {PLAN} --claim"
    assert hint(repo.run("outcome", "It works.").out) == f"execplan next {PLAN} --claim"


def test_a_task_that_another_did_is_no_success(repo: Folder) -> None:
    repo.plan(plan_of(3))
    repo.ok("done", "1", "--as", "agent-1")
    assert repo.run("done", "1", "--as", "agent-1").out.startswith("already done: 1. ")
    again = repo.run("done", "1", "2", "--as", "agent-2", "--json")
    assert (again.exit, again.json["ok"]) == (1, False)
    data = again.json["data"]
    assert data["said"] == ["already done by agent-1: 1. Do part 1.", "done: 2. Do part 2."]
    assert [task.get("done_by") for task in data["tasks"]] == ["agent-1", None]
    assert again.json["next"] == [f"execplan next {PLAN} --claim --as agent-2"]
    repo.ok("reopen", "1", "--as", "agent-1")
    repo.ok("done", "1", "--as", "agent-2")
    assert repo.run("done", "1").out.startswith("already done by agent-2: 1. ")


def test_a_name_is_only_suggested_where_a_command_takes_it() -> None:
    for name in (*hint_reader.NAMED_COMMANDS, *hint_reader.SIGNED_COMMANDS):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert any("--as" in param.opts for param in command.params), name


@pytest.mark.parametrize("by_option", [True, False])
def test_a_named_agent_can_not_decide_for_a_person(desk: InProcessRepository, by_option: bool) -> None:
    digest = desk.digest()
    name = ["--as", "agent-1"] if by_option else []
    if not by_option:
        desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    ask = "ask a person to run: "
    assert desk.type("evaluate").out.endswith(f"\nnext: {ask}execplan approve {PLAN}\n")
    error = desk.refused(3, "person-required", "approve", "--digest", digest, *name)
    assert error["hint"] == f"{ask}execplan approve {PLAN}"
    assert desk.type("approve", "--dry-run", *name).exit == 0
    assert desk.data("approve", "--list")["approvals"] == []
    error = desk.refused(7, "not-approved", "run", *name)
    assert error["hint"] == f"see what would run, and who can approve it: execplan evaluate {PLAN}"


def test_a_named_agent_can_not_resume_or_roll_back(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, ASKS)
    assert desk.type("run").exit == 8
    for command in ("resume", "rollback"):
        error = desk.refused(3, "person-required", command, "--as", "agent-1")
        assert error["hint"] == f"ask a person to run: execplan {command} 1 -p {PLAN}"
        assert desk.type(command, "--dry-run", "--as", "agent-1").exit == 0
    for answer in ("again", "go"):  # the first one is not allowed: a person decides on another
        error = desk.refused(3, "person-required", "resume", "--answer", answer, "--as", "agent-1")
        assert error["hint"] == f"ask a person to run: execplan resume 1 -p {PLAN}"
    assert desk.type("rollback").exit == 0


def test_a_named_agent_approves_what_the_policy_approves(desk: InProcessRepository) -> None:
    desk.plan(HEAD + MAKE)
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    command = f"execplan approve {PLAN}"
    hint = desk.refused(7, "not-approved", "run")["hint"]
    assert hint == f"see what would run, and who can approve it: execplan evaluate {PLAN}"
    assert desk.type("evaluate").out.endswith(f"\nnext: {command}\n")
    assert desk.type("evaluate", "--json").json["next"] == [command]
    assert desk.data(*command.split()[1:])["approver"] == "the policy"


AGENT_PLAN = (
    HEAD.replace("## Concrete Steps\n", "## Concrete Steps\n\n```text {execution mode=agent}\n```\n")
    + MAKE
    + '```sh {#see needs=make task="See it"}\npython3 -c "import nowhere"\n```\n\n'
)


@pytest.mark.parametrize("mode", ["agent", "engine"])
def test_an_agent_that_follows_the_hints_gets_over_a_failed_step(desk: InProcessRepository, mode: str) -> None:
    """Whether the plan says that an agent performs it, or the agent just began to report."""
    plan = AGENT_PLAN.replace("mode=agent", f"mode={mode}")
    desk.plan(plan)
    desk.commit()
    desk.approve()
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    desk.write("src/made.py", "X = 1\n")

    def follow(command: str) -> str:
        """Run a suggested command, and return the next one."""
        assert command.startswith("execplan "), command
        result = desk.type(*shlex.split(command)[1:])
        assert result.exit == 0, (command, result)
        return result.out.splitlines()[-1].removeprefix("next: ")

    report = "execplan report {} --status {} --result 'As planned.'"
    see = follow(report.format("make", "completed"))
    report_see = f"execplan report see -p {PLAN} --status completed --result 'What it did.'"
    assert see == f"do step 2 (see), then: {report_see}"
    replan = follow(report.format("see", "failed"))
    assert replan == f"execplan replan 1 -p {PLAN} --reason 'What was wrong'"
    work = f"correct what failed, or edit the steps in the plan if they are wrong, then: {replan}"
    for command in ("next", "status", "show"):
        assert desk.type(command).out.endswith(f"\nnext: {work}\n")
    assert f"Continue:\n  {replan}\n" in desk.type("prime").out
    assert follow("execplan handoff") == work
    desk.plan(plan.replace("import nowhere", "import os").replace("- [ ] Make it", "- [x] (2026-01-01 00:00Z) Make it"))
    *_, reason, hint_line = desk.type("evaluate").out.splitlines()
    assert reason.endswith("can't continue: its steps were edited in the plan"), reason
    assert hint_line == f"next: {replan}"
    evaluate = follow(replan)
    ask = follow(evaluate)
    assert ask == f"ask a person to run: execplan approve {PLAN}"
    desk.patch.delenv("EXECPLAN_AGENT")
    (by_person,) = desk.type("evaluate", "--json").json["next"]
    handoff = follow(by_person)
    assert handoff == f"execplan handoff {PLAN}"
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    text = desk.type(*handoff.split()[1:]).out
    assert "import os" in text
    assert "until a person answers" not in text
    assert text.endswith("Do one of these now, then report it: `see`\n")
    for command in ("next", "status", "show", "prime", "evaluate"):
        output = desk.type(command).out
        assert "run 1 can be resumed: its new revision is approved" in output, command
        assert handoff in output, command
    result = desk.type(*shlex.split(report.format("see", "completed"))[1:])
    assert result.exit == 0, result
    assert "completed run " in result.out
    assert desk.data("compile")["steps"]


def test_a_correction_of_a_step_that_is_done_belongs_in_a_new_step(desk: InProcessRepository) -> None:
    desk.plan(AGENT_PLAN)
    desk.commit()
    desk.approve()
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    desk.write("src/made.py", "X = 1\n")
    for step, status in (("make", "completed"), ("see", "failed")):
        desk.type("report", step, "--status", status, "--result", "As planned.")
    desk.plan(AGENT_PLAN.replace("X = 1", "X = 2").replace("- [ ] Make it", "- [x] (2026-01-01 00:00Z) Make it"))
    result = desk.type("replan", "1", "--reason", "The value was wrong.")
    assert "no other step has changed" in result.out
    assert (
        "step make was edited, but it is done and does not run again: put the correction into a new step" in result.err
    )


def test_a_plan_whose_steps_were_not_edited_is_retried(desk: InProcessRepository) -> None:
    desk.plan(AGENT_PLAN)
    desk.commit()
    desk.approve()
    desk.write("src/made.py", "X = 1\n")
    assert desk.type("report", "make", "--status", "completed", "--result", "Done.").exit == 0
    assert desk.type("evaluate").out.endswith(f"\nnext: execplan handoff {PLAN}\n"), "the run's approval still counts"
    assert desk.type("report", "see", "--status", "failed", "--result", "No disk.").exit == 0
    result = desk.type("replan", "--reason", "The disk is back.")
    assert "the plan's steps are unchanged; failed steps are retried" in result.out
    handoff = f"\nnext: execplan handoff {PLAN}\n"
    assert result.out.endswith(handoff)
    assert desk.type("evaluate").out.endswith(f"its new revision needs no approval{handoff}")
    error = desk.refused(1, "other-source", "compile")
    assert error["hint"].endswith(f": execplan replan 1 -p {PLAN} --reason 'What was wrong'")
    assert desk.type("report", "see", "--status", "completed", "--result", "It prints it.").exit == 0


def test_edits_of_a_blocked_revision_are_used_by_a_replan(desk: InProcessRepository) -> None:
    plan = AGENT_PLAN + "```python {#late needs=see type=create_file target=src/late.py}\nX = 2\n```\n\n"
    desk.plan(plan)
    desk.commit()
    desk.approve()
    result = desk.type("report", "make", "--status", "completed", "--result", "Done.")
    assert (result.exit, result.out.count("execplan replan")) == (1, 1)
    desk.write("src/late.py", "X = 1\n")
    assert desk.type("replan", "--reason", "It is there now.").exit == 0
    result = desk.type("evaluate")
    assert "verdict: blocked" in result.out
    replan = f"execplan replan 1 -p {PLAN} --reason 'What was wrong'"
    assert result.out.endswith(f"\nnext: fix the errors above, then: {replan}\n")
    assert "execplan approve" not in desk.type("prime").out
    desk.plan(plan.replace("target=src/late.py", "target=src/later.py"))
    assert desk.type(*shlex.split(replan)[1:]).exit == 0
    assert desk.type("evaluate").exit == 0


def test_each_report_prints_the_next_step_and_no_step_twice(desk: InProcessRepository) -> None:
    steps = [f"```python {{#step{at} type=create_file target=src/{at}.py}}\nX = {at}\n```\n\n" for at in range(1, 5)]
    desk.plan(
        HEAD.replace("## Concrete Steps\n", "## Concrete Steps\n\n```text {execution mode=agent}\n```\n")
        + "".join(steps)
    )
    desk.commit()
    desk.approve()
    for at in range(1, 5):
        desk.write(f"src/{at}.py", f"X = {at}\n")
        result = desk.type("report", f"step{at}", "--status", "completed", "--result", "Written.")
        assert result.exit == 0, result
        assert (f"### {at + 1}. `step{at + 1}`" in result.out) == (at < 4)
        assert "\nX = 2\n" not in result.out or at == 1
        if at == 2:
            assert "rollback" not in desk.type("prime").out
            handoff = desk.type("handoff").out
            assert "Done: `step1`, `step2`" in handoff
            assert "### 2. " not in handoff


def test_a_restart_page_is_no_error_after_the_archive(desk: InProcessRepository) -> None:
    desk.plan(
        with_sections("## Progress\n\n- [x] (2026-01-01 00:00Z) Do it.\n\n## Outcomes & Retrospective\n\nIt works.\n")
    )
    desk.commit()
    assert desk.type("archive").exit == 0
    assert desk.data("checkpoint")["changed"] is False
    assert desk.data("checkpoint", PLAN)["changed"] is False


@pytest.mark.parametrize("by_option", [True, False])
def test_hints_of_errors_have_the_name_too(repo: Folder, by_option: bool) -> None:
    """Only where the command depends on it, and never the name of somebody else."""
    repo.plan(plan_of(2))
    name = ["--as", "agent-1"] if by_option else []
    if not by_option:
        repo.env["EXECPLAN_AGENT"] = "agent-1"
    task = repo.ok("next", "--claim", "bob")["task"]["id"]
    hints = {}
    for command in ("next --release --to eve", "next --claim --task 1", "reword 1 Other. --if-match " + 64 * "0"):
        hints[command.split()[1]] = repo.run(*command.split(), *name).err.splitlines()[-1]
    assert hints["--release"] == f"hint: see who has claimed what: execplan next {PLAN} --as agent-1"
    handover = f"execplan next {PLAN} --release bob --to agent-1"
    assert hints["--claim"] == f"hint: choose another task, or have it handed over: {handover}"
    assert hints["1"] == f"hint: read it again: execplan show {PLAN} --json --as agent-1"
    repo.ok("done", task, "--as", "bob")
    reopening = repo.run("next", "--claim", "--task", "1", *name).err.splitlines()[-1]
    assert reopening == f"hint: reopen it first: execplan reopen {task} -p {PLAN} --as agent-1"
    check_command(reopening.partition(": ")[2].partition(": ")[2])


@pytest.mark.parametrize("command", ["context", "evaluate", "handoff", "list"])
def test_commands_that_an_agent_reads_take_its_name(desk: InProcessRepository, command: str) -> None:
    assert desk.type(command, "--as", "agent-1").exit == 0


def test_an_agent_goes_on_with_the_task_that_it_has_claimed(repo: Folder) -> None:
    """A log entry, a new task and another task that it did don't make it claim a second one."""
    repo.plan(with_sections("## Progress\n\n- [ ] Read.\n- [ ] Write.\n"), PLAN)
    repo.ok("next", PLAN, "--claim", "--task", "2", "--as", "agent-1")
    for command in (["decide", "Read lines.", "--why", "Short."], ["add", "Test."], ["done", "1"]):
        lines = repo.run(*command, "--as", "agent-1").out.splitlines()
        assert lines[-1].startswith("next: do task 2 (Write), then: execplan done "), lines
    repo.ok("done", "2", "--as", "agent-1")
    last_line = repo.run("decide", "Read words.", "--why", "Shorter.", "--as", "agent-1").out.splitlines()[-1]
    assert last_line == f"next: execplan next {PLAN} --claim --as agent-1"


def test_an_agent_is_not_sent_to_an_editor(repo: Folder) -> None:
    plan = repo.ok("new", "Read lines", "--task", "Do it.")["id"]
    assert repo.run("next", "--json").json["next"][-1] == f"execplan edit {plan}"
    commands = repo.run("next", "--json", "--as", "agent-1").json["next"]
    assert commands
    assert not [command for command in commands if "edit" in command]


def test_an_agent_sees_the_path_of_a_plan_that_only_an_editor_completes(repo: Folder) -> None:
    created = repo.ok("new", "Read lines", "--template", "openspec", "--task", "Do it.")
    [command] = repo.run("next", "--json", "--as", "agent-1").json["next"]
    assert f"\n{created['path']}: draft" in repo.run(*shlex.split(command)[1:]).out


def test_a_plan_that_only_a_path_names_is_named_by_it(repo: Folder) -> None:
    repo.write("docs/my work.md", plan_of(3))
    repo.write(".agent/PLANS.md", "# Guide\n")
    path = ["-p", "docs/my work.md"]
    for command in (["done", "1"], ["next"], ["show"], ["reopen", "1"]):
        leading = hint(repo.run(*command, *path).out)
        assert "'docs/my work.md'" in leading, command
        repo.ok(*shlex.split(leading)[1:])
    error = repo.run("archive", "docs/my work.md").err.splitlines()[-1]
    assert "-p 'docs/my work.md'; or abandon it" in error


def test_hints_of_a_command_elsewhere_go_there_too(repo: Folder) -> None:
    repo.plan(plan_of(2))
    above = repo.path.parent
    directory = ["-C", repo.path.name]
    for command in (["next"], ["add", "Do more."], ["done", "1"], ["show"]):
        leading = hint(repo.run(*directory, *command, cwd=above).out)
        assert leading.startswith(f"execplan -C {repo.path.name} "), command
        check_command(leading)
        assert repo.run(*shlex.split(leading)[1:], cwd=above).exit == 0
    (above / "no project").mkdir()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "A plan")
    while (result := repo.run(*directory, "undo", cwd=above)).exit == 0:
        continue
    assert f"git -C {repo.path.name} log -p" in result.err
    error = repo.run("-C", "no project", "status", cwd=above).err
    assert error.splitlines()[-1] == "hint: create one: execplan -C 'no project' init"


def test_what_the_guard_denies_is_asked_for(desk: InProcessRepository) -> None:
    desk.plan(HEAD + MAKE)
    assert desk.type("install", "guard").exit == 0
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    assert desk.type("evaluate").out.endswith(f"\nnext: ask a person to run: execplan approve {PLAN}\n")
    desk.patch.delenv("EXECPLAN_AGENT")
    assert desk.type("evaluate", "--json").json["next"][0].startswith(f"execplan approve {PLAN} --digest ")
    desk.approve()
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    for command in ("next", "status", "show", "prime"):
        out = desk.type(command).out
        assert f"execplan handoff {PLAN}\n" in out, command
        assert "execplan run" not in out, command
    desk.plan(plan_of(1), "2026-01-02_scanner")
    hint = f"hint: execplan next {PLAN} --claim --as agent-1; or name another plan with -p PLAN"
    assert desk.type("next").err.splitlines()[-1] == hint


def test_an_agent_is_led_to_the_plan_that_it_works_on(repo: Folder) -> None:
    repo.plan(plan_of(2))
    repo.plan(plan_of(2), "2026-01-02_scanner")
    task = repo.ok("next", "scanner", "--claim", "agent-1")["task"]["id"]
    assert hint(repo.run("status", "--as", "agent-1").out).endswith(f"done {task} -p 2026-01-02_scanner --as agent-1")
    plans = repo.run("next", "--as", "agent-1", "--json").json["error"]["candidates"]
    assert [plan["next"]["id"] for plan in plans] == [task, task]
    others = repo.run("next", "--as", "bob", "--json").json["error"]["candidates"]
    assert [plan["next"]["id"] == task for plan in others] == [True, False]


def test_a_plan_that_shares_its_id_is_named_by_its_path(repo: Folder) -> None:
    for folder in ("plans", "docs/execplans"):
        repo.write(f"{folder}/health.md", plan_of(2))
    (repo.path / ".agent/execplans").rmdir()
    repo.ok("init")
    for command in (["done", "1", "-p"], ["show"], ["next"], ["checkpoint"], ["rename"]):
        result = repo.run(*command, "plans/health.md", *(["Watch it"] if command == ["rename"] else []))
        assert result.exit == 0, result
        for line in result.out.splitlines():
            if line.startswith("next: "):
                assert repo.run(*shlex.split(line[line.index("execplan ") :])[1:]).exit == 0, line


def test_undo_suggests_no_rollback_that_is_done(desk: InProcessRepository) -> None:
    """Git has reopened the tasks, so the rollback has edited nothing."""
    with_approved_plan(desk, MAKE, SEE)
    desk.commit()
    assert desk.type("run").exit == 0
    desk.git("checkout", "--", ".agent/execplans/" + PLAN + ".md")
    assert "execplan rollback" in desk.type("undo").err
    assert desk.type("rollback").exit == 0
    assert "rollback" not in desk.type("undo").err


def test_undo_of_restore_archives_no_plan_whose_tasks_a_rollback_reopened(desk: InProcessRepository) -> None:
    desk.plan(ONE_TASK.replace("sleep 30", "true"))
    desk.approve()
    assert desk.type("run").exit == 0
    for command in (["archive"], ["restore", PLAN], ["rollback"]):
        assert desk.type(*command).exit == 0, command
    error = desk.refused(4, "changed-since", "undo")
    assert error["hint"] == f"archive it: execplan archive {PLAN}"
    assert len(desk.data("list")["plans"]) == 1


def test_a_replan_of_edited_steps_says_what_has_changed(desk: InProcessRepository) -> None:
    step = "```sh {#say on-failure=ask}\necho hello\n```\n\n```text {expect}\nhelo\n```\n\n"
    with_approved_plan(desk, step)
    assert desk.type("run").exit == 8
    desk.plan(HEAD + step.replace("helo", "hello"))
    assert "execplan replan 1 " in desk.refused(4, "other-document", "resume", "1", "--answer", "again")["hint"]
    assert "needs a new approval: step say has a different expect" in desk.type("replan", "--reason", "A typo.").out
    assert desk.data("evaluate")["origin"] is None
    desk.plan(HEAD + step.replace("helo", "hell"))
    assert desk.data("evaluate")["origin"] == "the steps are those of stored revision 2, not those in the plan's text"
    desk.approve()
    assert "execplan replan 1 " in desk.refused(4, "other-document", "resume")["hint"]


def test_steps_of_a_revision_that_are_right_need_no_edit_after_a_rollback(desk: InProcessRepository) -> None:
    see = FAILS.replace("{#see", "{#see on-failure=ask")
    with_approved_plan(desk, MAKE, see)
    assert desk.type("run").exit == 8
    desk.plan(HEAD + MAKE + see.replace("nowhere", "made"))
    assert desk.type("replan", "--reason", "The name was wrong.").exit == 0
    desk.approve()
    assert desk.type("resume").exit == 0
    assert desk.type("rollback").exit == 0
    assert desk.type("evaluate").out.splitlines()[-1].startswith("next: execplan approve ")
    desk.approve()
    assert desk.type("next").out.endswith(f"next: execplan run {PLAN}\n")
    assert desk.type("run").exit == 0
