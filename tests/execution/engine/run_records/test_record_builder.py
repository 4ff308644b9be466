"""The record of a run: whatever the engine may write, its record holds its own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.execution import states
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.run_records import record_builder
from execplan.execution.run_record import Record
from execplan.execution.world import ABSENT, FILE, State
from tests.conftest import CLOCK
from tests.execution.engine.fakes import run_paths_in
from tests.execution.engine.scripted_run import ScriptedRun, created_file
from tests.execution.plan_documents import command, loaded, plan, step

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = loaded(
    plan(
        step(1, id="make"),
        command(2, id="build", depends_on=["make"], on_failure={"strategy": "alternative:plain", "max_retries": 1}),
        command(3, id="test", depends_on=["build"]),
        command(4, id="plain", depends_on=["make"], when={"kind": "failed", "of": "build"}),
    )
)
REVISED = DOCUMENT.model_copy(
    update={
        "revision": 2,
        "metadata": DOCUMENT.metadata.model_validate({"history": [{"revision": 1, "sha256": "0" * 64, "reason": "x"}]}),
    }
)
RUN_PATHS = run_paths_in("folder")


def read_back_record(scripted_run: ScriptedRun) -> Record:
    """The record of what is written, read back from its bytes."""
    record = record_builder.build_record(RUN_PATHS, scripted_run.run_state.document, scripted_run.run_state)
    return load_document(document_bytes(record), Record, "record.json")


def test_a_run_that_recovers() -> None:
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin()
    scripted_run.complete_step("make", created_file("1.txt", 3))
    scripted_run.fail_step("build")
    scripted_run.fail_step("build")
    scripted_run.complete_step(
        "plain", created_file("2.txt"), StateChange("1.txt", State(FILE, "a" * 64), State(FILE, "b" * 64), 1, 2)
    )
    scripted_run.write(journal_entries.RECOVERED, step="build", by="plain")
    scripted_run.complete_step("test", StateChange("2.txt", State(FILE, "a" * 64), State(ABSENT), 0, 1))
    scripted_run.end("completed")
    record = read_back_record(scripted_run)
    assert (record.status, record.approver, record.user, record.duration_s) == ("completed", "Ann", "ann", 1.5)
    assert [
        (step_record.id, step_record.status, step_record.attempts, step_record.max_attempts)
        for step_record in record.steps
    ] == [
        ("make", "completed", 1, 1),
        ("build", "recovered", 2, 2),
        ("test", "completed", 1, 1),
        ("plain", "completed", 1, 1),
    ]
    assert record.steps[1].reason == "replaced by plain"
    assert (record.completed_steps, record.failed_steps) == ((1, 3, 4), ())
    assert record.resources.model_dump() == {
        "files_created": 1,
        "files_modified": 0,
        "files_deleted": 0,
        "lines_added": 4,
        "lines_removed": 2,
        "cpu_s": 0.75,
        "peak_memory_bytes": 1000,
    }, "1.txt is there in the end, and 2.txt came and went"
    assert record.validation.model_dump() == {
        "pre_checks": "passed",
        "post_checks": "passed",
        "tests_run": 8,
        "tests_passed": 8,
    }


def test_what_was_taken_back_is_no_change() -> None:
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin(how="policy")
    scripted_run.intent("make")
    scripted_run.result("make", ok=False, cause="syntax", reason="line 1", changes=(created_file("1.txt"),))
    scripted_run.write(
        journal_entries.RETAKEN, step="make", attempt=1, changes=[journal_entries.change_json(created_file("1.txt"))]
    )
    scripted_run.write(journal_entries.BLOCKED, step="build", reason="it needs make")
    scripted_run.end("failed", "validation")
    record = read_back_record(scripted_run)
    assert (record.resources.files_created, record.steps[0].reason, record.failed_steps) == (0, "line 1", (1,))
    assert record.steps[1].status == "blocked"
    assert record.approver is None, "the policy approved all of it"


def test_a_replanned_run_has_its_history() -> None:
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin()
    scripted_run.complete_step("make")
    scripted_run.fail_step("build")
    scripted_run.end("failed", "failure")
    scripted_run.run_state.document = REVISED
    scripted_run.write(
        journal_entries.REPLANNED,
        revision=2,
        document="9" * 64,
        reason="",
        completed=[1],
        failed=[2],
        user="ann",
        session=None,
    )
    record = read_back_record(scripted_run)
    assert (record.status, record.ended, record.revision, record.document) == ("replanning", None, 2, "9" * 64)
    (entry,) = record.history
    assert (entry.revision, entry.completed_steps, entry.failed_steps, entry.reason) == (
        2,
        (1,),
        (2,),
        "no reason given",
    )
    scripted_run.write(
        journal_entries.RESUMED, approval="8" * 64, approval_id="7" * 32, approver="Ben", how="digest", user="ben"
    )
    scripted_run.complete_step("build")
    record = read_back_record(scripted_run)
    assert (record.status, record.approval, record.approver, record.steps[1].attempts) == (
        "in_progress",
        "8" * 64,
        "Ben",
        1,
    )


def test_a_clock_that_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + 86_400))
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin()
    scripted_run.complete_step("make")
    scripted_run.end("failed", "failure")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    record = read_back_record(scripted_run)
    assert (record.started, record.ended) == ("2026-01-01T00:00:00Z",) * 2


def test_saved_and_saved_again(tmp_path: Path) -> None:
    run_paths = run_paths_in(str(tmp_path))
    assert record_builder.read_record(run_paths) is None
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin()
    for status in ("in_progress", "failed"):
        record_builder.save_record(run_paths, record_builder.build_record(run_paths, DOCUMENT, scripted_run.run_state))
        record_builder.save_record(run_paths, record_builder.build_record(run_paths, DOCUMENT, scripted_run.run_state))
        record = record_builder.read_record(run_paths)
        assert record is not None
        assert record.status == status
        scripted_run.end("failed")
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


class Engine:
    """Writes what an engine may write next, as a test draws it."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.scripted_run = ScriptedRun(DOCUMENT)
        self.scripted_run.begin(how=data.draw(st.sampled_from(("digest", "policy"))))

    def draw(self, *among: Any) -> Any:
        """One of these."""
        return self.data.draw(st.sampled_from(among))

    def advance(self) -> None:
        """Go on by one or two entries."""
        run_state, scripted_run = self.scripted_run.run_state, self.scripted_run
        open_ = [step for step, _ in run_state.open_attempts()]
        if run_state.status == states.ROLLED_BACK:
            return
        if run_state.status in states.ENDED_RUN_STATES:
            self.ended()
        elif run_state.status == states.REPLANNING or run_state.question is not None:
            self.draw(self.resume, self.answer if run_state.question else self.resume, self.stop)()
        elif open_:
            self.close(open_[0])
        else:
            pending = [step for step, status in run_state.status_of.items() if status == states.PENDING]
            failed = [step for step, status in run_state.status_of.items() if status == states.FAILED]
            ways: list[Any] = [self.pause, self.interrupt, self.stop]
            ways += (
                [lambda: scripted_run.intent(self.draw(*pending)), lambda: self.skip(self.draw(*pending))]
                if pending
                else []
            )
            ways += [lambda: self.recover(self.draw(*failed)), self.replan] if failed else []
            if all(status in states.SUCCESS_STATES for status in run_state.status_of.values()):
                ways.append(lambda: scripted_run.end("completed"))
            self.draw(*ways)()

    def close(self, step: str) -> None:
        """End an attempt, or lose the process in it."""
        changes = (created_file("1.txt"),) if self.draw(True, False) else ()
        kind = self.draw("ok", "failed", "interrupted", "killed")
        code, signal = self.draw((0, None), (3, None), (None, 9), (255, None))
        if kind == "killed":
            self.resume()
        if kind in ("killed", "ok"):
            self.scripted_run.result(step, changes=changes, exit=code, signal=signal, seconds=1.0)
            return
        self.scripted_run.result(
            step, ok=False, cause=kind, reason=self.draw("", "x" * 3000), changes=changes, exit=code
        )
        if self.draw(True, False):
            attempt = self.scripted_run.run_state.attempts[step][-1].number
            change_rows = [journal_entries.change_json(change) for change in changes]
            self.scripted_run.write(journal_entries.RETAKEN, step=step, attempt=attempt, changes=change_rows)

    def skip(self, step: str) -> None:
        """A step is skipped or blocked."""
        self.scripted_run.write(
            self.draw(journal_entries.SKIPPED, journal_entries.BLOCKED), step=step, reason=self.draw("", "not selected")
        )

    def recover(self, step: str) -> None:
        """Go on after a failure."""
        recovery = self.draw("again", "skip", "recovered")
        if recovery == "again" and len(self.scripted_run.run_state.attempts[step]) < 11:
            self.scripted_run.intent(step)
        elif recovery == "skip":
            self.scripted_run.write(journal_entries.SKIPPED, step=step, reason="it failed")
        else:
            self.scripted_run.write(journal_entries.RECOVERED, step=step, by="plain")

    def pause(self) -> None:
        """Wait for an answer."""
        why = self.draw(*journal_entries.QUESTION_REASONS)
        self.scripted_run.write(
            journal_entries.PAUSED, why=why, step=self.draw(None, "make", "build"), question="Go on?"
        )

    def answer(self) -> None:
        """Answer what is asked."""
        question = self.scripted_run.run_state.question
        assert question is not None
        fields = {"why": question.why, "step": question.step, "answer": self.draw(*journal_entries.ANSWERS)}
        self.scripted_run.write(journal_entries.ANSWERED, **fields, user="ann", session=None, how="terminal")

    def interrupt(self) -> None:
        """Interrupt the run, and resume it."""
        self.scripted_run.write(journal_entries.INTERRUPTED, signal="SIGINT")
        self.resume()

    def resume(self) -> None:
        """Take the run up again."""
        fields = {"approval": "1" * 64, "approval_id": "2" * 32, "approver": "Ann", "how": "digest"}
        self.scripted_run.write(
            journal_entries.RESUMED, **fields, user="ann", session=None, document="0" * 64, revision=1
        )

    def replan(self) -> None:
        """Make the next revision."""
        run_state = self.scripted_run.run_state
        completed, failed = run_state.step_numbers(states.COMPLETED), run_state.step_numbers(states.FAILED)
        revision = run_state.document.revision + 1
        entry = {"revision": revision - 1, "sha256": "0" * 64, "reason": "x"}
        history = [*run_state.document.metadata.model_dump()["history"], entry]
        metadata = run_state.document.metadata.model_validate({"history": history})
        run_state.document = run_state.document.model_copy(update={"revision": revision, "metadata": metadata})
        fields = {"reason": self.draw("", "It failed."), "completed": completed, "failed": failed}
        self.scripted_run.write(
            journal_entries.REPLANNED, revision=revision, document="9" * 64, **fields, user="ann", session=None
        )

    def stop(self) -> None:
        """End the run as failed."""
        self.scripted_run.end("failed", self.draw("", "failure", "drift"))

    def ended(self) -> None:
        """Resume what failed, or roll it back."""
        if self.scripted_run.run_state.status == states.FAILED and self.draw(True, False):
            self.resume()
            return
        steps = [step for step in self.scripted_run.run_state.attempts if self.draw(True, False)]
        fields = {"steps": steps, "automatic": "", "user": "ann", "session": None, "changes": [], "folders": []}
        self.scripted_run.write(journal_entries.ROLLBACK, **fields, undone_not=[])
        whole = self.draw(True, False)
        self.scripted_run.write(journal_entries.ROLLED_BACK, steps=steps, restored=[], removed=[], whole=whole)


@settings(max_examples=25)
@given(st.data())
def test_any_course_of_a_run_has_a_record_that_holds_its_rules(data: st.DataObject) -> None:
    engine = Engine(data)
    for _ in range(data.draw(st.integers(0, 25))):
        engine.advance()
        record = read_back_record(engine.scripted_run)
        assert record.status == engine.scripted_run.run_state.status
        run_state = engine.scripted_run.run_state
        assert {step_record.id: step_record.status for step_record in record.steps} == {
            name: run_state.status_now(name) for name in run_state.status_of
        }
