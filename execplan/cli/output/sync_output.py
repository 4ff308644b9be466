"""Output of `sync`: what was or would be changed on GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.output.terminal_text import printable_lines
from execplan.core.text.message_parts import format_count
from execplan.team.github.issue_changes import CREATE, KEEP, UPDATE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.team.github.issue_changes import ExistingIssue, IssueChange
    from execplan.team.github.issue_sync import SyncPreview
    from execplan.team.github.project_fields import ItemChange

_PROJECT_ACTION = "project"


def describe_change(
    change: IssueChange, item_change: ItemChange | None, written_issues: Mapping[str, ExistingIssue]
) -> str:
    """Return the line of a plan; empty if nothing differs. `written_issues` has the issues by key of their plan."""
    issue = written_issues.get(change.plan_issue.key, change.issue)
    number = f"#{issue.number} " if issue is not None else ""
    item_parts = [f"project {name}" for name in item_change.values] if item_change is not None else []
    if item_change is not None and item_change.item_id is None:
        item_parts.insert(0, "add to the project")
    if change.action == CREATE:
        return printable_lines(
            [f"{CREATE:8} {number}{change.plan_issue.plan_id}  {', '.join(change.plan_issue.labels)}"]
        )
    if change.action == KEEP and item_change is None:
        return ""
    parts = [*change.changed_parts, *item_parts]
    return printable_lines([f"{UPDATE:8} {number}{change.plan_issue.plan_id}  {', '.join(parts)}"])


def summarize(preview: SyncPreview, *, applies: bool) -> str:
    """Return the number of issues that were or would be created and updated."""
    created, updated, unchanged = _counts(preview)
    if not created and not updated:
        return f"{preview.repository}: {format_count(unchanged, 'issue')} up to date"
    verbs = ("created", "updated") if applies else ("would create", "would update")
    parts = [
        f"{verb} {format_count(count, 'issue')}" for verb, count in zip(verbs, (created, updated), strict=True) if count
    ]
    return f"{preview.repository}: {', '.join(parts)}" + (f", {unchanged} up to date" if unchanged else "")


def sync_json(preview: SyncPreview, written_issues: Mapping[str, ExistingIssue], *, applies: bool) -> dict[str, Any]:
    """Return the data of the document."""
    created, updated, _ = _counts(preview)
    return {
        "repository": preview.repository,
        "applied": applies,
        "changed": bool(created or updated),
        "issues": [_issue_json(change, preview, written_issues) for change in preview.changes],
    }


def _issue_json(
    change: IssueChange, preview: SyncPreview, written_issues: Mapping[str, ExistingIssue]
) -> dict[str, Any]:
    issue = written_issues.get(change.plan_issue.key, change.issue)
    item_change = preview.item_changes.get(change.plan_issue.key)
    return {
        "plan": change.plan_issue.plan_id,
        "path": change.plan_issue.path,
        "number": issue.number if issue is not None else None,
        "url": issue.url if issue is not None else None,
        "action": change.action,
        "changes": list(change.changed_parts) if change.action == UPDATE else [],
        _PROJECT_ACTION: item_change.values if item_change is not None else {},
    }


def _counts(preview: SyncPreview) -> tuple[int, int, int]:
    """Return the number of issues to create, to update, and that stay as they are."""
    actions = [
        UPDATE if change.action == KEEP and change.plan_issue.key in preview.item_changes else change.action
        for change in preview.changes
    ]
    return actions.count(CREATE), actions.count(UPDATE), actions.count(KEEP)
