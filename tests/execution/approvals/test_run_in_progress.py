"""A run that goes on: what it has done is shown as done, not judged, and no approval covers it a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.files.atomic_files import replace_if_unchanged
from execplan.execution.approvals import approved_plan
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_records.run_summary import find_active_run
from execplan.execution.permission import is_covered
from tests.execution.engine.scripted_run import begin_scripted_run, make_file
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```python {#api type=create_file target=src/made.py}
X = 1
```

```text {#drop type=delete_file target=src/old.py}
Nobody calls it.
```

```sh {#check inputs=src/other.py}
rm -f src/gone
```
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of three steps."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    repository.commit()
    return repository


def stopped(desk: InProcessRepository) -> Any:
    """A run whose first two steps are done, and whose third has failed."""
    scripted_run, run_paths = begin_scripted_run(desk)
    scripted_run.complete_step("api", make_file(desk, "src/made.py", "X = 1\n"))
    (desk.path / "src/old.py").unlink()
    scripted_run.complete_step("drop")
    scripted_run.fail_step("check")
    scripted_run.end("failed", "failure")
    return scripted_run, run_paths


def kinds_of(desk: InProcessRepository) -> list[str]:
    return [step["dry_run"]["kind"] for step in desk.data("evaluate")["steps"]]


def test_what_is_done_fails_no_evaluation(desk: InProcessRepository) -> None:
    assert kinds_of(desk) == ["exact", "exact", "unpredictable"]
    _, run_paths = stopped(desk)
    data = desk.data("evaluate")
    assert [step["dry_run"]["kind"] for step in data["steps"]] == ["done", "done", "unpredictable"]
    assert (data["run"], data["verdict"]) == (run_paths.id, "may continue once a person approves every step")
    assert data["risk"]["level"] == data["steps"][2]["risk"]["level"], "the done part adds no risk"
    text = desk.type("evaluate").out
    assert f"done by run {run_paths.id}" in text
    assert "X = 1" not in text, "nothing of it is to be read once more"
    assert desk.type("evaluate", "--format", "markdown").out.count("| done |") == 4


def test_an_approval_covers_what_is_left_and_binds_the_files_as_they_are(desk: InProcessRepository) -> None:
    _, run_paths = stopped(desk)
    approved = desk.type("approve", "--digest", desk.digest()[:8])
    assert "approved 1 step (check)" in approved.out
    assert "done, not run again: api, drop" in approved.out
    assert f"next: execplan resume {run_paths.number} -p 2026-01-01_parser" in approved.out
    project, ref = desk.project()
    approval = approved_plan.require_approved_plan(project, ref, run_id=run_paths.id).approval
    assert approval.steps == ("check",)
    assert not is_covered(approval.terms("MEDIUM"), "api", "LOW", inferred=False), (
        "what was not judged was not approved"
    )
    assert approval.binding.states["src/made.py"].kind == "file"
    assert approval.binding.states["src/old.py"].kind == "absent"
    desk.write("src/made.py", "X = 2\n")
    assert any("src/made.py: different content" in line for line in desk.drift())


def test_steps_that_are_named_are_no_others(desk: InProcessRepository) -> None:
    stopped(desk)
    assert desk.data("approve", "--digest", desk.digest(), "--step", "check")["steps"] == ["check"]
    desk.refused(1, "nothing-to-approve", "approve", "--digest", desk.digest(), "--max-risk", "LOW")


def test_a_run_that_is_over_or_rolled_back_has_done_nothing(desk: InProcessRepository) -> None:
    scripted_run, _ = stopped(desk)
    project, ref = desk.project()
    active_run = find_active_run(project, ref)
    assert active_run is not None
    assert active_run.finished_steps == {"api", "drop"}
    steps = {"steps": ["drop"], "automatic": "", "user": "ann", "session": None, "changes": [], "folders": []}
    scripted_run.write(journal_entries.ROLLBACK, **steps, undone_not=[], whole=True)
    assert find_active_run(project, ref) is None, "a rollback that was cut short is finished first"
    scripted_run.write(journal_entries.ROLLED_BACK, steps=["drop"], restored=[], removed=[], whole=False)
    active_run = find_active_run(project, ref)
    assert active_run is not None
    assert active_run.finished_steps == {"api"}, "what was rolled back is to be done once more"
    scripted_run.write(journal_entries.ROLLBACK, **steps, undone_not=[], whole=True)
    scripted_run.write(journal_entries.ROLLED_BACK, steps=["api", "drop"], restored=[], removed=[], whole=True)
    assert find_active_run(project, ref) is None
    assert desk.type("evaluate").exit == 1, "src/made.py is there, and src/old.py is not"


def test_another_document_than_that_of_the_run_is_judged_in_full(desk: InProcessRepository) -> None:
    stopped(desk)
    desk.plan(PLAN.replace("X = 1", "X = 2"))
    result = desk.type("evaluate")
    assert result.exit == 1
    assert "src/made.py already exists" in result.out


def test_a_journal_that_says_too_much_frees_nothing(desk: InProcessRepository) -> None:
    """Whoever can write to the repository can write that a step is done: then no approval covers it."""
    scripted_run, _ = begin_scripted_run(desk)
    scripted_run.complete_step("drop")
    scripted_run.end("failed", "failure")
    desk.approve()
    project, ref = desk.project()
    approval = approved_plan.require_approved_plan(project, ref).approval
    assert approval.steps == ("api", "check")


def test_a_document_of_the_run_that_was_edited_is_refused(desk: InProcessRepository) -> None:
    _, run_paths = stopped(desk)
    with open(run_paths.document, "rb") as file:
        data = file.read()
    replace_if_unchanged(run_paths.document, data, data.replace(b"src/made.py", b"src/evil.py"))
    assert desk.refused(6, "run-altered", "evaluate")["hint"]
