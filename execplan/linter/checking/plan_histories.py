"""Git history of the plans of a run, queried for all plans together with one process per query."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_history, streamed_queries
from execplan.core.git.blob_reader import read_blobs
from execplan.core.git.git_query import GitFile
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import COMPLETE
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.linter.checking.check_targets import TargetGroup, iter_targets
from execplan.linter.checking.effective_rules import effective_selection
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
from execplan.linter.rule_facts import GitHistory

_MAX_DIRECTORIES = 200
"""Maximum number of directories passed to Git; with more, it lists the entire commit."""


class QueriedPlan(NamedTuple):
    """A plan whose history is queried, with the content to check."""

    project: Project
    ref: PlanRef
    data: bytes


class PlanAtCommit(NamedTuple):
    """A plan as it is in a commit."""

    data: bytes
    path: str
    """Path in that commit, from the repository root."""
    archived: bool


def add_histories(groups: Sequence[TargetGroup], options: CheckOptions, base_commit: str | None = None) -> CheckOptions:
    """Return the options with the Git history of the plans on disk.

    Git is queried if a base commit is given, or for projects with rules that need history. Raises ExecplanError if Git
    fails.
    """
    projects = {group.project.plans: group.project for group in groups}
    asking_directories = {
        plans_directory
        for plans_directory, project in projects.items()
        if base_commit is not None or effective_selection(project, options.selection).needs_history
    }
    if not asking_directories:
        return options
    plans = read_plans(iter_targets([group for group in groups if group.project.plans in asking_directories]))
    histories = load_histories(plans, base_commit)
    if base_commit is None and histories:
        from execplan.core import features

        stored_plans = [
            plan_store.StoredPlan(project, ref, data, plan, None)
            for project, ref, data in plans
            if not ref.archived and (plan := plan_store.parse_or_none(project, data)) is not None
        ]
        for path, shipped in features.load(features.SHIPPED_WORK)(stored_plans, options.selection).items():
            histories[path] = histories[path]._replace(shipped=shipped)
    return options._replace(histories=histories)


def read_plans(targets: Iterable[CheckTarget]) -> list[QueriedPlan]:
    """Read the plans that can be read; the others have a finding of their own."""
    plans = []
    for target in targets:
        try:
            data = plan_store.read_bytes(target.project, target.ref.path)
        except ExecplanError:
            continue
        plans.append(QueriedPlan(target.project, target.ref, data))
    return plans


def load_histories(plans: Iterable[QueriedPlan], base_commit: str | None = None) -> dict[str, GitHistory]:
    """Return the Git history of plans by absolute path, against the given commit or HEAD.

    The result is empty without a repository or without a commit. Raises ExecplanError if Git fails.
    """
    roots: dict[str, list[QueriedPlan]] = {}
    for plan in plans:
        if plan.project.git is not None:
            roots.setdefault(plan.project.root, []).append(plan)
    histories_by_path: dict[str, GitHistory] = {}
    for repository_plans in roots.values():
        commit = base_commit or git_history.resolve_commit(repository_plans[0].project, "HEAD")
        if commit is not None:
            histories_by_path |= _repository_histories(repository_plans, commit, with_drift=base_commit is None)
    return histories_by_path


def _repository_histories(plans: list[QueriedPlan], commit: str, *, with_drift: bool) -> dict[str, GitHistory]:
    """Return the plans' versions in a commit of a repository, and the changes around them since their last commits."""
    committed = read_committed_plans(plans, commit)
    unchanged_plans = [
        plan for plan in plans if plan.ref.path in committed and committed[plan.ref.path].data == plan.data
    ]
    drifted = _drifted_paths(unchanged_plans, commit) if with_drift else {}
    absent_names = _absent_names(plans)
    histories_by_path = {}
    for plan in plans:
        path = plan.ref.path
        if path in committed:
            data, committed_path, archived = committed[path]
            histories_by_path[path] = GitHistory(
                plan_store.parse_or_none(plan.project, data),
                committed_path,
                archived,
                drifted.get(path, ()),
                absent_names,
            )
        else:
            histories_by_path[path] = GitHistory(missing_symbols=absent_names)
    return histories_by_path


def read_committed_plans(plans: list[QueriedPlan], commit: str) -> dict[str, PlanAtCommit]:
    """Return the versions of a repository's plans in a commit, by current absolute path.

    Raises ExecplanError if Git fails.
    """
    project = plans[0].project
    committed_files = _find_committed_files(
        plans, git_history.committed_files(project, commit, _possible_directories(plans))
    )
    content_by_file = {
        file: data
        for file, (data, _) in zip(
            committed_files.values(), read_blobs(project, list(committed_files.values())), strict=True
        )
    }
    committed_by_path = {}
    for plan in plans:
        file = committed_files.get(plan.ref.path)
        if file is not None:
            archived = plan_store.ref_for_path(plan.project, os.path.join(project.root, file.path)).archived
            committed_by_path[plan.ref.path] = PlanAtCommit(content_by_file[file], file.path, archived)
    return committed_by_path


def _absent_names(plans: list[QueriedPlan]) -> frozenset[str]:
    """Return the symbols named in completed plans that no tracked file contains."""
    from execplan.linter.plan_source import PlanSource
    from execplan.linter.rules.symbol_rules import find_symbols

    names: set[str] = set()
    for project, ref, data in plans:
        plan = None if ref.archived else plan_store.parse_or_none(project, data)
        if plan is not None and plan.state() == COMPLETE:
            names |= {span.text for span in find_symbols(plan, PlanSource(plan))}
    return frozenset(streamed_queries.absent_symbols([plan_content.project for plan_content in plans], names))


def _possible_directories(plans: list[QueriedPlan]) -> list[str]:
    """Return the directories, from the root, that may have contained the plans; empty for all directories."""
    projects = {plan.project.plans: plan.project for plan in plans}.values()
    directories = {os.path.dirname(plan.ref.path) for plan in plans}
    directories |= {folder for project in projects for folder in project.plan_paths}
    return to_pathspecs(plans[0].project.root, directories)


def to_pathspecs(root: str, directories: set[str]) -> list[str]:
    """Return directories as Git pathspecs from the root, without nested ones; empty for all directories."""
    pathspecs: list[str] = []
    for folder in sorted([os.path.relpath(directory, root) for directory in directories]):
        if folder == ".":
            return []
        if not any([f"{folder}/".startswith(f"{previous}/") for previous in pathspecs[-1:]]):
            pathspecs.append(folder)
    return pathspecs if len(pathspecs) <= _MAX_DIRECTORIES else []


def _find_committed_files(plans: list[QueriedPlan], files: list[GitFile]) -> dict[str, GitFile]:
    """Return the plans' files in a commit, by current path.

    A plan is found under the same path, or as a missing plan with the same ID.
    """
    by_path = {file.path: file for file in files}
    file_by_plan_path = {plan.ref.path: by_path.get(plan.project.display_path(plan.ref.path)) for plan in plans}
    missing_plans = [plan for plan in plans if file_by_plan_path[plan.ref.path] is None]
    if missing_plans:
        vanished_files: dict[tuple[str, str], GitFile] = {}
        for project in {missing_plan.project.plans: missing_plan.project for missing_plan in missing_plans}.values():
            for file in files:
                if not os.path.lexists(os.path.join(project.root, file.path)):
                    ref = plan_store.ref_for_path(project, os.path.join(project.root, file.path))
                    if ref.archived or project.split_plan_path(ref.path)[0] == project.plans:
                        vanished_files[project.plans, plan_store.normalize_id(ref.id)] = file
        for plan in missing_plans:
            file_by_plan_path[plan.ref.path] = vanished_files.get(
                (plan.project.plans, plan_store.normalize_id(plan.ref.id))
            )
    return {path: file for path, file in file_by_plan_path.items() if file is not None}


def _drifted_paths(plans: list[QueriedPlan], commit: str) -> dict[str, tuple[str, ...]]:
    """Return, for each unfinished plan, the paths it names that commits changed since its own last commit."""
    from execplan.linter.plan_paths import find_named_paths
    from execplan.linter.plan_source import PlanSource

    pending: dict[str, tuple[str, dict[str, str]]] = {}
    for project, ref, data in plans:
        plan = None if ref.archived else plan_store.parse_or_none(project, data)
        if plan is None or plan.state() == COMPLETE:
            continue
        base_prefix = os.path.relpath(project.base, project.root)
        names_by_path = {name: name for name in find_named_paths(plan, PlanSource(plan))}
        names_by_path |= {os.path.normpath(os.path.join(base_prefix, name)): name for name in names_by_path}
        if names_by_path:
            pending[project.display_path(ref.path)] = ref.path, names_by_path
    drifted_paths: dict[str, tuple[str, ...]] = {}
    later_paths: set[str] = set()
    for paths in streamed_queries.iter_commit_changes(plans[0].project, commit) if pending else ():
        for path in pending.keys() & paths:
            plan_path, names_by_path = pending.pop(path)
            drifted_paths[plan_path] = tuple([name for actual, name in names_by_path.items() if actual in later_paths])
        later_paths.update(paths)
        if not pending:
            break
    return drifted_paths
