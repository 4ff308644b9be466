"""One-way synchronization of plans to GitHub: what differs there, and the changes that remove the differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ARCHIVED
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project.project import Project
from execplan.team.github.api_client import ApiClient, unavailable_error
from execplan.team.github.issue_changes import (
    CREATE,
    KEEP,
    ExistingIssue,
    IssueChange,
    add_linked_issues,
    apply_change,
    load_issues,
    match_issues,
)
from execplan.team.github.plan_issue import OPEN, PlanIssue, Redact, make_plan_issue, plan_key
from execplan.team.github.project_fields import ItemChange, ProjectBoard
from execplan.team.history.plan_history import track_changes

_REPOSITORY: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")


class SyncPreview(NamedTuple):
    """What differs between plans and GitHub."""

    repository: str
    """Current name of the repository, as OWNER/NAME."""
    changes: list[IssueChange]
    item_changes: dict[str, ItemChange]
    """What differs in the GitHub project, by key of the plan; a new issue is compared once it exists."""
    warnings: tuple[str, ...]


def ensure_repository_name(name: str) -> str:
    """Return the name of a repository. Raises ExecplanError unless it has the form OWNER/NAME."""
    if _REPOSITORY.fullmatch(name) is None or name.endswith(("/.", "/..")):
        message = f"{name!r} does not name a repository on GitHub"
        raise ExecplanError("usage", message, hint="write OWNER/NAME, as in its address")
    return name


class IssueSync:
    """Compares plans with the issues of a repository and, if it is given, with the items of a GitHub project.

    Every method raises ExecplanError, as those of ApiClient do.
    """

    def __init__(self, client: ApiClient, repository: str, project_path: str | None, redact: Redact) -> None:
        self._client = client
        self._redact = redact
        self._repository, self._file_url = self._find_repository(repository)
        self._board = ProjectBoard(client, project_path) if project_path is not None else None

    def compare(
        self, stored_plans: Sequence[StoredPlan], projects: Sequence[Project], *, all_plans: bool
    ) -> SyncPreview:
        """Return what differs for some plans.

        With `all_plans`, archived plans without an issue are left out, and issues of plans that are gone are reported.
        """
        issues = load_issues(self._client, self._repository)
        plan_issues = [make_plan_issue(stored_plan, self._file_url, self._redact) for stored_plan in stored_plans]
        add_linked_issues(self._client, self._repository, plan_issues, issues)
        find_former_keys = _FormerKeys(stored_plans)
        changes = [
            change
            for change in match_issues(plan_issues, issues, find_former_keys)
            if not (all_plans and change.action == CREATE and change.plan_issue.plan_state == ARCHIVED)
        ]
        item_changes = {}
        for change in changes:
            if self._board is not None and change.issue is not None:
                item_change = self._board.compare(change.plan_issue, change.issue)
                if item_change is not None:
                    item_changes[change.plan_issue.key] = item_change
        return SyncPreview(
            self._repository,
            changes,
            item_changes,
            tuple(self._warnings(plan_issues, changes, issues, projects if all_plans else ())),
        )

    def apply(self, preview: SyncPreview) -> Iterator[tuple[IssueChange, ExistingIssue]]:
        """Make all changes, plan by plan, and yield each plan that had some; after an error, the next run continues."""
        for change in preview.changes:
            issue = change.issue if change.action == KEEP else apply_change(self._client, self._repository, change)
            assert issue is not None
            item_change = preview.item_changes.get(change.plan_issue.key)
            if self._board is not None and change.issue is None:
                item_change = self._board.compare(change.plan_issue, issue)
            if self._board is not None and item_change is not None:
                self._board.apply(item_change)
            if change.action != KEEP or item_change is not None:
                yield change, issue

    def _find_repository(self, repository: str) -> tuple[str, str]:
        """Return the current name of the repository, and the address of its files."""
        fields: Any = self._client.get(f"/repos/{repository}")
        try:
            name = ensure_repository_name(fields["full_name"])
            address = f"{fields['html_url']}/blob/{quote(fields['default_branch'])}"
            has_issues = fields["has_issues"]
        except (KeyError, TypeError, ExecplanError):
            raise unavailable_error(f"GitHub's answer does not describe the repository {repository}") from None
        if not has_issues:
            message = f"issues are turned off in {name}"
            raise ExecplanError("github-rejected", message, hint="turn them on in its settings on GitHub")
        return name, address

    def _warnings(
        self,
        plan_issues: Sequence[PlanIssue],
        changes: Sequence[IssueChange],
        issues: dict[str, list[ExistingIssue]],
        projects: Sequence[Project],
    ) -> list[str]:
        compared_keys = {change.plan_issue.key for change in changes}
        warnings = [
            f"{plan_issue.path} can't be read, so it gets no issue"
            for plan_issue in plan_issues
            if plan_issue.is_broken and plan_issue.key not in compared_keys
        ]
        for change in changes:
            issue = change.issue
            if issue is None:
                continue
            numbers = [
                f"#{other.number}" for other in issues[issue.managed_part.plan_key] if other.number != issue.number
            ]
            if numbers:
                warnings.append(
                    f"{change.plan_issue.plan_id} has several issues; #{issue.number} is used, close {', '.join(numbers)}"
                )
            if issue.managed_part.end < 0:
                warnings.append(
                    f"#{issue.number} lacks the comment that ends the part of execplan, so its text is left as it is"
                )
        if projects:
            warnings += _abandoned_warnings(issues, changes, projects)
        if self._board is not None and self._board.missing_fields:
            names = " and ".join(self._board.missing_fields)
            warnings.append(
                f"the GitHub project has no field {names}; add text fields with these names to see it there"
            )
        return warnings


def _abandoned_warnings(
    issues: dict[str, list[ExistingIssue]], changes: Sequence[IssueChange], projects: Sequence[Project]
) -> list[str]:
    """Return a warning for each open issue whose plan is gone."""
    keys = {plan_key(project, ref.id) for project in projects for ref in plan_store.all_refs(project)}
    used_numbers = {change.issue.number for change in changes if change.issue is not None}
    return [
        f"#{issue.number} is about the plan {key}, which does not exist any more; close it if it is no longer needed"
        for key, key_issues in issues.items()
        for issue in key_issues
        if key not in keys and issue.number not in used_numbers and issue.state == OPEN
    ]


class _FormerKeys:
    """Finds the former names of renamed plans in git's history, which is read once, and only if it is needed."""

    def __init__(self, stored_plans: Sequence[StoredPlan]) -> None:
        self._stored_plans = {plan_key(stored.project, stored.ref.id): stored for stored in stored_plans}
        self._keys: dict[str, list[str]] | None = None

    def __call__(self, plan_issue: PlanIssue) -> Sequence[str]:
        if self._keys is None:
            self._keys = self._read_keys()
        return self._keys.get(plan_issue.key, ())

    def _read_keys(self) -> dict[str, list[str]]:
        trackers = {}
        keys = {}
        for key, stored in self._stored_plans.items():
            project = stored.project
            if project.git is None:
                continue
            if project.base not in trackers:
                trackers[project.base] = track_changes(project)[0]
            lineage = trackers[project.base].find(project.display_path(stored.ref.real_path))
            paths = reversed(lineage.paths) if lineage is not None else ()
            keys[key] = [plan_key(project, project.split_plan_path(path)[1]) for path in paths]
        return keys
