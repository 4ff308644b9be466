"""The last run of a plan, as its record among the plan's artifacts describes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.execution import states

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.run_record import Record

_RUNS = "runs"
_RECORD = "record.json"
_JOURNAL = "journal.jsonl"
_MAX_BYTES = 64 << 20


def read_last_run(folder: str) -> dict[str, Any] | None:
    """Return the last run with its steps; None if it has not ended, or if its record can't be read.

    `folder` is the directory of the plan's artifacts.
    """
    from execplan.core.plan_store import plan_store

    runs = os.path.join(folder, _RUNS)
    names = plan_store.list_entries(runs) if os.path.isdir(runs) else []
    records = {name: _read_record(os.path.join(runs, name, _RECORD)) for name in names}
    readable = [record for record in records.values() if record is not None]
    if not readable:
        return None
    last = max(readable, key=lambda record: (_run_number(record.run_id), record.started or ""))
    later_names = [name for name in names if _run_number(name) > _run_number(last.run_id)]
    if any([_has_begun(os.path.join(runs, name, _JOURNAL)) for name in later_names]):  # it was killed: it has no record
        return None
    return _describe(last) if last.status in states.ENDED_RUN_STATES else None


def _run_number(run_id: str) -> int:
    number = run_id.partition("-")[0]
    return int(number) if number.isdecimal() else 0


def _has_begun(journal: str) -> bool:
    """Return whether a journal has an entry; the first line is incomplete if the process was killed while it began."""
    return os.path.isfile(journal) and b"\n" in file_access.read(journal, _MAX_BYTES)[0]


def _read_record(path: str) -> Record | None:
    if not os.path.isfile(path) or os.path.islink(path):
        return None
    from execplan.core.documents.document_io import load_document
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
