"""The record of a run: whatever the engine may write, its record holds its own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.engine.journal import journal_entries
from execplan.engine.journal.journal_entries import Change
from execplan.engine.run_records import record_builder
from execplan.engine.run_records.run_directories import RunPaths
from execplan.execution import states
from execplan.execution.documents.document_io import load, to_bytes
from execplan.execution.run_record import Record
from execplan.execution.world import ABSENT, FILE, State
from tests.conftest import CLOCK
from tests.engine.hand import Hand, created
from tests.execution.plans import command, loaded, plan, step

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
PLACE = RunPaths("0001-00000000", "folder", "state")


def made(hand: Hand) -> Record:
    """The record of what is written, read back from its bytes."""
    found = record_builder.build_record(PLACE, hand.course.document, hand.course)
    return load(to_bytes(found), Record, "record.json")


def test_a_run_that_recovers() -> None:
    hand = Hand(DOCUMENT)
    hand.begin()
    hand.done("make", created("1.txt", 3))
    hand.failed("build")
    hand.failed("build")
    hand.done("plain", created("2.txt"), Change("1.txt", State(FILE, "a" * 64), State(FILE, "b" * 64), 1, 2))
    hand.write(journal_entries.RECOVERED, step="build", by="plain")
    hand.done("test", Change("2.txt", State(FILE, "a" * 64), State(ABSENT), 0, 1))
    hand.end("completed")
    told = made(hand)
    assert (told.status, told.approver, told.user, told.duration_s) == ("completed", "Ann", "ann", 1.5)
    assert [(each.id, each.status, each.attempts, each.max_attempts) for each in told.steps] == [
        ("make", "completed", 1, 1),
        ("build", "recovered", 2, 2),
        ("test", "completed", 1, 1),
        ("plain", "completed", 1, 1),
    ]
    assert told.steps[1].reason == "plain stood in for it"
    assert (told.completed_steps, told.failed_steps) == ((1, 3, 4), ())
    assert told.resources.model_dump() == {
        "files_created": 1,
        "files_modified": 0,
        "files_deleted": 0,
        "lines_added": 4,
        "lines_removed": 2,
        "cpu_s": 0.75,
        "peak_memory_bytes": 1000,
    }, "1.txt is there in the end, and 2.txt came and went"
    assert told.validation.model_dump() == {
        "pre_checks": "passed",
        "post_checks": "passed",
        "tests_run": 8,
        "tests_passed": 8,
    }


def test_what_was_taken_back_is_no_change() -> None:
    hand = Hand(DOCUMENT)
    hand.begin(how="policy")
    hand.intent("make")
    hand.result("make", ok=False, cause="syntax", reason="line 1", changes=(created("1.txt"),))
    hand.write(journal_entries.RETAKEN, step="make", attempt=1, changes=[journal_entries.change_json(created("1.txt"))])
    hand.write(journal_entries.BLOCKED, step="build", reason="it needs make")
    hand.end("failed", "validation")
    told = made(hand)
    assert (told.resources.files_created, told.steps[0].reason, told.failed_steps) == (0, "line 1", (1,))
    assert told.steps[1].status == "blocked"
    assert told.approver is None, "the policy approved all of it"


def test_a_replanned_run_has_its_history() -> None:
    hand = Hand(DOCUMENT)
    hand.begin()
    hand.done("make")
    hand.failed("build")
    hand.end("failed", "failure")
    hand.course.document = REVISED
    hand.write(
        journal_entries.REPLANNED,
        revision=2,
        document="9" * 64,
        reason="",
        completed=[1],
        failed=[2],
        user="ann",
        session=None,
    )
    told = made(hand)
    assert (told.status, told.ended, told.revision, told.document) == ("replanning", None, 2, "9" * 64)
    (entry,) = told.history
    assert (entry.revision, entry.completed_steps, entry.failed_steps, entry.reason) == (
        2,
        (1,),
        (2,),
        "no reason given",
    )
    hand.write(
        journal_entries.RESUMED, approval="8" * 64, approval_id="7" * 32, approver="Ben", how="digest", user="ben"
    )
    hand.done("build")
    told = made(hand)
    assert (told.status, told.approval, told.approver, told.steps[1].attempts) == ("in_progress", "8" * 64, "Ben", 1)


def test_a_clock_that_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + 86_400))
    hand = Hand(DOCUMENT)
    hand.begin()
    hand.done("make")
    hand.end("failed", "failure")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    told = made(hand)
    assert (told.started, told.ended) == ("2026-01-01T00:00:00Z",) * 2


def test_saved_and_saved_again(tmp_path: Path) -> None:
    place = RunPaths(PLACE.id, str(tmp_path), str(tmp_path))
    assert record_builder.read_record(place) is None
    hand = Hand(DOCUMENT)
    hand.begin()
    for status in ("in_progress", "failed"):
        record_builder.save_record(place, record_builder.build_record(place, DOCUMENT, hand.course))
        record_builder.save_record(place, record_builder.build_record(place, DOCUMENT, hand.course))
        found = record_builder.read_record(place)
        assert found is not None
        assert found.status == status
        hand.end("failed")
    assert [each.name for each in tmp_path.iterdir()] == ["record.json"]


class Engine:
    """Writes what an engine may write next, as a test draws it."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.hand = Hand(DOCUMENT)
        self.hand.begin(how=data.draw(st.sampled_from(("digest", "policy"))))

    def draw(self, *among: Any) -> Any:
        """One of these."""
        return self.data.draw(st.sampled_from(among))

    def go(self) -> None:
        """Go on by one or two entries."""
        course, hand = self.hand.course, self.hand
        open_ = [step for step, _ in course.open_attempts()]
        if course.status == states.ROLLED_BACK:
            return
        if course.status in states.ENDED_RUN_STATES:
            self.ended()
        elif course.status == states.REPLANNING or course.question is not None:
            self.draw(self.resume, self.answer if course.question else self.resume, self.stop)()
        elif open_:
            self.close(open_[0])
        else:
            pending = [step for step, status in course.status_of.items() if status == states.PENDING]
            failed = [step for step, status in course.status_of.items() if status == states.FAILED]
            ways: list[Any] = [self.pause, self.interrupt, self.stop]
            ways += (
                [lambda: hand.intent(self.draw(*pending)), lambda: self.skip(self.draw(*pending))] if pending else []
            )
            ways += [lambda: self.recover(self.draw(*failed)), self.replan] if failed else []
            if all(status in states.SUCCESS_STATES for status in course.status_of.values()):
                ways.append(lambda: hand.end("completed"))
            self.draw(*ways)()

    def close(self, step: str) -> None:
        """End an attempt, or lose the process in it."""
        changes = (created("1.txt"),) if self.draw(True, False) else ()
        kind = self.draw("ok", "failed", "interrupted", "killed")
        code, signal = self.draw((0, None), (3, None), (None, 9), (255, None))
        if kind == "killed":
            self.resume()
        if kind in ("killed", "ok"):
            self.hand.result(step, changes=changes, exit=code, signal=signal, seconds=1.0)
            return
        self.hand.result(step, ok=False, cause=kind, reason=self.draw("", "x" * 3000), changes=changes, exit=code)
        if self.draw(True, False):
            attempt = self.hand.course.attempts[step][-1].number
            said = [journal_entries.change_json(each) for each in changes]
            self.hand.write(journal_entries.RETAKEN, step=step, attempt=attempt, changes=said)

    def skip(self, step: str) -> None:
        """A step is skipped or blocked."""
        self.hand.write(
            self.draw(journal_entries.SKIPPED, journal_entries.BLOCKED), step=step, reason=self.draw("", "not chosen")
        )

    def recover(self, step: str) -> None:
        """Go on after a failure."""
        way = self.draw("again", "skip", "recovered")
        if way == "again" and len(self.hand.course.attempts[step]) < 11:
            self.hand.intent(step)
        elif way == "skip":
            self.hand.write(journal_entries.SKIPPED, step=step, reason="it failed")
        else:
            self.hand.write(journal_entries.RECOVERED, step=step, by="plain")

    def pause(self) -> None:
        """Wait for an answer."""
        why = self.draw(*journal_entries.QUESTION_REASONS)
        self.hand.write(journal_entries.PAUSED, why=why, step=self.draw(None, "make", "build"), question="Go on?")

    def answer(self) -> None:
        """Answer what is asked."""
        question = self.hand.course.question
        assert question is not None
        said = {"why": question.why, "step": question.step, "answer": self.draw(*journal_entries.ANSWERS)}
        self.hand.write(journal_entries.ANSWERED, **said, user="ann", session=None, how="terminal")

    def interrupt(self) -> None:
        """Interrupt the run, and resume it."""
        self.hand.write(journal_entries.INTERRUPTED, signal="SIGINT")
        self.resume()

    def resume(self) -> None:
        """Take the run up again."""
        said = {"approval": "1" * 64, "approval_id": "2" * 32, "approver": "Ann", "how": "digest"}
        self.hand.write(journal_entries.RESUMED, **said, user="ann", session=None, document="0" * 64, revision=1)

    def replan(self) -> None:
        """Make the next revision."""
        course = self.hand.course
        completed, failed = course.step_numbers(states.COMPLETED), course.step_numbers(states.FAILED)
        revision = course.document.revision + 1
        entry = {"revision": revision - 1, "sha256": "0" * 64, "reason": "x"}
        history = [*course.document.metadata.model_dump(mode="json")["history"], entry]
        metadata = course.document.metadata.model_validate({"history": history})
        course.document = course.document.model_copy(update={"revision": revision, "metadata": metadata})
        said = {"reason": self.draw("", "It failed."), "completed": completed, "failed": failed}
        self.hand.write(
            journal_entries.REPLANNED, revision=revision, document="9" * 64, **said, user="ann", session=None
        )

    def stop(self) -> None:
        """End the run as failed."""
        self.hand.end("failed", self.draw("", "failure", "drift"))

    def ended(self) -> None:
        """Resume what failed, or roll it back."""
        if self.hand.course.status == states.FAILED and self.draw(True, False):
            self.resume()
            return
        steps = [step for step in self.hand.course.attempts if self.draw(True, False)]
        said = {"steps": steps, "automatic": "", "user": "ann", "session": None, "changes": [], "folders": []}
        self.hand.write(journal_entries.ROLLBACK, **said, undone_not=[])
        whole = self.draw(True, False)
        self.hand.write(journal_entries.ROLLED_BACK, steps=steps, restored=[], removed=[], whole=whole)


@settings(max_examples=25)
@given(st.data())
def test_any_course_of_a_run_has_a_record_that_holds_its_rules(data: st.DataObject) -> None:
    engine = Engine(data)
    for _ in range(data.draw(st.integers(0, 25))):
        engine.go()
        told = made(engine.hand)
        assert told.status == engine.hand.course.status
        course = engine.hand.course
        assert {each.id: each.status for each in told.steps} == {
            each: course.status_now(each) for each in course.status_of
        }
