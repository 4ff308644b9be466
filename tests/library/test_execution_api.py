"""The Python API of the engine: what docs/reference/execution-plan-documents.md does not show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan import FinishedRun, Plan, RunObserver
from execplan.core.errors import ExecplanError
from execplan.library import execution_api
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from execplan.execution.engine.run_state import Question

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```python {#make type=create_file target=src/made.py}
X = 1
```

```python {#more type=create_file target=src/more.py confirm}
Y = 1
```
"""


class FixedAnswerObserver(RunObserver):
    """One who says the same to every question."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.questions: list[tuple[str, str]] = []

    def ask(self, question: Question) -> str | None:
        """The answer."""
        self.questions.append((question.why, question.step))
        return self.answer


def begin_run(desk: InProcessRepository, observer: RunObserver) -> FinishedRun:
    desk.plan(PLAN)
    desk.data("approve")
    return execution_api.run(Plan(*desk.project()), observer=observer)


def test_who_is_asked_lets_it_go_on(desk: InProcessRepository) -> None:
    observer = FixedAnswerObserver("go")
    finished = begin_run(desk, observer)
    assert (finished.status, finished.question, observer.questions) == ("completed", None, [("confirm", "more")])
    assert (desk.path / "src/more.py").exists()


def test_a_question_that_nobody_answers_is_answered_later(desk: InProcessRepository) -> None:
    plan = Plan(*desk.project())
    finished = begin_run(desk, RunObserver())
    assert finished.status == "in_progress"
    assert finished.question is not None
    assert (finished.question.why, finished.question.step) == ("confirm", "more")
    (summary,) = execution_api.runs(plan)
    assert (summary.id, summary.state, summary.done, summary.question) == (finished.run, "active", 1, finished.question)
    evaluated = execution_api.evaluate(plan)
    assert [step.dry_run.kind for step in evaluated.evaluation.steps] == ["done", "exact"]
    assert execution_api.resume(plan, "1", answer="go").status == "completed"
    record = execution_api.record(plan, finished.run)
    assert record is not None
    assert (record.status, record.completed_steps) == ("completed", (1, 2))


def test_a_revision_of_what_waits(desk: InProcessRepository) -> None:
    plan = Plan(*desk.project())
    begin_run(desk, RunObserver())
    new = '{"steps": [{"id": "other", "type": "create_file", "target": "src/other2.py", "content": "Z = 1\\n"}]}'
    revised = execution_api.replan(plan, reason="Another file.", information=new)
    assert (revised.revision, revised.completed_steps, [step.id for step in revised.document.steps]) == (
        2,
        ("make",),
        ["make", "other"],
    )
    desk.data("approve")
    assert execution_api.resume(plan).status == "completed"
    assert not (desk.path / "src/more.py").exists()
    undone = execution_api.rollback(plan, step="other")
    assert (undone.removed, undone.is_whole_run) == (("src/other2.py",), False)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (execution_api.run, "not-approved"),
        (execution_api.resume, "no-such-run"),
        (lambda plan: execution_api.replan(plan, reason="x"), "no-such-run"),
        (execution_api.rollback, "no-such-run"),
        (execution_api.record, "no-such-run"),
    ],
)
def test_what_is_refused(desk: InProcessRepository, call: Any, code: str) -> None:
    desk.plan(PLAN)
    with pytest.raises(ExecplanError) as caught:
        call(Plan(*desk.project()))
    assert caught.value.code == code
