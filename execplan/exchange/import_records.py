"""Records of imports in the artifacts of a plan: what a file said, to know at the next import what has changed since."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from execplan.core.archive.attachments import attached_paths
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.slug import slug
from execplan.core.trace import log
from execplan.exchange.exchange_plan import ExchangePlan, normalize_tasks
from execplan.exchange.forms import json_form
from execplan.exchange.source_file import MAX_BYTES, SourceFile

DESCRIPTION: Final = "import of "
"""Beginning of what Artifacts and Notes says about a record, by which it is found again."""


class ImportRecord(NamedTuple):
    """An import into a plan."""

    form: str
    source: str
    """Name of the imported file."""
    number: int
    """Position among the imports into the plan, from 1."""
    plan: ExchangePlan
    """What the file said; of its sections, nothing is kept."""


def file_name(record: ImportRecord) -> str:
    """Return the name of a record's file."""
    return f"{slug(os.path.splitext(record.source)[0]) or 'import'}.import.json"


def dump(record: ImportRecord) -> bytes:
    """Return the content of a record's file."""
    document = json.loads(json_form.dump(record.plan._replace(sections=(), purpose="")))
    fields = {"form": record.form, "source": record.source, "number": record.number}
    return (json.dumps({**document, "import": fields}, ensure_ascii=False, indent=1) + "\n").encode()


def read_records(project: Project, ref: PlanRef) -> list[ImportRecord]:
    """Return the records of a plan that can be read, the oldest first."""
    data = plan_store.read_bytes(project, ref.path)
    if DESCRIPTION.encode() not in data:
        return []
    plan = plan_store.parse_or_none(project, data)
    directory = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    names = [os.path.basename(path) for path in (attached_paths(plan, DESCRIPTION) if plan is not None else [])]
    records = [_read_record(os.path.join(directory, name)) for name in names]
    return [record for record in records if record is not None]


def _read_record(path: str) -> ImportRecord | None:
    try:
        source = SourceFile(os.path.basename(path), file_access.read(path, MAX_BYTES)[0])
        plan = json_form.read(source)
    except ExecplanError as error:
        log(f"the record of an import can't be read: {error.message}")
        return None
    fields = source.value.get("import")
    if not isinstance(fields, dict) or not isinstance(fields.get("number"), int):
        return None
    tasks = normalize_tasks(plan.tasks)
    return ImportRecord(
        str(fields.get("form")), str(fields.get("source")), fields["number"], plan._replace(tasks=tasks)
    )


def find_base(records: Sequence[ImportRecord], form: str, source: str, plan: ExchangePlan) -> ImportRecord | None:
    """Return the last import of a file, which may have another name now if it has the same tasks; or None."""
    ids = {task.id for task in plan.tasks if task.id}
    for record in reversed(records):
        if record.form == form and (record.source == source or any([task.id in ids for task in record.plan.tasks])):
            return record
    return None
