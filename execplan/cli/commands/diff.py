"""The `execplan diff` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.plan_arguments import DEFAULT_PLAN, require_one_plan
from execplan.cli.time_options import MAX_SECONDS, is_date_shaped, parse_moment
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_selection import is_exact_name

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.history.plan_diff import PlanDiff

_HEAD = "HEAD"


@define_command(
    reads="the plan, and its versions in git.",
    writes="nothing.",
    examples=(
        "execplan diff parser",
        "execplan diff parser HEAD~3",
        "execplan diff parser --since 2026-10-01 --text",
        "execplan diff parser HEAD~2..HEAD --json",
    ),
    may_page=True,
)
@click.argument("plan", required=False, metavar="[PLAN]")
@click.argument("revision", required=False, metavar="[REV]")
@click.option(
    "-p",
    "--plan",
    "plan_name",
    metavar="PLAN",
    help=f"Same as PLAN: ID, part of the ID or title, or path. Default: {DEFAULT_PLAN}.",
)
@click.option("--since", metavar="REV", help="Same as REV.")
@click.option("--text", "with_text", is_flag=True, help="Also show the changed lines.")
@option_rules(exclusive("REV", "--since"))
def diff(
    call: Call, plan: str | None, revision: str | None, *, plan_name: str | None, since: str | None, with_text: bool
) -> Answer:
    """Show what changed in a plan, in the plan's terms.

    Tasks that were added, checked off, reopened, reworded, moved or removed since REV; entries and sections that were
    added, changed or removed. REV is a commit, branch or tag (default: HEAD), a date or a duration, such as 7d or
    2026-10-31, or a range of two of these, such as `main..feature`. The plan is found in REV also if it was renamed since.

    A date or a duration means the last commit before it, by git's committer date. After a rebase or an amendment, this
    date is later than the author date, which `log` shows.
    """
    from execplan.cli.output.history_output import changes_json, format_changes
    from execplan.team.history.plan_diff import compare_revisions
    from execplan.team.history.plan_history import shallow_clone_warnings

    if plan_name is not None:
        if plan is not None and (revision is not None or is_exact_name(os.getcwd(), plan)):
            require_one_plan([plan], plan_name)
        else:
            plan, revision = plan_name, plan
    if since is not None:
        revision = since
    project, ref, revision = _find_plan(plan, revision)
    old_commit, new_commit = _find_commits(project, revision or _HEAD)
    plan_diff = compare_revisions(project, ref, old_commit, new_commit)
    lines = format_changes(plan_diff.events)
    description = _describe_range(project, revision or _HEAD, old_commit, new_commit)
    text = "\n".join([f"{ref.id}: {'changes' if lines else 'no changes'} {description}", *lines])
    line_diff = _line_diff(plan_diff) if with_text else ""
    data = {
        "plan": ref.id,
        "path": project.display_path(ref.path),
        "old": {"commit": old_commit, "path": plan_diff.old_path or None},
        "new": {"commit": new_commit, "path": plan_diff.new_path or None},
        "events": changes_json(plan_diff.events),
        **({"diff": line_diff} if with_text else {}),
    }
    warnings = shallow_clone_warnings(project) if old_commit is None else ()
    return Answer(data, f"{text}\n\n{line_diff}" if line_diff else text, warnings=warnings)


def _find_plan(plan: str | None, revision: str | None) -> tuple[Project, PlanRef, str | None]:
    """Return the plan and the revision; a single argument that names no plan may be the revision."""
    from execplan.core.project import project_discovery
    from execplan.team.history.plan_history import select_past_plan

    try:
        return *select_past_plan(os.getcwd(), plan), revision
    except ExecplanError as error:
        if error.code != "no-such-plan" or plan is None or revision is not None:
            raise
        try:
            _find_commits(project_discovery.require(os.getcwd()), plan)
        except ExecplanError:
            raise error from None
    return *select_past_plan(os.getcwd(), None), plan


def _find_commits(project: Project, revision: str) -> tuple[str | None, str | None]:
    """Return the commits to compare; the second is None for the working tree, the first if there is no commit yet."""
    from execplan.core.git.git_directory import head_commit
    from execplan.team.history.plan_diff import require_base

    for dots in ("...", ".."):
        old, separator, new = revision.partition(dots)
        if separator:
            old, new = old or _HEAD, new or _HEAD
            old_commit, new_commit = _find_commit(project, old), _find_commit(project, new)
            if new_commit is None or (old_commit is None and dots == "..."):
                message = f"no commit is older than {new if new_commit is None else old}"
                hint = "list commits with their dates: git log --date=iso --format='%h %cd %s'"
                raise ExecplanError("no-such-revision", message, hint=hint)
            if old_commit is not None and dots == "...":
                old_commit = require_base(project, (old, old_commit), (new, new_commit))
            return old_commit, new_commit
    if project.git is not None and head_commit(project) is None and _is_head_or_moment(revision):
        return None, None
    return _find_commit(project, revision), None


def _find_commit(project: Project, revision: str) -> str | None:
    """Return the commit that a revision names, or the last one before a moment; None if there is none before it."""
    from execplan.core.git.commit_log import last_commit_before
    from execplan.team.history.plan_diff import require_commit

    try:
        return require_commit(project, revision)
    except ExecplanError as error:
        if error.code != "no-such-revision":
            raise
        moment = parse_moment(revision)
        if moment is None and is_date_shaped(revision):
            message = f"{revision!r} is neither a commit nor a valid date"
            raise ExecplanError("no-such-revision", message, hint=error.hint) from None
        if moment is None:
            raise
        return last_commit_before(project, moment)


def _is_head_or_moment(revision: str) -> bool:
    return revision == _HEAD or parse_moment(revision) is not None


def _describe_range(project: Project, revision: str, old_commit: str | None, new_commit: str | None) -> str:
    from execplan.cli.time_options import parse_duration
    from execplan.core.git.git_history import resolve_commit

    if new_commit is not None:
        return f"in {revision}"
    if old_commit is None:
        return "since the beginning"
    if parse_duration(revision, MAX_SECONDS) is not None and resolve_commit(project, revision) is None:
        return f"since {revision} ago ({old_commit[:8]})"
    return f"since {revision}" + ("" if old_commit.startswith(revision) else f" ({old_commit[:8]})")


def _line_diff(plan_diff: PlanDiff) -> str:
    """Return the changed lines as a unified diff, with the plan's current path."""
    from execplan.execution.evaluation.unified_diff import file_diff

    old_data = plan_diff.old_data if plan_diff.old_path else None
    new_data = plan_diff.new_data if plan_diff.new_path else None
    return file_diff(old_data, new_data, plan_diff.new_path or plan_diff.old_path).rstrip("\n")
