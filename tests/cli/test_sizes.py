"""Every command in repositories of all sizes: its exit status is one of the table, and what is for people stays short.

`EXECPLAN_SIZES="1000 10000"` tries these sizes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.cli.commands import COMMANDS
from execplan.team.review.comment_threads import CommentRecord
from tests.cli.test_contract import CALLS, MAKES
from tests.plans import with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder, Result

SIZES = [int(size) for size in os.environ.get("EXECPLAN_SIZES", "0 1 2 100 101").split()]
STATUSES = range(9)
NAME = "2026-01-01_parser"
MOVES = ("archive", "restore", "rename", "drop")
"""Commands after which the plan has another place."""
ORDER = [*[command for command in COMMANDS if command not in MOVES], *MOVES]
LISTS = ("board", "changes", "graph", "index", "list", "log", "review", "schema", "show", "status", "sync")
"""Commands that print everything that there is."""
READABLE = 32_000
"""Bytes that the others print at most."""


def write_plans(repo: Folder, size: int) -> None:
    """Write plans with a step each."""
    for number in range(size):
        text = with_sections(MAKES).replace("Build the parser", f"Build parser {number}", 1)
        repo.plan(text, f"{NAME}-{number}" if number else NAME)


def write_contents(repo: Folder, size: int) -> None:
    """Write a plan with as many tasks, entries of each kind, comments and artifacts."""
    numbers = range(size)
    sections = {
        "Progress": "".join([f"- [{' x'[at % 2]}] Build part {at}.\n" for at in numbers]),
        "Surprises & Discoveries": "".join([f"- Observation: Line {at} is lost.\n  Evidence: log\n" for at in numbers]),
        "Decision Log": "".join(
            [f"- Decision: Read {at}.\n  Rationale: It is a line.\n  Date/Author: 2025-12-30 / Ann\n" for at in numbers]
        ),
        "Outcomes & Retrospective": "\n\n".join([f"Lines of form {at} can be read." for at in numbers]),
    }
    repo.plan(with_sections("".join([f"## {title}\n\n{body}\n" for title, body in sections.items()]) + MAKES))
    artifacts = f".agent/execplans/artifacts/{NAME}"
    for at in numbers:
        repo.write(f"{artifacts}/{at}.log", f"{at} passed\n")
    comments = [CommentRecord(f"c{at:012}", "comment", "2025-12-31T10:00:00Z", "Bob", f"Is {at} it?") for at in numbers]
    repo.write(f"{artifacts}/comments.jsonl", "".join([comment.to_line() for comment in comments]))


def problem(command: str, result: Result, *, as_json: bool) -> str:
    """What is wrong with the result of a command."""
    if result.exit not in STATUSES or "Traceback" in result.err:
        return f"exit {result.exit}: {result.err}{result.out}"
    if as_json:
        is_answer = not result.out or result.json["ok"] is (
            result.exit == 0
        )  # `mcp`, `lsp` and `guard` may print nothing
        return "" if is_answer else f"exit {result.exit}: {result.out[:500]}"
    length = len(result.err) + (0 if command in LISTS else len(result.out))
    return f"{length} bytes: {result.err[:500]}{result.out[:500]}" if length > READABLE else ""


@pytest.mark.parametrize("size", [pytest.param(size, marks=[pytest.mark.exhaustive] * (size != 2)) for size in SIZES])
@pytest.mark.parametrize("kind", ["plans", "contents"])
def test_any_size(repo: Folder, kind: str, size: int) -> None:
    """The commands follow each other, so that those that write grow what there is by some."""
    (write_plans if kind == "plans" else write_contents)(repo, size)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "Plans")
    plan = NAME if kind == "contents" else ""
    forms = [(), ("--json",)] if size > 100 else [(), ("--json",)][size % 2 :][:1]
    problems = []
    for command in ORDER:
        for form in forms:
            call = ["approve"] if command == "approve" else CALLS[command]
            result = repo.run(*call, *form, EXECPLAN_PLAN=plan)
            if wrong := problem(command, result, as_json=bool(form)):
                problems.append(f"{' '.join([*call, *form])}: {wrong}")
    assert problems == []


def test_all_commands_are_called() -> None:
    assert set(ORDER) == set(COMMANDS) == set(CALLS)


def test_what_was_written_is_named_and_not_repeated(repo: Folder) -> None:
    """A writer, undo and redo of it, and the history print enough of a text of 20,000 characters to recognize it."""
    repo.plan(with_sections("## Progress\n\n- [ ] One.\n\n## Notes\n\nNone.\n"))
    writers = "add T|add T|done 2|done 2|reopen 2|decide T --why w|discover T --evidence e|outcome T|note T|reword 2 T"
    for command in f"{writers}|undo|redo|undo --list|log".split("|"):
        result = repo.run(*["Word " * 4_000 if word == "T" else word for word in command.split()])
        assert (result.exit, result.out != "") == (0, True), (command, result)
        assert max(map(len, result.out.splitlines())) < 250, (command, result)
