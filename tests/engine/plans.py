"""Execution plans made by hand, and what has come of their steps, without a disk."""

from __future__ import annotations

from typing import Any

from execplan.engine.journal.journal import Entry
from execplan.engine.journal.journal_entries import AttemptResult, attempt_result_json
from execplan.engine.run_state import RunState
from execplan.execution.execution_plan import ExecutionPlan


def step(name: str, **said: Any) -> dict[str, Any]:
    """A command; `strategy`, `retries`, `triggers` and `backoff` are those of its recovery."""
    recovery = {
        "strategy": said.pop("strategy", "fail_fast"),
        "max_retries": said.pop("retries", 0),
        "backoff_ms": said.pop("backoff", 0),
        "triggers": said.pop("triggers", ()),
    }
    when = said.pop("when", None)
    if isinstance(when, str):
        kind, _, of = when.partition(":") if ":" in when else when.rpartition(".")[::-1]
        said["when"] = {"kind": kind, "of": of}
    command = {"type": "execute_command", "tool": "shell.run", "command": "true", "argv": ["true"]}
    around = {"id": name, "description": name, "risk": {"level": "LOW"}, "on_failure": recovery}
    return {**({} if "type" in said else command), **around, **said}


def file(name: str, target: str, **said: Any) -> dict[str, Any]:
    """A step that makes a file."""
    return step(name, type="create_file", tool="file.create", target=target, content="x\n", **said)


def plan(*steps: dict[str, Any], **said: Any) -> ExecutionPlan:
    """A document of steps."""
    numbered = [{**each, "number": number} for number, each in enumerate(steps, 1)]
    intent = {"summary": "try", "category": "commands", "risk_level": "LOW"}
    return ExecutionPlan.model_validate(
        {"plan_id": "parser", "description": "try", "intent": intent, "steps": numbered, **said}
    )


BEGUN: dict[str, Any] = {
    "run": "0001-00000000",
    "plan_id": "parser",
    "revision": 1,
    "document": "0" * 64,
    "approval": "0" * 64,
    "approval_id": "0" * 32,
    "approver": "Ann",
    "how": "digest",
    "user": "ann",
    "session": None,
    "policy": "",
    "sandbox": "",
    "jobs": 1,
    "chosen": None,
    "replays": None,
    "head": None,
    "states": {},
}


class Told:
    """A course, and what is written into it."""

    def __init__(self, document: ExecutionPlan) -> None:
        self.course = RunState(document)
        self.entries: list[Entry] = []
        self.write("begun", **BEGUN)

    def write(self, kind: str, **said: Any) -> Entry:
        """Go on with an entry."""
        entry = Entry(len(self.entries) + 1, kind, "2026-01-01T00:00:00Z", said, "")
        self.entries.append(entry)
        self.course.apply_entries([entry])
        return entry

    def ran(self, name: str, performed: AttemptResult | None = None) -> None:
        """A step was run."""
        attempt = len(self.course.attempts.get(name, ())) + 1
        self.write("intent", step=name, attempt=attempt, by="policy", before={}, snapshot=False)
        self.write("result", step=name, attempt=attempt, **attempt_result_json(performed or AttemptResult(True)))

    def failed(self, name: str, cause: str = "exit", exit: int | None = 1) -> None:
        """A step was run and has failed."""
        self.ran(name, AttemptResult(False, cause, f"it {cause}", exit))


def nowhere(path: str) -> bool:
    """Nothing is at any path."""
    return False
