"""What the tests of approvals share: a document, a world that is told, and terms that can be sealed."""

from __future__ import annotations

from typing import Any

from execplan.execution.approval_document import UnsignedApproval, key_id, to_bound_states
from execplan.execution.binding import Binding, binding_digest
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.world import ABSENT, FILE, Program, State

KEY = bytes(range(32))
EXISTING_FILE = State(FILE, "a" * 64, 0o644, "", 12)
STATES = {"src/app.py": EXISTING_FILE, "src/new.py": State(ABSENT)}


class FixedWorld:
    """A world whose states are told; what is not is absent."""

    def __init__(self, states: dict[str, State]) -> None:
        self.states = states

    def state(self, path: str) -> State:
        """What is told of a path."""
        return self.states.get(path, State(ABSENT))

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """No program is told of."""
        return Program()

    def code_file(self, path: str) -> Program:
        """No file with code is told of."""
        return Program()


def document(*steps: dict[str, Any], **fields: Any) -> ExecutionPlan:
    """An execution plan of these steps, each with an id and what sets it apart."""
    step_fields = [
        {
            "number": number,
            "id": f"s{number}",
            "type": "execute_command",
            "tool": "shell.run",
            "description": "Do it",
            "risk": {"level": "HIGH"},
        }
        | step
        for number, step in enumerate(steps, 1)
    ]
    plan_fields = {
        "plan_id": "p",
        "description": "A plan",
        "intent": {"summary": "A plan", "category": "mixed"},
    } | fields
    plan_fields["intent"] = {"risk_level": "HIGH"} | plan_fields["intent"]

    return ExecutionPlan.model_validate({**plan_fields, "steps": step_fields})


def binding(states: dict[str, State] | None = None, data: str = "b" * 64, policy: str = "c" * 64) -> Binding:
    """A binding of these parts."""
    states = STATES if states is None else states
    return Binding(binding_digest(data, states, policy), data, states, policy)


def terms(bound: Binding | None = None, **changed: Any) -> UnsignedApproval:
    """Terms of an approval, with what sets them apart."""
    bound = binding() if bound is None else bound
    return UnsignedApproval.model_validate(
        {
            "id": "d" * 32,
            "plan_id": "2026-01-01_parser",
            "revision": 1,
            "place": "e" * 64,
            "digest": bound.digest,
            "document": bound.document,
            "states": to_bound_states(bound),
            "policy": bound.policy,
            "approver": "Ann",
            "user": "ann",
            "approved_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "how": "digest",
            "key": key_id(KEY),
        }
        | changed
    )
