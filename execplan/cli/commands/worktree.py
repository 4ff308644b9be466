"""The `execplan worktree` command."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command, lock_option
from execplan.cli.error_handler import printable_line
from execplan.cli.option_rules import excludes, option_rules, requires
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.core.edits.plan_commit import commit_plan
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git.linked_worktrees import list_worktrees, project_in
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.hint_reader import fit_command
from execplan.core.project import project_discovery
from execplan.core.scaffold.settings_commit import commit_settings
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import is_inside
from execplan.team.advice.next_tasks import claim_free_task
from execplan.team.worktrees.worktree_record import find_worktree, load_record, load_records, plan_key

if TYPE_CHECKING:
    from execplan.core.git.linked_worktrees import Worktree
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.library.plan_worktree import FinishedWorktree
    from execplan.team.worktrees.worktree_creation import OpenedWorktree
    from execplan.team.worktrees.worktree_record import WorktreeRecord


_EXAMPLE = "execplan worktree PLAN; later: execplan worktree --finish"


@define_command(
    reads="the plan, the worktrees and branches of the repository.",
    writes=(
        "a worktree, a branch, a record in the git directory and a claim; with --finish, commits on both branches; it "
        "removes the worktree and its branch."
    ),
    examples=(
        "execplan worktree",
        "execplan worktree parser --commit",
        "execplan worktree parser --as agent-1",
        "execplan worktree parser --finish",
    ),
)
@plan_argument(default="with --finish, the plan of the current or only worktree; otherwise, list all")
@click.option("--finish", is_flag=True, help="Merge the worktree, archive the plan if complete, and remove both.")
@click.option(
    "--commit",
    "commits",
    is_flag=True,
    help="Commit the plan, its artifacts and the project's settings first; with --finish, the plan on both branches.",
)
@click.option("--branch", metavar="NAME", help="Use this branch instead of that of the settings; it may exist.")
@click.option("--directory", metavar="DIR", help="Create the worktree here instead of where the settings say.")
@click.option("--into", metavar="BRANCH", help="With --finish: merge into this branch (default: where it came from).")
@click.option("--no-archive", is_flag=True, help="With --finish: leave a complete plan where it is.")
@lock_option
@option_rules(
    excludes("--finish", "--branch", "--directory", hint=_EXAMPLE),
    requires("--into", "--finish", hint=_EXAMPLE),
    requires("--no-archive", "--finish", hint=_EXAMPLE),
    requires("--branch", "PLAN", hint=_EXAMPLE),
    requires("--directory", "PLAN", hint=_EXAMPLE),
    requires("--commit", "PLAN", "--finish", hint=_EXAMPLE),
)
def worktree(
    call: Call,
    plan: str | None,
    *,
    finish: bool,
    commits: bool,
    branch: str | None,
    directory: str | None,
    into: str | None,
    no_archive: bool,
) -> Answer:
    """Work on a plan in a git worktree of its own.

    With PLAN, creates a worktree and a branch for the plan, claims its next task in your name, and prints the directory
    of the project in it and nothing else: cd "$(execplan worktree parser)". If the plan already has a worktree, prints
    its directory. Without PLAN, or with the word list, lists the worktrees of plans.

    --finish merges the branch from which the worktree came into the plan's branch, in the plan's worktree, so conflicts
    are resolved there. Then it archives the plan if it is complete, merges the plan's branch back, removes the worktree
    and the branch, and prints the directory of the target branch. If it is interrupted, run it again. Ignored files in
    the worktree are removed with it.
    """
    project = project_discovery.require(os.getcwd())
    git_query.require_repository(project)
    if finish:
        return _finish(call, project, plan, into=into, archives=not no_archive, commits=commits)
    if plan in (None, "list"):
        return _list(project)
    return _open(call, plan, commits=commits, branch=branch, directory=directory)


def _open(call: Call, name: str, *, commits: bool, branch: str | None, directory: str | None) -> Answer:
    """Create the worktree of a plan, or find the existing one."""
    from execplan.team.worktrees.worktree_creation import open_worktree, worktree_ref

    project, ref = _select_plan(name)
    warnings: tuple[str, ...] = ()
    if (commits or project.settings.commit) and not ref.archived:
        warnings = commit_plan(project, ref, None, dry_run=False).warnings
        if load_record(project, plan_key(project, ref)) is None:  # a new worktree starts from the last commit
            warnings += commit_settings(project)
    author = actor(project)
    opened = open_worktree(project, ref, author, branch=branch, directory=directory)
    other_project = project_in(project, opened.worktree)
    other_ref = worktree_ref(other_project, opened.record)
    other_plan = plan_store.load(other_project, other_ref).plan if other_ref is not None else None
    task = None
    if other_ref is not None and other_plan is not None and not other_ref.archived:
        task, claim_warnings = claim_free_task(other_project, other_ref, other_plan, author)
        warnings += claim_warnings
    if not opened.is_new and opened.record.name != author:
        warnings += (f"{opened.record.name} created this worktree of {opened.record.id}",)
    _report(call, _describe_opened(opened, task, author))
    data = {**_record_json(opened.record, opened.worktree.root), "created": opened.is_new, "task": task, "by": author}
    directory = opened.record.directory_in(opened.worktree.root)
    return Answer(
        data,
        directory,
        warnings=(*warnings, *opened.warnings),
        next_commands=_next_commands(call, f"cd {quote(os.path.relpath(directory))}"),
        is_raw=True,
    )


def _select_plan(name: str) -> tuple[Project, PlanRef]:
    """Select a plan by its name here, or by the name that it has only in its worktree. Raises ExecplanError."""
    try:
        return plan_selection.select_plan(os.getcwd(), name)
    except ExecplanError as error:
        if error.code != "no-such-plan":
            raise
    from execplan.library.plan_worktree import select_record

    project = project_discovery.require(os.getcwd())
    record = select_record(project, name)
    return project, plan_store.ref_for_path(project, os.path.join(project.root, record.plan))


def _describe_opened(opened: OpenedWorktree, task: str | None, author: str) -> str:
    action = "created a worktree" if opened.is_new else "existing worktree"
    claim = f"; {author} has claimed task {task}" if task else ""
    return f"{action} of {opened.record.id} on branch {opened.record.branch}, from {opened.record.into}{claim}"


def _finish(
    call: Call, project: Project, name: str | None, *, into: str | None, archives: bool, commits: bool
) -> Answer:
    """Merge, archive and remove the worktree of a plan."""
    from execplan.library.plan_worktree import finish_worktree, select_record
    from execplan.team.worktrees.worktree_creation import worktree_ref

    record = select_record(project, name)
    start = os.getcwd()
    finished = finish_worktree(project, record, into=into, archives=archives, commits=commits)
    is_here_removed = call.folder is None and is_inside(start, finished.removed) and not os.path.isdir(start)
    target_project = project_discovery.find(finished.target)
    target_ref = worktree_ref(target_project, record)
    merged_plan = plan_store.load(target_project, target_ref) if target_ref is not None else None
    return_command = f"cd {quote(finished.target)} && " if is_here_removed else ""
    directory = f"-C {quote(finished.target)} " if call.folder is not None else ""  # `-C` may name what was removed
    next_command, open_lines = f"{return_command}execplan {directory}status", list[str]()
    if merged_plan is not None and merged_plan.plan is not None and merged_plan.state in (ACTIVE, DRAFT):
        name = plan_store.name_in_commands(target_project, merged_plan.ref)
        next_command = return_command + fit_command(f"execplan {directory}next {name}")
        count = format_count(len(merged_plan.plan.unfinished_tasks), "open task")
        open_lines = [f"{record.id} is not complete, {count}: {next_command}"]
    path = target_project.artifacts_dir(record.id) if target_ref is not None and target_ref.archived else ""
    left = f"{target_project.display_path(path)} was not archived with the plan; see where it belongs: execplan doctor"
    if has_left := os.path.isdir(path) and bool(os.listdir(path)):  # another branch has added artifacts
        next_command = f"{return_command}execplan {directory}doctor"
    if is_here_removed and not open_lines:
        open_lines = [f"the current directory was removed; continue in the project: {next_command}"]
    for line in (*_describe_finished(finished), *open_lines):
        _report(call, line)
    data = {
        "id": record.id,
        "branch": record.branch,
        "into": finished.into,
        "path": finished.target,
        "commits": finished.commit_count,
        "archived": finished.archived,
        "not_archived": list(finished.not_archived),
    }
    blocked = (f"{record.id} is complete, but not archived: {'; '.join(finished.not_archived)}",)
    return Answer(
        data,
        finished.target,
        warnings=(*finished.warnings, *(blocked if finished.not_archived else ()), *((left,) if has_left else ())),
        next_commands=_next_commands(call, next_command),
        is_raw=True,
    )


def _describe_finished(finished: FinishedWorktree) -> list[str]:
    record = finished.record
    if finished.was_gone:
        return [f"nothing to merge: {record.root} and its branch {record.branch} are gone; removed their record"]
    commits = f" ({format_count(finished.commit_count, 'commit')})" if finished.commit_count else ", no new commits"
    lines = [f"merged {record.branch} into {finished.into}{commits}"]
    if finished.archived is not None:
        lines.append(f"archived {record.id}: {finished.archived}")
    return [*lines, f"removed {finished.removed}{'' if finished.is_branch_kept else ' and its branch'}"]


def _list(project: Project) -> Answer:
    """List the worktrees of plans."""
    worktrees = list_worktrees(project)
    lines, data = [], []
    for record in load_records(project):
        located = find_worktree(record, worktrees)
        notes = _notes(record, located)
        row = {**_record_json(record, record.root_of(located)), "by": record.name, "notes": notes}
        data.append(row)
        details = ", ".join([f"branch {record.branch}, from {record.into}", f"by {record.name}", *notes])
        lines.append(f"{record.id}: in {min(os.path.relpath(row['path']), row['path'], key=len)} ({details})")
    text = printable_lines(lines) if lines else "no plan has a worktree"
    return Answer({"worktrees": data}, text)


def _notes(record: WorktreeRecord, located: Worktree | None) -> list[str]:
    """Return what is unusual about the worktree of a record."""
    if located is None or not located.exists:
        return ["missing"]
    notes = ["locked"] if located.lock_reason is not None else []
    if located.branch != record.branch:
        notes.append(f"on {located.branch}" if located.branch else "detached HEAD")
    return notes


def _record_json(record: WorktreeRecord, root: str) -> dict[str, Any]:
    return {**json_fields(record, "id plan branch into"), "path": record.directory_in(root)}


def _report(call: Call, line: str) -> None:
    """Print what was done to standard error, because standard output has only the directory."""
    if not (call.quiet or call.as_json):
        print(f"execplan: {printable_line(line)}", file=sys.stderr)


def _next_commands(call: Call, command: str) -> tuple[str, ...]:
    """Return the next command unless standard output is the argument of another command, as in `cd "$(…)"`."""
    return (command,) if call.as_json or sys.stdout.isatty() else ()
