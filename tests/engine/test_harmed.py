"""A step that removes or alters its own run, without a sandbox: what is kept of the run outlives it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.engine.audit_log import hash_chain
from execplan.engine.replanning.run_revisions import load_document
from execplan.engine.run_records import run_repair
from execplan.engine.run_records.run_summary import read_run_entries
from execplan.engine.run_state import RunState
from tests.engine.running import Bench, steps
from tests.repo.approving import NAME

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

PLANS = ".agent/execplans"
ARTIFACTS = f"{PLANS}/artifacts/{NAME}"
MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
AFTER = "```sh {#after shell=sh}\necho after > after.txt\n```"
HARMS = {
    "clean": "git clean -fdq",
    "stash": "git stash -u -q",
    "plans": f"rm -rf {PLANS}",
    "agent": "rm -rf .agent",
    "artifacts": f"rm -rf {ARTIFACTS}",
    "append": f"for each in {ARTIFACTS}/runs/*/journal.jsonl; do echo x >> $each; done",
    "cut": f"for each in {ARTIFACTS}/runs/*/journal.jsonl; do head -n 1 $each > cut; mv cut $each; done",
    "forge": f"for each in {ARTIFACTS}/runs/*/journal.jsonl; do tail -n 1 $each >> $each; done",
    "ledger": f"echo x >> {ARTIFACTS}/ledger.jsonl",
    "rewrite": f"sed -i s/Ann/Eve/ {ARTIFACTS}/ledger.jsonl",
    "document": f"for each in {ARTIFACTS}/runs/*/execution-plan.json; do echo x >> $each; done",
}
REMOVED = ("clean", "stash", "plans", "agent", "artifacts")
"""What takes the journal away; the others leave one that is not as it was."""


def harm(words: str) -> str:
    """A step that does it."""
    return f"```sh {{#harm shell=sh effect=once}}\n{words}\n```"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository with an uncommitted file of the user, in which no sandbox is used and nothing is rolled back by itself."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.own('sandbox = "off"\nrollback_on = []')
    return made


def ready(bench: Bench, how: str, *more: str) -> None:
    """Approve a plan with a step that does harm, and let a file of the user be there that git does not track."""
    bench.plan(steps(MAKE, harm(HARMS[how]), *more))
    bench.write("mine.txt", "mine\n")
    bench.write("notes/deep.txt", "deep\n")
    bench.approve()


def doctor(bench: Bench, *more: str) -> list[dict[str, Any]]:
    """What doctor finds of runs and ledgers."""
    data = json.loads(bench.type("doctor", "--json", *more).out)["data"]
    wanted = ("runs", "evidence", "ledgers", "run-states")
    return [each for each in data["findings"] if each["check"] in wanted]


def whole(bench: Bench) -> None:
    """The artifacts have all of the run, and the ledger is as it was written."""
    (place,) = bench.runs()
    assert (bench.path / ARTIFACTS / "runs" / place.id).is_dir()
    copy = (bench.path / ".git/execplan/runs" / place.id / "copy").resolve()
    for path in copy.rglob("*"):
        if path.is_file() and path.name not in ("plan.md", "execplan.toml"):
            assert (
                bench.path / ARTIFACTS / "runs" / place.id / path.relative_to(copy)
            ).read_bytes() == path.read_bytes()
    assert bench.type("audit", NAME, "--verify").exit == 0, bench.type("audit", NAME, "--verify")
    assert doctor(bench) == []


@pytest.mark.parametrize("how", HARMS)
def test_a_run_outlives_its_own_step_and_is_rolled_back(bench: Bench, how: str) -> None:
    ready(bench, how, AFTER)
    before = {name: bench.text(name) for name in ("mine.txt", "notes/deep.txt", f"{PLANS}/{NAME}.md")}
    finished = bench.go()
    assert finished.status == "completed"
    assert [each for each in finished.warnings if "restored as" in each], finished.warnings
    assert bench.told()[:3] == ["begun", "intent api", "result api"]
    assert bench.told()[-1] == "ended"
    whole(bench)
    assert bench.data("runs")["runs"][0]["status"] == "completed"
    assert bench.type("show", NAME, "--run").exit == 0
    rolled = bench.type("rollback")
    assert rolled.exit == 0, rolled
    assert {name: bench.text(name) for name in before} == before
    assert not bench.there("src/made.py")
    assert not bench.there("after.txt")
    whole(bench)


def killed(bench: Bench, patch: pytest.MonkeyPatch) -> None:
    """Let the engine die when the step has done its harm, before anything more is written."""

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    count = iter(range(9))
    real = run_repair.repair_run

    def second(*given: Any, **more: Any) -> list[str]:
        if next(count) == 1:
            die()
        return real(*given, **more)

    with patch.context() as patched:
        patched.setattr(run_repair, "repair_run", second)
        with pytest.raises(KeyboardInterrupt):
            bench.go()


@pytest.mark.parametrize("how", [each for each in HARMS if each not in ("plans", "agent", "clean")])
def test_killed_behind_the_harm_it_is_found_and_rolled_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    ready(bench, how)
    if how == "stash":
        bench.commit()
        bench.approve()
        bench.write("mine.txt", "mine, changed\n")
    mine = bench.text("mine.txt")
    killed(bench, monkeypatch)
    (run,) = bench.data("runs")["runs"]
    assert run["state"] == "active"
    assert bench.type("show", NAME, "--run").exit == 0
    assert "runs" in [each["check"] for each in doctor(bench)]
    rolled = bench.type("rollback")
    assert rolled.exit == 0, rolled
    assert bench.text("mine.txt") == mine
    assert not bench.there("src/made.py")
    whole(bench)


@pytest.mark.parametrize("how", ["artifacts", "append", "cut", "ledger"])
def test_killed_behind_the_harm_it_is_resumed_and_runs_once_only_what_may_run_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    ready(bench, how, AFTER)
    killed(bench, monkeypatch)
    finished = bench.on("go")
    assert finished.status == "completed", finished
    assert bench.told().count("intent harm") == 1
    whole(bench)


def test_doctor_brings_back_what_is_gone_of_a_run_that_has_ended(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.go()
    shutil.rmtree(bench.path / ARTIFACTS / "runs")
    (bench.path / ARTIFACTS / "ledger.jsonl").unlink()
    found = doctor(bench)
    assert {(each["check"], each["fixable"]) for each in found} == {("evidence", True), ("ledgers", True)}
    assert bench.data("runs")["runs"][0]["status"] == "completed"
    doctor(bench, "--fix")
    whole(bench)


def test_a_plan_that_is_gone_with_its_run_is_named_by_doctor(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(bench, "plans")
    plan = bench.text(f"{PLANS}/{NAME}.md")
    killed(bench, monkeypatch)
    os.makedirs(bench.path / PLANS)
    (found,) = [each for each in doctor(bench) if "is gone" in each["message"]]
    command = found["mend"].partition(": ")[2]
    assert os.system(f"cd {bench.path} && {command}") == 0
    assert bench.text(f"{PLANS}/{NAME}.md").replace("[x]", "[ ]").split("Build")[0] in plan
    assert bench.type("rollback").exit == 0
    assert not bench.there("src/made.py")
    whole(bench)


def test_a_run_of_another_branch_is_not_lost(bench: Bench) -> None:
    bench.plan(steps(MAKE))
    bench.commit()
    bench.git("switch", "-q", "-c", "other")
    bench.approve()
    bench.go()
    bench.commit()
    bench.git("switch", "-q", "main")
    assert bench.runs() == []
    assert doctor(bench) == []
    bench.git("switch", "-q", "other")
    whole(bench)


def test_a_run_that_went_on_in_another_checkout_is_read_from_there(bench: Bench) -> None:
    bench.approved(steps(MAKE, AFTER))
    bench.go()
    place = bench.last()
    copy = place.copy_path("journal.jsonl")
    with open(copy, "rb") as file:
        lines = file.readlines()
    with open(copy, "wb") as file:
        file.writelines(lines[:3])
    assert place.journal == place.artifact_path("journal.jsonl")
    assert bench.data("runs")["runs"][0]["status"] == "completed"
    assert bench.type("rollback").exit == 0
    whole(bench)


def test_a_run_follows_its_plan(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.go()
    bench.data("rename", NAME, "The reader")
    name = bench.data("list")["plans"][0]["id"]
    shutil.rmtree(bench.path / PLANS / "artifacts" / name)
    assert bench.data("runs", name)["runs"][0]["status"] == "completed"
    bench.type("undo")
    assert bench.data("runs", NAME)["runs"][0]["status"] == "completed"
    doctor(bench, "--fix")
    whole(bench)


def test_an_old_run_without_a_copy_is_read_and_rolled_back(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.go()
    shutil.rmtree(bench.path / ".git/execplan/plans")
    shutil.rmtree(bench.last().copy)
    entries = read_run_entries(bench.last())
    assert RunState(load_document(bench.last(), entries), entries).status == "completed"
    assert bench.type("rollback").exit == 0
    whole(bench)


def test_what_somebody_chose_of_two_branches_is_not_overwritten(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.go()
    ledger = bench.path / ARTIFACTS / "ledger.jsonl"
    mine = ledger.read_bytes()
    other = [*mine.splitlines(keepends=True)[:-1]]
    record = hash_chain.parse_record(other[-1].rstrip(b"\n"))
    other[-1] = hash_chain.encode_record(hash_chain.with_hash(record._replace(user="eve")))
    ledger.write_bytes(b"".join(other))
    (found,) = doctor(bench)
    assert (found["check"], found["fixable"]) == ("ledgers", False)
    bench.refused(1, "ledger-broken", "rollback")
    assert ledger.read_bytes() == b"".join(other)


def test_what_was_displaced_is_kept_and_told(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.go()
    journal = bench.path / bench.last().artifact_path("journal.jsonl")
    spoiled = journal.read_bytes() + b"x\n"
    journal.write_bytes(spoiled)
    assert [each["check"] for each in doctor(bench)] == ["evidence", "ledgers"]
    told = bench.type("rollback")
    path = told.err.partition("the previous content is in ")[2].split()[0]
    assert gzip.decompress((bench.path / path).read_bytes()) == spoiled
    whole(bench)
