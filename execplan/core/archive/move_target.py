"""Targets of moved plans, with their names in the archive, where some dialects add the date."""

from __future__ import annotations

import os

from execplan.core.clock import now
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.project.project import Project
from execplan.core.project.setting_forms import fill
from execplan.core.project.slug import slug
from execplan.core.timestamps import read_timestamp

_DATE_LENGTH = len("2026-01-01")


class MoveTarget(NamedTuple):
    """The target of a plan's move."""

    id: str
    path: str
    artifacts: str
    """Artifacts directory."""
    files: tuple[tuple[str, str], ...]
    """Old and new paths of other files that move along."""


def target_of(project: Project, ref: PlanRef, name: str, path: str, *, archived: bool) -> MoveTarget:
    """Return the target of a plan that gets an ID and a path; the files beside it that have its name move along."""
    old, new = ref.path.removesuffix(".md"), path.removesuffix(".md")
    files = [(file, new + file.removeprefix(old)) for file in plan_store.files_beside(project, ref) if old != new]
    return MoveTarget(name, path, project.plan_artifacts_dir(path, archived=archived), tuple(files))


def archived_id(project: Project, ref: PlanRef) -> str:
    """Return the ID that a plan gets in the archive. Raises ExecplanError if the plan can't be read."""
    form = _archived_name(project, ref.path)
    if form == "{id}":
        return ref.id
    title = plan_store.parse(project, plan_store.read_bytes(project, ref.path)).title
    return fill(form, {"id": ref.id, "slug": slug(title or ref.id), "date": f"{now():%Y-%m-%d}"})


def restored_id(project: Project, ref: PlanRef) -> str:
    """Return the ID of an archived plan without the date that `archive` added."""
    has_date = _archived_name(project, ref.path) == "{date}-{id}" and read_timestamp(ref.id[:_DATE_LENGTH]) is not None
    return ref.id[_DATE_LENGTH + 1 :] if has_date else ref.id


def has_other_id_in_archive(project: Project, path: str) -> bool:
    """Return whether the plan in a file gets an ID in the archive that does not contain its own."""
    return "{id}" not in _archived_name(project, path)


def _archived_name(project: Project, path: str) -> str:
    return dialect_of(os.path.relpath(path, project.base), project.settings.dialects).archived_name
