"""What a Python program uses of execution plans: made, read, revised, composed, and their states; docs/api.md shows it."""

from __future__ import annotations

from execplan.execution.documents.document import load, to_bytes
from execplan.execution.making.compose import compose
from execplan.execution.making.create import create_execution_plan
from execplan.execution.making.imported import import_plan
from execplan.execution.making.replan import ExecutionState, ReplanRequest, replan
from execplan.execution.model import ExecutionPlan, Level, Step, Type
from execplan.execution.record import Record, StepRecord
from execplan.execution.states import advance

__all__ = [
    "ExecutionPlan",
    "ExecutionState",
    "Level",
    "Record",
    "ReplanRequest",
    "Step",
    "StepRecord",
    "Type",
    "advance",
    "compose",
    "create_execution_plan",
    "import_plan",
    "load",
    "replan",
    "to_bytes",
]
