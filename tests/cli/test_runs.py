"""`execplan runs` and `execplan show --run`: what they say of a run is what its journal says."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.engine.journal.journal_entries import CONFIRM, change_json
from tests.cli.past import APPROVED, FAILED, MADE, OK, SAID, Past, intent, result
from tests.repo.approving import NAME, Desk

if TYPE_CHECKING:
    from pathlib import Path

PLACE = f".agent/execplans/artifacts/{NAME}/runs"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository whose plan has three steps: build, api, drop."""
    return Desk(tmp_path / "desk", monkeypatch)


def completed(desk: Desk) -> Past:
    """A run whose steps are done."""
    past = Past(desk)
    past.step("build", OK._replace(transcript="runs/build.md", exit=0))
    past.write("ticked", step="build", task="Build the parser.", transcript="runs/build.md")
    past.step("api", OK._replace(changes=(MADE,)))
    past.step("drop", OK)
    past.write("ended", status="completed", cause="", reason="", seconds=62.4)
    return past


def failed(desk: Desk) -> Past:
    """A run whose first step failed, so that nothing followed."""
    past = Past(desk)
    past.step("build", FAILED)
    past.write("blocked", step="api", reason="build has failed")
    past.write("ended", status="failed", cause="failure", reason="build: exit 1, not 0", seconds=2.0)
    return past


def test_a_plan_that_was_never_run(desk: Desk) -> None:
    assert desk.type("runs").out == "no run yet\nnext: execplan run\n"
    assert desk.data("runs", "parser") == {"runs": []}
    error = desk.refused(3, "no-such-run", "show", "--run")
    assert "execplan run" in error["hint"]


def test_a_line_for_each_run_the_last_one_first(desk: Desk) -> None:
    runs = [completed(desk), failed(desk)]
    lines = desk.type("runs").out.splitlines()
    assert lines[0].split()[:3] == ["failed", runs[1].place.id, NAME]
    assert (
        lines[1].split() == f"completed {runs[0].place.id} {NAME} 2026-01-01T00:00:00Z 1 min 2 s 3/3 completed".split()
    )
    assert lines[2] == f"next: execplan show {NAME} --run {runs[1].place.id}"
    data = desk.data("runs")["runs"]
    assert [(each["id"], each["state"], each["done"], each["total"]) for each in data] == [
        (runs[1].place.id, "failed", 0, 3),
        (runs[0].place.id, "completed", 3, 3),
    ]
    assert [each["id"] for each in desk.data("runs", "--state", "completed")["runs"]] == [runs[0].place.id]
    assert desk.type("runs", "--state", "active").out == "no run is active\n"
    assert desk.type("runs", "--state", "done").exit == 2


def test_a_run_that_cannot_be_read_hides_no_other(desk: Desk) -> None:
    bad, good = completed(desk), failed(desk)
    with open(bad.place.journal, "ab") as file:
        file.write(b"garbage\n")
    for words in (("runs",), ("runs", "parser")):
        done = desk.type(*words)
        assert (done.exit, done.out.split()[1]) == (1, good.place.id)
        assert f"the run {bad.place.id} of {NAME} can't be read" in done.err
    with open(good.place.journal, "ab") as file:
        file.write(b"garbage\n")
    assert desk.type("runs").out == "no run can be read\nnext: execplan audit --verify\n"


def test_of_two_branches_runs_the_later_one_is_the_last(desk: Desk) -> None:
    first = completed(desk)
    names = [os.path.join(os.path.dirname(first.place.folder), name) for name in ("0001-ffffffff", "0001-00000000")]
    os.rename(first.place.folder, names[0])
    shutil.copytree(names[0], names[1])
    journal = os.path.join(names[1], "journal.jsonl")
    with open(journal, "rb") as file:
        data = file.read()
    with open(journal, "wb") as file:
        file.write(data.replace(b"2026-01-01T00:00:00Z", b"2026-01-01T00:00:01Z"))
    assert [each["id"] for each in desk.data("runs")["runs"]] == ["0001-00000000", "0001-ffffffff"]


def test_status_leads_on_with_a_run_that_waits(desk: Desk) -> None:
    desk.type("compile")
    past = Past(desk)
    past.step("build", OK)
    past.write("paused", step="build", why="checkpoint", words="go on?")
    assert f"execplan resume {past.place.id} -p {NAME}" in desk.type("status").out.splitlines()[-1]
    past.write("ended", status="failed", cause="cancellation", reason="", seconds=1.0)
    assert f"execplan show {NAME} --run {past.place.id}" in desk.type("status").out.splitlines()[-1]


def test_archived_runs_are_listed_with_their_plan(desk: Desk) -> None:
    completed(desk)
    desk.data("archive", "--force", "--reason", "Over.")
    (line, _) = desk.type("runs", "--state", "archived").out.splitlines()
    assert line.startswith("archived  0001-")
    assert desk.data("runs", NAME)["runs"][0]["status"] == "completed"
    shown = desk.type("show", NAME, "--run").out
    assert "\n  .agent/execplans/archive/artifacts/2026-01-01_parser/runs/0001-" in shown
    assert shown.endswith(f"\nnext: execplan audit {NAME}\n")


def test_a_run_that_waits_is_gone_on_with(desk: Desk) -> None:
    past = Past(desk)
    past.write("paused", why=CONFIRM, step="build", question="build asks first: go on?")
    (line, follow) = desk.type("runs").out.splitlines()
    assert line.startswith("active ")
    assert line.endswith("waits: build asks first: go on?")
    assert follow == f"next: execplan resume {past.place.id} -p {NAME}"
    shown = desk.type("show", "--run").out
    assert f"run {past.place.id} of {NAME}: paused, 0 of 3 steps done\n" in shown
    assert "\nwaits: build asks first: go on?\n" in shown
    assert desk.data("show", "--run")["question"] == {
        "why": CONFIRM,
        "step": "build",
        "words": "build asks first: go on?",
    }


def test_a_run_that_was_killed_is_cut_short(desk: Desk) -> None:
    past = Past(desk)
    past.write("intent", **intent("build"))
    assert desk.type("runs").out.splitlines()[0].endswith("cut short")
    data = desk.data("show", "--run")
    assert data["cut_short"] is True
    assert data["steps"][0]["status"] == "running"
    assert desk.type("show", "--run").out.endswith(f"next: execplan resume {past.place.id} -p {NAME}\n")


def test_a_run_on_a_page(desk: Desk) -> None:
    past = completed(desk)
    result = desk.type("show", "--run", "1")
    assert result.exit == 0
    lines = result.out.splitlines()
    assert lines[:2] == [
        f"run {past.place.id} of {NAME}: completed, 3 of 3 steps done, 1 min 2 s",
        "begun 2026-01-01T00:00:00Z by ann, approved by Ann on a terminal, in bwrap",
    ]
    assert [line.split()[:3] for line in lines[3:6]] == [
        ["1", "build", "completed"],
        ["2", "api", "completed"],
        ["3", "drop", "completed"],
    ]
    assert "1 build: ticked 'Build the parser.'" in lines
    assert f"  {PLACE}/{past.place.id}/transcripts/build.md" in lines
    assert "2 api: created src/made.py" in lines
    assert lines[-1] == f"next: execplan audit {NAME}"


def test_the_document_of_a_run(desk: Desk) -> None:
    past = completed(desk)
    data = desk.data("show", "--run", past.place.id[:7])
    assert data["run"] == past.place.id
    assert (data["status"], data["seconds"], data["approver"], data["how"]) == ("completed", 62.4, "Ann", "terminal")
    (build, api, _) = data["steps"]
    assert (build["exit"], build["task"]) == (0, "Build the parser.")
    assert build["transcript"] == f"{PLACE}/{past.place.id}/transcripts/build.md"
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
    assert [each["id"] for each in data["record"]["steps"]] == ["build", "api", "drop"]


def test_a_failed_run_says_why_and_what_to_do(desk: Desk) -> None:
    past = failed(desk)
    out = desk.type("show", "--run").out
    assert "\nwhy: build: exit 1, not 0\n" in out
    assert f"\n1 build: exit 1, not 0\n  {PLACE}/{past.place.id}/transcripts/build.md\n" in out
    assert "2 api: build has failed" in out
    follow = desk.type("show", "--run", "--json").json["next"]
    assert f"execplan resume {past.place.id} -p {NAME}" in follow
    assert f"execplan rollback {past.place.id} -p {NAME}" in follow


def test_what_was_rolled_back_and_what_could_not_be(desk: Desk) -> None:
    past = completed(desk)
    said = {"steps": ["build", "api", "drop"], "automatic": "", "changes": [change_json(MADE)], "folders": [], **SAID}
    past.write("rollback", **said, undone_not=["build: what make has sent"], whole=True)
    assert desk.data("show", "--run")["rollback_cut_short"] is True
    assert desk.type("runs").out.splitlines()[-1] == f"next: execplan rollback {past.place.id} -p {NAME}"
    past.write("restored", path="src/made.py", displaced="a" * 64)
    past.write("rolled_back", steps=said["steps"], restored=[], removed=["src/made.py"], whole=True)
    data = desk.data("show", "--run")
    assert data["status"] == "rolled_back"
    assert [each["rolled_back"] for each in data["steps"]] == [True, True, True]
    assert [each["changes"] for each in data["steps"]] == [[], [], []]
    assert data["rollbacks"][0]["left"] == ["build: what make has sent"]
    out = desk.type("show", "--run").out
    assert "rolled back 2026-01-01T00:00:00Z by ann: build, api, drop\n  could not be taken back: build: what" in out


def test_an_escape_in_a_journal_reaches_no_terminal(desk: Desk) -> None:
    past = Past(desk)
    past.step("build", FAILED._replace(reason="\x1b[2Jgone"))
    past.write("ended", status="failed", cause="failure", reason="\x1b[2Jgone", seconds=2.0)
    for call in (("runs",), ("show", "--run")):
        assert "\x1b" not in desk.type(*call).out


def test_an_altered_journal_is_refused(desk: Desk) -> None:
    past = completed(desk)
    with open(past.place.journal, "r+b") as file:
        file.write(b"[")
    desk.refused(6, "journal-altered", "show", "--run")


def test_a_run_is_named_by_its_number_its_id_or_the_beginning_of_that(desk: Desk) -> None:
    first, last = Past(desk).place, Past(desk).place
    for name, place in (("1", first), ("0001", first), (first.id, first), (first.id[:7], first), ("2", last)):
        assert desk.data("show", "--run", name)["run"] == place.id, name
    assert desk.data("show", "--run")["run"] == last.id
    assert desk.refused(3, "ambiguous-run", "show", "--run", "000")["candidates"] == [last.id, first.id]
    assert desk.refused(3, "no-such-run", "show", "--run", "7")["candidates"] == [last.id, first.id]


def test_section_steps_and_run_exclude_each_other(desk: Desk) -> None:
    for call in (("--steps", "--run", "1"), ("--section", "Progress", "--run", "1"), ("--section", "x", "--steps")):
        desk.refused(2, "usage", "show", *call)


def test_a_run_under_an_approval_by_policy_names_nobody(desk: Desk) -> None:
    past = Past(desk)
    past.write("resumed", **{**APPROVED, "how": "policy", "approver": "Ann"}, **SAID, document="", revision=1)
    assert "by ann, approved by the policy, in bwrap" in desk.type("show", "--run").out


def test_the_error_of_an_attempt_that_a_later_one_made_good_is_not_shown(desk: Desk) -> None:
    past = Past(desk)
    past.step("build", FAILED)
    past.write("intent", **intent("build", 2))
    past.write("result", **result("build", OK, 2))
    assert desk.data("show", "--run")["steps"][0]["reason"] is None
    assert "exit 1, not 0" not in desk.type("show", "--run").out
