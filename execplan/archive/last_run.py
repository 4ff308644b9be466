"""The last run of a plan, as its record among the plan's artifacts describes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.files import file_access

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.run_record import Record

_RUNS = "runs"
_RECORD = "record.json"
_MAX_BYTES = 64 << 20


def read_last_run(folder: str) -> dict[str, Any] | None:
    """Return the last run with its steps; None if no run has ended since, or if its record can't be read.

    `folder` is the directory of the plan's artifacts.
    """
    from execplan.plan_store import plan_store

    runs = os.path.join(folder, _RUNS)
    records = [
        record
        for name in (plan_store.list_entries(runs) if os.path.isdir(runs) else [])
        if (record := _read_record(os.path.join(runs, name, _RECORD))) is not None
    ]
    if not records:
        return None
    last = max(records, key=lambda record: (_run_number(record.run_id), record.started or ""))
    return _describe(last) if last.status in states.ENDED_RUN_STATES else None


def _run_number(run_id: str) -> int:
    number = run_id.partition("-")[0]
    return int(number) if number.isdecimal() else 0


def _read_record(path: str) -> Record | None:
    if not os.path.isfile(path) or os.path.islink(path):
        return None
    from execplan.execution.documents.document_io import load_document
    from execplan.execution.run_record import Record

    try:
        return load_document(file_access.read(path, _MAX_BYTES)[0], Record, path)
    except ExecplanError:
        return None


def _describe(record: Record) -> dict[str, Any]:
    return {
        "id": record.run_id,
        "status": record.status,
        "document": record.document,
        "approval": record.approval,
        "steps": [{"id": step.id, "status": step.status} for step in record.steps],
    }
