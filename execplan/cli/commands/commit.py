"""The `execplan commit` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, lock_option, match_option
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.text_input import read_text
from execplan.edits.plan_commit import commit_plan
from execplan.plan_store import plan_selection, plan_store
from execplan.project import project_discovery
from execplan.text.invisible_characters import escape_unprintable


@define_command(
    reads="the plan and its artifacts directory.",
    writes="a commit of only these paths; what is staged stays staged.",
    examples=("execplan commit", "execplan commit parser"),
)
@plan_argument()
@click.option("--dry-run", is_flag=True, help="Show the paths without committing them.")
@click.option("-m", "--message", metavar="TEXT", help="What was done, for the commit message.")
@match_option
@lock_option
def commit(call: Call, plan: str | None, dry_run: bool, message: str | None, if_match: str | None) -> Answer:
    """Commit a plan and its artifacts, and nothing else.

    Use it to record the state of a plan in git without your other changes.
    """
    if plan is None and not plan_selection.plan_from_environment():
        project = project_discovery.require(os.getcwd())
        if not any(
            [plan_store.refs(member_project) for member_project in project_discovery.with_nested_projects(project)]
        ):
            return Answer(
                {"path": None, "changed": False, "digest": None, "commit": None}, "nothing to commit: no plans"
            )
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    message_text = read_text(message, "the message") if message is not None else None
    commit_result = commit_plan(project, ref, message_text, dry_run=dry_run, if_match=if_match)
    data = {
        "path": project.display_path(ref.path),
        "changed": bool(commit_result.paths),
        "digest": commit_result.digest,
        "commit": commit_result.commit,
    }
    if dry_run:
        text = printable_lines([f"would commit {path}" for path in commit_result.paths]) or "nothing to commit"
        return Answer({**data, "paths": list(commit_result.paths)}, text, warnings=commit_result.warnings)
    text = (
        f"committed {commit_result.commit[:12]}"
        if commit_result.commit
        else f"nothing to commit: {escape_unprintable(ref.id)} has no changes"
    )
    return Answer(
        {**data, "paths": list(commit_result.paths)}, text, warnings=commit_result.warnings, is_requested=False
    )


command = commit
