"""Plans that git tracks but that are missing from the working tree: deleted, or moved without a commit."""

from __future__ import annotations

import os
import shlex

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


class MissingPlan(NamedTuple):
    """A plan that git tracks but that is no longer at its path."""

    id: str
    path: str
    """Absolute path where the plan was."""
    blob: str
    """Blob ID of the plan's content when it was last staged or committed."""


def find_missing(project: Project) -> list[MissingPlan]:
    """Find the plans of a project that are missing from the working tree.

    Returns no plans without git, or if git can't list deleted files. Raises ExecplanError if git can't read the index.
    """
    if project.git is None:
        return []
    from execplan.core.git import git_query

    folders = [project.display_path(folder) for folder in project.plan_paths]
    try:
        deleted = git_query.output(project, "--literal-pathspecs", "ls-files", "-z", "--deleted", "--", *folders).split(
            b"\0"
        )
    except ExecplanError:
        return []
    paths = {os.fsdecode(path) for path in deleted if path.endswith(b".md")}
    if paths:  # what a merge has left is not deleted before it is resolved
        unmerged = git_query.output(project, "ls-files", "-uz", "--full-name").split(b"\0")
        paths -= {os.fsdecode(line.partition(b"\t")[2]) for line in unmerged}
    if not paths:
        return []
    blobs = {file.path: file.blob for file in git_query.index_files(project, folders)}
    plans = []
    for path in sorted(paths & set(blobs)):
        absolute = os.path.join(project.root, path)
        folder, name = project.split_plan_path(absolute)
        if folder in (project.plans, *project.archives):
            plans.append(MissingPlan(name, absolute, blobs[path]))
    return plans


def find_deleted(project: Project) -> list[str]:
    """Return the paths of plans of a project and its nested projects that git has and that were deleted, not moved.

    Raises ExecplanError if git fails.
    """
    from execplan.core.project.project_discovery import with_nested_projects

    return [
        plan.path
        for member in with_nested_projects(project)
        for plan in find_missing(member)
        if _find_renamed_plan(member, plan) is None and find_moved_file(member, plan) is None
    ]


def find_moved_file(project: Project, missing_plan: MissingPlan) -> PlanRef | None:
    """Find the untracked file to which a plan was moved by hand, by equal content, file name or title.

    Returns None if no file matches, or several do.
    """
    from execplan.core.git import git_query

    query = ("ls-files", "-z", "--others", "--exclude-standard", "--", "*.md")
    try:
        untracked = git_query.output(project, *query, limit=git_query.SCAN_TIMEOUT).split(b"\0")
    except ExecplanError as error:
        if error.code != git_query.GIT_SLOW:
            raise
        return None
    paths = [os.path.join(project.root, os.fsdecode(path)) for path in untracked if path]
    if not paths:
        return None
    blobs = _hash_files(project, paths)
    predicates: tuple[Callable[[str], bool], ...] = (
        lambda path: blobs.get(path) == missing_plan.blob,
        lambda path: (
            os.path.basename(path) == os.path.basename(missing_plan.path) and _read_title(project, path) is not None
        ),
        lambda path: _read_title(project, path) == _old_title(project, missing_plan),
    )
    for predicate in predicates:
        if matches := [path for path in paths if predicate(path)]:
            return plan_store.ref_for_path(project, matches[0]) if len(matches) == 1 else None
    return None


def original_path(project: Project, ref: PlanRef) -> str:
    """Return the path of a plan before its file was moved by hand; empty if it was not.

    Raises ExecplanError if git fails.
    """
    missing_plans = find_missing(project)
    if missing_plans and _is_tracked(project, ref.path):  # then it was not moved here without git
        return ""
    for missing_plan in missing_plans:
        moved_ref = find_moved_file(project, missing_plan)
        if moved_ref is not None and moved_ref.path == ref.path:
            return missing_plan.path
    return ""


def find_moved_plan(project: Project, is_match: Callable[[str], bool]) -> PlanRef | None:
    """Find the only missing plan whose old ID matches, and return its new file; None if there is no such plan.

    Raises ExecplanError if the plan was deleted.
    """
    matches = [plan for plan in find_missing(project) if is_match(plan.id)]
    if len(matches) != 1:
        return None
    renamed_ref = _find_renamed_plan(project, matches[0])
    if renamed_ref is not None and renamed_ref.id != matches[0].id:
        raise renamed_error(matches[0].id, [renamed_ref.id])
    moved_ref = renamed_ref or find_moved_file(project, matches[0])
    if moved_ref is not None:
        from execplan.core import trace

        verb = "was moved by hand to" if renamed_ref is None else "is now"
        trace.warnings.append(f"{project.display_path(matches[0].path)} {verb} {project.display_path(moved_ref.path)}")
        return moved_ref
    path = matches[0].path
    message = f"{project.display_path(path)} was deleted in the working tree; git still has it"
    hint = f"restore it: {restore_command([path])}; or commit its removal: {removal_command([path])}"
    raise ExecplanError("plan-deleted", message, hint=hint)


def restore_command(paths: Sequence[str]) -> str:
    """Return the command that brings deleted plans back."""
    return f"git restore {shlex.join([os.path.relpath(path) for path in paths])}"


def removal_command(paths: Sequence[str]) -> str:
    """Return the command that commits the removal of plans, because `commit` knows only plans that are there."""
    return f"git commit -m 'Remove a plan' -- {shlex.join([os.path.relpath(path) for path in paths])}"


def _find_renamed_plan(project: Project, missing_plan: MissingPlan) -> PlanRef | None:
    """Find the plan that execplan has moved from the path of a missing one, which is not committed yet."""
    from execplan.core.project.plan_journal import former_paths

    old_path = project.display_path(missing_plan.path)
    refs = [
        ref
        for ref in plan_store.all_refs(project)
        if old_path in [project.display_path(path) for path in former_paths(project, ref.path)]
    ]
    return refs[0] if len(refs) == 1 else None


def _is_tracked(project: Project, path: str) -> bool:
    from execplan.core.git import git_query

    return bool(git_query.output(project, "--literal-pathspecs", "ls-files", "-z", "--", project.display_path(path)))


def _hash_files(project: Project, paths: Sequence[str]) -> dict[str, str]:
    """Return the blob ID of each file, other than those whose names git can't read from lines."""
    from execplan.core.git import git_query

    paths = [path for path in paths if "\n" not in path]
    lines = os.fsencode("".join([f"{path}\n" for path in paths]))
    return dict(
        zip(paths, git_query.output(project, "hash-object", "--stdin-paths", stdin=lines).decode().split(), strict=True)
    )


def _read_title(project: Project, path: str) -> str | None:
    plan = plan_store.load(project, plan_store.ref_for_path(project, path)).plan
    return plan.title if plan is not None else None


def _old_title(project: Project, missing_plan: MissingPlan) -> str:
    """Return the old title of a missing plan; if it can't be read, a text that is never a title."""
    from execplan.core.git import git_query

    try:
        return plan_store.parse(project, git_query.output(project, "cat-file", "blob", missing_plan.blob)).title or "\n"
    except ExecplanError:
        return "\n"
