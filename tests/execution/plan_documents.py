"""Execution plans for the tests, as plain data."""

from __future__ import annotations

from typing import Any

from execplan.core.documents.document_io import load_document, to_json_bytes
from execplan.execution.execution_plan import ExecutionPlan

PATCH = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-old\n+new\n"


def step(number: int, **fields: Any) -> dict[str, Any]:
    """A step that makes a file, or whatever the fields say."""
    step_fields: dict[str, Any] = {
        "number": number,
        "id": f"s{number}",
        "type": "create_file",
        "tool": "file.create",
        "description": f"Create {number}.txt",
        "target": f"{number}.txt",
        "content": "text\n",
        "risk": {"level": "LOW", "reasons": ["a new file"]},
    }
    step_fields.update(fields)
    return {name: value for name, value in step_fields.items() if value is not ...}


def command(number: int, **fields: Any) -> dict[str, Any]:
    """A step that runs a command."""
    runs = {
        "type": "execute_command",
        "tool": "shell.run",
        "description": "Run make all",
        "target": ...,
        "content": ...,
        "command": "make all",
        "argv": ["make", "all"],
    }
    return step(number, **{**runs, **fields})


def plan(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A plan with these steps; with one that makes a file and one that runs a command where there are none."""
    steps = steps or (step(1), command(2, depends_on=["s1"], risk={"level": "MEDIUM"}))
    order = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
    levels = [step_fields["risk"]["level"] for step_fields in steps]
    highest = max(levels, key=order.index)
    plan_fields: dict[str, Any] = {
        "schema": "execplan-execution-plan",
        "version": 1,
        "plan_id": "2026-01-01_parser",
        "description": "Build the parser",
        "intent": {"summary": "Build the parser", "category": "mixed", "risk_level": highest},
        "steps": list(steps),
    }
    return {**plan_fields, **fields}


def loaded(value: dict[str, Any]) -> ExecutionPlan:
    """The document that plain data makes."""
    return load_document(to_json_bytes(value), ExecutionPlan, "plan.json")
