"""The spans of any run: each step and attempt of its journal has exactly one in its session, and each is sent once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import event, given
from hypothesis import strategies as st

from execplan.core.clock import format_utc_timestamp
from execplan.core.timestamps import parse_utc_timestamp
from execplan.execution.engine.journal import journal_entries as kinds
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import AttemptResult, attempt_result_json
from execplan.execution.engine.telemetry.run_spans import build_spans, unsent_spans
from execplan.execution.engine.telemetry.trace_context import trace_of_run
from tests.execution.engine.execution_plans import BEGUN, file, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.execution.engine.telemetry.span_attributes import Span

STEPS = {document_step.id: document_step for document_step in plan(step("a"), step("b"), file("c", "src/c.py")).steps}
_CLOCK = 1767225600
_SECOND = 10**9


class SimulatedRun:
    """A run in several processes, each of which sends its spans when a session ends."""

    def __init__(self) -> None:
        self.entries: list[RunEntry] = []
        self.written_at: dict[int, int] = {}
        self.sent_spans: list[Span] = []
        self.clock = _CLOCK * _SECOND
        self.attempts: Counter[str] = Counter()
        self.open_attempts: list[tuple[str, int]] = []
        self.is_open = True
        self.write(kinds.BEGUN, **BEGUN)

    def write(self, kind: str, **fields: Any) -> None:
        """Add an entry, a third of a second after the last one."""
        self.clock += _SECOND // 3
        at = format_utc_timestamp(self.clock // _SECOND)
        self.entries.append(RunEntry(len(self.entries) + 1, kind, at, fields, ""))
        self.written_at[len(self.entries)] = self.clock

    def send(self) -> None:
        """End the process properly."""
        self.sent_spans += unsent_spans(self.entries, STEPS, self.written_at)
        self.written_at = {}

    def intent(self, name: str) -> None:
        """Begin an attempt."""
        self.attempts[name] += 1
        self.open_attempts.append((name, self.attempts[name]))
        self.write(kinds.INTENT, step=name, attempt=self.attempts[name], by="person", before={}, snapshot=False)

    def result(self, performed: AttemptResult) -> None:
        """End the attempt that began first."""
        name, number = self.open_attempts.pop(0)
        self.write(kinds.RESULT, step=name, attempt=number, **attempt_result_json(performed))
        if not performed.ok:
            self.write(kinds.RETAKEN, step=name, attempt=number, changes=[])

    def end_attempts(self) -> None:
        """End all attempts, as a loop does before it stops."""
        while self.open_attempts:
            self.result(AttemptResult(ok=True, exit=0, seconds=0.2))

    def resume(self, *, is_new_approval: bool = False) -> None:
        """Resume in a new process; attempts of a killed one are found to have ended."""
        approval = {"approval_id": f"{len(self.entries):032}"} if is_new_approval else {}
        self.write(kinds.RESUMED, **{**BEGUN, **approval})
        self.end_attempts()


def _act(run: SimulatedRun, action: str, name: str) -> None:
    """Let something happen in a run."""
    actions: dict[str, Callable[[], None]] = {
        "intent": lambda: run.intent(name),
        "result": lambda: run.result(AttemptResult(ok=True, exit=0)) if run.open_attempts else None,
        "failure": lambda: run.result(AttemptResult(False, "exit", "exit 3", 3)) if run.open_attempts else None,
        "skip": lambda: run.write(kinds.SKIPPED, step=name, reason="not needed"),
        "block": lambda: run.write(kinds.BLOCKED, step=name, reason="a failed"),
        "recover": lambda: run.write(kinds.RECOVERED, step=name, by="c"),
        "answer": lambda: run.write(kinds.ANSWERED, why="confirm", step=name, answer="go", seconds=0.1),
        "pause": lambda: _pause(run),
        "interrupt": lambda: _stop(run, kinds.INTERRUPTED, signal="SIGINT", seconds=1.0),
        "fail": lambda: _stop(run, kinds.ENDED, status="failed", cause="failure", reason="a failed", seconds=1.0),
        "kill": lambda: _kill(run),
        "rollback": lambda: _roll_back(run),
        "replan": lambda: _replan(run),
    }
    actions[action]()


def _stop(run: SimulatedRun, kind: str, **fields: Any) -> None:
    run.end_attempts()
    run.write(kind, **fields)
    run.send()
    run.resume(is_new_approval=kind == kinds.ENDED)


def _pause(run: SimulatedRun) -> None:
    run.end_attempts()
    run.write(kinds.PAUSED, why="checkpoint", step="a", question="continue?", seconds=1.0)
    run.send()
    run.resume()
    run.write(kinds.ANSWERED, why="checkpoint", step="a", answer="go")


def _kill(run: SimulatedRun) -> None:
    run.written_at = {}
    run.resume()


def _roll_back(run: SimulatedRun) -> None:
    run.end_attempts()
    run.write(kinds.ENDED, status="failed", cause="failure", reason="a failed", seconds=1.0)
    run.write(kinds.ROLLBACK, automatic="failure", **_ROLLBACK)
    run.write(kinds.ROLLED_BACK, steps=["a"], whole=False)
    run.send()
    run.write(kinds.ROLLBACK, automatic="", **_ROLLBACK)
    run.write(kinds.ROLLED_BACK, steps=["b"], whole=False)
    run.send()
    run.resume()


def _replan(run: SimulatedRun) -> None:
    """Request a revision: of a run that was interrupted, or whose process was killed."""
    if len(run.entries) % 2:
        run.end_attempts()
        run.write(kinds.INTERRUPTED, signal="SIGINT", seconds=1.0)
        run.send()
    else:
        run.written_at = {}
        run.end_attempts()
    run.write(kinds.REPLANNED, revision=2, document="0" * 64, reason="", completed=[], failed=[])
    run.write(kinds.PAUSED, why="approve", step=None, question="revision 2 needs approval")
    run.send()
    run.resume(is_new_approval=True)
    run.write(kinds.ANSWERED, why="approve", step=None, answer="go")


_ROLLBACK = {"steps": [], "changes": [], "folders": [], "undone_not": [], "whole": False, "user": "ann"}
_ACTIONS = "intent result failure skip block recover answer pause interrupt fail kill rollback replan".split()


@given(st.lists(st.tuples(st.sampled_from(_ACTIONS), st.sampled_from(sorted(STEPS))), max_size=30))
def test_each_attempt_and_each_step_has_its_spans(actions: list[tuple[str, str]]) -> None:
    run = SimulatedRun()
    for action, name in actions:
        _act(run, action, name)
    run.end_attempts()
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=9.0)
    run.send()
    all_spans = build_spans(run.entries, STEPS, {})
    by_id = {span.context.span_id: span for span in run.sent_spans}
    event(f"{len(all_spans) // 10 * 10} spans or more")

    assert len(by_id) == len(run.sent_spans), "none is sent twice"
    assert {span.context.span_id for span in all_spans} == set(by_id), "all are sent"
    begun = [(entry.fields["step"], entry.fields["attempt"]) for entry in run.entries if entry.kind == kinds.INTENT]
    attempts = [span for span in run.sent_spans if "execplan.attempt.number" in span.attributes]
    keys = [
        (span.attributes["cicd.pipeline.task.name"], span.attributes["execplan.attempt.number"]) for span in attempts
    ]
    assert sorted(begun) == sorted(map(tuple, keys))
    _check_parents(run, by_id, attempts)
    for span in run.sent_spans:
        assert _CLOCK * _SECOND <= span.start <= span.end <= run.clock + _SECOND
    answers = sum([entry.kind == kinds.ANSWERED and entry.fields["why"] != "approve" for entry in run.entries])
    assert sum([span.name.startswith("question ") for span in run.sent_spans]) == answers
    rollbacks = Counter(entry.kind for entry in run.entries)[kinds.ROLLED_BACK]
    assert sum([span.name == "rollback" for span in run.sent_spans]) == rollbacks


def _check_parents(run: SimulatedRun, by_id: dict[str, Span], attempts: list[Span]) -> None:
    """Check that each span has a parent of the right kind, which encloses it in time where both are one process's."""
    root = trace_of_run(run.entries[0].fields).session(1)
    sessions = [span for span in by_id.values() if span.kind == "SERVER"]
    assert [span.context for span in sessions if span.parent is None] == [root]
    assert all([span.parent in (None, root) for span in sessions])
    for span in attempts:
        assert span.parent is not None
        step_span = by_id[span.parent.span_id]
        assert step_span.name == span.attributes["cicd.pipeline.task.name"]
        assert step_span.start <= span.start <= span.end <= step_span.end
    steps = [span for span in by_id.values() if "execplan.step.status" in span.attributes]
    assert len({(span.parent, span.name) for span in steps}) == len(steps), "a step has one span in each session"
    for span in by_id.values():
        is_of_session = span in steps or span.name.split()[0] in ("rollback", "approval", "question")
        assert not is_of_session or span.parent in {session.context for session in sessions}
    for span in steps:
        assert span.parent is not None
        session = by_id[span.parent.span_id]
        assert session.start <= span.start <= span.end <= session.end


def test_the_times_of_another_process_are_those_of_its_entries() -> None:
    run = SimulatedRun()
    run.intent("a")
    run.result(AttemptResult(ok=True, exit=0))
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=1.0)
    exact = [span.start for span in build_spans(run.entries, STEPS, run.written_at)]
    rough = [span.start for span in build_spans(run.entries, STEPS, {})]
    assert rough == [start // _SECOND * _SECOND for start in exact]
    assert rough[0] == parse_utc_timestamp(run.entries[0].at) * _SECOND
    off_by_an_hour = {number: time + 3600 * _SECOND for number, time in run.written_at.items()}
    assert {span.start // _SECOND for span in build_spans(run.entries, STEPS, off_by_an_hour)} == {
        start // _SECOND for start in exact
    }


def test_an_attempt_of_a_killed_process_ends_with_its_session() -> None:
    run = SimulatedRun()
    run.intent("a")
    run.clock += 3600 * _SECOND
    run.write(kinds.RESUMED, **BEGUN)
    run.write(kinds.RETAKEN, step="a", attempt=1, changes=[])
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=1.0)
    killed, _, attempt, *_ = build_spans(run.entries, STEPS, {})
    assert (killed.attributes["execplan.run.status"], killed.attributes["error.type"]) == ("killed", "killed")
    assert (attempt.attributes["cicd.pipeline.task.run.result"], attempt.status.code) == ("error", "ERROR")
    assert attempt.end - attempt.start < _SECOND


def test_an_agents_run_is_one_session_although_it_waited() -> None:
    run = SimulatedRun()
    run.entries[0].fields["mode"] = "agent"
    run.intent("a")
    run.write(kinds.CALLED, step="a", attempt=1, tool="Bash", what="x", paths=[], session=None, asked=True)
    run.write(kinds.PAUSED, why="approve", step=None, question="revision 2 needs approval")
    assert build_spans(run.entries, STEPS, {}) == []
    run.clock += 60 * _SECOND
    run.resume(is_new_approval=True)
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=1.0)
    session, _, attempt, first_approval, second_approval = build_spans(run.entries, STEPS, {})
    assert session.attributes["execplan.run.mode"] == "agent"
    assert [(event.name, dict(event.attributes)) for event in attempt.events] == [
        ("execplan.agent_call", {"execplan.agent.tool": "Bash", "execplan.agent.asked": True})
    ]
    assert {first_approval.parent, second_approval.parent} == {session.context}
    assert second_approval.end - second_approval.start >= 59 * _SECOND


def test_without_the_step_of_another_revision_its_id_is_known() -> None:
    run = SimulatedRun()
    run.intent("gone")
    run.result(AttemptResult(ok=True, exit=0))
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=1.0)
    assert [span.name for span in build_spans(run.entries, STEPS, {})] == ["RUN parser", "gone", "attempt", "approval"]
    assert build_spans([], STEPS, {}) == unsent_spans([], STEPS, {}) == []


def test_a_revision_that_is_requested_between_sessions_is_no_session() -> None:
    run = SimulatedRun()
    run.write(kinds.INTERRUPTED, signal="SIGINT", seconds=1.0)
    run.write(kinds.REPLANNED, revision=2, document="0" * 64, reason="", completed=[], failed=[])
    run.write(kinds.PAUSED, why="approve", step=None, question="revision 2 needs approval")
    run.clock += 60 * _SECOND
    run.resume(is_new_approval=True)
    run.write(kinds.ENDED, status="completed", cause="", reason="", seconds=1.0)
    first, second, _, approval = build_spans(run.entries, STEPS, {})
    assert [first.name, second.name, approval.name] == ["RUN parser", "RUN parser", "approval"]
    assert approval.parent == first.context
    assert approval.end - approval.start >= 59 * _SECOND
