"""Which task of Progress an inferred step completes, and where that is not sure enough."""

from __future__ import annotations

import pytest

from execplan.core.documents.document_io import document_bytes
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Text
from execplan.execution.compile import compile_plan, find_plan_steps


def plan_of(tasks: str, steps: str) -> ParsedPlan:
    progress = "\n".join([f"- [ ] {task}" for task in tasks.split("\n")])
    return read_text(Text.from_str(f"# T\n\n## Progress\n\n{progress}\n\n## Concrete Steps\n\n{steps}\n"))


def bound_tasks(tasks: str, steps: str) -> dict[str, str]:
    """The task of each command that has one."""
    drafts = find_plan_steps(plan_of(tasks, steps)).drafts
    assert drafts, "no step was found at all"
    return {draft.command: draft.attributes["task"] for draft in drafts if "task" in draft.attributes}


SED = "sed -i 's/1/2/' src/f.py"
BOUND = {
    "the command": ("Run `make test`.\nRest", "    make test", {"make test": "Run `make test`."}),
    "the command, bare": ("Run make test\nRest", "    make test", {"make test": "Run make test"}),
    "a command in its directory": (
        "Run `cd web && npm test`",
        "In `web/`:\n\n    npm test",
        {"npm test": "Run `cd web && npm test`"},
    ),
    "several commands": (
        "Run the gates: `make a`, `make b`.",
        "    make a\n\nThen:\n\n    make b",
        {"make a": "Run the gates: `make a`, `make b`.", "make b": "Run the gates: `make a`, `make b`."},
    ),
    "the file": ("Change f to return 2 in `src/f.py`", f"    {SED}", {SED: "Change f to return 2 in `src/f.py`"}),
    "the file is deleted": ("Delete src/f.py.", "    rm src/f.py", {"rm src/f.py": "Delete src/f.py."}),
    "the same words above": (
        "Check the parser\nRest",
        "Then check the parser:\n\n    ./p.sh -x",
        {"./p.sh -x": "Check the parser"},
    ),
    "the same words and a colon": ("Say hello", "Say hello:\n\n    ./h.sh -x", {"./h.sh -x": "Say hello"}),
    "the same words in an item": (
        "Build the docs",
        "1. Build the docs:\n\n       make html",
        {"make html": "Build the docs"},
    ),
    "the same heading": (
        "Run the program",
        "### Run the program\n\n    python3 a.py",
        {"python3 a.py": "Run the program"},
    ),
    "the number": ("Milestone 2: rename f", "### Milestone 2\n\n    mv f g", {"mv f g": "Milestone 2: rename f"}),
    "the kind": ("Run all tests\nBuild it well", "    cargo test", {"cargo test": "Run all tests"}),
    "the kind, all steps": (
        "Run the tests",
        "    cargo test\n    pytest",
        {"cargo test": "Run the tests", "pytest": "Run the tests"},
    ),
}


@pytest.mark.parametrize("name", BOUND)
def test_bound(name: str) -> None:
    tasks, steps, expected = BOUND[name]
    assert bound_tasks(tasks, steps) == expected


UNBOUND = {
    "it asks for more": ("Run `make test` and the smoke test on a phone.", "    make test"),
    "it asks for a change": ("Write the parser so that `make test` passes.", "    make test"),
    "it asks for a change, below the same words": ("Write the parser", "Write the parser:\n\n    make test"),
    "it asks to record": ("Run `make test` and record the result", "    make test"),
    "one of its commands is no step": ("Run `make a` and `make b`.", "    make a"),
    "two tasks name the command": ("Run `make test`.\nRun `make test` again.", "    make test"),
    "two tasks of that text": ("Run `make test`.\nRun `make test`.", "    make test"),
    "two tasks of that number": ("Milestone 2: rename f\nMilestone 2: move g", "### Milestone 2\n\n    mv f g"),
    "a milestone that is only tested": ("Milestone 2: the parser", "### Milestone 2\n\n    make test"),
    "two tasks of that kind": ("Run unit tests\nRun all tests", "    cargo test"),
    "another file": ("Change `src/f.py` and `src/g.py`", f"    {SED}"),
    "a file that is only read": ("Review `src/f.py`", f"    {SED}"),
    "tests beside the change": ("Change `src/f.py` and test it", f"    {SED}"),
    "another test is left to a person": ("Run the tests", "    pytest\n\nIf needed:\n\n    cargo test"),
    "another command of the milestone is left": (
        "Milestone 2: rename f",
        "### Milestone 2\n\n    mv f g\n\nIn a second terminal:\n\n    make other",
    ),
    "a heading of the same words": ("The parser", "### The parser\n\n    make test"),
    "other words": ("Deploy the service", "    make test"),
}


@pytest.mark.parametrize("name", UNBOUND)
def test_left_unbound(name: str) -> None:
    assert bound_tasks(*UNBOUND[name]) == {}


def test_a_tick_changes_no_document() -> None:
    plan = plan_of("Run `make test`.\nMore", "    make test")
    ticked = read_text(Text.from_str(plan.text.to_str().replace("[ ] Run", "[x] (2026-01-02 10:00Z) Run")))
    documents = [compile_plan(version, "t", "t.md").document for version in (plan, ticked)]
    assert documents[0] is not None
    assert documents[1] is not None
    assert documents[0].steps[0].task == "Run `make test`."
    assert document_bytes(documents[0]) == document_bytes(documents[1])


def test_a_task_of_a_written_step_keeps_its_name_and_its_other_steps() -> None:
    fence = '```sh {#a task="the gates"}\nmake a\n```\n\n    make b'
    assert bound_tasks("Run the gates: `make a`, `make b`.", fence) == {"make a": "the gates", "make b": "the gates"}


def test_a_task_whose_work_a_written_step_does_unsaid_is_left_alone() -> None:
    assert bound_tasks("Run `make a`, `make b`.", "```sh {#a}\nmake a\n```\n\n    make b") == {}


def test_a_text_that_hides_a_character_stops_no_compile() -> None:
    assert bound_tasks("Run `make test`\u200b.", "    make test") == {}
