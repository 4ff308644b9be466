"""Artifacts in the archive whose plan is open, or the other way round, as merges of branches can leave them."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.cli.doctor.doctor_check import WARNING, Finding
from execplan.core.files import file_access

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def find_misplaced_artifacts(project: Project, refs: Sequence[PlanRef]) -> Iterator[Finding]:
    """Yield a finding for each directory of artifacts that commands don't find, because its plan was moved without it."""
    names = {(ref.id, ref.archived) for ref in refs}
    for ref in refs if project.is_flat else ():
        folder = project.artifacts_dir(ref.id, archived=not ref.archived)
        target = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        is_of_other_plan = (ref.id, not ref.archived) in names
        if is_of_other_plan or os.path.realpath(folder) == os.path.realpath(target) or not os.path.isdir(folder):
            continue
        entries = file_access.list_names(folder)
        if entries:
            state = "is archived" if ref.archived else "is not archived"
            message = f"the plan {state}, but these artifacts of it are elsewhere, so commands don't find them"
            remedy = _suggest_move(project.display_path(folder), project.display_path(target), entries, target)
            yield Finding(WARNING, project.display_path(folder), message, remedy)


def _suggest_move(folder: str, target: str, entries: Sequence[str], target_path: str) -> str:
    """Return the command that moves the entries of a directory to another one, or what to do if both have some of them."""
    if not os.path.lexists(target_path):
        return f"mkdir -p {quote(os.path.dirname(target))} && mv {quote(folder)} {quote(target)}"
    in_both = [name for name in entries if os.path.lexists(os.path.join(target_path, name))]
    if in_both:
        return f"move its files to {quote(target)}, and join those that exist there too: {', '.join(in_both)}"
    files = " ".join([quote(os.path.join(folder, name)) for name in entries])
    return f"mv {files} {quote(target)} && rmdir {quote(folder)}"
