"""The `execplan set` command."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, create_option, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_answer
from execplan.cli.text_input import read_lines
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan import outline
from execplan.core.plan.metadata_values import LIST_KEYS, TEXT_KEYS, normalize_key
from execplan.core.plan.model import COMPLETE, ParsedPlan
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan.section_roles import PLAN_ROLES, find_role
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.hint_reader import NEW_TEXT
from execplan.core.plan_store.plan_store import PlanRef, quote_plan_name
from execplan.core.project.project import Project
from execplan.core.text.message_parts import quote
from execplan.team.advice.advice import Advice
from execplan.team.advice.section_advice import advise_completion, advise_filling


@define_command(
    reads="the plan, and the new body.",
    writes="all lines of one section except its heading and the revision notes at its end; with --meta, the lines of a key.",
    examples=(
        "execplan set 'Plan of Work' - <work.md",
        "execplan set 'Plan of Work' 'Change `src/reader.py`.' --dry-run",
        "execplan set --meta owner=ana --meta tags=parser,io",
        "execplan set parser --meta depends_on=scanner --meta links.issue=12",
        "execplan set --meta tags=",
    ),
)
@click.argument("section", required=False, metavar="[SECTION]", shell_complete=complete_with("section"))
@click.argument("text", required=False, metavar="[TEXT]")
@plan_option
@click.option(
    "--meta",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key of the plan's metadata; KEY= removes it; can be repeated.",
)
@create_option
@writer_options
def set_(
    call: Call,
    section: str | None,
    text: str | None,
    plan: str | None,
    assignments: tuple[str, ...],
    *,
    create: bool,
    options: WriteOptions,
) -> Answer:
    """Replace the body of a section, or set metadata.

    Use it to fill in a new plan, or to rewrite a section. TEXT is markdown, or @FILE, or - for standard input. It can
    contain anything except headings of the first two levels. Other sections do not change.

    --meta writes the optional front matter of the plan: id, status, owner, created, updated; the lists tags, depends_on
    and supersedes, as a,b; links.issue, links.pr, links.docs and links.shipped. Only the lines of these keys change. A
    plan with a list under the heading Metadata is changed there.
    """
    if assignments:
        return _set_metadata(assignments, _plan_before_metadata(section, text, plan, create=create), options)
    if section is None or text is None:
        message = "missing argument: SECTION and TEXT, or --meta KEY=VALUE"
        raise usage_error(message, "execplan set 'Plan of Work' 'First the scanner.'")
    lines = read_lines(text, "the section")
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    try:
        amended = plan_updates.set_section(project, ref, section, lines, create=create, options=options)
    except ExecplanError as error:
        if error.code == "no-such-section" and normalize_key(section) in (*TEXT_KEYS, *LIST_KEYS):
            command = f"execplan set --meta {quote(f'{normalize_key(section)}={text}')} -p {ref.shell_name}"
            error.hint, error.candidates = f"for the plan's metadata: {command}", ()
        elif error.code == "no-such-section" and (title := _find_title(plan_store.load(project, ref).plan, section)):
            command = f"execplan set {quote(title)} {quote(NEW_TEXT)} -p {ref.shell_name}"
            error.hint = f"this plan has {title} for that: {command}; or {error.hint}"
        raise
    name = quote_plan_name(ref.id, amended.path)
    parsed_plan = plan_store.parse(project, plan_store.read_bytes(project, ref.path))
    if parsed_plan.state() == COMPLETE:
        advice = advise_completion(project, ref, name, parsed_plan)
    elif sections := unfilled_sections(parsed_plan):
        advice = advise_filling(sections, name)
    else:
        advice = Advice((f"execplan lint {name}",))
    if options.dry_run:
        advice = Advice()
    return edit_answer(amended, options, *advice.commands)._replace(work=advice.work)


def _find_title(plan: ParsedPlan | None, section: str) -> str:
    """Return the title of the only section with the role of a standard one that is missing; empty if there is none."""
    name = outline.canonical_name(section)
    if plan is None or name is None:
        return ""
    role = find_role(name, plan.text.titles)
    titles = [other.title for other in plan.sections if find_role(other.title, plan.text.titles) == role]
    return titles[0] if role not in (None, *PLAN_ROLES) and len(titles) == 1 else ""


def _plan_before_metadata(section: str | None, text: str | None, plan: str | None, *, create: bool) -> str | None:
    """Return the plan's name, which may be the only argument before --meta; raises ExecplanError for others."""
    if text is not None or create or (section is not None and plan is not None):
        message = "--meta can't be combined with a section or --create"
        raise usage_error(message, "use two commands, or name the plan alone: execplan set PLAN --meta owner=ana")
    return section if section is not None else plan


def _set_metadata(assignments: Sequence[str], plan_name: str | None, options: WriteOptions) -> Answer:
    project, ref = plan_selection.select_plan(os.getcwd(), plan_name)
    amended = plan_updates.set_metadata(project, ref, assignments, options)
    name = quote_plan_name(ref.id, amended.path)
    archive_commands = [
        f"execplan archive {old_name} --as superseded --by {name}" for old_name in _find_superseded(project, ref)
    ]
    sets_supersedes = any([assignment.startswith("supersedes=") for assignment in assignments])
    return edit_answer(amended, options, *(archive_commands if sets_supersedes else ()), f"execplan lint {name}")


def _find_superseded(project: Project, ref: PlanRef) -> list[str]:
    """Return the names of the plans that a plan supersedes, and that are not archived."""
    names: list[str] = []
    for query in read_metadata(plan_store.load(project, ref).require_plan()).supersedes:
        try:
            other_project, other_ref = plan_selection.select_plan(os.getcwd(), query)
        except ExecplanError:  # `lint` and `doctor` report it
            continue
        if not other_ref.archived and other_ref.path != ref.path:
            names.append(plan_store.name_in_commands(other_project, other_ref))
    return names
