"""Selection of the plans to check: all plans of a project, named plans, or all files below a directory."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project_settings import is_plan_name
from execplan.linter.checking.plan_check import CheckTarget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.core.project.project import Project


class TargetGroup(NamedTuple):
    """Plans in one directory, in the order in which they are checked."""

    project: Project
    directory: str
    display_prefix: str
    """Directory shown before file names on the terminal."""
    archived: bool
    names: list[str]
    is_complete: bool = False
    """Whether the group contains all plans of the directory."""
    is_explicit: bool = False
    """Whether the user named these files or plans."""
    has_new_comments: bool = False
    """Whether the review comments of its only plan changed since the commit that it is compared with."""

    def target(self, name: str) -> CheckTarget:
        """Return the check target for one of the files."""
        path = os.path.join(self.directory, name)
        return CheckTarget(
            self.project,
            PlanRef(self.project.split_plan_path(path)[1], path, self.archived),
            self.display_prefix + name,
            self.is_explicit,
        )


def resolve_target_groups(names: Sequence[str], *, is_hook: bool = False) -> list[TargetGroup]:
    """Return the named plans with their projects; without names, all plans, including archived ones.

    A hook gets names from Git, so they do not mean that the user considers these files plans. Raises ExecplanError if a
    name matches no plan.
    """
    if not names:
        projects = project_discovery.with_nested_projects(project_discovery.require(os.getcwd()))
        return [
            TargetGroup(project, directory, _display_prefix(directory), archived, files, is_complete=True)
            for project in projects
            for archived in (False, True)
            for directory, files in plan_store.plan_files(project, archive=archived)
        ]
    projects_by_directory: dict[str, Project] = {}
    groups: list[TargetGroup] = []
    for name in names:
        if os.path.isdir(name):
            for directory, subdirectories, files in walk_tree(name):
                subdirectories[:] = sorted([subdirectory for subdirectory in subdirectories if subdirectory != ".git"])
                _add_files(
                    groups,
                    os.path.join(directory, ""),
                    [file_name for file_name in sorted(files) if is_plan_name(file_name)],
                    projects_by_directory,
                    is_explicit=False,
                )
        elif os.path.lexists(name):
            directory, base_name = os.path.split(name)
            _add_files(
                groups, name.removesuffix(base_name), [base_name], projects_by_directory, is_explicit=not is_hook
            )
        else:
            groups.append(_find_plan_group(name))
    seen_paths: set[str] = set()
    for index, group in enumerate(groups):
        new_names = [name for name in group.names if os.path.join(group.directory, name) not in seen_paths]
        seen_paths |= {os.path.join(group.directory, name) for name in new_names}
        groups[index] = group._replace(names=new_names)
    return groups


def iter_targets(groups: Iterable[TargetGroup]) -> Iterator[CheckTarget]:
    """Yield each plan of the groups."""
    for group in groups:
        yield from [group.target(name) for name in group.names]


def find_plan_refs(start_project: Project, paths: Sequence[str]) -> list[tuple[Project, PlanRef]]:
    """Return those files, given by path from the repository root, that are plans of a project.

    Raises ExecplanError if a project's settings are invalid.
    """
    import re

    from execplan.core.project.plan_path_pattern import plan_paths_regex

    matcher_by_directory: dict[str, tuple[Project, re.Pattern[str]]] = {}
    plans = []
    for path in paths:
        full_path = os.path.join(start_project.root, path)
        directory = os.path.dirname(full_path)
        if directory not in matcher_by_directory:
            project = project_discovery.find(directory)
            matcher_by_directory[directory] = project, re.compile(plan_paths_regex(project))
        project, pattern = matcher_by_directory[directory]
        if pattern.search(path):
            plans.append(
                (project_discovery.directory_of(project, full_path), plan_store.ref_for_path(project, full_path))
            )
    return plans


def find_commented_plans(start_project: Project, paths: Sequence[str]) -> list[tuple[Project, PlanRef]]:
    """Return the plans whose review comments are in one of the files, given by path from the repository root.

    Raises ExecplanError if a project's settings are invalid.
    """
    from execplan.core.plan_store.comment_location import COMMENTS_FILE, comments_path

    files = {os.path.join(start_project.root, path) for path in paths if os.path.basename(path) == COMMENTS_FILE}
    projects = {
        member.plans: member
        for file in files
        for member in project_discovery.with_directories(project_discovery.find(os.path.dirname(file)))
    }
    return [
        (project, ref)
        for project in projects.values()
        for ref in plan_store.all_refs(project)
        if comments_path(project, ref) in files
    ]


def changed_target_groups(start: str, revision: str) -> tuple[list[TargetGroup], str]:
    """Return the plans changed or added since the branch point from a revision, and that commit.

    A plan whose review comments changed counts too. Raises ExecplanError if Git fails.
    """
    from execplan.core.git import git_history

    start_project = project_discovery.find(start)
    base_commit = git_history.branch_point(start_project, revision)
    paths = sorted(
        {*git_history.changed_files(start_project, base_commit), *git_history.untracked_files(start_project)}
    )
    plans = find_plan_refs(start_project, [path for path in paths if path.endswith(".md")])
    commented = find_commented_plans(start_project, paths)
    commented_paths = {ref.path for _, ref in commented}
    groups = {
        ref.path: _single_plan_group(project, ref)._replace(has_new_comments=ref.path in commented_paths)
        for project, ref in (*plans, *commented)
        if os.path.lexists(ref.path)
    }
    return [group for _, group in sorted(groups.items())], base_commit


def _find_plan_group(name: str) -> TargetGroup:
    """Return a group for the plan with this name, which is not a file."""
    from execplan.core.plan_store import plan_selection

    if plan_selection.is_path_query(name) and not project_discovery.find(os.getcwd()).exists:
        raise ExecplanError("no-such-file", f"can't read {name}: no such file or directory", hint="check the path")
    return _single_plan_group(*plan_selection.select_plan(os.getcwd(), name))._replace(is_explicit=True)


def _single_plan_group(project: Project, ref: PlanRef) -> TargetGroup:
    """Return a group with a single plan."""
    directory, file_name = os.path.split(ref.path)
    return TargetGroup(project, directory, _display_prefix(directory), ref.archived, [file_name])


def _add_files(
    groups: list[TargetGroup],
    display_prefix: str,
    names: list[str],
    projects_by_directory: dict[str, Project],
    *,
    is_explicit: bool,
) -> None:
    """Add files of a directory to the groups; `projects_by_directory` caches the projects of directories."""
    directory = os.path.abspath(display_prefix or ".")
    for name in names:
        last_group = groups[-1] if groups and groups[-1].is_explicit == is_explicit else None
        if last_group is not None and last_group.display_prefix == display_prefix and last_group.project.is_flat:
            last_group.names.append(name)  # in a flat layout all files of a directory are archived, or none is
            continue
        if directory not in projects_by_directory:
            projects_by_directory[directory] = project_discovery.find_for_file(os.path.join(directory, name))
        project = projects_by_directory[directory]
        archived = plan_store.ref_for_path(project, os.path.join(directory, name)).archived
        if last_group is not None and last_group.display_prefix == display_prefix and last_group.archived == archived:
            last_group.names.append(name)
        else:
            groups.append(TargetGroup(project, directory, display_prefix, archived, [name], is_explicit=is_explicit))


def _display_prefix(directory: str) -> str:
    """Return a directory as the terminal shows it before a file name."""
    relative_path = os.path.relpath(directory)
    return "" if relative_path == "." else os.path.join(relative_path, "")
