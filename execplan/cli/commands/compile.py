"""The `execplan compile` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import SEVERAL_PLANS, excludes, exclusive, option_rules, requires
from execplan.cli.plan_arguments import is_same_plan, plan_option
from execplan.core import features
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan_store import plan_selection

if TYPE_CHECKING:
    from execplan.cli.output.compile_output import CompileResult
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


_COMPOSE_EXAMPLE = "execplan compile --compose PLAN PLAN --title 'Title'"


@define_command(
    reads=(
        "the plan and its stored execution plan; with --from also FILE; with --from-diff the files that differ; with "
        "--enhance your own settings, and the answer of the program that they name."
    ),
    writes=(
        "the execution plan in the plan's artifacts, or FILE; with --annotate or --from-diff only the plan; with "
        "--restore also the files of the change, and git's stash; with --enhance also a proposal next to the execution plan, and the audit log."
    ),
    examples=(
        "execplan compile",
        "execplan compile parser --out -",
        "execplan compile parser --check",
        "execplan compile parser --annotate --dry-run",
        "execplan compile parser --from-diff --restore",
        "execplan compile parser --from-diff=main..HEAD",
        "execplan compile parser --from plan.json",
        'execplan compile --compose parser writer --title "Release"',
        "execplan compile parser --enhance --dry-run",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@click.option("--out", metavar="FILE", help="Write the result to FILE and store nothing; - prints only the result.")
@click.option("--check", is_flag=True, help="Exit 1 unless the stored execution plan is up to date.")
@click.option("--annotate", is_flag=True, help="Write inferred steps into the plan as code blocks with attributes.")
@click.option(
    "--from-diff",
    metavar="[RANGE]",
    is_flag=False,
    flag_value="",
    help="Write steps into the plan that make a change which you have tried: that of the working tree, or RANGE.",
)
@click.option("--staged", is_flag=True, help="With --from-diff: only what is staged.")
@click.option("--restore", is_flag=True, help="With --from-diff: then revert its files; git's stash keeps the change.")
@click.option(
    "--from", "source", metavar="FILE", help="Import an execution plan, also of another system; - for standard input."
)
@click.option("--compose", is_flag=True, help="Combine the execution plans of all PLANs, in their order.")
@click.option("--title", metavar="TEXT", help="With --compose: create a new plan for the result, instead of -p PLAN.")
@click.option(
    "--enhance",
    is_flag=True,
    help="Let a program of yours propose an improvement: execplan explain enhancer.",
)
@plan_option
@new_options
@option_rules(
    exclusive("--check", "--annotate", "--from", "--from-diff", "--compose", "--enhance"),
    *[exclusive("--out", mode) for mode in ("--check", "--annotate", "--from-diff", "--enhance")],
    requires("--staged", "--from-diff"),
    requires("--restore", "--from-diff"),
    requires("--title", "--compose"),
    excludes("--title", "-p", "--out"),
    requires("--compose", SEVERAL_PLANS, hint=_COMPOSE_EXAMPLE),
    requires("--compose", "--title", "-p", "--out", hint=_COMPOSE_EXAMPLE),
)
def compile_(
    call: Call,
    plans: tuple[str, ...],
    out: str | None,
    check: bool,
    annotate: bool,
    from_diff: str | None,
    staged: bool,
    restore: bool,
    source: str | None,
    compose: bool,
    title: str | None,
    enhance: bool,
    plan: str | None,
    options: WriteOptions,
) -> Answer:
    """Compile a plan's steps into an execution plan.

    The execution plan is a JSON file with the plan's steps: the commands to run and the files to change. Compile a plan
    before you evaluate, approve and run it; the same plan always gives the same JSON. Nothing is run.

    The steps come from the sections Concrete Steps and Validation and Acceptance. Lines that look like steps but are
    skipped are listed with the reason.
    """
    if not compose and len(plans) == 1 and plan is not None and is_same_plan(plans[0], plan):
        plan = None
    if not compose and len(plans) + (plan is not None) > 1:
        message = "only one plan can be compiled at a time; --compose combines several"
        raise usage_error(message, "see execplan compile --help")
    if compose:
        return _compose_plans(call, plans, plan, out, title, options)
    project, ref = plan_selection.select_plan(os.getcwd(), plans[0] if plans else plan)
    if annotate:
        return _annotate_plan(project, ref, options)
    if from_diff is not None:
        write_tried_change = features.load(features.TRIED_CHANGE)
        answer: Answer = write_tried_change(project, ref, from_diff, options, staged=staged, restore=restore)
        return answer
    from execplan.cli.output import compile_output
    from execplan.execution.approvals.current_plan import load_current_plan

    if check:
        return compile_output.stored_check_answer(project, ref, load_current_plan(project, ref))
    if source is not None:
        return _store_or_write(
            call, project, ref, _read_imported(project, ref, source), out, options, "import an execution plan"
        )
    if enhance:
        from execplan.cli.output.enhance_output import enhance_answer

        return enhance_answer(project, ref, lambda: _compile_plan(project, ref), options)
    if out is not None:
        return _write_output(call, _compile_plan(project, ref, ignore_stored=True), out, options)
    return compile_output.store_result(project, ref, lambda: _compile_plan(project, ref), options, "compile")


def _compile_plan(project: Project, ref: PlanRef, *, ignore_stored: bool = False) -> CompileResult:
    """Compile the plan, or return the stored bytes if only line numbers have changed. Raises ExecplanError."""
    from execplan.cli.output.compile_output import CompileResult, compile_warnings
    from execplan.core.documents.document_io import document_bytes
    from execplan.execution.approvals.current_plan import compile_plan_file, load_current_plan, no_steps_error

    warnings = compile_warnings(project, ref)
    if ignore_stored:
        compilation = compile_plan_file(project, ref)
        if compilation.document is None:
            raise no_steps_error(project, ref, compilation.skipped)
        return CompileResult(compilation.document, document_bytes(compilation.document), compilation.skipped, warnings)
    current_plan = load_current_plan(project, ref)
    if current_plan.document.source is None:
        message = f"{current_plan.path} was imported or composed; it doesn't come from the plan's lines"
        hint = f"to replace it with the plan's own steps, remove it and compile again: rm {current_plan.path}"
        raise ExecplanError("other-source", message, hint=hint)
    if current_plan.document.revision > 1:
        _ensure_run_is_over(project, ref, current_plan.path)
        return _compile_plan(project, ref, ignore_stored=True)
    return CompileResult(current_plan.document, current_plan.data, current_plan.skipped_lines, warnings)


def _ensure_run_is_over(project: Project, ref: PlanRef, path: str) -> None:
    """Raise ExecplanError if a run of the revision that is stored can still continue."""
    from execplan.execution import states
    from execplan.execution.engine.error_hints import format_replan_command
    from execplan.execution.engine.run_records.run_statuses import find_last_run, run_number

    last_run = find_last_run(project, ref)
    if last_run is None or last_run.state in (states.COMPLETED, states.ROLLED_BACK):
        return
    message = f"{path} is a revision of run {last_run.id}, which can continue"
    hint = f"to let it continue with the plan's steps: {format_replan_command(run_number(last_run.id), ref.shell_name)}"
    raise ExecplanError("other-source", message, hint=hint)


def _read_imported(project: Project, ref: PlanRef, source: str) -> CompileResult:
    from execplan.agents.enhancer import stored_proposal
    from execplan.cli.output.compile_output import result_from_document
    from execplan.cli.text_input import read_source, source_name
    from execplan.execution.importers.plan_import import import_plan

    data, source_label = read_source(source), source_name(source)
    return result_from_document(
        stored_proposal.accept_proposal(project, ref, data, source_label)
        if stored_proposal.is_proposal(data)
        else import_plan(data, source_label, ref.id)
    )


def _compose_plans(
    call: Call, plans: tuple[str, ...], plan: str | None, out: str | None, title: str | None, options: WriteOptions
) -> Answer:
    from execplan.cli.output import compile_output
    from execplan.execution.approvals.current_plan import load_current_plan
    from execplan.execution.revision.composition import compose

    members = [plan_selection.select_plan(os.getcwd(), name) for name in plans]
    documents = [load_current_plan(project, ref).document for project, ref in members]
    joined_id = "+".join([ref.id for _, ref in members])[:255]
    if title is not None:
        compose(documents, joined_id)  # refuses before a plan is made
        return compile_output.store_in_new_plan(members, title, lambda name: compose(documents, name), options)
    if plan is None:
        assert out is not None
        return _write_output(call, compile_output.result_from_document(compose(documents, joined_id)), out, options)
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    compile_result = compile_output.result_from_document(compose(documents, ref.id))
    return _store_or_write(call, project, ref, compile_result, out, options, "compose an execution plan")


def _store_or_write(
    call: Call,
    project: Project,
    ref: PlanRef,
    compile_result: CompileResult,
    out: str | None,
    options: WriteOptions,
    summary: str,
) -> Answer:
    """Store the result for a plan, or write it elsewhere."""
    from execplan.cli.output.compile_output import store_result

    if out is not None:
        return _write_output(call, compile_result, out, options)
    return store_result(project, ref, lambda: compile_result, options, summary)


def _write_output(call: Call, compile_result: CompileResult, out: str, options: WriteOptions) -> Answer:
    from execplan.cli.output.compile_output import document_answer, write_to_file

    if out == "-":
        return document_answer(compile_result, as_json=call.as_json)
    return write_to_file(compile_result, out, options)


def _annotate_plan(project: Project, ref: PlanRef, options: WriteOptions) -> Answer:
    """Write inferred steps into the markdown for the author to check; nothing is compiled."""
    from execplan.cli.output.terminal_text import printable_lines
    from execplan.cli.plan_editing import edit_answer
    from execplan.core.edits.plan_writer import amend
    from execplan.core.plan_store.plan_store import quote_plan_name
    from execplan.execution.approvals.current_plan import compile_plan_file
    from execplan.execution.inference.annotation_edits import annotate_plan

    amended = amend(project, ref, lambda plan: annotate_plan(plan, dry_run=options.dry_run), options, command="compile")
    has_steps = amended.changed or compile_plan_file(project, ref).document is not None
    next_command = (
        f"execplan compile {quote_plan_name(ref.id, amended.path)}" if has_steps else "execplan explain steps"
    )
    answer = edit_answer(amended, options, next_command)
    if options.dry_run and amended.changed:
        answer = answer._replace(text=f"{answer.text}\n{printable_lines(amended.messages)}")
    return answer._replace(data={**answer.data, "said": list(amended.messages)})
