"""A step that removes or alters its own run, without a sandbox: what is kept of the run outlives it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.files import content_file
from execplan.execution.engine.audit_log import hash_chain
from execplan.execution.engine.replanning.run_revisions import load_document
from execplan.execution.engine.run_records import evidence_copies, run_repair
from execplan.execution.engine.run_records.run_summary import read_run_entries
from execplan.execution.engine.run_state import RunState
from tests.execution.engine.run_repository import RunRepository, steps
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.engine.run_records.run_directories import RunPaths

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


def harm(command: str) -> str:
    """A step that does it."""
    return f"```sh {{#harm shell=sh effect=once}}\n{command}\n```"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository with an uncommitted file of the user, in which no sandbox is used and nothing is rolled back by itself."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write_user_settings('sandbox = "off"\nrollback_on = []')
    return repository


def ready(run_repo: RunRepository, harm_name: str, *fences: str) -> None:
    """Approve a plan with a step that does harm, and let a file of the user be there that git does not track."""
    run_repo.plan(steps(MAKE, harm(HARMS[harm_name]), *fences))
    run_repo.write("mine.txt", "mine\n")
    run_repo.write("notes/deep.txt", "deep\n")
    run_repo.approve()


def doctor(run_repo: RunRepository, *options: str) -> list[dict[str, Any]]:
    """What doctor finds of runs and ledgers."""
    data = json.loads(run_repo.type("doctor", "--json", *options).out)["data"]
    checks = ("runs", "evidence", "ledgers", "run-states")
    return [finding for finding in data["findings"] if finding["check"] in checks]


def assert_intact(run_repo: RunRepository) -> None:
    """The artifacts have all of the run, and the ledger is as it was written."""
    (run_paths,) = run_repo.runs()
    assert (run_repo.path / ARTIFACTS / "runs" / run_paths.id).is_dir()
    kept = {name: evidence_copies.read(run_paths, name) for name in evidence_copies.list_run_documents(run_paths)}
    kept["journal.jsonl"] = Path(run_paths.state_journal).read_bytes()
    for path in Path(run_paths.copy).rglob("*.md"):
        kept[str(path.relative_to(run_paths.copy))] = path.read_bytes()
    assert {name: Path(run_paths.artifact_path(name)).read_bytes() for name in kept} == kept
    assert {"approval.json", "execution-plan.json"} <= kept.keys()
    assert run_repo.type("audit", NAME, "--verify").exit == 0, run_repo.type("audit", NAME, "--verify")
    assert doctor(run_repo) == []


@pytest.mark.parametrize("how", HARMS)
def test_a_run_outlives_its_own_step_and_is_rolled_back(run_repo: RunRepository, how: str) -> None:
    ready(run_repo, how, AFTER)
    before = {name: run_repo.text(name) for name in ("mine.txt", "notes/deep.txt", f"{PLANS}/{NAME}.md")}
    finished = run_repo.run_plan()
    assert finished.status == "completed"
    assert [warning for warning in finished.warnings if "restored as" in warning], finished.warnings
    assert run_repo.entry_names()[:3] == ["begun", "intent api", "result api"]
    assert run_repo.entry_names()[-1] == "ended"
    assert_intact(run_repo)
    assert run_repo.data("runs")["runs"][0]["status"] == "completed"
    assert run_repo.type("show", NAME, "--run").exit == 0
    rolled = run_repo.type("rollback")
    assert rolled.exit == 0, rolled
    assert {name: run_repo.text(name) for name in before} == before
    assert not run_repo.exists("src/made.py")
    assert not run_repo.exists("after.txt")
    assert_intact(run_repo)


def killed(run_repo: RunRepository, patch: pytest.MonkeyPatch) -> None:
    """Let the engine die when the step has done its harm, before anything more is written."""

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    count = iter(range(9))
    real = run_repair.repair_run

    def second(*arguments: Any, **keywords: Any) -> list[str]:
        if next(count) == 1:
            die()
        return real(*arguments, **keywords)

    with patch.context() as patched:
        patched.setattr(run_repair, "repair_run", second)
        with pytest.raises(KeyboardInterrupt):
            run_repo.run_plan()


@pytest.mark.parametrize("how", [name for name in HARMS if name not in ("plans", "agent", "clean")])
def test_killed_behind_the_harm_it_is_found_and_rolled_back(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    ready(run_repo, how)
    if how == "stash":
        run_repo.commit()
        run_repo.approve()
        run_repo.write("mine.txt", "mine, changed\n")
    mine = run_repo.text("mine.txt")
    killed(run_repo, monkeypatch)
    (run,) = run_repo.data("runs")["runs"]
    assert run["state"] == "active"
    assert run_repo.type("show", NAME, "--run").exit == 0
    assert "runs" in [finding["check"] for finding in doctor(run_repo)]
    rolled = run_repo.type("rollback")
    assert rolled.exit == 0, rolled
    assert run_repo.text("mine.txt") == mine
    assert not run_repo.exists("src/made.py")
    assert_intact(run_repo)


@pytest.mark.parametrize("how", ["artifacts", "append", "cut", "ledger"])
def test_killed_behind_the_harm_it_is_resumed_and_runs_once_only_what_may_run_once(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    ready(run_repo, how, AFTER)
    killed(run_repo, monkeypatch)
    finished = run_repo.resume_run("go")
    assert finished.status == "completed", finished
    assert run_repo.entry_names().count("intent harm") == 1
    assert_intact(run_repo)


def test_doctor_brings_back_what_is_gone_of_a_run_that_has_ended(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.run_plan()
    shutil.rmtree(run_repo.path / ARTIFACTS / "runs")
    (run_repo.path / ARTIFACTS / "ledger.jsonl").unlink()
    findings = doctor(run_repo)
    assert {(finding["check"], finding["fixable"]) for finding in findings} == {("evidence", True), ("ledgers", True)}
    assert run_repo.data("runs")["runs"][0]["status"] == "completed"
    doctor(run_repo, "--fix")
    assert_intact(run_repo)


def test_a_plan_that_is_gone_with_its_run_is_named_by_doctor(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(run_repo, "plans")
    plan = run_repo.text(f"{PLANS}/{NAME}.md")
    killed(run_repo, monkeypatch)
    os.makedirs(run_repo.path / PLANS)
    (finding,) = [candidate for candidate in doctor(run_repo) if "no longer exists" in candidate["message"]]
    assert finding["mend"].endswith("execplan doctor --fix")
    run_repo.type("doctor", "--fix")
    assert run_repo.text(f"{PLANS}/{NAME}.md").replace("[x]", "[ ]").split("Build")[0] in plan
    assert run_repo.type("rollback").exit == 0
    assert not run_repo.exists("src/made.py")
    assert_intact(run_repo)


def test_a_run_of_another_branch_is_not_lost(run_repo: RunRepository) -> None:
    run_repo.plan(steps(MAKE))
    run_repo.commit()
    run_repo.git("switch", "-q", "-c", "other")
    run_repo.approve()
    run_repo.run_plan()
    run_repo.commit()
    run_repo.git("switch", "-q", "main")
    assert run_repo.runs() == []
    assert doctor(run_repo) == []
    run_repo.git("switch", "-q", "other")
    assert_intact(run_repo)


def test_a_run_that_went_on_in_another_checkout_is_read_from_there(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, AFTER))
    run_repo.run_plan()
    run_paths = run_repo.last_run()
    copy = run_paths.state_journal
    with open(copy, "rb") as file:
        lines = file.readlines()
    with open(copy, "wb") as file:
        file.writelines(lines[:3])
    assert run_paths.journal == run_paths.artifact_path("journal.jsonl")
    assert run_repo.data("runs")["runs"][0]["status"] == "completed"
    assert run_repo.type("rollback").exit == 0
    assert_intact(run_repo)


def test_a_run_follows_its_plan(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.run_plan()
    run_repo.data("rename", NAME, "The reader")
    name = run_repo.data("list")["plans"][0]["id"]
    shutil.rmtree(run_repo.path / PLANS / "artifacts" / name)
    assert run_repo.data("runs", name)["runs"][0]["status"] == "completed"
    run_repo.type("undo")
    assert run_repo.data("runs", NAME)["runs"][0]["status"] == "completed"
    doctor(run_repo, "--fix")
    assert_intact(run_repo)


def use_earlier_layout(run_paths: RunPaths) -> None:
    """Let what a run keeps be in files of their own, as an earlier version had it."""
    copy = Path(run_paths.copy)
    copy.mkdir(exist_ok=True)
    for name in content_file.list_names(run_paths.kept_path):
        content = content_file.read(run_paths.kept_path, name)
        if content is not None:
            Path(run_paths.old_kept_path(name)).write_bytes(content)
    journal = Path(run_paths.state_journal)
    os.unlink(run_paths.kept_path)
    journal.rename(copy / "journal.jsonl")
    assert run_paths.journal == str(copy / "journal.jsonl")


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_run_of_an_earlier_version_goes_on(run_repo: RunRepository, *, is_resumed: bool) -> None:
    run_repo.approve_plan(steps(MAKE, AFTER.replace("#after", "#after confirm")))
    before = run_repo.text(f"{PLANS}/{NAME}.md")
    run_repo.run_plan()
    assert run_repo.entry_names()[-1] == "paused after"
    run_paths = run_repo.last_run()
    use_earlier_layout(run_paths)
    shutil.rmtree(run_paths.folder)
    if is_resumed:
        assert run_repo.resume_run("go").status == "completed"
        assert_intact(run_repo)
    assert run_repo.type("rollback").exit == 0
    assert not run_repo.exists("src/made.py")
    assert run_repo.text(f"{PLANS}/{NAME}.md") == before
    assert_intact(run_repo)


def test_an_old_run_without_a_copy_is_read_and_rolled_back(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.run_plan()
    shutil.rmtree(run_repo.path / ".git/execplan/plans")
    for path in Path(run_repo.last_run().state).parent.glob(f"{run_repo.last_run().id}.*"):
        path.unlink()
    entries = read_run_entries(run_repo.last_run())
    assert RunState(load_document(run_repo.last_run(), entries), entries).status == "completed"
    assert run_repo.type("rollback").exit == 0
    assert_intact(run_repo)


def test_what_somebody_chose_of_two_branches_is_not_overwritten(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.run_plan()
    audit_log = run_repo.path / ARTIFACTS / "ledger.jsonl"
    original = audit_log.read_bytes()
    forged = [*original.splitlines(keepends=True)[:-1]]
    record = hash_chain.parse_record(forged[-1].rstrip(b"\n"))
    forged[-1] = hash_chain.encode_record(hash_chain.with_hash(record._replace(user="eve")))
    audit_log.write_bytes(b"".join(forged))
    (finding,) = doctor(run_repo)
    assert (finding["check"], finding["fixable"]) == ("ledgers", False)
    run_repo.refused(1, "ledger-broken", "rollback")
    assert audit_log.read_bytes() == b"".join(forged)


def test_what_was_displaced_is_kept_and_told(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.run_plan()
    journal = run_repo.path / run_repo.last_run().artifact_path("journal.jsonl")
    spoiled = journal.read_bytes() + b"x\n"
    journal.write_bytes(spoiled)
    assert [finding["check"] for finding in doctor(run_repo)] == ["evidence", "ledgers"]
    result = run_repo.type("rollback")
    path = result.err.partition("the previous content is in ")[2].split()[0]
    assert gzip.decompress((run_repo.path / path).read_bytes()) == spoiled
    assert_intact(run_repo)
