"""A run that goes on: what it has done is shown as done, not judged, and no approval covers it a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.approvals import approval_status
from execplan.engine.journal import journal_entries
from execplan.engine.run_records.run_summary import find_active_run
from execplan.execution.permission import is_covered
from execplan.files.atomic_files import replace
from tests.engine.hand import begun, make
from tests.repo.approving import Desk

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
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a plan of three steps."""
    made = Desk(tmp_path / "repo", monkeypatch)
    made.plan(PLAN)
    made.commit()
    return made


def stopped(desk: Desk) -> Any:
    """A run whose first two steps are done, and whose third has failed."""
    hand, place = begun(desk)
    hand.done("api", make(desk, "src/made.py", "X = 1\n"))
    (desk.path / "src/old.py").unlink()
    hand.done("drop")
    hand.failed("check")
    hand.end("failed", "failure")
    return hand, place


def kinds_of(desk: Desk) -> list[str]:
    return [each["dry_run"]["kind"] for each in desk.data("evaluate")["steps"]]


def test_what_is_done_fails_no_evaluation(desk: Desk) -> None:
    assert kinds_of(desk) == ["exact", "exact", "unpredictable"]
    _, place = stopped(desk)
    data = desk.data("evaluate")
    assert [each["dry_run"]["kind"] for each in data["steps"]] == ["done", "done", "unpredictable"]
    assert (data["run"], data["verdict"]) == (place.id, "It may go on once a person approves every step")
    assert data["risk"]["level"] == data["steps"][2]["risk"]["level"], "what is done adds no risk"
    text = desk.type("evaluate").out
    assert f"the run {place.id} has done it" in text
    assert "X = 1" not in text, "nothing of it is to be read once more"
    assert desk.type("evaluate", "--format", "markdown").out.count("| done |") == 4


def test_an_approval_covers_what_is_left_and_binds_the_files_as_they_are(desk: Desk) -> None:
    _, place = stopped(desk)
    shown = desk.type("approve", "--digest", desk.digest()[:8])
    assert "approved 1 step (check)" in shown.out
    assert "done, and not run again: api, drop" in shown.out
    assert f"next: execplan resume {place.id} -p 2026-01-01_parser" in shown.out
    project, ref = desk.project()
    given = approval_status.require_approved_status(project, ref, run_id=place.id).approval
    assert given is not None
    assert given.steps == ("check",)
    assert not is_covered(given.terms("MEDIUM"), "api", "LOW", inferred=False), "what was not judged was not approved"
    assert given.binding.states["src/made.py"].kind == "file"
    assert given.binding.states["src/old.py"].kind == "absent"
    desk.write("src/made.py", "X = 2\n")
    assert any("src/made.py: other bytes" in each for each in desk.drift())


def test_steps_that_are_named_are_no_others(desk: Desk) -> None:
    stopped(desk)
    assert desk.data("approve", "--digest", desk.digest(), "--step", "check")["steps"] == ["check"]
    desk.refused(1, "nothing-to-approve", "approve", "--digest", desk.digest(), "--max-risk", "LOW")


def test_a_run_that_is_over_or_rolled_back_has_done_nothing(desk: Desk) -> None:
    hand, _ = stopped(desk)
    project, ref = desk.project()
    found = find_active_run(project, ref)
    assert found is not None
    assert found.finished_steps == {"api", "drop"}
    steps = {"steps": ["drop"], "automatic": "", "user": "ann", "session": None, "changes": [], "folders": []}
    hand.write(journal_entries.ROLLBACK, **steps, undone_not=[], whole=True)
    assert find_active_run(project, ref) is None, "a rollback that was cut short is finished first"
    hand.write(journal_entries.ROLLED_BACK, steps=["drop"], restored=[], removed=[], whole=False)
    found = find_active_run(project, ref)
    assert found is not None
    assert found.finished_steps == {"api"}, "what was rolled back is to be done once more"
    hand.write(journal_entries.ROLLBACK, **steps, undone_not=[], whole=True)
    hand.write(journal_entries.ROLLED_BACK, steps=["api", "drop"], restored=[], removed=[], whole=True)
    assert find_active_run(project, ref) is None
    assert desk.type("evaluate").exit == 1, "src/made.py is there, and src/old.py is not"


def test_another_document_than_that_of_the_run_is_judged_in_full(desk: Desk) -> None:
    stopped(desk)
    desk.plan(PLAN.replace("X = 1", "X = 2"))
    result = desk.type("evaluate")
    assert result.exit == 1
    assert "src/made.py is there already" in result.out


def test_a_journal_that_says_too_much_frees_nothing(desk: Desk) -> None:
    """Whoever can write to the repository can write that a step is done: then no approval covers it."""
    hand, _ = begun(desk)
    hand.done("drop")
    hand.end("failed", "failure")
    desk.approve()
    project, ref = desk.project()
    given = approval_status.require_approved_status(project, ref).approval
    assert given is not None
    assert given.steps == ("api", "check")


def test_a_document_of_the_run_that_was_edited_is_refused(desk: Desk) -> None:
    _, place = stopped(desk)
    with open(place.document, "rb") as file:
        data = file.read()
    replace(place.document, data, data.replace(b"src/made.py", b"src/evil.py"))
    assert desk.refused(6, "run-altered", "evaluate")["hint"]
