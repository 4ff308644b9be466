"""Following anchors whose text is no longer in the plan: through the journal of edits, then through git history.

In the newest version that still has the text, the part is found; from there, each version is compared with the next one
up to the current plan, as `log` and `diff` compare them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.edits.edit_entries import read_texts
from execplan.edits.edit_journal import read_entries
from execplan.errors import ExecplanError
from execplan.history.task_comparison import match_tasks
from execplan.history.version_comparison import match_sections
from execplan.history.version_reader import VersionReader
from execplan.plan.merge.merge_units import NOTES
from execplan.plan.merge.unit_matching import match_to_base
from execplan.plan.plan_anchors import ENTRY_KINDS, SECTION, TASK, Anchor
from execplan.plan.plan_lookup import normalize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.history.plan_part import PlanPart
    from execplan.history.version_units import VersionUnits
    from execplan.plan.model import ParsedPlan
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

_MAX_VERSIONS: Final = 500
"""Maximum number of versions of a plan that are searched, the newest ones."""


def track_anchors(project: Project, ref: PlanRef, plan: ParsedPlan, anchors: Sequence[Anchor]) -> list[Anchor | None]:
    """Return the current name of the part that each anchor named in an earlier version; None if the part is gone.

    Anchors of steps and of the whole plan are not followed. Never fails: without git, or if git fails, only the journal
    is searched.
    """
    try:
        current = VersionReader().read(plan.text.to_bytes())
    except ExecplanError:
        return [None for _ in anchors]
    tracked: dict[Anchor, Anchor | None] = {}
    for load_chain in (_journal_chain, _git_chain):
        pending = [anchor for anchor in dict.fromkeys(anchors) if tracked.get(anchor) is None and _is_tracked(anchor)]
        if not pending:
            break
        try:
            for anchor, place in zip(pending, load_chain(project, ref, pending), strict=True):
                tracked[anchor] = _follow_to(place, current)
        except ExecplanError:
            continue
    return [tracked.get(anchor) for anchor in anchors]


def _is_tracked(anchor: Anchor) -> bool:
    return anchor.kind in (TASK, SECTION, *ENTRY_KINDS)


class _Place:
    """A part in one version of a plan."""

    def __init__(self, version: VersionUnits, kind: str, index: int) -> None:
        self.version = version
        self.kind = kind
        self.index = index

    @property
    def anchor(self) -> Anchor:
        """The anchor that names the part in its version."""
        texts = _texts(self.version, self.kind)
        key = normalize_text(texts[self.index])
        occurrence = [normalize_text(text) for text in texts[: self.index + 1]].count(key)
        return Anchor(self.kind, texts[self.index], occurrence)


def _follow_to(place: _Place | None, version: VersionUnits) -> Anchor | None:
    """Return the part's anchor in a later version; None if the part is gone."""
    place = _follow(place, version) if place is not None else None
    return place.anchor if place is not None else None


def _follow(place: _Place, version: VersionUnits) -> _Place | None:
    """Return the part in a later version, or None."""
    old = place.version
    if place.kind == TASK:
        places = match_tasks(old.tasks, version.tasks).get(place.index, ())
        index = places[-1] if places else None  # of a split task, the remaining one
    elif place.kind == SECTION:
        pairs = match_sections(_section_parts(old), _section_parts(version))
        index = next((new for new, former in pairs.items() if former == place.index), None)
    else:
        places = match_to_base(old.entries(place.kind), version.entries(place.kind)).get(place.index, ())
        index = places[0] if places else None
    return _Place(version, place.kind, index) if index is not None else None


def _find(version: VersionUnits, anchor: Anchor) -> _Place | None:
    """Return the part that an anchor names in a version, or None."""
    texts = [normalize_text(text) for text in _texts(version, anchor.kind)]
    indexes = [index for index, text in enumerate(texts) if text == normalize_text(anchor.text)]
    return _Place(version, anchor.kind, indexes[min(anchor.occurrence, len(indexes)) - 1]) if indexes else None


def _texts(version: VersionUnits, kind: str) -> list[str]:
    if kind == TASK:
        return [task.task.text for task in version.tasks]
    if kind == SECTION:
        return [part.title for part in _section_parts(version)]
    return [unit.entry.text if unit.entry is not None else "" for unit in version.entries(kind)]


def _section_parts(version: VersionUnits) -> list[PlanPart]:
    return [part for part in version.parts if part.is_section and part.unit.kind != NOTES]


def _follow_through(versions: Iterable[VersionUnits], place: _Place | None) -> _Place | None:
    """Return the part in the last of several versions, in order, or None if one does not have it."""
    for version in versions:
        place = _follow(place, version) if place is not None else None
    return place


def _journal_chain(project: Project, ref: PlanRef, anchors: Sequence[Anchor]) -> Iterator[_Place | None]:
    """Yield each anchor's part in the last version of the journal, or None."""
    pairs = list(read_texts(read_entries(project, ref.path)).values())[-_MAX_VERSIONS:]
    texts = list(dict.fromkeys([text for pair in pairs for text in pair]))
    reader = VersionReader()
    versions = [version for text in texts for version in _readable(reader, text)]
    for anchor in anchors:
        place = None
        for number in range(len(versions) - 1, -1, -1):
            place = _find(versions[number], anchor)
            if place is not None:
                place = _follow_through(versions[number + 1 :], place)
                break
        yield place


def _readable(reader: VersionReader, text: bytes) -> Iterator[VersionUnits]:
    try:
        yield reader.read(text)
    except ExecplanError:
        return


def _git_chain(project: Project, ref: PlanRef, anchors: Sequence[Anchor]) -> Iterator[_Place | None]:
    """Yield each anchor's part in the last committed version, or None. Raises ExecplanError if git fails."""
    from execplan.git.blob_reader import BlobReader
    from execplan.git.commit_log import absent_blobs
    from execplan.git.git_query import require_repository
    from execplan.history.change_events import ChangeReader
    from execplan.history.plan_history import plan_folders, track_changes

    require_repository(project)
    tracker, committed, _ = track_changes(project)
    lineage = tracker.find(project.display_path(ref.real_path))
    changes = [change.change for _, plan_changes in committed for change in plan_changes if change.lineage is lineage]
    blobs = list(dict.fromkeys([change.blob for change in changes if change.blob]))[:_MAX_VERSIONS]
    later: dict[str, str] = {}
    for change in changes:  # newest first: of several branches that continue a version, one is enough
        for former_blob in change.former_blobs:
            if former_blob and change.blob and former_blob != change.blob:
                later.setdefault(former_blob, change.blob)
    with BlobReader(project) as blob_reader:
        reader = ChangeReader(project, blob_reader, absent_blobs(project, plan_folders(project)))

        def versions_from(blob: str) -> Iterator[VersionUnits]:
            visited = {blob}
            while (blob := later.get(blob, "")) and blob not in visited:
                visited.add(blob)
                version = reader.version(blob)
                if not isinstance(version, ExecplanError):
                    yield version

        for anchor in anchors:
            place = None
            for blob in blobs:
                version = reader.version(blob)
                place = _find(version, anchor) if not isinstance(version, ExecplanError) else None
                if place is not None:
                    place = _follow_through(versions_from(blob), place)
                    break
            yield place
