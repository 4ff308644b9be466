"""Location and name of a plan's audit log, and its comparison with the anchor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.files import file_access
from execplan.core.plan_store import plan_store
from execplan.core.project import project_state
from execplan.core.project.project import ensure_inside
from execplan.execution.engine.audit_log import anchor, hash_chain
from execplan.execution.engine.audit_log.log_file import LIMIT, LogFile
from execplan.execution.engine.journal.journal import is_merge_marker

if TYPE_CHECKING:
    from typing import Final

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.audit_log.anchor import Anchor
    from execplan.execution.engine.audit_log.hash_chain import AuditRecord

FILE_NAME: Final = "ledger.jsonl"


def path_of(project: Project, ref: PlanRef) -> str:
    """Return the path of a plan's audit log, existing or not."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), FILE_NAME)


def open_log(project: Project, ref: PlanRef) -> LogFile:
    """Return the file of a plan's audit log, to be opened under its lock. Raises ExecplanError."""
    return LogFile(project, path_of(project, ref), f"the audit log of {ref.id}", copy_path(project, ref))


def copy_path(project: Project, ref: PlanRef) -> str:
    """Return the path of an audit log's copy in the state directory, existing or not."""
    return os.path.join(project_state.plan_state_dir(project, ref.path), FILE_NAME)


def is_restorable(project: Project, ref: PlanRef) -> bool:
    """Return whether a broken audit log can be restored from its copy. Raises ExecplanError."""
    path = copy_path(project, ref)
    return os.path.lexists(path) and is_damaged_by_step(read(project, ref), file_access.read(path, LIMIT)[0])


def is_damaged_by_step(data: bytes, copy: bytes) -> bool:
    """Return whether a step has damaged an audit log: by cutting off, removing, editing or adding lines.

    A record that is missing from the copy was written elsewhere: then a person has chosen between two branches, or must
    do so.
    """
    known_hashes = {record.hash for record in hash_chain.parse_chain(copy).records}
    has_foreign = any([record.hash not in known_hashes for record in hash_chain.parse_chain(data).records])
    return data != copy and not has_foreign and not any(map(is_merge_marker, data.split(b"\n")))


def read(project: Project, ref: PlanRef) -> bytes:
    """Read the whole audit log, including a torn last line; empty if there is none. Raises ExecplanError."""
    path = path_of(project, ref)
    if not os.path.lexists(path):
        return b""
    ensure_inside(project, path)
    data, size = file_access.read(path, LIMIT)
    if size > LIMIT:
        raise anchor.broken_error(
            project.display_path(path), ref.shell_name, f"it has {size:,} bytes, too many for an audit log"
        )
    return data


def read_records(project: Project, ref: PlanRef) -> list[AuditRecord]:
    """Return the readable records of a plan's audit log. Raises ExecplanError."""
    data = read(project, ref)
    return hash_chain.parse_chain(data[: data.rfind(b"\n") + 1]).records


def default_name(project: Project, ref: PlanRef) -> str:
    """Return the name of a new audit log: the plan's ID, below the project directory if that is not the root."""
    return os.path.normpath(os.path.join(os.path.relpath(project.base, project.root), ref.id))


def available_name(project: Project, ref: PlanRef) -> str:
    """Return the default name, with a number appended if the audit log of another, renamed plan has that name."""
    name, number = default_name(project, ref), 1
    while (existing_anchor := anchor.get(project, name)) is not None and _is_owned_by_other_plan(
        project, ref, name, existing_anchor
    ):
        number += 1
        name = f"{default_name(project, ref)}-{number}"
    return name


def parse_log(data: bytes, known_anchor: Anchor | None) -> hash_chain.ParsedChain:
    """Parse the complete lines of an audit log; only records up to the anchor can accept flaws."""
    return hash_chain.parse_chain(
        data,
        anchored_size=max(hash_chain.offset_after(data, known_anchor.hash), 0) if known_anchor is not None else None,
    )


def find_loss(data: bytes, known_anchor: Anchor) -> str:
    """Return why the anchored record is missing from an audit log; empty if it is present."""
    if not known_anchor.seq:
        return "its anchor can't be read"
    if hash_chain.offset_after(data, known_anchor.hash) >= 0:
        return ""
    if not data:
        return f"it is missing, but its anchor refers to record {known_anchor.seq}"
    why = "its end was cut off, it was replaced, or it is from another branch"
    return f"record {known_anchor.seq}, which its anchor refers to, is missing: {why}"


def _is_owned_by_other_plan(project: Project, ref: PlanRef, name: str, known_anchor: Anchor) -> bool:
    other_logs = [read(project, other_ref) for other_ref in plan_store.all_refs(project) if other_ref.path != ref.path]
    return any(
        [hash_chain.find_log_name(data) == name and not find_loss(data, known_anchor) for data in other_logs if data]
    )
