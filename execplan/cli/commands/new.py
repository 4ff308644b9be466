"""The `execplan new` command."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click

from execplan.advice.plan_advice import advise_new_plan
from execplan.capture import captured_plan
from execplan.capture.hook_input import PROGRAM_NAMES
from execplan.cli import interview
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, new_options
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.prompts import can_ask, confirm
from execplan.cli.text_input import read_source, read_text
from execplan.edits.plan_commit import commit_paths
from execplan.edits.plan_writer import WriteOptions
from execplan.errors import ENVIRONMENT, USAGE, ExecplanError
from execplan.plan import reader
from execplan.plan_store import plan_store
from execplan.plan_store.plan_store import quote_plan_name
from execplan.project import plan_directories, project_discovery
from execplan.scaffold import plan_creation, plan_templates
from execplan.text.invisible_characters import escape_unprintable
from execplan.text.message_parts import format_count
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.project.project import Project
    from execplan.scaffold.plan_creation import CreatedPlan
    from execplan.scaffold.project_survey import ProjectSurvey


def offer_setup(call: Call, project: Project, options: WriteOptions) -> Project:
    """Return the project for a new plan; sets up the repository's existing plans first if the user at the terminal agrees.

    Raises ExecplanError if there is no terminal, or the user declines.
    """
    from execplan.scaffold import project_setup
    from execplan.scaffold.project_survey import survey_project

    if project.git is None and not plan_directories.existing_directories(project.base):
        return project  # a walk over a whole home directory takes too long
    survey_result = survey_project(project)
    directories = _plan_directories(survey_result)
    if not directories:
        return project
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
        exit=ENVIRONMENT,
        hint=f"set it up, then repeat the command: execplan init; or use another plans directory: execplan init --plans {default}",
        candidates=[f"{folder}: {format_count(count, 'plan')}" for folder, count in directories],
    )


def _plan_directories(survey_result: ProjectSurvey) -> list[tuple[str, int]]:
    """Return the plans directories of the repository, each with its number of plans."""
    directories = []
    for prepared in survey_result.projects:
        refs = plan_store.all_refs(prepared.project)
        if refs:
            directories.append((prepared.project.display_path(prepared.project.plans), len(refs)))
    return [*directories, *[(other.folder, other.plans) for other in survey_result.unused_directories]]


@define_command(
    reads="the settings and the template; with --from, a plan.",
    writes="the plan, under an unused ID, and its artifacts directory; there the original, if it was converted.",
    examples=(
        'execplan new "Build the parser"',
        'execplan new "Build the parser" --purpose "Read plans" --task "Read lines"',
        'execplan new "Lines with a CR are lost" --template bugfix',
        'execplan new "Fix the date in the footer" --template small',
        "execplan new --list-templates",
        "execplan new 'Build the parser' --interactive",
        "execplan new --from draft.md --commit",
        "execplan new --from - --hook claude < input.json",
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
    "-i", "--interactive", is_flag=True, help="Prompt for each section; skip any, or write it in your editor."
)
@new_options
def new(
    call: Call,
    title: str | None,
    purpose: str,
    tasks: tuple[str, ...],
    template: str | None,
    listed: bool,
    source: str | None,
    hook: str | None,
    interactive: bool,
    options: WriteOptions,
) -> Answer:
    """Create a plan from a template, or import one.

    The plan has twelve sections, each with placeholder text that says what to write. With `--template small`, only three
    sections have to be filled in.

    `--from` adds an ExecPlan byte for byte. A plan that Claude Code, Codex or Cursor wrote is converted: its goals,
    tasks, files, commands and checks go to their sections, and its original becomes an artifact.
    """
    _check_usage([title, purpose, *tasks, template], source, hook, listed=listed)
    if interactive:
        _ensure_can_interview(call, options, is_new=source is None and not listed)
        title = title or interview.ask_title()
    if source is None and title is None and not listed:
        raise ExecplanError("usage", "a plan needs a title", exit=USAGE, hint="specify it: execplan new 'Title'")
    if hook is not None:
        return _capture(hook, options)
    project = project_discovery.find(os.getcwd())
    if listed:
        return _templates_answer(project)
    if not project.exists:
        project = offer_setup(call, project, options)
    if source is not None:
        source_data = read_source(source)
        create = captured_plan.import_plan if captured_plan.is_native(source_data, source) else plan_creation.adopt_plan
        created_plan = create(project, source_data, source, options)
    else:
        purpose_text = read_text(purpose, "the purpose") if purpose else ""
        task_texts = [read_text(task, "a task") for task in tasks]
        creation_options = options._replace(commit=False) if interactive else options
        created_plan = plan_creation.create_plan(
            project, title or "", purpose_text, task_texts, creation_options, template
        )
        if interactive:
            created_plan = _interview(created_plan, title or "", options)
    data = {
        "id": created_plan.id,
        "path": created_plan.path,
        "artifacts": created_plan.paths[1].rstrip("/"),
        "changed": True,
        "digest": digest(created_plan.data),
        "commit": created_plan.commit,
    }
    if options.dry_run:
        text = printable_lines([f"would create {path}" for path in created_plan.paths], created_plan.diff)
        return Answer({**data, "diff": created_plan.diff}, text, warnings=created_plan.warnings)
    lines = [created_plan.path] + ([f"committed {created_plan.commit[:12]}"] if created_plan.commit else [])
    name = quote_plan_name(created_plan.id, created_plan.path)
    advice = advise_new_plan(reader.read(created_plan.data), name)
    next_commands = (*advice.commands, f"execplan lint {name}")
    return Answer(
        data, printable_lines(lines), warnings=created_plan.warnings, next_commands=next_commands, work=advice.work
    )


def _capture(program: str, options: WriteOptions) -> Answer:
    """Capture the plan in a hook's input; whatever is wrong is a warning, because the session goes on."""
    from execplan.capture import hook_input

    empty = {"id": None, "path": None, "action": None, "changed": False}
    try:
        hook_plan = hook_input.read_hook_plan(program, read_source("-"))
        if hook_plan is None:
            return Answer(empty, "")
        project = project_discovery.find(hook_plan.cwd if os.path.isdir(hook_plan.cwd) else os.getcwd())
        if not project.exists:
            return Answer(empty, "")
        captured = captured_plan.capture_plan(
            project, PROGRAM_NAMES[program], hook_plan.session, hook_plan.text, options
        )
    except ExecplanError as error:
        return Answer(empty, "", warnings=(f"the plan was not captured: {error.message}",))
    changed = captured.action != captured_plan.UNCHANGED
    data = {"id": captured.id, "path": captured.path, "action": captured.action, "changed": changed}
    return Answer(data, "", warnings=captured.warnings)


def _check_usage(plan_inputs: Sequence[str | None], source: str | None, hook: str | None, *, listed: bool) -> None:
    """Raise ExecplanError if the options can't be combined."""
    if hook is not None and source != "-":
        raise ExecplanError("usage", "--hook requires --from -", exit=USAGE, hint="execplan new --from - --hook claude")
    if source is not None and (any(plan_inputs) or listed):
        raise ExecplanError(
            "usage",
            "--from reads a complete plan from a file, so it can't be combined with a title or other content",
            exit=USAGE,
            hint="omit the title and the other options",
        )
    if listed and any(plan_inputs):
        raise ExecplanError("usage", "--list-templates creates no plan", exit=USAGE, hint="omit the other options")


def _ensure_can_interview(call: Call, options: WriteOptions, *, is_new: bool) -> None:
    """Raise ExecplanError if the options can't be combined with questions on a terminal."""
    for is_wrong, why in (
        (not is_new, "--interactive requires a plan from a template"),
        (call.as_json, "--interactive and --json can't be combined: --interactive asks on a terminal"),
        (
            options.dry_run,
            "--interactive and --dry-run can't be combined: --interactive writes each answer immediately",
        ),
    ):
        if is_wrong:
            raise ExecplanError("usage", why, exit=USAGE, hint="omit one of them")
    interview.require_terminal()


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


def _templates_answer(project: Project) -> Answer:
    """List all templates and their origin."""
    all_templates = plan_templates.list_templates(project)
    names = [escape_unprintable(template.name) for template in all_templates]
    width = max(map(len, names))
    lines = []
    for name, template in zip(names, all_templates, strict=True):
        origin = "replaces the built-in" if template.overrides else "own" if template.own else "built in"
        lines.append(
            f"{name:{width}}  {template.about}  ({origin})" if template.about else f"{name:{width}}  ({origin})"
        )
    data = {"templates": [template._asdict() for template in all_templates]}
    return Answer(data, printable_lines(lines), next_commands=("execplan new 'Title' --template bugfix",))


command = new
