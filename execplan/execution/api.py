"""Public Python API for execution plans: create, read, revise and compose them, and their states."""

from __future__ import annotations

from execplan.execution.documents.document_io import load, to_bytes
from execplan.execution.execution_plan import ExecutionPlan, Level, Step, Type
from execplan.execution.importers.plan_import import import_plan
from execplan.execution.revision.agent_plan_creation import create_execution_plan
from execplan.execution.revision.composition import compose
from execplan.execution.revision.plan_revision import ExecutionState, ReplanRequest, replan
from execplan.execution.run_record import Record, StepRecord
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
