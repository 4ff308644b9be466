"""The `execplan commit` command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from shlex import quote
from typing import Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, lock_option, match_option
from execplan.cli.option_rules import SEVERAL_PLANS, excludes, exclusive, option_rules
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_flag
from execplan.cli.text_input import read_text
from execplan.core.edits.plan_commit import PlanCommitResult, changed_plans, commit_plan, commit_plans
from execplan.core.git import git_query
from execplan.core.plan.model import DOCUMENT
from execplan.core.plan_store import missing_plans, plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import format_count, join_first
from execplan.team.advice.archive_commit import changed_archived_plans, uncommitted_archive_commands
from execplan.team.advice.conflict_warnings import conflict_commands, conflict_warnings
from execplan.team.worktrees.worktree_record import finish_command, list_archived

_MAX_IGNORED = 3
"""Maximum number of ignored plans that a message names."""


@define_command(
    reads="the plans, their artifacts directories, and files beside them such as `parser.progress.md`.",
    writes="one commit of only these paths; what is staged stays staged.",
    examples=("execplan commit", "execplan commit parser", "execplan commit --all -m 'Review'"),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag()
@click.option("--all", "all_plans", is_flag=True, help="Commit all plans with changes, archived ones too.")
@click.option("--dry-run", is_flag=True, help="Show the paths without committing them.")
@click.option("-m", "--message", metavar="TEXT", help="What was done, for the commit message.")
@match_option
@lock_option
@option_rules(
    exclusive("--all", "PLAN", hint="execplan commit --all"),
    excludes("--if-match", "--all", SEVERAL_PLANS, hint="name one plan: execplan commit PLAN --if-match DIGEST"),
)
def commit(
    call: Call, plans: tuple[str, ...], *, all_plans: bool, dry_run: bool, message: str | None, if_match: str | None
) -> Answer:
    """Commit plans and their artifacts, and nothing else.

    Use it to record the state of plans in git without your other changes. Several plans go into one commit. Without
    open plans, an archived plan is committed if it is the only one with changes.
    """
    message_text = read_text(message, "the message") if message is not None else None
    project = None if plans or plan_selection.plan_from_environment() else project_discovery.require(os.getcwd())
    if all_plans:
        selected = changed_plans(project_discovery.require(os.getcwd()))
    else:
        if project is not None and not _has_plans(project):
            selected = changed_archived_plans(project)
            if len(selected) != 1:
                return _nothing_open_answer(project, selected)
        else:
            matches = [plan_selection.select_plan(os.getcwd(), name) for name in plans or (None,)]
            selected = list({ref.real_path: (member, ref) for member, ref in matches}.values())
        if len(selected) == 1:
            result = commit_plan(*selected[0], message_text, dry_run=dry_run, if_match=if_match)
            data = {**_plan_json(selected[0], result), "paths": list(result.paths)}
            answer = _commit_answer([(selected[0], result)], data, dry_run=dry_run)
            archive_commands = uncommitted_archive_commands(project) if project is not None and not result.paths else ()
            return answer._replace(next_commands=(*answer.next_commands, *archive_commands))
    results = list(zip(selected, commit_plans(selected, message_text, dry_run=dry_run), strict=True))
    commits = [result.commit for _, result in results if result.commit]
    data = {
        "plans": [_plan_json(plan, result) for plan, result in results],
        "changed": any([result.paths for _, result in results]),
        "commit": commits[0] if commits else None,
        "paths": list(dict.fromkeys([path for _, result in results for path in result.paths])),
    }
    answer = _commit_answer(results, data, dry_run=dry_run)
    return answer if not all_plans or dry_run else _name_uncommitted(answer, project_discovery.require(os.getcwd()))


def _worktree_commands(committed_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return the commands that merge and remove the worktrees of archived plans."""
    ids = [plan.ref.id for plan in committed_plans if plan.ref.archived]
    if not ids:
        return ()
    project = committed_plans[0].project
    return tuple([finish_command(project, record) for record in list_archived(project) if record.id in ids])


def _nothing_open_answer(project: Project, archived: Sequence[tuple[Project, PlanRef]]) -> Answer:
    """Build the answer for a project without open plans, of which none or several archived plans have changes."""
    no_plan = {"path": None, "changed": False, "digest": None, "commit": None}
    if archived:
        text = f"nothing committed: no open plans; {format_count(len(archived), 'archived plan')} have changes"
        return Answer(no_plan, text, next_commands=uncommitted_archive_commands(project))
    commands = _removal_commands(missing_plans.find_deleted(project))
    return Answer(no_plan, "nothing to commit: no plans", next_commands=commands)


def _name_uncommitted(answer: Answer, project: Project) -> Answer:
    """Return the answer of `commit --all` with what it leaves: deleted and ignored plans, and the settings."""
    from execplan.core.scaffold.settings_commit import uncommitted_settings

    deleted, files = missing_plans.find_deleted(project), uncommitted_settings(project)
    commands = _removal_commands(deleted)
    if files:
        unstaged = _unstaged_files(project, files)
        action = "git add" if unstaged else "git commit -m 'Set up execplan' --"
        arguments = [quote(os.path.relpath(os.path.join(project.root, file))) for file in unstaged or files]
        commands += (f"{action} {' '.join(arguments)}",)
    names = [*[f"{project.display_path(path)} (deleted)" for path in deleted], *files]
    if ignored := _ignored_plans(project):
        names.append(f"{join_first(ignored, _MAX_IGNORED)} (ignored by git)")
        commands += ("execplan doctor",)
    lines = [answer.text, *([printable_lines([f"not committed: {', '.join(names)}"])] if names else [])]
    return answer._replace(text="\n".join(lines), next_commands=(*answer.next_commands, *commands))


def _ignored_plans(project: Project) -> list[str]:
    """Return the paths from the root of plans that git ignores, so that they are never committed."""
    paths = {project.display_path(ref.path) for ref in plan_store.all_refs(project)}
    folders = [project.display_path(path) for path in project.plan_paths]
    query = ("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *folders)
    return sorted(paths & {os.fsdecode(path) for path in git_query.output(project, *query).split(b"\0")})


def _removal_commands(deleted: Sequence[str]) -> tuple[str, ...]:
    return (missing_plans.removal_command(deleted),) if deleted else ()


def _unstaged_files(project: Project, files: Sequence[str]) -> list[str]:
    """Return which files, given from the root, differ from Git's index."""
    output = git_query.output(project, "--literal-pathspecs", "ls-files", "-z", "-m", "-o", "--", *files)
    return [os.fsdecode(path) for path in output.split(b"\0") if path]


def _has_plans(project: Project) -> bool:
    """Return whether a project or a nested one has plans outside the archive, or only files that are no plans yet."""
    stored_plans = plan_store.load_with_nested(project)
    is_one_open = any([stored_plan.state != DOCUMENT for stored_plan in stored_plans])
    return is_one_open or (bool(stored_plans) and not changed_archived_plans(project))


def _plan_json(plan: tuple[Project, PlanRef], result: PlanCommitResult) -> dict[str, Any]:
    """Return the JSON form of the result for a plan."""
    project, ref = plan
    return {
        "path": project.display_path(ref.path),
        "changed": bool(result.paths),
        "digest": result.digest,
        "commit": result.commit,
    }


def _commit_answer(
    results: Sequence[tuple[tuple[Project, PlanRef], PlanCommitResult]], data: dict[str, Any], *, dry_run: bool
) -> Answer:
    """Build the answer of a commit, or of its preview."""
    warnings = tuple([warning for _, result in results for warning in result.warnings])
    committed_plans = [plan_store.load(project, ref) for (project, ref), result in results if result.paths]
    warnings += conflict_warnings(committed_plans)
    next_commands = conflict_commands(committed_plans) or _worktree_commands(committed_plans)
    if dry_run:
        text = printable_lines([f"would commit {path}" for path in data["paths"]]) or "nothing to commit"
        return Answer(data, text, warnings=warnings, next_commands=next_commands)
    commits = list(dict.fromkeys([result.commit for _, result in results if result.commit]))
    count = f": {format_count(len([plan for plan, result in results if result.paths]), 'plan')}"
    lines = [f"committed {commit[:12]}{count if len(results) > 1 else ''}" for commit in commits]
    if not lines:
        names = [escape_unprintable(ref.id) for (_, ref), _ in results]
        subject = f"{names[0]} has no changes" if len(names) == 1 else "no plan has changes"
        lines = [f"nothing to commit: {subject}"]
    return Answer(data, "\n".join(lines), warnings=warnings, next_commands=next_commands, is_requested=False)
