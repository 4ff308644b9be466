"""The `execplan import` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import NOTHING_TO_COMMIT, Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output.new_plan_output import created_answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.files import file_access
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count
from execplan.exchange import file_import
from execplan.exchange.form_names import READERS
from execplan.exchange.form_registry import read_form, recognize
from execplan.exchange.source_file import MAX_BYTES, SourceFile
from execplan.team.advice.plan_json import amended_json

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project
    from execplan.exchange.exchange_plan import ExchangePlan

_MAX_LINES = 20
"""Maximum number of changes that are printed for people; JSON has all."""


@define_command(
    reads="FILE, and the plans into which it was imported before.",
    writes="a plan with its artifacts: a new one, or the one that FILE was imported into before.",
    examples=(
        "execplan import tasks.json",
        "execplan import jira.csv --dry-run",
        "execplan import jira.csv -p parser",
        "execplan import todo.txt --from todo-txt --title 'Errands'",
    ),
)
@click.argument("file")
@click.option(
    "--from", "form", type=click.Choice(tuple(READERS)), help="The form of FILE. Default: recognized by its content."
)
@click.option(
    "-p", "--plan", metavar="PLAN", help="Import into this plan. Default: the plan of an earlier import, or a new one."
)
@click.option("--title", metavar="TEXT", help="The title of a new plan. Default: that of the project in FILE.")
@new_options
@option_rules(excludes("-p", "--title", reason="imports into a plan that has a title", hint="omit --title"))
def import_(
    call: Call, file: str, *, form: str | None, plan: str | None, title: str | None, options: WriteOptions
) -> Answer:
    """Import tasks of another program into a plan, and update them later.

    FILE is an export: of beads (issues.jsonl), task-master (tasks.json), GitHub (issues as JSON), Jira or Linear (CSV),
    Org mode, todo.txt, or of `execplan export --to json`. The first import makes a new plan, in which each task ends
    with its ID and its link. The next one updates the same plan: states, titles and new tasks. What you have changed in
    the plan stays, and is reported if FILE has changed it, too.
    """
    source = _read_source(file)
    form = form or recognize(source)
    imported = read_form(form, source)
    project = project_discovery.find(os.getcwd())
    if plan is not None:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
    else:
        found_ref = file_import.find_plan(project, source, form, imported, title) if project.exists else None
        if found_ref is None:
            return _create(project, source, form, imported, title or "", options)
        ref = found_ref
    updated = file_import.update_plan(project, ref, source, form, imported, options)
    return _updated_answer(updated, source, form, imported, options)


def _read_source(file: str) -> SourceFile:
    """Return the file to import, or standard input for `-`; raises ExecplanError."""
    name = "standard input" if file == "-" else os.path.basename(os.path.normpath(file))
    if file == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        size = len(data)
    else:
        data, size = file_access.read(file, MAX_BYTES)
    if size > MAX_BYTES:
        message = f"{name} has {size:,} bytes; at most {MAX_BYTES:,} can be imported"
        raise ExecplanError("too-large", message, hint="export fewer tasks")
    if file == "-" and not data.strip():
        raise usage_error("standard input is empty", "pipe the export into the command, or name its file")
    return SourceFile(name, data)


def _create(
    project: Project, source: SourceFile, form: str, imported: ExchangePlan, title: str, options: WriteOptions
) -> Answer:
    created = file_import.create_plan(project, source, form, imported, title, options)
    answer = created_answer(created, options)
    data = {**answer.data, "form": form, "tasks": len(imported.tasks), "said": [], "conflicts": []}
    count = format_count(len(imported.tasks), "task")
    lead = f"{'would import' if options.dry_run else 'imported'} {count} from {source.name} ({form})"
    text = f"{printable_lines([lead])}\n{answer.text}"
    return answer._replace(data=data, text=text, warnings=(*answer.warnings, *imported.notes))


def _updated_answer(
    updated: file_import.UpdatedPlan, source: SourceFile, form: str, imported: ExchangePlan, options: WriteOptions
) -> Answer:
    edit, report = updated.edit, updated.report
    data: dict[str, Any] = {
        **amended_json(edit._replace(messages=tuple(report.changes), tasks=()), dry_run=options.dry_run),
        "id": updated.ref.id,
        "artifacts": updated.artifacts,
        "form": form,
        "tasks": len(imported.tasks),
        "conflicts": report.conflicts,
    }
    warnings = (*edit.warnings, *imported.notes, *report.conflicts, *report.warnings)
    first_changes = report.changes[:_MAX_LINES]
    more = len(report.changes) - len(first_changes)
    lines = [*first_changes, *([f"and {more} more"] if more else [])]
    if not edit.changed:
        text = f"{updated.ref.id} is up to date with {source.name}: {format_count(len(imported.tasks), 'task')}"
        return Answer(data, printable_lines([text]), warnings=warnings, is_requested=False)
    if options.dry_run:
        text = printable_lines([*lines, f"would write {edit.path}"], edit.diff)
        return Answer(data, text, warnings=warnings)
    lines += [f"committed {edit.commit[:12]}"] if edit.commit else []
    lines += [NOTHING_TO_COMMIT] if options.commit and not edit.commit else []
    if not lines:
        lines = [f"recorded what {source.name} says now in {updated.ref.id}"]
    name = quote_plan_name(updated.ref.id, updated.ref.path)
    next_commands = (f"execplan show {name}",)
    return Answer(data, printable_lines(lines), warnings=warnings, next_commands=next_commands, is_requested=False)
