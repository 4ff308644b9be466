"""The `execplan convert` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output.move_output import PlanAnswer, join_answers
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.plan_editing import edit_answer, edit_plan
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.scaffold import plan_conversion
from execplan.core.text.message_parts import format_count


@define_command(
    reads="the plan; with --all, every open plan.",
    writes="the plan, or all of them as one operation, which one `undo` reverts.",
    examples=(
        "execplan convert parser --dry-run",
        "execplan convert parser",
        "execplan convert --all --commit",
    ),
)
@plan_argument()
@click.option("--all", "all_plans", is_flag=True, help="Convert every open plan that is in another form.")
@writer_options
@option_rules(
    excludes(
        "--all",
        "PLAN",
        "--if-match",
        reason="converts all open plans",
        hint="name one plan, or omit the other options: execplan convert --all",
    )
)
def convert(call: Call, plan: str | None, *, all_plans: bool, options: WriteOptions) -> Answer:
    """Make an ExecPlan of a plan in another form.

    The file stays where it is, and all text is kept, except rules between sections. Each section goes to one of the
    twelve by its heading: tasks to Progress, as they are and in their order, goals to Purpose, and so on. A heading that
    says more than the new one stays below it. Sections whose heading says nothing about that go to Context and
    Orientation, or to Artifacts and Notes if they are mostly code or tables, and are listed. Links to headings of the
    file follow. Missing sections get the placeholder text of a new plan. `undo` restores the old text.
    """
    if not all_plans:
        return edit_plan(
            plan, lambda project, ref: plan_conversion.convert(project, ref, options), options, "execplan lint {id}"
        )
    bulk = BulkOperation()
    failures: dict[str, list[str]] = {}
    failed = CHECK_FAILED
    edits = []
    for project, ref in _find_plans():
        try:
            edits.append((project, ref, plan_conversion.convert(project, ref, options._replace(bulk=bulk))))
        except ExecplanError as error:
            failures[ref.id], failed = [error.message], error.exit
    warnings = bulk.commit("convert", "convert")
    answers = [PlanAnswer(project, edit_answer(bulk.with_commit(project, edit), options)) for project, _, edit in edits]
    headline = f"converted {format_count(len(answers), 'plan')}:"
    answer = join_answers(answers, headline, failures, "not converted", options, failed=failed)
    if not options.dry_run:
        moved = [f"{ref.id}: {message}" for _, ref, edit in edits for message in edit.messages[1:]]
        answer = answer._replace(text="\n".join(filter(None, [answer.text, printable_lines(moved)])))
    return answer._replace(text=answer.text or "no plans in another form", warnings=(*answer.warnings, *warnings))


def _find_plans() -> list[tuple[Project, PlanRef]]:
    """Return the open plans in another form; raises ExecplanError."""
    stored_plans = plan_store.load_with_nested(project_discovery.require(os.getcwd()))
    return [
        (stored.project, stored.ref)
        for stored in stored_plans
        if stored.plan is not None and not stored.plan.is_document and not follows_format(stored.plan)
    ]
