"""The Python API of the engine: what docs/api.md does not show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan import FinishedRun, Plan, RunObserver
from execplan.errors import ExecplanError
from execplan.library import execution_api

if TYPE_CHECKING:
    from execplan.engine.run_state import Question
    from tests.repo.approving import Desk

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


class Asked(RunObserver):
    """One who says the same to every question."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.heard: list[tuple[str, str]] = []

    def ask(self, question: Question) -> str | None:
        """The answer."""
        self.heard.append((question.why, question.step))
        return self.answer


def begun(desk: Desk, watch: RunObserver) -> FinishedRun:
    desk.plan(PLAN)
    desk.data("approve")
    return execution_api.run(Plan(*desk.project()), observer=watch)


def test_who_is_asked_lets_it_go_on(desk: Desk) -> None:
    watch = Asked("go")
    finished = begun(desk, watch)
    assert (finished.status, finished.question, watch.heard) == ("completed", None, [("confirm", "more")])
    assert (desk.path / "src/more.py").exists()


def test_a_question_that_nobody_answers_is_answered_later(desk: Desk) -> None:
    plan = Plan(*desk.project())
    finished = begun(desk, RunObserver())
    assert finished.status == "in_progress"
    assert finished.question is not None
    assert (finished.question.why, finished.question.step) == ("confirm", "more")
    (summary,) = execution_api.runs(plan)
    assert (summary.id, summary.state, summary.done, summary.question) == (finished.run, "active", 1, finished.question)
    found = execution_api.evaluate(plan)
    assert [each.dry_run.kind for each in found.evaluation.steps] == ["done", "exact"]
    assert execution_api.resume(plan, "1", answer="go").status == "completed"
    told = execution_api.record(plan, finished.run)
    assert told is not None
    assert (told.status, told.completed_steps) == ("completed", (1, 2))


def test_a_revision_of_what_waits(desk: Desk) -> None:
    plan = Plan(*desk.project())
    begun(desk, RunObserver())
    new = '{"steps": [{"id": "other", "type": "create_file", "target": "src/other2.py", "content": "Z = 1\\n"}]}'
    made = execution_api.replan(plan, reason="Another file.", information=new)
    assert (made.revision, made.completed_steps, [step.id for step in made.document.steps]) == (
        2,
        ("make",),
        ["make", "other"],
    )
    desk.data("approve")
    assert execution_api.resume(plan).status == "completed"
    assert not (desk.path / "src/more.py").exists()
    undone = execution_api.rollback(plan, step="other")
    assert (undone.removed, undone.whole) == (("src/other2.py",), False)


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
def test_what_is_refused(desk: Desk, call: Any, code: str) -> None:
    desk.plan(PLAN)
    with pytest.raises(ExecplanError) as caught:
        call(Plan(*desk.project()))
    assert caught.value.code == code
