"""`execplan runs` and `execplan show --run`: what they say of a run is what its journal says."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.execution.engine.journal.journal_entries import CONFIRM, change_json
from tests.cli.approved_plan import HEAD, MAKE
from tests.cli.journaled_run import APPROVED, CREATED_FILE, FAILED, OK, USER_FIELDS, JournaledRun, intent, result
from tests.in_process_repository import NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

RUNS_FOLDER = f".agent/execplans/artifacts/{NAME}/runs"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan has three steps: build, api, drop."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


def completed_run(desk: InProcessRepository) -> JournaledRun:
    """A run whose steps are done."""
    run = JournaledRun(desk)
    run.step("build", OK._replace(transcript="runs/build.md", exit=0))
    run.write("ticked", step="build", task="Build the parser.", transcript="runs/build.md")
    run.step("api", OK._replace(changes=(CREATED_FILE,)))
    run.step("drop", OK)
    run.write("ended", status="completed", cause="", reason="", seconds=62.4)
    return run


def failed_run(desk: InProcessRepository) -> JournaledRun:
    """A run whose first step failed, so that nothing followed."""
    run = JournaledRun(desk)
    run.step("build", FAILED)
    run.write("blocked", step="api", reason="build has failed")
    run.write("ended", status="failed", cause="failure", reason="build: exit 1, not 0", seconds=2.0)
    return run


def test_a_plan_that_was_never_run(desk: InProcessRepository) -> None:
    assert desk.type("runs").out == f"no runs yet\nnext: execplan compile {NAME}\n"
    assert desk.data("runs", "parser") == {"runs": []}
    hint = desk.refused(3, "no-such-run", "rollback")["hint"]
    assert hint == f"there is nothing to roll back; see which edits can be undone: execplan undo -p {NAME} --list"


def test_each_command_about_runs_names_what_comes_before_the_first_one(desk: InProcessRepository) -> None:
    """Also when the tasks are done, so that the plan is complete; but an archived plan is not run."""
    desk.plan(HEAD + MAKE)
    outcome = ("outcome", "It works.", "--create", "-q")
    for preparation, command in (
        ((), "compile"),
        (("compile", "-q"), "evaluate"),
        (("done", "1", "2", "-q"), "evaluate"),
        (outcome, "evaluate"),
        (("archive", "-q", "--force", "--reason", "Enough."), "show"),
    ):
        if preparation:
            assert desk.type(*preparation).exit == 0
        assert desk.type("runs", "parser").out == f"no runs yet\nnext: execplan {command} {NAME}\n"
        for call in (["resume"], ["replan", "--reason", "No file."], ["show", "--run", "1"]):
            error = desk.refused(3, "no-such-run", *call, "-p", "parser")
            assert error["hint"].endswith(f": execplan {command} {NAME}"), call


def test_a_plan_without_steps_was_never_run(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    assert desk.type("runs").out == "no runs yet\nnext: execplan explain steps\n"
    for call in (["resume"], ["rollback"], ["replan", "--reason", "No file."], ["show", "--run"]):
        error = desk.refused(3, "no-such-run", *call)
        assert error["message"] == f"{NAME} was never run: it has no steps"
        undo = f"there is nothing to roll back; see which edits can be undone: execplan undo -p {NAME} --list"
        assert error["hint"] == (undo if call == ["rollback"] else "see how to write steps: execplan explain steps")


def test_a_line_for_each_run_the_last_one_first(desk: InProcessRepository) -> None:
    runs = [completed_run(desk), failed_run(desk)]
    lines = desk.type("runs").out.splitlines()
    assert lines[0].split()[:3] == ["failed", runs[1].paths.id, NAME]
    assert lines[1].split() == f"completed {runs[0].paths.id} {NAME} 2026-01-01T00:00:00Z 1 min 2 s 3/3 -".split()
    assert lines[2] == f"next: execplan show {NAME} --run {runs[1].paths.id}"
    data = desk.data("runs")["runs"]
    assert [(run["id"], run["state"], run["done"], run["total"]) for run in data] == [
        (runs[1].paths.id, "failed", 0, 3),
        (runs[0].paths.id, "completed", 3, 3),
    ]
    assert [run["id"] for run in desk.data("runs", "--state", "completed")["runs"]] == [runs[0].paths.id]
    assert desk.type("runs", "--state", "active").out == "no active runs\n"
    assert desk.type("runs", "--state", "done").exit == 2


def test_a_run_that_cannot_be_read_hides_no_other(desk: InProcessRepository) -> None:
    bad, good = completed_run(desk), failed_run(desk)
    with open(bad.paths.journal, "ab") as file:
        file.write(b"garbage\n")
    for arguments in (("runs",), ("runs", "parser")):
        listing = desk.type(*arguments)
        assert (listing.exit, listing.out.split()[1]) == (1, good.paths.id)
        assert f"run {bad.paths.id} of {NAME} can't be read" in listing.err
    with open(good.paths.journal, "ab") as file:
        file.write(b"garbage\n")
    assert desk.type("runs").out == "no readable runs\nnext: execplan audit --verify\n"


def test_of_two_branches_runs_the_later_one_is_the_last(desk: InProcessRepository) -> None:
    run = completed_run(desk)
    names = [os.path.join(os.path.dirname(run.paths.folder), name) for name in ("0001-ffffffff", "0001-00000000")]
    os.rename(run.paths.folder, names[0])
    shutil.copytree(names[0], names[1])
    journal = os.path.join(names[1], "journal.jsonl")
    with open(journal, "rb") as file:
        data = file.read()
    with open(journal, "wb") as file:
        file.write(data.replace(b"2026-01-01T00:00:00Z", b"2026-01-01T00:00:01Z"))
    assert [listed["id"] for listed in desk.data("runs")["runs"]] == ["0001-00000000", "0001-ffffffff"]


def test_status_leads_on_with_a_run_that_waits(desk: InProcessRepository) -> None:
    desk.type("compile")
    run = JournaledRun(desk)
    run.step("build", OK)
    run.write("paused", step="build", why="checkpoint", words="go on?")
    assert f"execplan resume {run.paths.id} -p {NAME}" in desk.type("status").out.splitlines()[-1]
    run.write("ended", status="failed", cause="cancellation", reason="", seconds=1.0)
    assert f"execplan replan 1 -p {NAME} " in desk.type("status").out.splitlines()[-1]


def test_archived_runs_are_listed_with_their_plan(desk: InProcessRepository) -> None:
    completed_run(desk)
    desk.data("archive", "--force", "--reason", "Over.")
    (line, _) = desk.type("runs", "--state", "archived").out.splitlines()
    assert line.startswith("archived  0001-")
    assert desk.data("runs", NAME)["runs"][0]["status"] == "completed"
    output = desk.type("show", NAME, "--run").out
    assert "\n  .agent/execplans/archive/artifacts/2026-01-01_parser/runs/0001-" in output
    assert output.endswith(f"\nnext: execplan audit {NAME}\n")


def test_a_run_that_waits_is_resumed(desk: InProcessRepository) -> None:
    run = JournaledRun(desk)
    run.write("paused", why=CONFIRM, step="build", question="build asks first: continue?")
    (line, follow) = desk.type("runs").out.splitlines()
    assert line.startswith("active ")
    assert line.endswith("paused: build asks first: continue?")
    assert follow == f"next: execplan resume {run.paths.id} -p {NAME} --answer go"
    output = desk.type("show", "--run").out
    assert f"run {run.paths.id} of {NAME}: paused, 0 of 3 steps done\n" in output
    assert "\npaused: build asks first: continue?\n" in output
    assert desk.data("show", "--run")["question"] == {
        "why": CONFIRM,
        "step": "build",
        "words": "build asks first: continue?",
    }


def test_a_run_that_was_killed_is_interrupted(desk: InProcessRepository) -> None:
    run = JournaledRun(desk)
    run.write("intent", **intent("build"))
    assert desk.type("runs").out.splitlines()[0].endswith("interrupted")
    data = desk.data("show", "--run")
    assert data["cut_short"] is True
    assert data["steps"][0]["status"] == "running"
    assert desk.type("show", "--run").out.endswith(f"next: execplan resume {run.paths.id} -p {NAME}\n")


def test_a_run_on_a_page(desk: InProcessRepository) -> None:
    run = completed_run(desk)
    result = desk.type("show", "--run", "1")
    assert result.exit == 0
    lines = result.out.splitlines()
    assert lines[:2] == [
        f"run {run.paths.id} of {NAME}: completed, 3 of 3 steps done, 1 min 2 s",
        "started 2026-01-01T00:00:00Z by ann, approved by Ann on a terminal, in bwrap",
    ]
    assert [line.split()[:3] for line in lines[3:6]] == [
        ["1", "build", "completed"],
        ["2", "api", "completed"],
        ["3", "drop", "completed"],
    ]
    assert "1 build: checked off 'Build the parser.'" in lines
    assert f"  {RUNS_FOLDER}/{run.paths.id}/transcripts/build.md" in lines
    assert "2 api: created src/made.py" in lines
    assert lines[-1].startswith("next: do task 1 (Build the parser), then: execplan done ")
    assert desk.type("show", "--run", "1", "--json").json["next"][-1] == f"execplan audit {NAME}"


def test_the_document_of_a_run(desk: InProcessRepository) -> None:
    run = completed_run(desk)
    data = desk.data("show", "--run", run.paths.id[:7])
    assert data["run"] == run.paths.id
    assert (data["status"], data["seconds"], data["approver"], data["how"]) == ("completed", 62.4, "Ann", "terminal")
    (build, api, _) = data["steps"]
    assert (build["exit"], build["task"]) == (0, "Build the parser.")
    assert build["transcript"] == f"{RUNS_FOLDER}/{run.paths.id}/transcripts/build.md"
    assert api["changes"] == [
        {
            "path": "src/made.py",
            "kind": "created",
            "before": None,
            "after": "a" * 64,
            "added": 1,
            "removed": 0,
            "declared": True,
        }
    ]
    assert data["record"]["schema"] == "execplan-run-record"
    assert data["record"]["resources"]["files_created"] == 1
    assert [step["id"] for step in data["record"]["steps"]] == ["build", "api", "drop"]


def test_a_failed_run_says_why_and_what_to_do(desk: InProcessRepository) -> None:
    run = failed_run(desk)
    out = desk.type("show", "--run").out
    assert "\nreason: build: exit 1, not 0\n" in out
    assert f"\n1 build: exit 1, not 0\n  {RUNS_FOLDER}/{run.paths.id}/transcripts/build.md\n" in out
    assert "2 api: build has failed" in out
    follow = desk.type("show", "--run", "--json").json["next"]
    assert f"execplan resume 1 -p {NAME}" in follow
    assert f"execplan rollback {run.paths.id} -p {NAME}" in follow
    assert "; if they are right, correct what failed; then resume the run: " in out.splitlines()[-1]


def test_what_was_rolled_back_and_what_could_not_be(desk: InProcessRepository) -> None:
    run = completed_run(desk)
    fields = {
        "steps": ["build", "api", "drop"],
        "automatic": "",
        "changes": [change_json(CREATED_FILE)],
        "folders": [],
        **USER_FIELDS,
    }
    run.write("rollback", **fields, undone_not=["build: what make has sent"], whole=True)
    assert desk.data("show", "--run")["rollback_cut_short"] is True
    assert desk.type("runs").out.splitlines()[-1] == f"next: execplan rollback {run.paths.id} -p {NAME}"
    run.write("restored", path="src/made.py", displaced="a" * 64)
    run.write("rolled_back", steps=fields["steps"], restored=[], removed=["src/made.py"], whole=True)
    data = desk.data("show", "--run")
    assert data["status"] == "rolled_back"
    assert [step["rolled_back"] for step in data["steps"]] == [True, True, True]
    assert [step["changes"] for step in data["steps"]] == [[], [], []]
    assert data["rollbacks"][0]["left"] == ["build: what make has sent"]
    out = desk.type("show", "--run").out
    assert "rolled back 2026-01-01T00:00:00Z by ann: build, api, drop\n  couldn't be reverted: build: what" in out


def test_an_escape_in_a_journal_reaches_no_terminal(desk: InProcessRepository) -> None:
    run = JournaledRun(desk)
    run.step("build", FAILED._replace(reason="\x1b[2Jgone"))
    run.write("ended", status="failed", cause="failure", reason="\x1b[2Jgone", seconds=2.0)
    for call in (("runs",), ("show", "--run")):
        assert "\x1b" not in desk.type(*call).out


def test_an_altered_journal_is_refused(desk: InProcessRepository) -> None:
    run = completed_run(desk)
    with open(run.paths.journal, "r+b") as file:
        file.write(b"[")
    desk.refused(6, "journal-altered", "show", "--run")


def test_a_run_is_named_by_its_number_its_id_or_the_beginning_of_that(desk: InProcessRepository) -> None:
    first, last = JournaledRun(desk).paths, JournaledRun(desk).paths
    for name, paths in (("1", first), ("0001", first), (first.id, first), (first.id[:7], first), ("2", last)):
        assert desk.data("show", "--run", name)["run"] == paths.id, name
    assert desk.data("show", "--run")["run"] == last.id
    assert desk.refused(3, "ambiguous-run", "show", "--run", "000")["candidates"] == [last.id, first.id]
    assert desk.refused(3, "no-such-run", "show", "--run", "7")["candidates"] == [last.id, first.id]


def test_section_steps_and_run_exclude_each_other(desk: InProcessRepository) -> None:
    for call in (("--steps", "--run", "1"), ("--section", "Progress", "--run", "1"), ("--section", "x", "--steps")):
        desk.refused(2, "usage", "show", *call)


def test_a_run_under_an_approval_by_policy_names_nobody(desk: InProcessRepository) -> None:
    run = JournaledRun(desk)
    approval = {**APPROVED, "how": "policy", "approver": "Ann", "approval_id": "another"}
    run.write("resumed", **approval, **USER_FIELDS, document="", revision=1)
    lines = desk.type("show", "--run").out.splitlines()
    assert lines[1].endswith(" by ann, approved by Ann on a terminal, in bwrap")
    assert next(line for line in lines if line.startswith("resumed ")).endswith(", revision 1: approved by the policy")


def test_the_error_of_an_attempt_that_a_later_one_made_good_is_not_shown(desk: InProcessRepository) -> None:
    run = JournaledRun(desk)
    run.step("build", FAILED)
    run.write("intent", **intent("build", 2))
    run.write("result", **result("build", OK, 2))
    assert desk.data("show", "--run")["steps"][0]["reason"] is None
    assert "exit 1, not 0" not in desk.type("show", "--run").out
