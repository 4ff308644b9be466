"""The plans of the next commit checked as git's index holds them, whatever the working tree says."""

from __future__ import annotations

import os

from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.plan.reader import MAX_BYTES, too_large_error
from execplan.repo import ask, homes
from execplan.repo.checking.history import PlanContent, load_histories
from execplan.repo.checking.one import CheckedFile, CheckTarget, CheckOptions, make_checked_file, make_rule_context
from execplan.repo.checking.selected import active_levels, effective_selection
from execplan.repo.checking.targets import find_plan_refs
from execplan.repo.checking.tree import RepositoryTrees


def check_staged_plans(start: str, options: CheckOptions) -> list[CheckedFile]:
    """Check the plans that the next commit adds or changes; raises ExecplanError."""
    start_project = homes.find(start)
    files = {os.path.join(start_project.root, staged_file.path): staged_file for staged_file in ask.staged_files(start_project, ".md")}
    plans = find_plan_refs(start_project, [staged_file.path for staged_file in files.values()])
    contents = list(ask.read_blobs(start_project, [files[ref.path] for _, ref in plans]))
    known_histories = load_histories([PlanContent(*plan, data) for plan, (data, _) in zip(plans, contents, strict=True)])
    options = options._replace(trees=RepositoryTrees(is_staged=True), histories=known_histories)
    checked_files = []
    checked_targets = []
    for (project, ref), (data, size) in zip(plans, contents, strict=True):
        path = project.display_path(ref.path)
        if size > MAX_BYTES:
            findings = [unreadable_finding(too_large_error(size))]
        else:
            findings = lint_bytes(data, make_rule_context(project, ref, options, is_explicit=False), active_levels(project, options.selection, path))
        fail_level = effective_selection(project, options.selection).failure_level
        display_name = os.path.relpath(ref.path)
        checked_files.append(make_checked_file(path, display_name, findings, data, fail_level))
        checked_targets.append(CheckTarget(project, ref, display_name, is_explicit=False))
    if options.is_hook and any([checked_file.findings for checked_file in checked_files]):
        from execplan.repo.checking.older import drop_older_findings

        return drop_older_findings(checked_targets, checked_files, options)
    return checked_files
