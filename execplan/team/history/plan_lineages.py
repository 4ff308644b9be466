"""Lineages: which changes of files in commits belong to one plan, across renames, moves and deletions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan_store import plan_store
from execplan.core.project.project_settings import is_plan_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.core.git.commit_log import Commit, CommittedChange
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


class Lineage:
    """A plan with all its versions in git, under whatever paths."""

    def __init__(self, ref: PlanRef) -> None:
        self.ref = ref
        """The latest ID and path; of a deleted plan, the last ones."""
        self.paths: dict[str, None] = {}
        """All paths from the repository root, in the order in which the plan got them."""
        self.former_blobs: dict[str, str] = {}
        """For each blob, the one before it."""
        self.last_blob = ""
        self.is_deleted = False


class PlanFileChange(NamedTuple):
    """A change of a plan's file in a commit, or in the working tree."""

    lineage: Lineage
    change: CommittedChange
    ref: PlanRef
    """The plan after the change; of a deleted plan, before it."""
    former_refs: tuple[PlanRef | None, ...]
    """The plan in each parent, or None if it did not exist there."""
    is_comeback: bool
    """Whether the plan's file was deleted earlier."""


class PlanPathMatcher:
    """Recognizes the files of plans by their paths from the repository root, also of files that are gone."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._folders: dict[str, tuple[bool, bool]] = {}

    def find_ref(self, path: str) -> PlanRef | None:
        """Return the plan that a file contains, or None if it contains none."""
        project = self._project
        absolute_path = os.path.join(project.root, path)
        name = os.path.basename(path)
        if not is_plan_name(name):
            return None
        folder, plan_id = project.split_plan_path(absolute_path)
        if folder not in self._folders:
            archived = plan_store.ref_for_path(project, project.plan_file(folder, "x")).archived
            self._folders[folder] = (archived or os.path.realpath(folder) == os.path.realpath(project.plans), archived)
        has_plans, archived = self._folders[folder]
        return plan_store.PlanRef(plan_id, absolute_path, archived) if has_plans else None


class LineageTracker:
    """Assigns changes to lineages; add the commits with parents before their children, then the working tree."""

    def __init__(self, paths: PlanPathMatcher) -> None:
        self._paths = paths
        self._by_path: dict[str, Lineage] = {}
        self._renamed_away: set[str] = set()
        self._deleted_by_id: dict[str, Lineage] = {}

    @property
    def lineages(self) -> list[Lineage]:
        """The lineages of all plans so far."""
        return list(dict.fromkeys(self._by_path.values()))

    def find(self, path: str) -> Lineage | None:
        """Return the lineage of the plan that has or had a path, or None."""
        return self._by_path.get(path)

    def add_changes(self, changes: Sequence[CommittedChange]) -> list[PlanFileChange]:
        """Return the changes that are about plans, with their lineages."""
        plan_changes = []
        for change in self._pair_moves(changes):
            ref = self._paths.find_ref(change.path)
            former_refs = tuple(
                [
                    self._paths.find_ref(path) if blob else None
                    for path, blob in zip(change.former_paths, change.former_blobs, strict=True)
                ]
            )
            if ref is not None and (change.blob or any(former_refs)):
                plan_changes.append(self._add_change(change, ref, former_refs))
            else:
                plan_changes += self._add_departure(change, former_refs)
        return plan_changes

    def _add_departure(self, change: CommittedChange, former_refs: tuple[PlanRef | None, ...]) -> list[PlanFileChange]:
        """Return the deletion of a plan whose file was moved to where no plans are; nothing for other files."""
        ref = next((former_ref for former_ref in former_refs if former_ref is not None), None)
        if ref is None:
            return []
        former_path = change.former_paths[former_refs.index(ref)]
        return [self._add_change(change._replace(path=former_path, blob=""), ref, former_refs)]

    def _add_change(
        self, change: CommittedChange, ref: PlanRef, former_refs: tuple[PlanRef | None, ...]
    ) -> PlanFileChange:
        sources = [path for path, former in zip(change.former_paths, former_refs, strict=True) if former is not None]
        lineage = next((self._by_path[path] for path in sources if path in self._by_path), None)
        is_comeback = False
        if lineage is None:
            lineage = self._find_deleted(change.path, ref)
            is_comeback = lineage is not None and lineage.is_deleted
        if lineage is None:
            lineage = Lineage(ref)
        if is_comeback:
            last_path = next(reversed(lineage.paths))
            last_ref = self._paths.find_ref(last_path)
            former_refs = tuple([former or last_ref for former in former_refs])
            former_blobs = tuple([blob or lineage.last_blob for blob in change.former_blobs])
            change = change._replace(former_paths=(last_path,) * len(former_blobs), former_blobs=former_blobs)
        self._record(lineage, change, ref)
        return PlanFileChange(lineage, change, ref, former_refs, is_comeback)

    def _find_deleted(self, path: str, ref: PlanRef) -> Lineage | None:
        """Return the lineage that a new file continues: that of a deleted plan, or of the same path on another branch."""
        lineage = self._by_path.get(path) if path not in self._renamed_away else None
        return lineage or self._deleted_by_id.get(plan_store.normalize_id(ref.id))

    def _record(self, lineage: Lineage, change: CommittedChange, ref: PlanRef) -> None:
        for path, blob in zip(change.former_paths, change.former_blobs, strict=True):
            if blob and change.blob:
                lineage.former_blobs.setdefault(change.blob, blob)
            if path != change.path:
                self._renamed_away.add(path)
        self._by_path[change.path] = lineage
        self._renamed_away.discard(change.path)
        lineage.paths.pop(change.path, None)
        lineage.paths[change.path] = None
        lineage.is_deleted = not change.blob
        key = plan_store.normalize_id(ref.id)
        if lineage.is_deleted:
            self._deleted_by_id[key] = lineage
        else:
            lineage.ref, lineage.last_blob = ref, change.blob
            self._deleted_by_id.pop(key, None)

    def _pair_moves(self, changes: Iterable[CommittedChange]) -> list[CommittedChange]:
        """Join the deletion and the addition of a plan with one ID into a move, which git finds only for similar files."""
        changes = list(changes)
        deleted: dict[str, CommittedChange] = {}
        for change in changes:
            ref = self._paths.find_ref(change.path) if not change.blob else None
            if ref is not None and all(change.former_blobs):
                deleted[plan_store.normalize_id(ref.id)] = change
        if not deleted:
            return changes
        joined: list[CommittedChange] = []
        sources = []
        for change in changes:
            ref = self._paths.find_ref(change.path) if change.blob and not any(change.former_blobs) else None
            source = deleted.get(plan_store.normalize_id(ref.id)) if ref is not None else None
            if source is None or len(source.former_blobs) != len(change.former_blobs):
                joined.append(change)
            else:
                sources.append(source)
                joined.append(change._replace(former_paths=source.former_paths, former_blobs=source.former_blobs))
        return [change for change in joined if change not in sources]


def add_commits(tracker: LineageTracker, commits: Sequence[Commit]) -> list[tuple[Commit, list[PlanFileChange]]]:
    """Return the plan changes of each commit, in the order of the commits, which is children before parents."""
    changes = [(commit, tracker.add_changes(commit.changes)) for commit in reversed(commits)]
    return changes[::-1]
