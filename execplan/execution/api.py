"""What a Python program uses of execution plans: made, read, revised, composed, and their states; docs/api.md shows it."""

from __future__ import annotations

from execplan.execution.compose import compose
from execplan.execution.create import create_execution_plan
from execplan.execution.document import load, to_bytes
from execplan.execution.imported import read as import_plan
from execplan.execution.model import ExecutionPlan, Level, Step, Type
from execplan.execution.progress import ExecutionState
from execplan.execution.record import Record, StepRecord
from execplan.execution.replan import ReplanRequest, replan
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
