"""The events of a plan's change, from its versions before and after, also in the working tree."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from execplan.core.clock import epoch_seconds
from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader, absent_error
from execplan.core.git.commit_log import Commit, CommittedChange, changes_since
from execplan.core.git.git_history import committed_files
from execplan.core.plan import reader
from execplan.core.plan_store import missing_plans, plan_store
from execplan.core.plan_store.missing_plans import MissingPlan
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.plan_journal import former_paths
from execplan.core.project.project import Project
from execplan.team.history.history_event import (
    ARCHIVED,
    BROKEN,
    CREATED,
    DELETED,
    REFORMATTED,
    RENAMED,
    REPAIRED,
    RESTORED,
    RETITLED,
    SECTION_CHANGED,
    HistoryEvent,
)
from execplan.team.history.plan_lineages import PlanFileChange
from execplan.team.history.version_comparison import compare_versions
from execplan.team.history.version_reader import VersionReader, VersionUnits

ON_DISK = "disk:"
"""Start of what stands for the blob of a file in the working tree; its path from the repository root follows."""
_MAX_CACHED = 256
"""Maximum number of parsed versions in memory: the next older change of a plan needs the last one again."""
_ABSENT = "git-failed"
"""Code of the error for a version that git does not have."""
_LAYOUT_TEXT = "only white space, line endings or order"


def uncommitted_changes(project: Project, head: str | None, folders: Sequence[str]) -> list[CommittedChange]:
    """Return the plans that differ from a commit, or all plans if there is none. Raises ExecplanError if git fails.

    A plan that was renamed or moved is a single change. Links to plans have no history of their own.
    """
    refs = [ref for ref in plan_store.all_refs(project) if not os.path.islink(ref.path)]
    on_disk = [project.display_path(ref.real_path) for ref in refs]
    if head is None:
        return [_new_file(path) for path in on_disk]
    changes, deleted = [], {}
    for change in changes_since(project, head, folders):
        exists = bool(change.blob) or os.path.lexists(os.path.join(project.root, change.path))
        if exists:
            changes.append(change._replace(blob=ON_DISK + change.path))
        else:
            deleted[change.path] = change
    known_paths = {file.path for file in committed_files(project, head, folders)}
    known_paths.update([change.path for change in changes])
    for path in on_disk:
        if path not in known_paths:
            source = _find_source(project, path, deleted)
            changes.append(_new_file(path) if source is None else source._replace(path=path, blob=ON_DISK + path))
            if source is not None:
                del deleted[source.path]
    return [*changes, *deleted.values()]


def _new_file(path: str) -> CommittedChange:
    return CommittedChange(path, (path,), ON_DISK + path, ("",))


def _find_source(project: Project, path: str, deleted: dict[str, CommittedChange]) -> CommittedChange | None:
    """Return the deleted file that was moved to a path, by execplan or by hand; None if there is none."""
    if not deleted:
        return None
    absolute_path = os.path.join(project.root, path)
    for former_path in former_paths(project, absolute_path):
        source = deleted.get(project.display_path(former_path))
        if source is not None:
            return source
    for source in deleted.values():
        old_path = os.path.join(project.root, source.path)
        missing_plan = MissingPlan(project.split_plan_path(old_path)[1], old_path, source.former_blobs[0])
        moved_ref = missing_plans.find_moved_file(project, missing_plan)
        if moved_ref is not None and moved_ref.real_path == absolute_path:
            return source
    return None


class ChangeReader:
    """Reads the versions of plans, parses each one once, and compares them.

    Of a change from or to one of the absent versions, only what its paths tell is reported. Any other version that git
    lacks is an error.
    """

    def __init__(self, project: Project, blobs: BlobReader, absent_versions: Collection[str] = ()) -> None:
        self._project = project
        self._blobs = blobs
        self._absent_versions = absent_versions
        self._contents: dict[str, tuple[bytes, int] | None] = {}
        self._reader = VersionReader(project.titles)
        self._versions: dict[str, VersionUnits | ExecplanError] = {}

    def events(self, plan_change: PlanFileChange, commit: Commit | None) -> list[HistoryEvent]:
        """Return the events of a change in a commit or, for None, in the working tree.

        For a merge, these are only the events that are new in comparison with every parent. Raises ExecplanError if git
        lacks a version.
        """
        lists = [self._parent_events(plan_change, parent) for parent in range(len(plan_change.change.former_blobs))]
        events = lists[0]
        if len(lists) > 1:
            other_keys = [{_event_key(event) for event in other_events} for other_events in lists[1:]]
            events = [event for event in events if all([_event_key(event) in keys for keys in other_keys])]
            events = [event for event in events if self._is_new_in_merge(event, plan_change)]
        lineage = plan_change.lineage
        time = commit.time if commit is not None else self._modification_time(plan_change)
        return [
            event._replace(
                plan_id=lineage.ref.id,
                path=self._project.display_path(lineage.ref.path),
                author=commit.author if commit is not None else "",
                time=time,
                commit=commit.id if commit is not None else "",
            )
            for event in events
        ]

    def prefetch(self, plan_changes: Sequence[PlanFileChange]) -> None:
        """Read the versions before and after some changes, at most 30, in one batch."""
        blobs = {blob for change in plan_changes for blob in (change.change.blob, *change.change.former_blobs)}
        missing = [
            blob
            for blob in sorted(blobs - self._versions.keys())
            if blob and not blob.startswith(ON_DISK) and blob not in self._absent_versions
        ]
        self._contents = dict(zip(missing, self._blobs.read_batch(missing), strict=True)) if missing else {}

    def version(self, blob: str) -> VersionUnits | ExecplanError:
        """Return a version of a plan, or the error for one that can't be read or contains conflict markers.

        Raises ExecplanError if git lacks it, unless it is one of the absent versions: for these, the error is returned.
        """
        if blob not in self._versions:
            while len(self._versions) >= _MAX_CACHED:
                del self._versions[next(iter(self._versions))]
            self._versions[blob] = self._read_version(blob)
        return self._versions[blob]

    def data(self, blob: str) -> bytes:
        """Return the bytes of a version. Raises ExecplanError if they can't be read or are too many."""
        if blob.startswith(ON_DISK):
            return plan_store.read_bytes(self._project, os.path.join(self._project.root, blob.removeprefix(ON_DISK)))
        content = None
        if blob not in self._absent_versions:
            content = self._contents[blob] if blob in self._contents else self._blobs.read(blob)
        if content is None:
            raise absent_error(self._project, f"version {blob[:10]} of a plan")
        data, size = content
        if size > reader.MAX_BYTES:
            raise reader.too_large_error(size)
        return data

    def _read_version(self, blob: str) -> VersionUnits | ExecplanError:
        try:
            return self._reader.read(self.data(blob))
        except ExecplanError as error:
            if error.code == _ABSENT and blob not in self._absent_versions:
                raise
            return error

    def _parent_events(self, plan_change: PlanFileChange, parent: int) -> list[HistoryEvent]:
        """Return the events of a change in comparison with one parent."""
        change, former_ref = plan_change.change, plan_change.former_refs[parent]
        former_blob = change.former_blobs[parent]
        old = self._readable_version(plan_change, former_blob)
        if not change.blob:
            return [HistoryEvent(DELETED, _title(old, plan_change.ref))] if former_ref is not None else []
        new = self.version(change.blob)
        events = self._place_events(plan_change, former_ref, _title(new, plan_change.ref))
        if _is_absent(new):
            return events
        if isinstance(new, ExecplanError):
            return [*events, HistoryEvent(BROKEN, new.message)]
        former = self.version(former_blob) if former_blob else None
        if isinstance(former, ExecplanError) and not _is_absent(former):
            events.append(HistoryEvent(REPAIRED, _title(new, plan_change.ref)))
        if isinstance(old, ExecplanError):
            return events
        content_events = compare_versions(old if former_ref is not None else None, new)
        if any([event.kind == RENAMED for event in events]):
            content_events = [event for event in content_events if event.kind != RETITLED]
        if not events and not content_events and self._differs(former_blob, change.blob):
            events.append(HistoryEvent(REFORMATTED, _LAYOUT_TEXT))
        return [*events, *content_events]

    def _differs(self, old_blob: str, new_blob: str) -> bool:
        """Return whether the bytes of two versions differ, which the names of blobs can't tell for a file on disk."""
        try:
            return old_blob != new_blob and self.data(old_blob) != self.data(new_blob)
        except ExecplanError:
            return False

    def _place_events(self, plan_change: PlanFileChange, former_ref: PlanRef | None, title: str) -> list[HistoryEvent]:
        """Return the events of a file that was created, moved or renamed."""
        ref = plan_change.ref
        if former_ref is None:
            return [HistoryEvent(CREATED, title)]
        events = []
        if ref.archived != former_ref.archived:
            events.append(HistoryEvent(ARCHIVED if ref.archived else RESTORED, title))
        elif plan_change.is_comeback:
            events.append(HistoryEvent(RESTORED, title))
        if plan_store.normalize_id(ref.id) != plan_store.normalize_id(former_ref.id):
            events.append(HistoryEvent(RENAMED, title, previous=former_ref.id))
        return events

    def _readable_version(self, plan_change: PlanFileChange, blob: str) -> VersionUnits | ExecplanError | None:
        """Return the last version up to a blob that can be read as a plan, or None; an error if git lacks it."""
        visited = {""}
        while blob not in visited:
            version = self.version(blob)
            if isinstance(version, VersionUnits) or _is_absent(version):
                return version
            visited.add(blob)
            blob = plan_change.lineage.former_blobs.get(blob, "")
        return None

    def _is_new_in_merge(self, event: HistoryEvent, plan_change: PlanFileChange) -> bool:
        """Return whether a merge changed a section itself; sections are merged by line, so sides may differ in each."""
        if event.kind != SECTION_CHANGED:
            return True
        versions = [self._readable_version(plan_change, blob) for blob in plan_change.change.former_blobs]
        parents = [{*version.lines} for version in versions if isinstance(version, VersionUnits)]
        merged = self._readable_version(plan_change, plan_change.change.blob)
        if not parents or not isinstance(merged, VersionUnits):
            return False
        lines = {*merged.lines}
        return not lines <= set().union(*parents) or not set.intersection(*parents) <= lines

    def _modification_time(self, plan_change: PlanFileChange) -> int:
        """Return when the file was written, in seconds since 1970; for a deleted file, the current time."""
        try:
            return int(os.stat(plan_change.ref.path).st_mtime)
        except OSError:
            return int(epoch_seconds())


def _is_absent(version: VersionUnits | ExecplanError | None) -> bool:
    return isinstance(version, ExecplanError) and version.code == _ABSENT


def _title(version: VersionUnits | ExecplanError | None, ref: PlanRef) -> str:
    return version.title or ref.id if isinstance(version, VersionUnits) else ref.id


def _event_key(event: HistoryEvent) -> tuple[str, ...]:
    """Return what makes an event the same in comparison with two parents; line counts differ."""
    return event.kind, event.text, event.detail, event.entry_date
