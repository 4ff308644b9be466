"""What a run may begin and what the guard allows an agent are one: the engine's own loop is asked beside the guard."""

from __future__ import annotations

import os
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from execplan.agents.guard.guard_context import context_from_grant
from execplan.agents.guard.guard_decision import decide
from execplan.agents.guard.tool_call import COMMAND, ToolCall
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.execution.attributes import LEVELS
from execplan.execution.engine import run_questions
from execplan.execution.engine.agent_runs.guard_grant import GrantedStep, GuardGrant
from execplan.execution.engine.attempt_pool import AttemptPool
from execplan.execution.engine.commands.stop_signal import SignalHandlers
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.run_loop import RunLoop
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_permission import issue_permit
from execplan.execution.permission import ALLOW, ASK, DENY, ApprovalTerms
from execplan.execution.policy import Policy
from tests.conftest import Folder
from tests.execution.engine.execution_plans import BEGUN, plan, step
from tests.execution.engine.fakes import (
    AnsweringObserver,
    FakeRunContext,
    FakeStopSignal,
    MemoryJournal,
    ScriptedExecutor,
    failed_result,
)

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from execplan.execution.engine.stop_reasons import StopReason
    from execplan.execution.execution_plan import ExecutionPlan, Step

FAR_SECONDS = 10_000_000
STRATEGIES = ("fail_fast", "retry", "skip", "ask", "replan")


class Drawn(SimpleNamespace):
    """A document, what was approved of it, and what comes of its steps."""

    document: ExecutionPlan
    levels: dict[str, str]
    terms: ApprovalTerms
    interval: int
    outcomes: dict[str, list[AttemptResult]]
    answers: dict[str, str | None]


@st.composite
def runs(draw: st.DrawFn) -> Drawn:
    names = [f"s{at}" for at in range(1, draw(st.integers(1, 6)) + 1)]
    steps = [_step(draw, at, names) for at in range(len(names))]
    try:
        document = plan(*steps, constraints={"require_sequential": draw(st.booleans())})
    except ExecplanError:  # a step that stands in for one that it needs
        reject()
    results = st.lists(
        st.sampled_from((AttemptResult(True), AttemptResult(True), failed_result())), min_size=1, max_size=3
    )
    return Drawn(
        document=document,
        levels={name: draw(st.sampled_from(LEVELS)) for name in names},
        terms=_terms(draw, names)
        if draw(st.booleans())
        else ApprovalTerms("digest", None, None, True, 0, clock.epoch_seconds() + FAR_SECONDS, "LOW"),
        interval=draw(st.sampled_from((10, 10, 2, 1))),
        outcomes={name: draw(results) for name in names},
        answers={
            "checkpoint": draw(st.sampled_from(("go", "go", "stop", None))),
            "confirm": draw(st.sampled_from(("go", "go", "skip", "stop", None))),
            "failed": draw(st.sampled_from(("again", "skip", "stop", None))),
        },
    )


def _terms(draw: st.DrawFn, names: list[str]) -> ApprovalTerms:
    now = int(clock.epoch_seconds())
    return ApprovalTerms(
        draw(st.sampled_from(("digest", "terminal", "policy"))),
        draw(st.sampled_from((None, *reversed(LEVELS)))),
        draw(st.none() | st.lists(st.sampled_from(names), unique=True).map(tuple)),
        draw(st.booleans()),
        now + draw(st.sampled_from((-FAR_SECONDS, -FAR_SECONDS, -FAR_SECONDS, -FAR_SECONDS, FAR_SECONDS))),
        now + draw(st.sampled_from((FAR_SECONDS, FAR_SECONDS, FAR_SECONDS, FAR_SECONDS, -1))),
        draw(st.sampled_from((*LEVELS, "NEVER"))),
    )


def _step(draw: st.DrawFn, at: int, names: list[str]) -> dict[str, Any]:
    earlier, later = names[:at], names[at + 1 :]
    strategy = draw(st.sampled_from((*STRATEGIES, *[f"alternative:{name}" for name in later[:2]])))
    fields: dict[str, Any] = {"strategy": strategy, "retries": draw(st.integers(1, 2)) if strategy == "retry" else 0}
    if earlier:
        fields["depends_on"] = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2))
        kinds = st.sampled_from(("succeeded", "failed", "skipped"))
        fields["when"] = draw(st.none() | st.none() | st.builds("{}.{}".format, st.sampled_from(earlier), kinds))
    if fields.get("when") is None:
        fields["when"] = draw(
            st.sampled_from((None, None, None, "exists:README.md", "missing:README.md", "exists:none"))
        )
    if fields["when"] is None:
        del fields["when"]
    flags = {name: True for name in ("confirm", "checkpoint") if draw(st.integers(0, 4)) == 3}
    flags["inferred"] = draw(st.booleans())
    command = f"make {names[at]}"
    return {**step(names[at], **fields, **flags), "command": command, "argv": command.split()}


class GuardCheckedPool(AttemptPool):
    """The attempts of a run; before each the guard is asked about the call of every step."""

    told: Any
    compared = 0

    def begin(self, step: Step) -> None:
        """Begin an attempt, where the guard would allow the call just as well."""
        guard_kinds = self.told.guarded()
        self.told.compare(guard_kinds, step)
        try:
            super().begin(step)
        except ExecplanError:
            assert guard_kinds[step.id] == DENY, (step.id, guard_kinds)
            raise
        assert guard_kinds[step.id] == ALLOW, (step.id, guard_kinds)


class EngineAndGuard:
    """A leg of a run by the engine's own loop, and the guard beside it."""

    def __init__(self, project: Project, drawn: Drawn) -> None:
        self.project, self.drawn, self.paper = project, drawn, MemoryJournal()
        document = drawn.document
        self.schedule = Schedule(document, None, self.path_exists)
        self.permit = issue_permit(drawn.terms, drawn.levels, self.schedule.order, drawn.interval, self.path_exists)
        self.run_state, self.begun = RunState(document), 0
        stub: Any = SimpleNamespace(append_entries=lambda run, entries: None, redact_value=lambda value: value)
        paper: Any = self.paper
        journal_writer = JournalWriter(
            "0001-00000000", paper, self.run_state, stub, stub, AnsweringObserver(**drawn.answers)
        )
        journal_writer.write("begun", **{**BEGUN, "mode": "agent"})
        context: Any = FakeRunContext(
            stop=FakeStopSignal(), deadline=monotonic() + 60, policy=Policy(checkpoint_interval=drawn.interval)
        )
        stop: Any = context.stop
        self.error: ExecplanError | None = None
        with (
            GuardCheckedPool(context, journal_writer, ScriptedExecutor(drawn.outcomes), self.permit, 1) as attempts,
            SignalHandlers(stop, attempts.wake) as signals,
        ):
            attempts.told = self  # type: ignore[attr-defined] # `with` gives what it enters as its base
            self.loop = RunLoop(attempts, self.schedule, Prompter(journal_writer, signals))
            self.stop_reason: StopReason | None = None
            try:
                self.stop_reason = self.loop.run_until_stopped()
            except ExecplanError as error:
                self.error = error

    def path_exists(self, path: str) -> bool:
        """Whether something is at a path."""
        return os.path.lexists(os.path.join(self.project.root, path))

    def guarded(self) -> dict[str, str]:
        """What the guard says of the very call of each step, as the journal stands."""
        document = self.drawn.document.model_dump()
        grant = GuardGrant(
            plan="parser",
            path="",
            run="0001-00000000",
            folder="",
            working="",
            home=self.project,
            revision=1,
            document="0" * 64,
            steps=tuple([GrantedStep(planned, self.drawn.levels[planned["id"]], "") for planned in document["steps"]]),
            constraints=document["constraints"],
            terms=self.drawn.terms,
            interval=self.drawn.interval,
            reads="inside",
            tools=(),
            commits=(),
            hidden=(),
            witnesses={},
        )
        context, moment = context_from_grant(grant, self.paper.entries), clock.epoch_seconds()
        calls = {
            planned.id: ToolCall(COMMAND, "Bash", self.project.root, command=planned.command or "")
            for planned in self.drawn.document.steps
        }
        return {name: decide(call, context, moment).kind for name, call in calls.items()}

    def compare(self, guard_kinds: dict[str, str], begun: Step) -> None:
        """Of every other step, the engine's answer if it were the one that has its turn, and the guard's."""
        self.begun += 1
        candidates = self.schedule._candidates(self.run_state, self.schedule.order.pending_alternatives(self.run_state))
        turn = {candidate.id for candidate in candidates} | set(self.loop._retry_times) | {begun.id}
        for planned in self.drawn.document.steps:
            assert guard_kinds[planned.id] == (self.engine(planned) if planned.id in turn else DENY), (
                planned.id,
                guard_kinds,
                self.paper.entries,
            )

    def engine(self, step: Step) -> str:
        """What the engine does of a step that has its turn: begin it, ask before, or not begin it."""
        if self.schedule.skip_reason(step, self.run_state):
            return DENY
        try:
            self.permit.begin(step, self.run_state)
        except ExecplanError:
            return DENY
        asks = run_questions.checkpoint_question(self.run_state, self.drawn.interval) or run_questions.confirm_question(
            self.run_state, step
        )
        return ASK if asks else ALLOW


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = Folder(tmp_path_factory.mktemp("same") / "repo")
    folder.path.mkdir()
    folder.git("init", "-q")
    folder.write("README.md", "# A project\n")
    folder.plan()
    return project_discovery.find(str(folder.path))


@settings(max_examples=120)
@given(drawn=runs())
def test_a_run_may_begin_what_the_guard_allows_and_nothing_else(project: Project, drawn: Drawn) -> None:
    both = EngineAndGuard(project, drawn)
    if both.stop_reason is not None and both.stop_reason.kind == "done":
        assert set(both.guarded().values()) == {DENY}
