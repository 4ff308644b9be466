"""The `execplan new` command."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click

from execplan.agents.capture import captured_plan
from execplan.agents.capture.hook_input import PROGRAM_NAMES
from execplan.cli import interview
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, new_options
from execplan.cli.option_rules import excludes, option_rules, requires
from execplan.cli.output.new_plan_output import created_answer, templates_answer
from execplan.cli.prompts import confirm
from execplan.cli.text_input import read_blocks, read_source, read_text
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan import reader
from execplan.core.plan.task_edits import text_without_box
from execplan.core.plan_store import implied_plan, plan_store
from execplan.core.plan_store.author import can_ask
from execplan.core.project import plan_directories, project_discovery
from execplan.core.project.project_settings import SETTINGS_FILE, Settings
from execplan.core.scaffold import plan_conversion, plan_creation
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import is_inside
from execplan.execution.annotations.annotated_steps import find_annotated_steps

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from execplan.core.scaffold.plan_creation import CreatedPlan
    from execplan.core.scaffold.project_survey import ProjectSurvey


def offer_setup(call: Call, project: Project, options: WriteOptions) -> Project:
    """Return the project for a new plan; sets up the repository's existing plans first if the user at the terminal agrees.

    Raises ExecplanError if there is no terminal, or the user declines.
    """
    from execplan.core.scaffold import project_setup
    from execplan.core.scaffold.project_survey import survey_project

    if project.git is None and not plan_directories.existing_directories(project.base):
        return project  # a walk over a whole home directory takes too long
    survey_result = survey_project(project)
    directories = _plan_directories(survey_result)
    if not directories:
        return _set_up_for_tools(survey_result, project, options)
    found_now = project_discovery.find(os.getcwd())
    if found_now.exists:  # another process has begun the plans directory since the project was looked for
        return found_now
    counts_text = ", ".join([f"{format_count(count, 'plan')} in {folder}" for folder, count in directories])
    message = f"this repository has {counts_text}, but execplan is not set up for them"
    can_prompt = not (options.dry_run or call.as_json) and can_ask()
    if can_prompt and confirm(f"{message}. Set it up now (execplan init), and write the new plan there?"):
        project_setup.set_up_project(survey_result, options)
        return project_discovery.find(os.getcwd())
    default = quote(os.path.relpath(project.plans))
    raise ExecplanError(
        "existing-plans",
        message,
        hint=f"set it up, then repeat the command: execplan init; or use another plans directory: execplan init --plans {default}",
        candidates=[f"{folder}: {format_count(count, 'plan')}" for folder, count in directories],
    )


def _with_setup(call: Call, project: Project, options: WriteOptions) -> tuple[Project, tuple[str, ...]]:
    """Return the project for a new plan, and what was written to set it up. Raises ExecplanError like `offer_setup`."""
    if project.exists:
        return project, ()
    project = offer_setup(call, project, options)
    settings_path = os.path.join(project.base, SETTINGS_FILE)
    if not os.path.lexists(settings_path):
        return project, ()
    return project, (f"set up plans in {project.display_path(project.plans)}: {project.display_path(settings_path)}",)


def _set_up_for_tools(survey_result: ProjectSurvey, project: Project, options: WriteOptions) -> Project:
    """Return the project for the first plan: where a tool that is set up keeps its plans, or as the project was found."""
    from execplan.core.scaffold import project_setup

    directory = os.path.realpath(os.getcwd())
    members = [prepared.project for prepared in survey_result.projects]
    target = max(
        [member for member in members if is_inside(directory, member.base)], key=lambda member: len(member.base)
    )
    if target.settings.plans == Settings().plans:
        return project
    project_setup.set_up_project(survey_result, options)
    return target if options.dry_run else project_discovery.find(directory)


def _plan_directories(survey_result: ProjectSurvey) -> list[tuple[str, int]]:
    """Return the plans directories of the repository, each with its number of plans."""
    directories = []
    for prepared in survey_result.projects:
        refs = plan_store.all_refs(prepared.project)
        if refs:
            directories.append((prepared.project.display_path(prepared.project.plans), len(refs)))
    return [*directories, *[(other.folder, other.plans) for other in survey_result.unused_directories]]


_CONTENT = ("TITLE", "--purpose", "--task", "--template", "--draft-with")


@define_command(
    reads=(
        "the settings and the template; with --from, a plan; with --draft-with, your own settings, "
        "and the files and changes that are sent."
    ),
    writes=(
        "the plan, under an unused ID, and its artifacts directory; there the original, if it was converted; "
        "with --draft-with, a draft with errors in the state directory."
    ),
    examples=(
        'execplan new "Build the parser"',
        'execplan new "Build the parser" --purpose "Read plans" --task "Read lines"',
        'execplan new "Lines with a CR are lost" --template bugfix',
        'execplan new "Fix the date in the footer" --template small',
        "execplan new --list-templates",
        "execplan new 'Build the parser' --interactive",
        "execplan new --from draft.md --commit",
        "execplan new --from - --hook claude < input.json",
        'execplan new "Build the parser" --draft-with claude --dry-run',
    ),
)
@click.argument("title", required=False)
@click.option("--purpose", metavar="TEXT", default="", help="The purpose: text, @FILE, or - for standard input.")
@click.option("--task", "tasks", metavar="TEXT", multiple=True, help="An initial task; can be repeated.")
@click.option(
    "--template",
    metavar="NAME",
    shell_complete=complete_with("template"),
    help="Start with the questions and tasks for a kind of work.",
)
@click.option("--list-templates", "listed", is_flag=True, help="List the templates, including the repository's own.")
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Import a plan from FILE, or - for standard input: an ExecPlan, or a plan that an agent program wrote.",
)
@click.option(
    "--hook",
    type=click.Choice(list(PROGRAM_NAMES)),
    help="With --from -, read that agent's hook input: capture the plan of its plan mode; never fail.",
)
@click.option(
    "--draft-with",
    "program",
    metavar="PROGRAM",
    help="Let a program of yours write the first draft: execplan explain drafting.",
)
@click.option(
    "-i", "--interactive", is_flag=True, help="Prompt for each section; skip any, or write it in your editor."
)
@new_options
@option_rules(
    requires("--hook", "--from -", hint="execplan new --from - --hook claude"),
    excludes(
        "--from",
        "--list-templates",
        *_CONTENT,
        reason="reads a complete plan from a file",
        hint="omit the title and the other options",
    ),
    excludes("--list-templates", *_CONTENT, reason="creates no plan", hint="omit the other options"),
    excludes(
        "--interactive", "--draft-with", "--from", "--list-templates", reason="asks for the sections of a template"
    ),
    excludes("--interactive", "--json", reason="asks on a terminal"),
    excludes("--interactive", "--dry-run", reason="writes each answer immediately"),
)
def new(
    call: Call,
    title: str | None,
    purpose: str,
    tasks: tuple[str, ...],
    template: str | None,
    listed: bool,
    source: str | None,
    hook: str | None,
    program: str | None,
    interactive: bool,
    options: WriteOptions,
) -> Answer:
    """Create a plan from a template, or import one.

    The plan has twelve sections, each with placeholder text that says what to write. With `--template small`, only three
    sections have to be filled in.

    `--from` adds an ExecPlan byte for byte; one with annotated steps that lacks sections gets them. A plan that Claude
    Code, Codex or Cursor wrote is converted: its goals,
    tasks, files, commands and checks go to their sections, and its original becomes an artifact.
    """
    if interactive:
        interview.require_terminal()
        title = title or interview.ask_title()
    if source is None and title is None and not listed:
        raise usage_error("a plan needs a title", "specify it: execplan new 'Title'")
    if hook is not None:
        from execplan.cli.output.new_plan_output import capture_answer

        return capture_answer(hook, options)
    project = project_discovery.find(os.getcwd())
    if listed:
        return templates_answer(project)
    project, notes = _with_setup(call, project, options)
    if program is not None:
        return _draft_answer(project, title or "", purpose, tasks, template, program, options)
    if source is not None:
        source_data = _read_plan(source)
        create = plan_creation.adopt_plan
        if captured_plan.is_native(source_data, source):
            has_steps = bool(find_annotated_steps(reader.read(source_data)).drafts)  # no other program writes these
            create = plan_conversion.create_converted if has_steps else captured_plan.import_plan
        created_plan = create(project, source_data, source, options)
    else:
        purpose_text = read_blocks(purpose, "the purpose") if purpose else ""
        task_texts = [text_without_box(read_text(task, "a task")) for task in tasks]
        creation_options = options._replace(commit=False) if interactive else options
        created_plan = plan_creation.create_plan(
            project, title or "", purpose_text, task_texts, creation_options, template
        )
        if interactive:
            created_plan = _interview(created_plan, title or "", options)
    notes += _sticky_plan_notes(project, created_plan)
    return created_answer(created_plan._replace(warnings=created_plan.warnings + notes), options)


def _sticky_plan_notes(project: Project, created_plan: CreatedPlan) -> tuple[str, ...]:
    """Return that another plan is still the sticky one, if it is."""
    sticky = implied_plan.find_sticky_plan(project)
    if sticky is None or sticky[1].id == created_plan.id:
        return ()
    return (f"commands without -p still mean {sticky[1].id}; to change that: execplan use {quote(created_plan.id)}",)


def _read_plan(source: str) -> bytes:
    """Return the bytes of the plan to import; raises ExecplanError, also for empty standard input."""
    data = read_source(source)
    if source == "-" and not data.strip():
        hint = "pipe the plan into the command, or name its file: execplan new --from FILE"
        raise usage_error("standard input is empty", hint)
    return data


def _draft_answer(
    project: Project,
    title: str,
    purpose: str,
    tasks: tuple[str, ...],
    template: str | None,
    program: str,
    options: WriteOptions,
) -> Answer:
    """Let a program write a draft, and create the plan from it; raises ExecplanError."""
    from execplan.agents.drafting import drafting_settings, plan_drafting
    from execplan.cli.output.new_plan_output import add_draft, broken_draft_answer

    settings = drafting_settings.load_settings(project, program)
    request = plan_drafting.DraftRequest(
        title,
        read_blocks(purpose, "the purpose") if purpose else "",
        tuple([text_without_box(read_text(task, "a task")) for task in tasks]),
        template,
    )
    draft = plan_drafting.request_draft(project, settings, request)
    if draft.problems and options.dry_run:
        return broken_draft_answer(draft, settings)
    if draft.problems:
        raise plan_drafting.keep_draft(project, draft, settings)
    created_plan = plan_creation.adopt_plan(project, draft.data, "-", options)
    return add_draft(created_answer(created_plan, options), draft, settings, dry_run=options.dry_run)


def _interview(created_plan: CreatedPlan, title: str, options: WriteOptions) -> CreatedPlan:
    """Prompt for the sections of a new plan, then commit it if requested; raises ExecplanError."""
    project = project_discovery.find(os.getcwd())
    path = os.path.join(project.root, created_plan.path)
    created_plan = created_plan._replace(data=interview.interview(project, path))
    if not options.should_commit(project):
        return created_plan
    commit_result = commit_paths(
        project, created_plan.id, [path, project.artifacts_dir(created_plan.id)], "new", f"new, {title}", {}, title
    )
    return created_plan._replace(
        data=plan_store.read_bytes(project, path),
        commit=commit_result.digest,
        warnings=created_plan.warnings + commit_result.warnings,
    )
