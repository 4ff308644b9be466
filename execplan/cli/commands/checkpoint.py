"""The `execplan checkpoint` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, json_fields, written_answer
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection
from execplan.team.advice.checkpoint_file import PAGE_NAME, build_page, replaced_page_text


@define_command(
    reads="the plan, its claims, its last run, and git's status of the working tree.",
    writes=f"{PAGE_NAME} in the plan's artifacts, unless it is up to date.",
    examples=("execplan checkpoint", "execplan checkpoint parser --dry-run", "execplan checkpoint parser --commit"),
)
@plan_argument()
@click.option("--force", is_flag=True, help="Also overwrite a page that was edited by hand.")
@writer_options
def checkpoint(call: Call, plan: str | None, force: bool, options: WriteOptions) -> Answer:
    """Write a restart page: all that a new session needs to continue a plan.

    Use it before a session of an agent ends, or before you hand over a plan. The page is enough to continue without
    other context: it has the objective, what is done and what is next, decisions and discoveries with their reasons,
    risks, open questions and findings, the state of git, and how to continue. Its text is that of the plan, with
    secrets redacted. A plan has one page: if it replaces that of another author, the command says so. An archived plan
    needs no page, and gets none. A reader of the file sees the old page or the new one, never a part. `undo` doesn't
    remove pages.
    """
    from execplan.execution.approvals import artifact_store

    try:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
    except ExecplanError as error:
        if plan is not None or error.code != "no-plan":
            raise
        return Answer({"changed": False}, "no open plan: nothing to write", is_requested=False)
    if ref.archived:
        data = {"id": ref.id, "path": None, "changed": False, "digest": None, "commit": None}
        return Answer(data, printable_lines([f"{ref.id} is archived: nothing to continue"]), is_requested=False)
    replaced = [""]

    def build() -> bytes:
        replaced[0] = replaced_page_text(project, ref)
        return build_page(project, ref, if_match=options.if_match, force=force)

    stored = artifact_store.save(
        project,
        ref,
        build,
        options,
        command="checkpoint",
        summary="write the restart page",
        name=PAGE_NAME,
    )
    data = {"id": ref.id, **json_fields(stored, "path changed digest commit")}
    if options.dry_run:
        line = f"would write {stored.path}" if stored.changed else "nothing to write"
    else:
        line = f"wrote {stored.path}" if stored.changed else f"{stored.path} is up to date"
    lines = [line]
    if stored.changed and replaced[0]:
        lines.append(f"{'would replace' if options.dry_run else 'replaced'} the page of {replaced[0]}")
    return written_answer(stored, data, lines, dry_run=options.dry_run)
