"""Following anchors whose text does not tell the part any longer: through the journal of edits, then through git history.

In the newest version that still has the text, the part is found; from there, each version is compared with the next one
up to the current plan, as `log` and `diff` compare them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from execplan.core.edits.edit_entries import read_texts
from execplan.core.edits.edit_journal import read_entries
from execplan.core.errors import ExecplanError
from execplan.core.plan.merge.merge_units import NOTES
from execplan.core.plan.merge.unit_matching import match_to_base
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_anchors import ENTRY_KINDS, SECTION, TASK, Anchor
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.team.history.task_comparison import match_tasks
from execplan.team.history.version_comparison import match_sections
from execplan.team.history.version_reader import PlanPart, VersionReader, VersionUnits

_MAX_VERSIONS: Final = 500
"""Maximum number of versions of a plan that are searched, the newest ones."""


def track_anchors(project: Project, ref: PlanRef, plan: ParsedPlan, anchors: Sequence[Anchor]) -> list[Anchor | None]:
    """Return the current name of the part that each anchor named in an earlier version; None if the part is gone.

    If no version tells which of several parts with the same text is meant, it is the one at the same position among
    them, unless one of them is gone. Anchors of steps and of the whole plan are not followed. Never fails: without git,
    or if git fails, only the journal is searched.
    """
    try:
        current = VersionReader(project.titles).read(plan.text.to_bytes())
    except ExecplanError:
        return [None for _ in anchors]
    tracked: dict[Anchor, Anchor | None] = {}
    unknown = {anchor for anchor in anchors if _is_tracked(anchor)}
    for load_chain in (_journal_chain, _git_chain):
        pending = [anchor for anchor in dict.fromkeys(anchors) if tracked.get(anchor) is None and _is_tracked(anchor)]
        if not pending:
            break
        try:
            for anchor, places in zip(pending, load_chain(project, ref, pending), strict=True):
                tracked[anchor] = _follow_to(places[-1], current) if places else None
                unknown -= {anchor} if places else set()
        except ExecplanError:
            continue
    return [_guess(current, anchor) if anchor in unknown else tracked.get(anchor) for anchor in anchors]


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
        keys = [normalize_text(text) for text in texts]
        key = keys[self.index]
        return Anchor(self.kind, texts[self.index], keys[: self.index + 1].count(key), keys.count(key))


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
    """Return the part that an anchor names in a version, or None.

    As many parts must have its text as when it was made; with fewer or more, the text alone does not tell which one.
    """
    indexes = _same_texts(version, anchor)
    is_clear = len(indexes) == anchor.total
    return _Place(version, anchor.kind, indexes[anchor.occurrence - 1]) if is_clear else None


def _guess(version: VersionUnits, anchor: Anchor) -> Anchor | None:
    """Return the anchor of the part at the same position among those with its text, or None if one of them is gone."""
    indexes = _same_texts(version, anchor)
    is_complete = len(indexes) >= anchor.total
    return _Place(version, anchor.kind, indexes[anchor.occurrence - 1]).anchor if is_complete else None


def _same_texts(version: VersionUnits, anchor: Anchor) -> list[int]:
    """Return the indexes of the parts of a version that have an anchor's text."""
    texts = [normalize_text(text) for text in _texts(version, anchor.kind)]
    return [index for index, text in enumerate(texts) if text == normalize_text(anchor.text)]


def _texts(version: VersionUnits, kind: str) -> list[str]:
    if kind == TASK:
        return [task.task.text for task in version.tasks]
    if kind == SECTION:
        return [part.title for part in _section_parts(version)]
    return [unit.entry.text if unit.entry is not None else "" for unit in version.entries(kind)]


def _section_parts(version: VersionUnits) -> list[PlanPart]:
    return [part for part in version.parts if part.is_section and part.unit.kind != NOTES]


def _follow_through(versions: Iterable[VersionUnits], place: _Place) -> list[_Place | None]:
    """Return the part in each of several versions, in order; None from the first one on that does not have it."""
    places: list[_Place | None] = [place]
    for version in versions:
        last = places[-1]
        places.append(_follow(last, version) if last is not None else None)
    return places


def _journal_chain(project: Project, ref: PlanRef, anchors: Sequence[Anchor]) -> Iterator[list[_Place | None]]:
    """Yield each anchor's part in the versions of the journal, from the last one that tells it; empty if none does."""
    pairs = list(read_texts(read_entries(project, ref.path)).values())[-_MAX_VERSIONS:]
    texts = list(dict.fromkeys([text for pair in pairs for text in pair]))
    reader = VersionReader(project.titles)
    versions = [version for text in texts for version in _readable(reader, text)]
    for anchor in anchors:
        places: list[_Place | None] = []
        for number in range(len(versions) - 1, -1, -1):
            place = _find(versions[number], anchor)
            if place is not None:
                places = _follow_through(versions[number + 1 :], place)
                break
        yield places


def _readable(reader: VersionReader, text: bytes) -> Iterator[VersionUnits]:
    try:
        yield reader.read(text)
    except ExecplanError:
        return


def _git_chain(project: Project, ref: PlanRef, anchors: Sequence[Anchor]) -> Iterator[list[_Place | None]]:
    """Yield each anchor's part in the committed versions, from the last one that tells it; empty if none does.

    Raises ExecplanError if git fails.
    """
    from execplan.core.git.blob_reader import BlobReader
    from execplan.core.git.commit_log import absent_blobs
    from execplan.core.git.git_query import require_repository
    from execplan.team.history.change_events import ChangeReader
    from execplan.team.history.plan_history import plan_folders, track_changes

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
            places: list[_Place | None] = []
            for blob in blobs:
                version = reader.version(blob)
                place = _find(version, anchor) if not isinstance(version, ExecplanError) else None
                if place is not None:
                    places = _follow_through(versions_from(blob), place)
                    break
            yield places
