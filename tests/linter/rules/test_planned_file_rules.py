"""EP411: what a plan says of files, before the work begins and after it."""

from __future__ import annotations

import pytest

from execplan.linter.rule_facts import ENDS, HAS, RepositoryTree
from execplan.linter.runner import RuleContext
from tests.linter.single_rule import findings

THERE = ("src", "src/reader.py", "tests/test_reader.py", "docs")
OPEN = "## Progress\n\n- [ ] Write it\n\n"
STARTED = "## Progress\n\n- [x] Read it\n- [ ] Write it\n\n"
COMPLETE = "## Progress\n\n- [x] Write it\n\n"


def messages(text: str, *, archived: bool = False) -> list[str]:
    def answer(kind: str, subject: str) -> bool:
        assert kind in (HAS, ENDS)
        return subject in THERE or (kind == ENDS and any(path.endswith(f"/{subject}") for path in THERE))

    context = RuleContext(is_archived=archived, tree=RepositoryTree(answer))
    return [finding.message for finding in findings("EP411", f"# Plan\n\n{text}\n", context)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("- Create: `src/reader.py`", "creates src/reader.py, but it is already there"),
        ("- **Create:** `src/reader.py:12`", "creates src/reader.py, but it is already there"),
        ("1. Create `src/reader.py` with one function", "creates src/reader.py, but it is already there"),
        ("The reader is `src/reader.py` (new).", "creates src/reader.py, but it is already there"),
        ("- Extend `src/raeder.py`", "changes src/raeder.py, but it is not there"),
        ("- Delete: `docs/old.md`", "deletes docs/old.md, but it is not there"),
    ],
)
def test_before_the_work_begins(line: str, problem: str) -> None:
    assert messages(OPEN + line) == [f"the plan {problem}"]
    assert messages(STARTED + line) == messages(OPEN + line, archived=True) == messages(line) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("- Create: `src/writer.py`", "creates src/writer.py, but it is not there although all tasks are done"),
        ("- Remove `src/reader.py`", "deletes src/reader.py, but it is still there although all tasks are done"),
    ],
)
def test_after_the_work(line: str, problem: str) -> None:
    assert messages(COMPLETE + line) == [f"the plan {problem}"]
    assert messages(STARTED + line) == messages(COMPLETE + line, archived=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "- Create: `src/writer.py`\n- Modify: `src/reader.py`\n- Delete `src/reader.py`",
        "- Create: `src/writer.py`\n- Modify: `src/writer.py`",
        "- Modify: `other/repository/file.py`",
        "- Remove `src/gone.py`'s class",
        "- Create `src/` and `docs/`",
        "```\n- Create: `src/reader.py`\n```",
        "We create the reader in `src/reader.py`.",
    ],
)
def test_what_is_no_contradiction(text: str) -> None:
    assert messages(OPEN + text) == []


def test_files_with_the_same_contradiction_are_one_finding() -> None:
    text = "- Create: `src/reader.py`\n- Test: Create `tests/test_reader.py`\n- Create `tests/test_reader.py`"
    assert messages(OPEN + text) == ["the plan creates src/reader.py, but it is already there and 1 more"]
    assert messages(COMPLETE + "- Create `tests/lib/reader.py`\n- Create `lib/test_reader.py`") == [
        "the plan creates tests/lib/reader.py, but it is not there although all tasks are done and 1 more"
    ]
