"""The `execplan sync` command."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, lock_option
from execplan.cli.option_rules import exclusive, option_rules, requires
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_flag
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError, usage_error
from execplan.core.plan.model import DOCUMENT
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count
from execplan.team.github.issue_changes import CREATE, KEEP, UPDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from execplan.core.edits.bulk_operation import BulkOperation
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.core.project.project import Project
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


_REPOSITORY_VARIABLE = "GITHUB_REPOSITORY"
_SERVICE = "github"
"""The only service so far."""


@define_command(
    reads=(
        "the plans; with git, their former names; the issues of the repository on GitHub, and the items of the project; "
        "$GITHUB_TOKEN or $GH_TOKEN, $GITHUB_REPOSITORY and $GITHUB_API_URL. With --offline, nothing on GitHub."
    ),
    writes="nothing; with --apply, issues, their labels and project items on GitHub; with --link, the metadata of plans.",
    examples=(
        "execplan sync github --offline",
        "execplan sync github --offline parser --json",
    ),
)
@click.argument("service", metavar="github", shell_complete=lambda *_: [_SERVICE])
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag(default="all plans")
@click.option("--repo", "repository", metavar="OWNER/NAME", help="Repository on GitHub. Default: $GITHUB_REPOSITORY.")
@click.option(
    "--github-project",
    "project_name",
    metavar="orgs/NAME/N",
    help="GitHub project whose fields show the plans, or users/NAME/N.",
)
@click.option("--apply", "applies", is_flag=True, help="Make the changes. Default: only show them.")
@click.option("--dry-run", is_flag=True, help="Only show the changes, which is the default.")
@click.option(
    "--link", "writes_links", is_flag=True, help="With --apply: write the address of each issue into its plan."
)
@click.option("--commit/--no-commit", default=None, help="With --link: commit the changed plans and nothing else.")
@click.option("--offline", is_flag=True, help="Show the issues that plans would have, without asking GitHub.")
@lock_option
@option_rules(
    exclusive("--apply", "--dry-run"),
    exclusive("--apply", "--offline"),
    exclusive("--github-project", "--offline"),
    requires("--link", "--apply"),
    requires("--commit", "--link"),
)
def sync(
    call: Call,
    service: str,
    plans: tuple[str, ...],
    *,
    repository: str | None,
    project_name: str | None,
    applies: bool,
    options: WriteOptions,
    writes_links: bool,
    offline: bool,
) -> Answer:
    """Show plans as GitHub issues, and in a GitHub project.

    Each plan has an issue with its purpose and tasks; labels such as plan:active show its state, and the issue of an
    archived plan is closed. The plan is the source: changes on GitHub never reach it. Text that people write above or
    below the plan's part of an issue stays, and so do their labels, and titles that they change.

    Without --apply, only show what would change. Without PLAN, all plans count, but no issue is created for a plan that
    is archived already.
    """
    from execplan.core.secrets.redaction import Redactor

    if service != _SERVICE:
        message = f"plans can be shown as issues of GitHub only, not of {service!r}"
        hint = "for GitHub: execplan sync github --offline; to run a plan on GitLab: execplan export PLAN --to gitlab"
        raise usage_error(message, hint)
    if not (offline or repository or os.environ.get(_REPOSITORY_VARIABLE)):
        message = "specify the repository on GitHub: --repo OWNER/NAME"
        raise usage_error(message, "see execplan sync --help")
    project = project_discovery.require(os.getcwd())
    projects = project_discovery.with_nested_projects(project)
    stored_plans = _load_plans(project, plans)
    redact = Redactor(os.environ, os.environ).redact_text  # of variables only those whose names tell
    if offline:
        return _show_offline(stored_plans, repository, redact)
    issue_sync = _Sync(repository, project_name, stored_plans, projects, redact, options if writes_links else None)
    return issue_sync.run(applies=applies, all_plans=not plans)


def _load_plans(project: Project, names: Sequence[str]) -> list[StoredPlan]:
    """Load the named plans, or all plans of the project and its nested projects."""
    if not names:
        stored_plans = plan_store.load_with_nested(project, archive=True)
        return [stored_plan for stored_plan in stored_plans if stored_plan.state != DOCUMENT]
    from execplan.core.plan_store import plan_selection

    selected = [plan_selection.select_plan(os.getcwd(), name) for name in names]
    return [
        plan_store.load(member, ref) for member, ref in {ref.path: (member, ref) for member, ref in selected}.values()
    ]


def _show_offline(stored_plans: Sequence[StoredPlan], repository: str | None, redact: Callable[[str], str]) -> Answer:
    """Return the issues that plans would have."""
    from execplan.team.github.issue_sync import ensure_repository_name
    from execplan.team.github.plan_issue import make_plan_issue

    name = ensure_repository_name(repository or os.environ.get(_REPOSITORY_VARIABLE) or "OWNER/NAME")
    file_url = f"https://github.com/{name}/blob/HEAD"
    plan_issues = [make_plan_issue(stored_plan, file_url, redact) for stored_plan in stored_plans]
    text = "\n\n".join(
        [
            f"# {plan_issue.title}\n{plan_issue.state}, labels: {', '.join(plan_issue.labels)}\n\n{plan_issue.content}"
            for plan_issue in plan_issues
        ]
    )
    return Answer({"issues": [plan_issue.to_json() for plan_issue in plan_issues]}, text or "no plans yet")


class _Sync(NamedTuple):
    """The comparison of plans with GitHub, and the changes if they are wanted."""

    repository: str | None
    project_name: str | None
    stored_plans: Sequence[StoredPlan]
    projects: Sequence[Project]
    redact: Callable[[str], str]
    link_options: WriteOptions | None
    """How to write the addresses of new issues into their plans; None to leave the plans as they are."""

    def run(self, *, applies: bool, all_plans: bool) -> Answer:
        """Compare and, with `applies`, make the changes. Raises ExecplanError."""
        from execplan.core.edits.bulk_operation import BulkOperation
        from execplan.core.project.project_state import lock
        from execplan.team.github.api_client import ApiClient
        from execplan.team.github.api_endpoint import find_endpoint
        from execplan.team.github.issue_sync import IssueSync, ensure_repository_name
        from execplan.team.github.project_fields import parse_project

        name = ensure_repository_name(self.repository or os.environ.get(_REPOSITORY_VARIABLE) or "")
        project_path = parse_project(self.project_name) if self.project_name is not None else None
        issues: dict[str, ExistingIssue] = {}
        # Two runs at the same time would both create the issue of a new plan.
        run_lock = lock(self.projects[0], "github-sync", f"sync of {name}") if applies else nullcontext()
        with run_lock, ApiClient(find_endpoint(os.environ)) as client:
            issue_sync = IssueSync(client, name, project_path, self.redact)
            preview = issue_sync.compare(self.stored_plans, self.projects, all_plans=all_plans)
            for change, issue in issue_sync.apply(preview) if applies else ():
                issues[change.plan_issue.key] = issue
        link_warnings = []
        bulk = BulkOperation()
        for change in preview.changes if self.link_options is not None else ():
            linked_issue = issues.get(change.plan_issue.key, change.issue)
            if linked_issue is not None and linked_issue.number not in change.plan_issue.linked_numbers:
                try:
                    self._write_link(change, linked_issue, bulk)
                except ExecplanError as error:
                    link_warnings.append(f"the address of #{linked_issue.number} is not written: {error.message}")
        commit_warnings = bulk.commit("sync", "sync github --link")
        item_changes = preview.item_changes
        lines = [describe_change(change, item_changes.get(change.plan_issue.key), issues) for change in preview.changes]
        data = sync_json(preview, issues, applies=applies)
        command = f"execplan sync github --repo {preview.repository}"
        command += f" --github-project {self.project_name}" if self.project_name else ""
        return Answer(
            data,
            "\n".join([*filter(None, lines), summarize(preview, applies=applies)]),
            exit=CHECK_FAILED if link_warnings else OK,
            warnings=(*preview.warnings, *link_warnings, *commit_warnings),
            next_commands=(f"{command} --apply",) if data["changed"] and not applies else (),
        )

    def _write_link(self, change: IssueChange, issue: ExistingIssue, bulk: BulkOperation) -> None:
        """Add the address of an issue to those in the plan's metadata; an archived plan is not edited.

        Raises ExecplanError if the plan can't be edited or committed.
        """
        from execplan.core.edits import plan_updates
        from execplan.core.plan.plan_metadata import read_metadata

        paths = {stored.project.display_path(stored.ref.path): stored for stored in self.stored_plans}
        stored_plan = paths[change.plan_issue.path]
        if self.link_options is None or stored_plan.ref.archived or stored_plan.plan is None:
            return
        links = ", ".join([*read_metadata(stored_plan.plan).links.issue, issue.url])
        options = self.link_options._replace(bulk=bulk)
        plan_updates.set_metadata(stored_plan.project, stored_plan.ref, [f"links.issue={links}"], options)
