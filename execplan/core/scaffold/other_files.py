"""Markdown files in and beside the plans directories that are no plans, and why."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.plan_recognition import NO_WORK
from execplan.core.plan_store import plan_store
from execplan.core.project.plan_dialects import dialect_of, find_dialect
from execplan.core.project.plan_directories import is_plan_path
from execplan.core.project.project import Project
from execplan.core.project.project_settings import FOLDER_LAYOUT, NON_PLAN_FILES, PART_ENDINGS

_OF_PLAN = "belongs to a plan"


class OtherFile(NamedTuple):
    """A Markdown file that is no plan."""

    path: str
    """Path from the repository root."""
    why: str
    """Why it is no plan."""


def other_files(
    project: Project, members: Sequence[Project], plans: Collection[str], files: Sequence[str]
) -> Iterator[OtherFile]:
    """Yield the files in and beside plans directories that are no plans by their paths.

    `members` are the plans directories, `plans` the absolute paths of all plans, and `files` the Markdown files below the
    project's directory, relative to it. No file is read.
    """
    tops = {path for member in members for path in _tops(member)}
    of_plans = {path for member in members for path in _directories_of_plans(member)}
    missing = {member.plans: member.settings.layout for member in members if not member.is_flat}
    for file in files:
        path = os.path.join(project.base, file)
        if path not in plans:
            parents = list(_parents(path, project.base))
            if not tops.isdisjoint(parents):
                layout = next((missing[parent] for parent in parents if parent in missing), "")
                of_plan = not of_plans.isdisjoint(parents)
                display_path = project.display_path(path)
                yield OtherFile(display_path, _OF_PLAN if of_plan else _reason(display_path, layout))


def _reason(path: str, layout: str) -> str:
    """Return why a file is no plan that belongs to none, in a plans directory with a layout, or empty for a flat one."""
    if reason := NON_PLAN_FILES.get(os.path.basename(path).lower()):
        return reason
    if path.lower().endswith(PART_ENDINGS):
        return _OF_PLAN
    if layout:
        return "its directory has no plan" if layout == FOLDER_LAYOUT else f"its directory has no {layout}"
    return NO_WORK if is_plan_path(path) else "in a subdirectory"


def _tops(member: Project) -> Iterator[str]:
    """Yield the directories and files in which to look: a plans directory, its archives, and what is beside it."""
    match = find_dialect(member.display_path(member.plans), member.settings.dialects)
    yield member.plans if match is None else os.path.join(member.root, match.directory)
    yield from member.archives
    yield from _companions(member)


def _directories_of_plans(member: Project) -> Iterator[str]:
    """Yield the directories and files that belong to plans."""
    yield from _companions(member)
    yield from [member.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True) if member.is_flat]
    if not member.is_flat:
        yield from [os.path.dirname(ref.path) for ref in plan_store.all_refs(member) if ref.path not in member.files]


def _companions(member: Project) -> list[str]:
    """Return the companions of plans next to the plans directory and to plans that are single files."""
    return [
        os.path.join(os.path.dirname(path), name)
        for path in (member.plans, *member.files)
        for name in dialect_of(member.display_path(path), member.settings.dialects).companions
    ]


def _parents(path: str, base: str) -> Iterator[str]:
    """Yield a path and its parent directories below a base."""
    while len(path) > len(base):
        yield path
        path = os.path.dirname(path)
