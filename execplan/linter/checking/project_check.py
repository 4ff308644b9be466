"""Checks of projects beyond single plans: artifacts without a plan, and the next commit."""

from __future__ import annotations

import os

from execplan.core import features
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.git import git_query
from execplan.core.git.blob_reader import read_blobs
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.plan_check import CheckedFile, CheckOptions
from execplan.linter.rule_facts import OutdatedIndex, ProjectFacts
from execplan.linter.rules.project_rules import FOLLOW_CODE, INDEX_CODE
from execplan.linter.runner import lint_project, unreadable_finding

_MAX_REASONS = 2
"""Maximum number of triage reasons in a finding, the most important first."""


def check_projects(start: str, options: CheckOptions) -> list[CheckedFile]:
    """Return the findings about the project of a directory and its nested projects.

    Raises ExecplanError if there is no project.
    """
    return [
        checked_file
        for project in project_discovery.with_nested_projects(project_discovery.require(start))
        for checked_file in [
            *_checked_files(project, _project_facts(project), options),
            *_check_index(project, options, is_staged=False),
        ]
    ]


def check_commit(start: str, options: CheckOptions) -> list[CheckedFile]:
    """Return the findings about the next commit: the plan index, and whether a plan is required but missing.

    Raises ExecplanError if Git fails.
    """
    project = project_discovery.find(start)
    if project.git is None:
        return []
    indexes = [
        checked_file
        for member in (project_discovery.with_nested_projects(project) if project.exists else ())
        for checked_file in _check_index(member, options, is_staged=True)
    ]
    return [*_check_plan_required(project, options), *indexes]


def _check_plan_required(project: Project, options: CheckOptions) -> list[CheckedFile]:
    """Return the finding that the next commit requires a plan, if the rule for it is enabled."""
    rule_levels = _plan_required_rule(project, options)
    if not rule_levels or project.git is None:
        return []
    from execplan.core.git.git_directory import operation_in_progress

    if operation_in_progress(project.git) is None:
        return _checked_files(project, _commit_facts(project), options, rule_levels)
    return []


def _check_index(project: Project, options: CheckOptions, *, is_staged: bool) -> list[CheckedFile]:
    """Return the finding about the project's plan index, on disk or in the next commit."""
    rule_levels = {
        code: level for code, level in active_levels(project, options.selection, "").items() if code == INDEX_CODE
    }
    if not rule_levels:
        return []
    from execplan.core.plan_store.index_location import find_index

    path = ""
    try:
        path = find_index(project) or ""
        if not path:
            return []
        outdated_index: OutdatedIndex | None = features.load(features.OUTDATED_INDEX)(project, is_staged=is_staged)
    except ExecplanError as error:
        if error.exit == ENVIRONMENT or not path:
            raise
        display_path = project.display_path(path)
        error.message = error.message.removeprefix(f"{display_path}:{error.line}: ")
        fail_level = effective_selection(project, options.selection).failure_level
        return [
            CheckedFile(
                display_path, os.path.relpath(path), [unreadable_finding(error)], b"", fail_level, is_plan=False
            )
        ]
    facts = ProjectFacts(outdated_indexes=(outdated_index,) if outdated_index is not None else ())
    return _checked_files(project, facts, options, rule_levels)


def _checked_files(
    project: Project, facts: ProjectFacts, options: CheckOptions, rule_levels: dict[str, str] | None = None
) -> list[CheckedFile]:
    fail_level = effective_selection(project, options.selection).failure_level
    rule_levels = active_levels(project, options.selection, "") if rule_levels is None else rule_levels
    return [
        CheckedFile(path, os.path.relpath(os.path.join(project.root, path)), [finding], b"", fail_level, is_plan=False)
        for path, finding in lint_project(facts, rule_levels)
    ]


def _plan_required_rule(project: Project, options: CheckOptions) -> dict[str, str]:
    """Return the rule that requires a plan, with its level.

    It applies if selected, or if the settings enable it and no rules were selected.
    """
    rule_levels = active_levels(project, options.selection, "")
    if FOLLOW_CODE not in rule_levels and project.settings.follow and not options.selection.select:
        rule_levels = effective_selection(project, options.selection)._replace(select=(FOLLOW_CODE,)).active_levels()
    return {code: level for code, level in rule_levels.items() if code == FOLLOW_CODE}


def _project_facts(project: Project) -> ProjectFacts:
    """Return the facts about a project's plans and artifacts."""
    artifacts = list_artifacts(project)
    plans = tuple([plan_store.normalize_id(ref.id) for ref in plan_store.all_refs(project)]) if artifacts else ()
    return ProjectFacts(plans, tuple(artifacts))


def list_artifacts(project: Project) -> list[tuple[str, str]]:
    """Return normalized ID and path of each artifacts directory; none if plans are stored with their artifacts."""
    artifacts = []
    locations = (False,) if project.shared_archives else (False, True)  # another directory lists what is archived there
    for archived in locations if project.is_flat else ():
        directory = project.artifacts_dir("", archived=archived).rstrip("/")
        for name in plan_store.list_entries(directory):
            path = os.path.join(directory, name)
            if _could_be_id(project, name) and os.path.isdir(path) and plan_store.list_entries(path):
                artifacts.append((plan_store.normalize_id(name), project.display_path(path)))
    return artifacts


def _could_be_id(project: Project, name: str) -> bool:
    """Return whether a directory name can be an ID.

    If the settings put a date or number into IDs, it must contain a digit.
    """
    variable_part = project.settings.name.replace("{slug}", "").strip("-_. ")
    return not variable_part or any([char.isdigit() for char in name])


def _commit_facts(project: Project) -> ProjectFacts:
    """Return the changes of the next commit and the scopes of plans in progress, as in the Git index."""
    from execplan.linter.checking.check_targets import find_plan_refs

    paths = git_query.staged_paths(project)
    commits = tuple([path for path in paths if not path.startswith(project_discovery.owned_path_prefixes(project))])
    if not commits or find_plan_refs(project, [path for path in paths if path.endswith(".md")]):
        return ProjectFacts(commit_files=commits, touches_plan=True)
    folders = [
        related_project.display_path(related_project.plans)
        for related_project in project_discovery.with_nested_projects(project)
    ]
    files = {indexed_file.path: indexed_file for indexed_file in git_query.index_files(project, folders)}
    plans = [
        (plan_project, ref)
        for plan_project, ref in find_plan_refs(project, [path for path in files if path.endswith(".md")])
        if not ref.archived
    ]
    contents = read_blobs(project, [files[plan_project.display_path(ref.path)] for plan_project, ref in plans])
    scopes = [
        (plan_project.display_path(ref.path), _named_paths(plan_project, data))
        for (plan_project, ref), (data, _) in zip(plans, contents, strict=True)
    ]
    return ProjectFacts(
        commit_files=commits,
        plan_scopes=tuple(scopes),
        max_files=project.settings.follow_files,
        triage_reasons=features.load(features.TRIAGE_REASONS)(project)[:_MAX_REASONS],
    )


def _named_paths(project: Project, data: bytes) -> frozenset[str]:
    """Return the paths that an unfinished plan names, from the root, also resolved against its project's base."""
    from execplan.core.plan.model import COMPLETE
    from execplan.linter.plan_paths import find_named_paths
    from execplan.linter.plan_source import PlanSource

    try:
        plan = plan_store.parse(project, data)
    except ExecplanError:
        return frozenset()
    if plan.state() == COMPLETE:
        return frozenset()
    base_prefix = os.path.relpath(project.base, project.root)
    named_paths = find_named_paths(plan, PlanSource(plan))
    return frozenset(named_paths) | {os.path.normpath(os.path.join(base_prefix, path)) for path in named_paths}
