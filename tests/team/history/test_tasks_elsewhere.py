"""History of a plan without Progress: its tasks have events, wherever they are."""

from __future__ import annotations

from tests.conftest import Folder

PLAN = """# Parser Implementation Plan

**Goal:** Build a parser.

- [ ] Agree on the goal

### Task 1: Lexer

- [ ] **Step 1: Write the test**

```python
def test(): ...
```

- [ ] **Step 2: Run it**

## Decision Log

- Decision: One module
  Rationale: It is small.
  Date/Author: 2026-01-05 / Ann

## Validation

- [ ] All tests pass
"""
NAME = "2026-01-05_parser"


def events(repo: Folder) -> list[tuple[str, str]]:
    return [(event["kind"], event["text"]) for event in repo.ok("diff", "-p", NAME)["events"]]


def test_tasks_have_events_and_what_else_changed_is_counted_once(repo: Folder) -> None:
    path = f".agent/execplans/{NAME}.md"
    repo.write(path, PLAN)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "A plan")
    repo.ok("done", "2", "-p", NAME)
    repo.ok("reword", "1", "Agree on the aim", "-p", NAME)
    assert events(repo) == [("task-reworded", "Agree on the aim"), ("task-done", "**Step 1: Write the test**")]
    repo.ok("decide", "Two passes", "--why", "Clear", "-p", NAME)
    assert events(repo)[2:] == [("decision-added", "Two passes")]
    changed = (repo.path / path).read_text().replace("def test(): ...", "def test() -> None: ...")
    repo.write(path, changed.replace("- [ ] All tests pass", "- [x] All tests pass"))
    assert events(repo)[3:] == [
        ("section-changed", "(text before the sections)"),
        ("section-changed", "Validation"),
    ]
