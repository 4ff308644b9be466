"""The plans that differ from the last commit, for rules that compare a plan with its committed version."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_history
from execplan.core.plan_store import plan_store
from execplan.linter.checking.check_targets import TargetGroup
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
from execplan.linter.checking.plan_histories import read_committed_plans, read_plans, to_pathspecs
from execplan.linter.rule import COMMIT, RULES
from execplan.linter.rule_facts import GitHistory


def add_committed_plans(groups: Sequence[TargetGroup], options: CheckOptions) -> CheckOptions:
    """Return the options with the committed versions of plans that differ from HEAD. Errors from Git are ignored.

    Two Git processes list the plans that differ; two more read them if there are any. Git is not queried if no rule
    needs it or if history is already loaded.
    """
    if options.histories is not None:
        return options
    roots: dict[str, list[TargetGroup]] = {}
    for group in groups:
        comparing_rules = [
            code for code in active_levels(group.project, options.selection, "") if RULES[code].needs == COMMIT
        ]
        if group.project.git is not None and not group.archived and comparing_rules:
            roots.setdefault(group.project.root, []).append(group)
    histories_by_path: dict[str, GitHistory] = {}
    for repository_groups in roots.values():
        try:
            histories_by_path |= _modified_plans(repository_groups)
        except ExecplanError:
            continue
    return options._replace(committed=histories_by_path)


def _modified_plans(groups: list[TargetGroup]) -> dict[str, GitHistory]:
    """Return the plans of a repository that differ from HEAD, by absolute path. Raises ExecplanError if Git fails."""
    project = groups[0].project
    pathspecs = to_pathspecs(project.root, {group.directory for group in groups})
    modified_paths = {os.path.join(project.root, path) for path in git_history.modified_files(project, pathspecs)}
    targets = [group.target(name) for group in groups for name in group.names] if modified_paths else []
    return _committed_histories([target for target in targets if os.path.realpath(target.ref.path) in modified_paths])


def load_committed_plans(group: TargetGroup) -> dict[str, GitHistory]:
    """Return the committed versions of some plans by absolute path, also of plans that don't differ from them.

    Raises ExecplanError if Git fails.
    """
    return _committed_histories([group.target(name) for name in group.names])


def _committed_histories(targets: list[CheckTarget]) -> dict[str, GitHistory]:
    """Return the committed versions of plans of one repository, by absolute path. Raises ExecplanError if Git fails."""
    projects = {target.ref.path: target.project for target in targets}
    plans = read_plans(targets)
    histories_by_path = {}
    for path, committed in (read_committed_plans(plans, "HEAD") if plans else {}).items():
        committed_plan = plan_store.parse_or_none(projects[path], committed.data)
        if committed_plan is not None:
            histories_by_path[path] = GitHistory(committed_plan, committed.path, committed.archived, is_partial=True)
    return histories_by_path
