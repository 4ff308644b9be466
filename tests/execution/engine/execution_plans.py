"""Execution plans made by hand, and what has come of their steps, without a disk."""

from __future__ import annotations

from typing import Any

from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import AttemptResult, attempt_result_json
from execplan.execution.engine.run_state import RunState
from execplan.execution.execution_plan import ExecutionPlan


def step(name: str, **fields: Any) -> dict[str, Any]:
    """A command; `strategy`, `retries`, `triggers` and `backoff` are those of its recovery."""
    recovery = {
        "strategy": fields.pop("strategy", "fail_fast"),
        "max_retries": fields.pop("retries", 0),
        "backoff_ms": fields.pop("backoff", 0),
        "triggers": fields.pop("triggers", ()),
    }
    when = fields.pop("when", None)
    if isinstance(when, str):
        kind, _, of = when.partition(":") if ":" in when else when.rpartition(".")[::-1]
        fields["when"] = {"kind": kind, "of": of}
    command = {"type": "execute_command", "tool": "shell.run", "command": "true", "argv": ["true"]}
    around = {"id": name, "description": name, "risk": {"level": "LOW"}, "on_failure": recovery}
    return {**({} if "type" in fields else command), **around, **fields}


def file(name: str, target: str, **fields: Any) -> dict[str, Any]:
    """A step that makes a file."""
    return step(name, type="create_file", tool="file.create", target=target, content="x\n", **fields)


def plan(*steps: dict[str, Any], **fields: Any) -> ExecutionPlan:
    """A document of steps."""
    numbered = [{**step_fields, "number": number} for number, step_fields in enumerate(steps, 1)]
    intent = {"summary": "try", "category": "commands", "risk_level": "LOW"}
    return ExecutionPlan.model_validate(
        {"plan_id": "parser", "description": "try", "intent": intent, "steps": numbered, **fields}
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


class RunRecorder:
    """A course, and what is written into it."""

    def __init__(self, document: ExecutionPlan) -> None:
        self.run_state = RunState(document)
        self.entries: list[RunEntry] = []
        self.write("begun", **BEGUN)

    def write(self, kind: str, **fields: Any) -> RunEntry:
        """Go on with an entry."""
        entry = RunEntry(len(self.entries) + 1, kind, "2026-01-01T00:00:00Z", fields, "")
        self.entries.append(entry)
        self.run_state.apply_entries([entry])
        return entry

    def run_step(self, name: str, performed: AttemptResult | None = None) -> None:
        """A step was run."""
        attempt = len(self.run_state.attempts.get(name, ())) + 1
        self.write("intent", step=name, attempt=attempt, by="policy", before={}, snapshot=False)
        self.write("result", step=name, attempt=attempt, **attempt_result_json(performed or AttemptResult(True)))

    def fail_step(self, name: str, cause: str = "exit", exit: int | None = 1) -> None:
        """A step was run and has failed."""
        self.run_step(name, AttemptResult(False, cause, f"it {cause}", exit))


def path_is_missing(path: str) -> bool:
    """Nothing is at any path."""
    return False
