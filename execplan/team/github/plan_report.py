"""Reports on the plans that a branch changes: what changed in each, its findings and its open questions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from execplan.context.open_questions import OpenQuestion, find_open_questions
from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.pure_paths import is_inside
from execplan.linter.checking.batch_check import check_plans
from execplan.linter.checking.check_targets import TargetGroup, changed_target_groups, iter_targets
from execplan.linter.checking.modified_plans import add_committed_plans
from execplan.linter.checking.plan_check import CheckedFile, CheckOptions
from execplan.linter.checking.plan_histories import add_histories
from execplan.linter.rule import LEVELS, Finding
from execplan.team.history.change_events import ChangeReader, uncommitted_changes
from execplan.team.history.history_event import HistoryEvent
from execplan.team.history.plan_history import plan_folders
from execplan.team.history.plan_lineages import LineageTracker, PlanPathMatcher
from execplan.team.review.plan_comments import PlacedThread, load_comments

DELETED = "deleted"
"""State of a plan whose file is gone."""
_NO_QUESTION = frozenset({"none", "none yet", "none so far", "nothing", "n/a"})
"""Texts that say that there is no open question, in lower case and without the final period."""


class ChangedPlan(NamedTuple):
    """A plan whose file differs from a commit."""

    project: Project
    ref: PlanRef
    """The plan now; of a deleted plan, in the commit."""
    is_deleted: bool
    former_path: str
    """Path in the commit, from the repository root; empty for a new plan."""
    events: list[HistoryEvent]

    @property
    def path(self) -> str:
        """Path from the repository root; of a deleted plan, in the commit."""
        return self.project.display_path(self.ref.path)


def load_branch_changes(project: Project, commit: str) -> list[ChangedPlan]:
    """Return the plans of a project that differ from a commit, in the order of their paths; also untracked ones.

    A plan that was renamed or archived is one change. Raises ExecplanError if git fails.
    """
    tracker = LineageTracker(PlanPathMatcher(project))
    plan_changes = tracker.add_changes(uncommitted_changes(project, commit, plan_folders(project)))
    changed_plans = []
    with BlobReader(project) as blobs:
        reader = ChangeReader(project, blobs)
        for plan_change in plan_changes:
            change, former_ref = plan_change.change, plan_change.former_refs[0]
            is_deleted = not change.blob
            former_path = change.former_paths[0] if former_ref is not None else ""
            events = reader.events(plan_change, None)
            if events:
                changed_plans.append(ChangedPlan(project, plan_change.ref, is_deleted, former_path, events))
    return sorted(changed_plans, key=lambda changed_plan: changed_plan.path)


class PlanReport(NamedTuple):
    """A plan that a branch changes, or whose review comments it changes."""

    change: ChangedPlan
    title: str
    state: str
    """State of the plan, or `DELETED`."""
    counts: dict[str, int] | None
    """Number of tasks in each state; None for a plan that is deleted or can't be read."""
    questions: list[OpenQuestion]
    comments: list[PlacedThread]
    """Open review comments."""
    findings: Sequence[Finding]

    def to_json(self) -> dict[str, Any]:
        """Return the report as a document shows it."""
        path = self.change.path
        return {
            "id": self.change.ref.id,
            "path": path,
            "former_path": self.change.former_path or None,
            "title": self.title,
            "state": self.state,
            "counts": self.counts,
            "events": [
                {name: field for name, field in event.to_json().items() if name not in ("author", "time", "commit")}
                for event in self.change.events
            ],
            "questions": [question._asdict() for question in self.questions],
            "comments": [placed.to_json() for placed in self.comments],
            "findings": [finding.to_json(path) for finding in self.findings],
        }


def load_reports(
    project: Project, commit: str, check_options: CheckOptions, paths: Sequence[str] = ()
) -> list[PlanReport]:
    """Report on the plans of a project and its nested projects that differ from a commit, in the order of their paths.

    A plan whose review comments differ is among them, also if its file doesn't. `paths` are absolute; only plans at or below one of them count, or all without any. Raises ExecplanError if git
    fails or settings are invalid.
    """
    groups, base = changed_target_groups(project.root, commit)
    checked_by_path = _check_changed_plans(project, groups, base, check_options)
    members = with_nested_projects(project)
    changes = {change.ref.path: change for member in members for change in load_branch_changes(member, commit)}
    for target in iter_targets([group for group in groups if group.has_new_comments]):
        if target.project.base in [member.base for member in members]:
            path = target.project.display_path(target.ref.path)
            changes.setdefault(target.ref.path, ChangedPlan(target.project, target.ref, False, path, []))
    reports = []
    for change in sorted(changes.values(), key=lambda change: change.path):
        if paths and not any([is_inside(change.ref.path, path) for path in paths]):
            continue
        checked = checked_by_path.get(os.path.realpath(change.ref.path))
        if checked is None or not checked.was_skipped:
            reports.append(_make_report(change, checked.findings if checked is not None else ()))
    return reports


def count_levels(reports: Sequence[PlanReport]) -> dict[str, int]:
    """Return the number of findings at each level."""
    levels = [finding.level for report in reports for finding in report.findings]
    return {level: levels.count(level) for level in LEVELS}


def _check_changed_plans(
    project: Project, groups: Sequence[TargetGroup], base: str, check_options: CheckOptions
) -> dict[str, CheckedFile]:
    """Check the changed plans in comparison with a commit, as `lint --since` does; return them by real path."""
    check_options = add_committed_plans(groups, add_histories(groups, check_options, base))
    checked_files = check_plans(groups, check_options, use_cache=False)
    return {os.path.realpath(os.path.join(project.root, checked.path)): checked for checked in checked_files}


def _make_report(change: ChangedPlan, findings: Sequence[Finding]) -> PlanReport:
    if change.is_deleted:
        return PlanReport(change, change.events[0].text, DELETED, None, [], [], ())
    stored_plan = plan_store.load(change.project, change.ref)
    plan = stored_plan.plan
    if plan is None:
        return PlanReport(change, change.ref.id, stored_plan.state, None, [], [], findings)
    questions = [
        question
        for question in find_open_questions(plan)
        if question.is_question and question.text.rstrip(".").casefold() not in _NO_QUESTION
    ]
    comments = _open_comments(change, plan)
    title = plan.title or change.ref.id
    return PlanReport(change, title, stored_plan.state, plan.counts(), questions, comments, findings)


def _open_comments(change: ChangedPlan, plan: ParsedPlan) -> list[PlacedThread]:
    """Return the open review comments of a plan; none if their file can't be read, which `lint` reports."""
    try:
        return load_comments(change.project, change.ref, plan).open_threads
    except ExecplanError:
        return []
