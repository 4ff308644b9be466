"""Updating of the index: plans whose file status or artifacts have changed are read again."""

from __future__ import annotations

import os
import stat
from contextlib import nullcontext
from time import time_ns
from typing import TYPE_CHECKING

from execplan.context.search.index_records import IndexedItem, PlanRecord, indexed_items
from execplan.context.search.search_items import SearchItem, artifact_items, plan_items
from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.file_status import MTIME_MARGIN_NS
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.model import ARCHIVED, BROKEN
from execplan.core.plan_store import plan_store
from execplan.core.project.project import ensure_inside
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import leading_date
from execplan.core.worker_processes import PLANS_PER_PROCESS, iter_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Final

    from execplan.context.search.search_index import SearchIndex
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

    Tick = Callable[[int, int], None]
    MakeLock = Callable[[], AbstractContextManager[Any]]
    """Returns the lock of everyone who writes the index."""

_OWN_ARTIFACTS = frozenset({"approvals", "runs"})
"""Directories of artifacts that execplan writes, whose file names say nothing about the plan."""
_MAX_ARTIFACTS: Final = 1_000
"""Maximum number of artifacts of a plan whose names are searched."""
_MAX_ARTIFACT_DEPTH: Final = 5
_PART_SIZE: Final = 250
"""Number of plans whose words are in memory at the same time: some 15 MB."""
_UNREADABLE = "-"
"""Digest of a file that can't be read."""


class PlanFile(NamedTuple):
    """A plan that can be searched, with what is known without reading it."""

    project: Project
    ref: PlanRef
    path: bytes
    """Path from the root of the repository that is searched, encoded for the file system."""
    status: str
    """File status; empty for a link, whose status is not that of its target."""
    artifacts: tuple[str, ...]
    """Paths of the plan's artifacts in its artifacts directory."""

    @property
    def artifacts_digest(self) -> str:
        """Return a digest of the names of the artifacts, or an empty string if there are none."""
        return digest("\0".join(self.artifacts).encode("utf-8", "surrogateescape")) if self.artifacts else ""


class IndexedPlan(NamedTuple):
    """A plan that was read for the search."""

    record: PlanRecord
    items: tuple[SearchItem, ...]


class _Changes(NamedTuple):
    """What differs between the files and the index."""

    plans: list[tuple[PlanRecord, list[IndexedItem]]]
    """Changed plans with their items."""
    statuses: list[tuple[bytes, str]]
    """Paths and file statuses of plans whose content is unchanged."""


def list_plan_files(project: Project) -> list[PlanFile]:
    """Return the plans of a project and its nested projects, archived ones last. Raises ExecplanError."""
    plan_files = []
    for member in with_nested_projects(project):
        for ref in plan_store.all_refs(member):
            try:
                status = os.lstat(ref.path)
            except OSError:
                continue  # moved away after its directory was listed
            status_text = "" if stat.S_ISLNK(status.st_mode) else _format_status(status)
            path = os.fsencode(project.display_path(ref.path))  # unique, also if the member is a submodule
            plan_files.append(PlanFile(member, ref, path, status_text, tuple(_artifact_names(member, ref))))
    return plan_files


def _format_status(status: os.stat_result) -> str:
    """Return the status fields that reveal a change of a file."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def _artifact_names(project: Project, ref: PlanRef) -> list[str]:
    """Return the sorted paths of a plan's artifacts in its artifacts directory, without those that execplan writes."""
    directory = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    names: list[str] = []
    pending = [""]
    while pending and len(names) < _MAX_ARTIFACTS:
        parent = pending.pop()
        try:
            entries = sorted(os.scandir(os.path.join(directory, parent)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = os.path.join(parent, entry.name)
            if entry.name.startswith(".") or name in _OWN_ARTIFACTS or entry.path == ref.path:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending += [name] if name.count("/") < _MAX_ARTIFACT_DEPTH else []
            else:
                names.append(name)
    return sorted(names[:_MAX_ARTIFACTS])


def update(
    index: SearchIndex,
    plan_files: Sequence[PlanFile],
    make_lock: MakeLock = nullcontext,
    tick: Tick | None = None,
) -> None:
    """Update an index to the state of the files, under a lock if there is something to write.

    `tick` is called with the number of plans that were read, and the total.

    Raises ExecplanError if the lock can't be taken or a worker process dies, and sqlite3.Error.
    """
    changed, removed = _compare(index, plan_files)
    if not changed and not removed:
        return
    if len(changed) > PLANS_PER_PROCESS:  # another process may be about to read them, too
        with make_lock():
            changed, removed = _compare(index, plan_files)
            _write(index, _Changes([], []), removed)
            indexed_count = 0
            for changes in _iter_changes(index.records(), changed, tick):
                _write(index, changes, ())
                indexed_count += len(changes.plans)
    else:
        changes = next(_iter_changes(index.records(), changed, tick), _Changes([], []))
        if not (changes.plans or changes.statuses or removed):
            return
        with make_lock():
            _write(index, changes, removed)
        indexed_count = len(changes.plans)
    trace.log(f"indexed {indexed_count} of {len(plan_files)} plans")


def _compare(index: SearchIndex, plan_files: Sequence[PlanFile]) -> tuple[list[PlanFile], list[bytes]]:
    """Return the plans that may have changed since they were indexed, and the paths of those that are gone."""
    records = index.records()
    changed = []
    for plan_file in plan_files:
        record = records.pop(plan_file.path, None)
        if (
            record is None
            or not plan_file.status
            or record.status != plan_file.status
            or record.artifacts != plan_file.artifacts_digest
        ):
            changed.append(plan_file)
    return changed, list(records)


def _iter_changes(
    records: dict[bytes, PlanRecord], plan_files: Sequence[PlanFile], tick: Tick | None
) -> Iterator[_Changes]:
    """Read plans in parts, and yield what differs in each from the records of the index."""

    def read(position: int) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
        plan_file = plan_files[position]
        content = read_content(plan_file, records.get(plan_file.path))
        items = indexed_items(content.record, enumerate(content.items))
        return tuple(content.record), [tuple(item) for item in items]  # what `marshal` can write

    parts = iter_parts(
        read,
        len(plan_files),
        _PART_SIZE,
        lambda finished: tick(finished, len(plan_files)) if tick is not None else None,
    )
    for results in parts:
        changes = _Changes([], [])
        for record_fields, items in results:
            record = PlanRecord._make(record_fields)
            old = records.get(record.path)
            if old is None or record._replace(status="") != old._replace(status=""):
                changes.plans.append((record, [IndexedItem._make(item) for item in items]))
            elif record.status != old.status:
                changes.statuses.append((record.path, record.status))
        yield changes


def read_content(plan_file: PlanFile, indexed: PlanRecord | None = None) -> IndexedPlan:
    """Read a plan for the search; without items if it is the indexed one or can't be read."""
    project, ref = plan_file.project, plan_file.ref
    date, artifacts = leading_date(ref.id), plan_file.artifacts_digest
    record = PlanRecord(plan_file.path, "", _UNREADABLE, ref.id, "", BROKEN, date, artifacts)
    try:
        ensure_inside(project, ref.path)
        data, size, status = file_access.read_with_status(ref.path, reader.MAX_BYTES)
        if size > reader.MAX_BYTES:
            raise reader.too_large_error(size)
        record = record._replace(digest=digest(data))
        if status is not None and max(status.st_mtime_ns, status.st_ctime_ns) < time_ns() - MTIME_MARGIN_NS:
            record = record._replace(status=_format_status(status))
        if (
            indexed is not None
            and indexed.digest == record.digest
            and _is_same_plan(indexed, record, archived=ref.archived)
        ):
            return IndexedPlan(indexed._replace(status=record.status), ())
        plan = plan_store.parse(project, data)
    except ExecplanError as error:
        return IndexedPlan(record._replace(problem=error.message.removeprefix(f"can't read {ref.path}: ")), ())
    title = plan_store.plan_title(project, ref, plan.title) or ""
    record = record._replace(title=title, state=plan.state(archived=ref.archived))
    return IndexedPlan(record, (*plan_items(plan), *artifact_items(plan_file.artifacts)))


def _is_same_plan(indexed: PlanRecord, record: PlanRecord, *, archived: bool) -> bool:
    return (
        not indexed.problem
        and indexed.artifacts == record.artifacts
        and indexed.name == record.name
        and (indexed.state == ARCHIVED) == archived
    )


def _write(index: SearchIndex, changes: _Changes, removed: Sequence[bytes]) -> None:
    with index.transaction():
        for path in removed:
            index.remove(path)
        for path, status in changes.statuses:
            index.set_status(path, status)
        for record, items in changes.plans:
            index.remove(record.path)
            index.add(record, items)
