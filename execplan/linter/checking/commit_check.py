"""Checks under `--hook`: findings that a plan had before this commit are dropped, so they do not block new work."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_history, git_query
from execplan.core.git.blob_reader import read_blobs
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.reader import MAX_BYTES, too_large_error
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.comment_location import COMMENTS_FILE
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.linter.checking.check_targets import find_commented_plans, find_plan_refs
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.plan_check import (
    CheckedFile,
    CheckOptions,
    CheckTarget,
    make_checked_file,
    make_rule_context,
    parse_checked_plan,
)
from execplan.linter.checking.plan_histories import PlanAtCommit, QueriedPlan, load_histories, read_committed_plans
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.finding_summary import finding_weight, is_overflow
from execplan.linter.fingerprint import compute_fingerprints
from execplan.linter.rule import LEVELS, Finding
from execplan.linter.runner import lint_bytes, lint_plan, unreadable_finding


def check_staged_plans(start: str, options: CheckOptions) -> list[CheckedFile]:
    """Check the plans that the next commit adds or changes, and those whose review comments it changes.

    A hook does not check the latter, because a comment must not stop its own commit. Raises ExecplanError if Git fails.
    """
    start_project = project_discovery.find(start)
    staged_files = git_query.staged_files(start_project, (".md", COMMENTS_FILE))
    files = {os.path.join(start_project.root, staged_file.path): staged_file for staged_file in staged_files}
    plans = find_plan_refs(start_project, [file.path for file in staged_files if file.path.endswith(".md")])
    if not options.is_hook:
        commented = [
            plan
            for plan in find_commented_plans(start_project, [file.path for file in staged_files])
            if plan[1].path not in files
        ]
        unchanged_paths = [project.display_path(ref.path) for project, ref in commented]
        unchanged_files = git_query.index_files(start_project, unchanged_paths) if unchanged_paths else []
        files |= {os.path.join(start_project.root, file.path): file for file in unchanged_files}
        plans += [plan for plan in commented if plan[1].path in files]
    contents = list(read_blobs(start_project, [files[ref.path] for _, ref in plans]))
    known_histories = load_histories(
        [QueriedPlan(*plan, data) for plan, (data, _) in zip(plans, contents, strict=True)]
    )
    options = options._replace(trees=RepositoryTrees(is_staged=True), histories=known_histories)
    checked_files = []
    checked_targets = []
    for (project, ref), (data, size) in zip(plans, contents, strict=True):
        path = project.display_path(ref.path)
        if size > MAX_BYTES:
            findings = [unreadable_finding(too_large_error(size))]
        else:
            findings = lint_bytes(
                data,
                make_rule_context(project, ref, options, is_explicit=False),
                active_levels(project, options.selection, path),
            )
        fail_level = effective_selection(project, options.selection).failure_level
        display_name = os.path.relpath(ref.path)
        checked_files.append(make_checked_file(path, display_name, findings, data, fail_level))
        checked_targets.append(CheckTarget(project, ref, display_name, is_explicit=False))
    if options.is_hook and any([checked_file.findings for checked_file in checked_files]):
        return drop_older_findings(checked_targets, checked_files, options)
    return checked_files


FROM_REF_VARIABLE = "PRE_COMMIT_FROM_REF"
"""Environment variable in which pre-commit passes the base commit when it checks a range of commits."""
_NO_LIMIT = 1 << 30


def drop_older_findings(
    targets: Sequence[CheckTarget], checked_files: Sequence[CheckedFile], options: CheckOptions
) -> list[CheckedFile]:
    """Return the plans with only the findings that this commit adds.

    `targets` and `checked_files` are in the same order. A plan is compared with HEAD, or with the commit in
    PRE_COMMIT_FROM_REF. A new plan keeps all its findings, and so does an unchanged one, which is not part of the
    commit. Raises ExecplanError if Git fails.
    """
    contents_by_root: dict[str, list[QueriedPlan]] = {}
    for target, checked_file in zip(targets, checked_files, strict=True):
        if checked_file.findings and target.project.git is not None:
            data = checked_file.data or _read_plan_bytes(target)
            if data:
                contents_by_root.setdefault(target.project.root, []).append(
                    QueriedPlan(target.project, target.ref, data)
                )
    comparable: dict[str, tuple[QueriedPlan, PlanAtCommit]] = {}
    for contents in contents_by_root.values():
        base_commit = _base_commit(contents[0].project)
        committed_by_path = read_committed_plans(contents, base_commit) if base_commit is not None else {}
        comparable |= {
            content.ref.path: (content, committed_by_path[content.ref.path])
            for content in contents
            if content.ref.path in committed_by_path
        }
    new_results = []
    for target, checked_file in zip(targets, checked_files, strict=True):
        if target.ref.path not in comparable:
            new_results.append(checked_file)
            continue
        content, committed = comparable[target.ref.path]
        is_unchanged = (committed.data, committed.path) == (content.data, target.project.display_path(target.ref.path))
        old_plan = None if is_unchanged else plan_store.parse_or_none(target.project, committed.data)
        new_results.append(
            checked_file
            if old_plan is None
            else _drop_older(target, checked_file, content, committed, old_plan, options)
        )
    return new_results


def _drop_older(
    target: CheckTarget,
    checked_file: CheckedFile,
    content: QueriedPlan,
    committed: PlanAtCommit,
    old_plan: ParsedPlan,
    options: CheckOptions,
) -> CheckedFile:
    """Return a plan's result without the findings that it had before."""
    project = target.project
    ref = plan_store.ref_for_path(project, os.path.join(project.root, committed.path))
    context = make_rule_context(project, PlanRef(ref.id, ref.path, committed.archived), options._replace(histories={}))
    old_findings = lint_plan(
        old_plan, context, active_levels(project, options.selection, checked_file.path), max_findings=_NO_LIMIT
    )
    new_findings = _new_findings(
        checked_file.findings, parse_checked_plan(checked_file._replace(data=content.data)), old_findings, old_plan
    )
    dropped_count = sum(map(finding_weight, checked_file.findings)) - sum(map(finding_weight, new_findings))
    return checked_file.with_findings(new_findings)._replace(older_count=dropped_count)


def _new_findings(
    findings: Sequence[Finding], plan: ParsedPlan | None, old_findings: Sequence[Finding], old_plan: ParsedPlan
) -> list[Finding]:
    """Return the findings that are not among the old ones, or are now more severe."""
    unmatched: dict[str, list[Finding]] = {}
    count_changes: dict[str, int] = {}
    for finding, fingerprint in zip(old_findings, compute_fingerprints(old_findings, old_plan), strict=True):
        unmatched.setdefault(fingerprint, []).append(finding)
        count_changes[finding.code] = count_changes.get(finding.code, 0) + 1
    for finding in findings:
        count_changes[finding.code] = count_changes.get(finding.code, 0) - finding_weight(finding)
    title_line = plan.title_line + 1 if plan is not None else 0
    new_findings = []
    for finding, fingerprint in zip(findings, compute_fingerprints(findings, plan), strict=True):
        if is_overflow(finding):
            is_known = count_changes[finding.code] >= 0
        else:
            is_known = _take_matching(unmatched.get(fingerprint, []), finding, is_about_plan=finding.line == title_line)
        if not is_known:
            new_findings.append(finding)
    return new_findings


def _take_matching(old_findings: list[Finding], finding: Finding, *, is_about_plan: bool) -> bool:
    """Remove an old finding that matches a new one and was at least as severe; return whether there was one.

    All findings about the whole plan share a fingerprint, so their messages must also match, except for line numbers.
    """
    for old_finding in old_findings:
        is_as_severe = LEVELS.index(old_finding.level) <= LEVELS.index(finding.level)
        if is_as_severe and (
            not is_about_plan or _remove_digits(old_finding.message) == _remove_digits(finding.message)
        ):
            old_findings.remove(old_finding)
            return True
    return False


def _remove_digits(message: str) -> str:
    return "".join([char for char in message if not char.isdigit()])


def _base_commit(project: Project) -> str | None:
    """Return the commit to compare with, or None before the first commit."""
    revision = os.environ.get(FROM_REF_VARIABLE, "")
    if revision and git_history.resolve_commit(project, revision) is not None:
        try:
            return git_history.branch_point(project, revision)
        except ExecplanError:
            pass  # no common history: fall back to HEAD
    return git_history.resolve_commit(project, "HEAD")


def _read_plan_bytes(target: CheckTarget) -> bytes:
    """Return a plan's bytes that the check did not include; empty if unreadable, which is a finding of its own."""
    try:
        return plan_store.read_bytes(target.project, target.ref.path)
    except ExecplanError:
        return b""
