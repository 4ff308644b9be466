"""The `execplan export` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import option_rules, requires
from execplan.cli.plan_arguments import plan_argument
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the execution plan and its approval; the files that its steps name; the policy; the files that Git ignores.",
    writes="FILE with --out; otherwise nothing.",
    examples=(
        "execplan export parser --to github --out .github/workflows/parser.yml",
        "execplan export parser --to gitlab --out .gitlab-ci.yml --dry-run",
        "execplan export parser --to make",
    ),
)
@plan_argument()
@click.option(
    "--to",
    "target",
    type=click.Choice(("github", "gitlab", "make")),
    required=True,
    help="The engine: GitHub Actions, GitLab CI/CD, or make.",
)
@click.option("--out", metavar="FILE", help="Write the result to FILE, which may be an older export.")
@new_options
@option_rules(requires("--dry-run", "--out"), requires("--commit", "--out"))
def export(call: Call, plan: str | None, *, target: str, out: str | None, options: WriteOptions) -> Answer:
    """Export an approved plan as a workflow for CI, or as a makefile.

    Steps that can run at the same time form a wave, and each wave becomes a job that follows the one before. Each job
    first checks that the plan and the files that it uses are the approved ones. Then `execplan job` runs its steps as
    `run` would, and passes their outputs on to the next job.

    A plan whose steps need a person, or files that only this machine has, is not exported.
    """
    if out is not None and (not out or out == "-"):
        raise usage_error("--out requires the name of a file", "omit --out: the result is printed")
    from execplan.cli.output import export_output
    from execplan.execution.export.exported_plan import export_plan

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    exported_plan = export_plan(project, ref, uses_checkout=target != "make")
    text = export_output.render(exported_plan, target)
    if out is None:
        return export_output.printed_answer(exported_plan, target, text)
    return export_output.written_answer(project, ref, exported_plan, target, text, out, options)
