"""Former names of renamed plans, from the journals of this worktree and from the renames that git has committed."""

from __future__ import annotations

import os

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.plan_store import plan_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def read_former_names(project: Project) -> Iterator[tuple[PlanRef, set[str]]]:
    """Yield each plan with the IDs and slugs that it had before it was renamed, normalized."""
    from execplan.core.project.plan_journal import former_paths

    committed_ids = _committed_ids(project)
    for ref in plan_store.all_refs(project):
        paths = [ref.path, *former_paths(project, ref.path)]
        former_ids = {project.split_plan_path(path)[1] for path in paths}.union(
            *[committed_ids.get(project.display_path(path), ()) for path in paths]
        )
        yield (
            ref,
            {
                name
                for former_id in former_ids - {ref.id}
                for name in (plan_store.normalize_id(former_id), *plan_store.slugs(project, former_id))
            },
        )


def ensure_not_former(projects: Iterable[Project], name: str, matches: Sequence[PlanRef]) -> None:
    """Raise ExecplanError if a name was the full name of a plan other than those that match a part of it."""
    query_id = plan_store.normalize_id(name)
    renamed = [ref for project in projects for ref, names in read_former_names(project) if query_id in names]
    if renamed and list(matches) != renamed:
        raise renamed_error(name, [ref.id for ref in renamed])


def renamed_error(query: str, ids: Sequence[str]) -> ExecplanError:
    """Return the error for a former name; `ids` are those of the plans that had it."""
    return ExecplanError(
        "no-such-plan",
        f"{query!r} is a former name; the plan was renamed to {' or '.join(ids)}",
        exit=INPUT,
        hint=f"use the new name: {ids[0]}" if len(ids) == 1 else "use one of the new names",
        candidates=ids,
    )


def _committed_ids(project: Project) -> dict[str, set[str]]:
    """Return the IDs that files had before committed renames, by their present paths; empty if git can't be used."""
    from execplan.core.git.commit_log import read_renames

    if project.git is None:
        return {}
    folders = [project.display_path(folder) for folder in project.plan_paths]
    former_ids: dict[str, set[str]] = {}
    try:
        for old, new in read_renames(project, folders):
            plan_id = project.split_plan_path(os.path.join(project.root, old))[1]
            former_ids[new] = {*former_ids.pop(old, ()), plan_id}
    except ExecplanError:
        return {}
    return former_ids
