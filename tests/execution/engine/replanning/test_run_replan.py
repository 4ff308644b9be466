"""The next revision of a run: made, stored, on record, approved for what is left, and gone on with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_registry, approved_plan
from execplan.execution.engine.journal import journal, journal_entries
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.replanning.run_replan import ReplanResult, replan_run
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records import evidence_copies, record_builder
from execplan.execution.engine.run_state import RunState
from tests.execution.engine.run_records.test_run_statuses import ROLLBACK
from tests.execution.engine.scripted_run import begin_scripted_run, make_file
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from execplan.execution.engine.run_records.run_directories import RunPaths

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```python {#api type=create_file target=src/made.py}
X = 1
```

```sh {#build needs=api on-failure=alternative:plain}
rm -f src/gone
```

```sh {#plain when=build.failed}
rm -f src/other-gone
```

```sh {#check needs=build}
rm -f src/last
```
"""
NEW = {"steps": [{"id": "fresh", "type": "create_file", "target": "src/fresh.py", "content": "Y = 1\n"}]}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of four steps."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    repository.commit()
    return repository


def failed(desk: InProcessRepository) -> tuple[Any, RunPaths]:
    """A run of which the first step is done and the second has failed."""
    scripted_run, run_paths = begin_scripted_run(desk)
    scripted_run.complete_step("api", make_file(desk, "src/made.py", "X = 1\n"))
    scripted_run.fail_step("build")
    for step in ("plain", "check"):
        scripted_run.write(journal_entries.BLOCKED, step=step, reason="it needs build")
    scripted_run.end("failed", "failure")
    return scripted_run, run_paths


def replanned(desk: InProcessRepository, run_paths: RunPaths, **overrides: Any) -> ReplanResult:
    """Replan a run."""
    arguments = {
        "reason": "It failed.",
        "failed": (),
        "information": None,
        "observer": RunObserver(),
        "options": WriteOptions(),
    }
    return replan_run(run_paths, **{**arguments, **overrides})


def read_run_state(run_paths: RunPaths) -> RunState:
    """How far the run has come, by what lies on disk."""
    entries = journal.read_journal(run_paths.journal)
    return RunState(run_revisions.load_document(run_paths, entries), entries)


def stored(desk: InProcessRepository) -> bytes:
    return (desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json").read_bytes()


def test_an_alternative_takes_the_place_of_what_failed(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    before = stored(desk)
    revised = replanned(desk, run_paths)
    assert (revised.revision, revised.completed_steps) == (2, ("api",))
    assert [step.id for step in revised.document.steps] == ["api", "plain", "check"]
    assert "step build was removed" in revised.differences
    assert digest(stored(desk)) == revised.digest
    assert Path(run_paths.document).read_bytes() == before, "the old one stays with the run"
    assert evidence_copies.read_document(run_paths, run_revisions.document_name(2)) == stored(desk)
    run_state = read_run_state(run_paths)
    assert (run_state.status, run_state.document_digest) == ("replanning", revised.digest)
    assert run_state.status_of == {"api": "completed", "plain": "pending", "check": "pending"}
    assert run_state.question is not None
    assert (run_state.question.why, run_state.question.step) == ("covered", "")
    record = record_builder.read_record(run_paths)
    assert record is not None
    assert (record.status, record.revision, record.document) == ("replanning", 2, revised.digest)
    assert (record.history[0].completed_steps, record.history[0].failed_steps) == ((1,), (2,))


def test_it_is_approved_for_what_is_left_and_for_this_run(desk: InProcessRepository) -> None:
    """What is done makes no evaluation fail, is no drift, and is covered by no approval once more."""
    _, run_paths = failed(desk)
    replanned(desk, run_paths, information=json.dumps(NEW))
    project, ref = desk.project()
    with pytest.raises(ExecplanError) as caught:
        approved_plan.require_approved_plan(project, ref, run_id=run_paths.id)
    assert caught.value.exit in (4, 7), "the approval of the first revision is for that one"
    data = desk.data("evaluate")
    assert [(step["id"], step["dry_run"]["kind"]) for step in data["steps"]] == [("api", "done"), ("fresh", "exact")]
    assert (data["run"], data["revision"], data["ok"]) == (run_paths.id, 2, True)
    approved = desk.approve()
    assert (approved["steps"], approved["done"]) == (["fresh"], ["api"])
    approval = approved_plan.require_approved_plan(project, ref, run_id=run_paths.id).approval
    assert approval.revision == 2
    approval_registry.mark_used(project, approval.id, run_paths.id)
    desk.write("src/fresh.py", "Y = 1\n")
    assert approved_plan.require_approved_plan(project, ref, run_id=run_paths.id).approval == approval, (
        "what the run has made is no drift"
    )
    with pytest.raises(ExecplanError) as caught:
        approved_plan.require_approved_plan(project, ref)
    assert caught.value.code == "approval-used"
    with pytest.raises(ExecplanError) as caught:
        approved_plan.require_approved_plan(project, ref, run_id="0009-00000000")
    assert caught.value.code == "approval-used"


def test_what_was_done_and_then_changed_is_drift(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    replanned(desk, run_paths)
    desk.approve()
    desk.write("src/made.py", "X = 2\n")
    assert any(line.startswith("src/made.py: different content (") for line in desk.drift())


def test_no_other_run_starts_before_the_revision_is_approved(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    replanned(desk, run_paths, information=json.dumps(NEW))
    error = desk.refused(1, "run-under-way", "run")
    assert "waits for the approval of its revision" in error["message"]
    assert error["message"].endswith(": it was given for revision 1, but this is revision 2")
    assert error["hint"].startswith("read what it would do: execplan evaluate ")
    desk.approve()
    error = desk.refused(1, "run-under-way", "run")
    assert error["message"].endswith(" has not ended: its revision is approved")
    assert error["hint"].startswith(f"resume it: execplan resume {run_paths.number} -p ")
    (command, *_) = json.loads(desk.type("status", "--json").out)["next"]
    assert command.startswith(f"execplan resume {run_paths.id} -p "), "status says the same"


def test_what_was_done_and_then_changed_is_not_replanned(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    desk.write("src/made.py", "X = 2\n")
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, run_paths)
    assert caught.value.code == "drifted"
    assert "add a step to the plan" in str(caught.value.hint)


def test_revision_after_revision(desk: InProcessRepository) -> None:
    """A revision that was not approved yet may be revised; each keeps its place in the history."""
    _, run_paths = failed(desk)
    replanned(desk, run_paths)
    third = replanned(desk, run_paths, reason="Still not.", information="Nothing helps.", failed=("plain",))
    assert third.revision == 3
    assert [entry.revision for entry in third.document.metadata.history] == [1, 2]
    assert third.document.metadata.history[1].new_information == {"note": "Nothing helps."}
    assert third.document.metadata.history[1].failed_steps == (2,)
    assert read_run_state(run_paths).document_digest == third.digest
    assert sorted(name for name in os.listdir(run_paths.folder) if name.startswith("execution-plan")) == [
        "execution-plan-2.json",
        "execution-plan-3.json",
        "execution-plan.json",
    ]
    record = record_builder.read_record(run_paths)
    assert record is not None
    assert [entry.revision for entry in record.history] == [2, 3]


def test_a_dry_run_writes_nothing(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    before = read_files(desk.path)
    revised = replanned(desk, run_paths, options=WriteOptions(dry_run=True))
    assert revised.revision == 2
    assert '-  "revision": 1,\n+  "revision": 2,' in revised.diff
    assert read_files(desk.path) == before


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("ends", "code", "exit"),
    [
        ("completed", "nothing-to-replan", 1),
        ("rolled_back", "nothing-to-replan", 1),
        ("rolling", "run-cut-short", 4),
        ("attempt", "run-cut-short", 4),
        ("once", "run-cut-short", 4),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_refused(desk: InProcessRepository, ends: str, code: str, exit: int, *, dry_run: bool) -> None:
    scripted_run, run_paths = begin_scripted_run(desk)
    if ends == "attempt":
        scripted_run.intent("api")
    elif ends == "once":
        scripted_run.intent("build")
        scripted_run.result("build", ok=False, cause="interrupted", reason="SIGINT", signal=2)
        scripted_run.write(journal_entries.INTERRUPTED, signal="SIGINT")
    elif ends == "completed":
        scripted_run.end("completed")
    else:
        scripted_run.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
        if ends == "rolled_back":
            scripted_run.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    before = stored(desk)
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, run_paths, options=WriteOptions(dry_run=dry_run))
    assert (caught.value.code, caught.value.exit) == (code, exit)
    assert "execplan " in caught.value.hint
    assert stored(desk) == before
    assert read_run_state(run_paths).replans == []


def test_a_run_that_was_followed_by_another_is_left_alone(desk: InProcessRepository) -> None:
    """What the last run has done is what evaluate and approve go by."""
    _, first = failed(desk)
    (desk.path / "src/made.py").unlink()
    scripted_run, second = begin_scripted_run(desk)
    scripted_run.fail_step("api")
    scripted_run.end("failed")
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, first)
    assert caught.value.code == "nothing-to-replan"
    assert second.id in caught.value.message
    assert replanned(desk, second).revision == 2


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ({"failed": ("no",)}, "no-such-step", "unknown step 'no'"),
        ({"failed": ("api",)}, "bad-replan", "step api is completed: only unfinished steps can count as failed"),
        ({"failed": ("1",)}, "bad-replan", "step api is completed: only unfinished steps can count as failed"),
        ({"information": '{"steps": []'}, "bad-document", "the new information"),
        ({"information": '{"steps": [], "steps": []}'}, "bad-document", "duplicate key"),
        ({"information": '{"steps": [{"id": "x"}]}'}, "bad-document", "revision 2"),
        ({"information": '{"steps": 3}'}, "bad-replan", "should be an array"),
        ({"information": "x" * 2001}, "bad-document", "new_information"),
        ({"reason": "x" * 2001}, "bad-document", "reason"),
        ({"reason": ""}, "bad-document", "reason"),
    ],
)
def test_bad_input(desk: InProcessRepository, more: dict[str, Any], code: str, told: str) -> None:
    _, run_paths = failed(desk)
    before = stored(desk)
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, run_paths, **more)
    assert (caught.value.code, caught.value.exit) == (code, 3), caught.value.message
    assert told in " ".join((caught.value.message, *caught.value.candidates))
    assert caught.value.hint
    assert stored(desk) == before
    assert read_run_state(run_paths).replans == []


def test_another_document_that_was_stored_meanwhile_is_kept(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    foreign = json.loads(stored(desk))
    foreign |= {"source": None}
    for step in foreign["steps"]:
        step["source"] = None
    path = desk.write(f".agent/execplans/artifacts/{NAME}/execution-plan.json", json.dumps(foreign))
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, run_paths)
    assert (caught.value.code, caught.value.exit) == ("other-document", 4)
    path.unlink()
    replanned(desk, run_paths)


def test_what_the_plan_compiles_to_meanwhile_makes_way(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    desk.plan(PLAN.replace("src/last", "src/least"))
    desk.data("compile")
    assert replanned(desk, run_paths).revision == 2


def test_killed_before_it_was_on_record(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes by the revision before, and the next one takes the place of what was left."""
    _, run_paths = failed(desk)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "append_entry", killed)
        with pytest.raises(KeyboardInterrupt):
            replanned(desk, run_paths, reason="The first try.")
    assert json.loads(stored(desk))["revision"] == 2
    assert read_run_state(run_paths).replans == []
    revised = replanned(desk, run_paths, reason="The second try.")
    assert revised.revision == 2
    assert read_run_state(run_paths).document_digest == revised.digest == digest(stored(desk))


def test_a_busy_home_is_not_waited_for(desk: InProcessRepository) -> None:
    from execplan.execution.engine.run_lock import acquire_run_lock

    _, run_paths = failed(desk)
    project, _ = desk.project()
    with acquire_run_lock(project, "run 0007-00000000 of another"), pytest.raises(ExecplanError) as caught:
        replanned(desk, run_paths)
    assert (caught.value.code, caught.value.exit) == ("run-busy", 5)
    assert "0007-00000000" in caught.value.message


def test_secrets_do_not_get_into_it(desk: InProcessRepository) -> None:
    _, run_paths = failed(desk)
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
    note = json.dumps({"why": f"it said {secret}", **NEW})
    replanned(desk, run_paths, reason=f"It used {secret}.", information=note)
    for path in (desk.path / ".agent").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_a_skipped_step_stays_where_new_steps_are_given(desk: InProcessRepository) -> None:
    """What is done may need it: a step that was skipped counts as settled."""
    scripted_run, run_paths = begin_scripted_run(desk)
    scripted_run.write(journal_entries.SKIPPED, step="api", reason="not selected")
    scripted_run.complete_step("build")
    scripted_run.write(journal_entries.SKIPPED, step="plain", reason="build has not failed")
    scripted_run.fail_step("check")
    scripted_run.end("failed", "failure")
    revised = replanned(desk, run_paths, information=json.dumps(NEW))
    assert [step.id for step in revised.document.steps] == ["api", "build", "plain", "fresh"]
    assert revised.completed_steps == ("api", "build", "plain")


def test_what_is_done_falls_back_on_nothing_more(desk: InProcessRepository) -> None:
    scripted_run, run_paths = begin_scripted_run(desk)
    scripted_run.complete_step("api", make_file(desk, "src/made.py", "X = 1\n"))
    scripted_run.complete_step("build")
    scripted_run.fail_step("check")
    scripted_run.end("failed", "failure")
    revised = replanned(desk, run_paths, information=json.dumps(NEW))
    assert [step.id for step in revised.document.steps] == ["api", "build", "fresh"]
    assert revised.document.steps[1].on_failure.strategy == "fail_fast"


def test_nothing_is_left(desk: InProcessRepository) -> None:
    """The rest is not wanted: a revision without it is approved by the policy, and the run can end."""
    _, run_paths = failed(desk)
    revised = replanned(desk, run_paths, information='{"steps": []}')
    assert [step.id for step in revised.document.steps] == ["api"]
    assert desk.data("evaluate")["verdict"] == "nothing is left to do"
    approved = desk.approve()
    assert (approved["steps"], approved["how"]) == ([], "policy")
    project, ref = desk.project()
    assert approved_plan.require_approved_plan(project, ref, run_id=run_paths.id).approval is not None
