"""The next revision of a run: made, stored, on record, approved for what is left, and gone on with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.approvals import approval_registry, approval_status
from execplan.edits.plan_writer import WriteOptions
from execplan.engine.journal import journal, journal_entries
from execplan.engine.replanning import run_revisions
from execplan.engine.replanning.run_replan import ReplanResult, replan_run
from execplan.engine.run_observer import RunObserver
from execplan.engine.run_records import record_builder
from execplan.engine.run_state import RunState
from execplan.errors import ExecplanError
from execplan.text.text_lines import digest
from tests.engine.hand import begun, make
from tests.engine.test_runs import ROLLBACK
from tests.repo.approving import NAME, Desk

if TYPE_CHECKING:
    from execplan.engine.run_records.run_directories import RunPaths

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
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a plan of four steps."""
    made = Desk(tmp_path / "repo", monkeypatch)
    made.plan(PLAN)
    made.commit()
    return made


def failed(desk: Desk) -> tuple[Any, RunPaths]:
    """A run of which the first step is done and the second has failed."""
    hand, place = begun(desk)
    hand.done("api", make(desk, "src/made.py", "X = 1\n"))
    hand.failed("build")
    for step in ("plain", "check"):
        hand.write(journal_entries.BLOCKED, step=step, reason="it needs build")
    hand.end("failed", "failure")
    return hand, place


def replanned(desk: Desk, place: RunPaths, **more: Any) -> ReplanResult:
    """Replan a run."""
    project, ref = desk.project()
    said = {
        "reason": "It failed.",
        "failed": (),
        "information": None,
        "observer": RunObserver(),
        "options": WriteOptions(),
    }
    return replan_run(project, ref, place, **{**said, **more})


def course(place: RunPaths) -> RunState:
    """How far the run has come, by what lies on disk."""
    entries = journal.read_journal(place.journal)
    return RunState(run_revisions.load_document(place, entries), entries)


def stored(desk: Desk) -> bytes:
    return (desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json").read_bytes()


def test_an_alternative_takes_the_place_of_what_failed(desk: Desk) -> None:
    _, place = failed(desk)
    before = stored(desk)
    made = replanned(desk, place)
    assert (made.revision, made.completed_steps) == (2, ("api",))
    assert [step.id for step in made.document.steps] == ["api", "plain", "check"]
    assert "step build is gone" in made.differences
    assert digest(stored(desk)) == made.digest
    assert Path(place.document).read_bytes() == before, "the old one stays with the run"
    assert Path(run_revisions.revision_path(place, 2)).read_bytes() == stored(desk)
    now = course(place)
    assert (now.status, now.document_digest) == ("replanning", made.digest)
    assert now.status_of == {"api": "completed", "plain": "pending", "check": "pending"}
    assert now.question is not None
    assert (now.question.why, now.question.step) == ("covered", "")
    told = record_builder.read_record(place)
    assert told is not None
    assert (told.status, told.revision, told.document) == ("replanning", 2, made.digest)
    assert (told.history[0].completed_steps, told.history[0].failed_steps) == ((1,), (2,))


def test_it_is_approved_for_what_is_left_and_for_this_run(desk: Desk) -> None:
    """What is done makes no evaluation fail, is no drift, and is covered by no approval once more."""
    _, place = failed(desk)
    replanned(desk, place, information=json.dumps(NEW))
    project, ref = desk.project()
    with pytest.raises(ExecplanError) as caught:
        approval_status.require_approved_status(project, ref, run_id=place.id)
    assert caught.value.exit in (4, 7), "the approval of the first revision is for that one"
    data = desk.data("evaluate")
    assert [(each["id"], each["dry_run"]["kind"]) for each in data["steps"]] == [("api", "done"), ("fresh", "exact")]
    assert (data["run"], data["revision"], data["ok"]) == (place.id, 2, True)
    given = desk.approve()
    assert (given["steps"], given["done"]) == (["fresh"], ["api"])
    approval = approval_status.require_approved_status(project, ref, run_id=place.id).approval
    assert approval is not None
    assert approval.revision == 2
    approval_registry.mark_used(project, approval.id, place.id)
    desk.write("src/fresh.py", "Y = 1\n")
    assert approval_status.require_approved_status(project, ref, run_id=place.id).approval == approval, (
        "what the run has made is no drift"
    )
    with pytest.raises(ExecplanError) as caught:
        approval_status.require_approved_status(project, ref)
    assert caught.value.code == "approval-used"
    with pytest.raises(ExecplanError) as caught:
        approval_status.require_approved_status(project, ref, run_id="0009-00000000")
    assert caught.value.code == "approval-used"


def test_what_was_done_and_then_changed_is_drift(desk: Desk) -> None:
    _, place = failed(desk)
    replanned(desk, place)
    desk.approve()
    desk.write("src/made.py", "X = 2\n")
    assert any(each.startswith("src/made.py: other bytes") for each in desk.drift())


def test_revision_after_revision(desk: Desk) -> None:
    """A revision that was not approved yet may be revised; each keeps its place in the history."""
    _, place = failed(desk)
    replanned(desk, place)
    third = replanned(desk, place, reason="Still not.", information="Nothing helps.", failed=("plain",))
    assert third.revision == 3
    assert [each.revision for each in third.document.metadata.history] == [1, 2]
    assert third.document.metadata.history[1].new_information == {"note": "Nothing helps."}
    assert third.document.metadata.history[1].failed_steps == (2,)
    assert course(place).document_digest == third.digest
    assert sorted(name for name in os.listdir(place.folder) if name.startswith("execution-plan")) == [
        "execution-plan-2.json",
        "execution-plan-3.json",
        "execution-plan.json",
    ]
    told = record_builder.read_record(place)
    assert told is not None
    assert [each.revision for each in told.history] == [2, 3]


def test_a_dry_run_writes_nothing(desk: Desk) -> None:
    _, place = failed(desk)
    before = seen(desk.path)
    made = replanned(desk, place, options=WriteOptions(dry_run=True))
    assert made.revision == 2
    assert '-  "revision": 1,\n+  "revision": 2,' in made.diff
    assert seen(desk.path) == before


def seen(folder: Path) -> dict[str, bytes]:
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
def test_refused(desk: Desk, ends: str, code: str, exit: int, *, dry_run: bool) -> None:
    hand, place = begun(desk)
    if ends == "attempt":
        hand.intent("api")
    elif ends == "once":
        hand.intent("build")
        hand.result("build", ok=False, cause="interrupted", reason="SIGINT", signal=2)
        hand.write(journal_entries.INTERRUPTED, signal="SIGINT")
    elif ends == "completed":
        hand.end("completed")
    else:
        hand.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
        if ends == "rolled_back":
            hand.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    before = stored(desk)
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, place, options=WriteOptions(dry_run=dry_run))
    assert (caught.value.code, caught.value.exit) == (code, exit)
    assert "execplan " in caught.value.hint
    assert stored(desk) == before
    assert course(place).replans == []


def test_a_run_that_was_followed_by_another_is_left_alone(desk: Desk) -> None:
    """What the last run has done is what evaluate and approve go by."""
    _, first = failed(desk)
    (desk.path / "src/made.py").unlink()
    hand, second = begun(desk)
    hand.failed("api")
    hand.end("failed")
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, first)
    assert caught.value.code == "nothing-to-replan"
    assert second.id in caught.value.message
    assert replanned(desk, second).revision == 2


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ({"failed": ("no",)}, "no-such-step", "no step 'no'"),
        ({"failed": ("api",)}, "bad-replan", "the step api is completed"),
        ({"failed": ("1",)}, "bad-replan", "the step api is completed"),
        ({"information": '{"steps": []'}, "bad-document", "the new information"),
        ({"information": '{"steps": [], "steps": []}'}, "bad-document", "twice"),
        ({"information": '{"steps": [{"id": "x"}]}'}, "bad-document", "revision 2"),
        ({"information": '{"steps": 3}'}, "bad-replan", "should be an array"),
        ({"information": "x" * 2001}, "bad-document", "new_information"),
        ({"reason": "x" * 2001}, "bad-document", "reason"),
        ({"reason": ""}, "bad-document", "reason"),
    ],
)
def test_bad_input(desk: Desk, more: dict[str, Any], code: str, told: str) -> None:
    _, place = failed(desk)
    before = stored(desk)
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, place, **more)
    assert (caught.value.code, caught.value.exit) == (code, 3), caught.value.message
    assert told in " ".join((caught.value.message, *caught.value.candidates))
    assert caught.value.hint
    assert stored(desk) == before
    assert course(place).replans == []


def test_another_document_that_was_stored_meanwhile_is_kept(desk: Desk) -> None:
    _, place = failed(desk)
    foreign = json.loads(stored(desk))
    foreign |= {"source": None}
    for step in foreign["steps"]:
        step["source"] = None
    path = desk.write(f".agent/execplans/artifacts/{NAME}/execution-plan.json", json.dumps(foreign))
    with pytest.raises(ExecplanError) as caught:
        replanned(desk, place)
    assert (caught.value.code, caught.value.exit) == ("other-document", 4)
    path.unlink()
    replanned(desk, place)


def test_what_the_plan_compiles_to_meanwhile_makes_way(desk: Desk) -> None:
    _, place = failed(desk)
    desk.plan(PLAN.replace("src/last", "src/least"))
    desk.data("compile")
    assert replanned(desk, place).revision == 2


def test_killed_before_it_was_on_record(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes by the revision before, and the next one takes the place of what was left."""
    _, place = failed(desk)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            replanned(desk, place, reason="The first try.")
    assert json.loads(stored(desk))["revision"] == 2
    assert course(place).replans == []
    made = replanned(desk, place, reason="The second try.")
    assert made.revision == 2
    assert course(place).document_digest == made.digest == digest(stored(desk))


def test_a_busy_home_is_not_waited_for(desk: Desk) -> None:
    from execplan.engine.run_lock import acquire_run_lock

    _, place = failed(desk)
    project, _ = desk.project()
    with acquire_run_lock(project, "run 0007-00000000 of another"), pytest.raises(ExecplanError) as caught:
        replanned(desk, place)
    assert (caught.value.code, caught.value.exit) == ("run-busy", 5)
    assert "0007-00000000" in caught.value.message


def test_secrets_do_not_get_into_it(desk: Desk) -> None:
    _, place = failed(desk)
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
    note = json.dumps({"why": f"it said {secret}", **NEW})
    replanned(desk, place, reason=f"It used {secret}.", information=note)
    for path in (desk.path / ".agent").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_a_skipped_step_stays_where_new_steps_are_given(desk: Desk) -> None:
    """What is done may need it: a step that was skipped counts as settled."""
    hand, place = begun(desk)
    hand.write(journal_entries.SKIPPED, step="api", reason="not chosen")
    hand.done("build")
    hand.write(journal_entries.SKIPPED, step="plain", reason="build has not failed")
    hand.failed("check")
    hand.end("failed", "failure")
    made = replanned(desk, place, information=json.dumps(NEW))
    assert [step.id for step in made.document.steps] == ["api", "build", "plain", "fresh"]
    assert made.completed_steps == ("api", "build", "plain")


def test_what_is_done_falls_back_on_nothing_more(desk: Desk) -> None:
    hand, place = begun(desk)
    hand.done("api", make(desk, "src/made.py", "X = 1\n"))
    hand.done("build")
    hand.failed("check")
    hand.end("failed", "failure")
    made = replanned(desk, place, information=json.dumps(NEW))
    assert [step.id for step in made.document.steps] == ["api", "build", "fresh"]
    assert made.document.steps[1].on_failure.strategy == "fail_fast"


def test_nothing_is_left(desk: Desk) -> None:
    """The rest is not wanted: a revision without it is approved by the policy, and the run can end."""
    _, place = failed(desk)
    made = replanned(desk, place, information='{"steps": []}')
    assert [step.id for step in made.document.steps] == ["api"]
    assert desk.data("evaluate")["verdict"] == "Nothing is left to be done"
    given = desk.approve()
    assert (given["steps"], given["how"]) == ([], "policy")
    project, ref = desk.project()
    assert approval_status.require_approved_status(project, ref, run_id=place.id).approval is not None
