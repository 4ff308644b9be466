"""The `execplan context` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import excludes, exclusive, option_rules, requires
from execplan.cli.output.context_decision import FORMS, INTENTS, ContextOptions
from execplan.cli.plan_arguments import plan_argument
from execplan.context.context_settings import MIN_BUDGET
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection, plan_store
from execplan.team.advice.conflict_warnings import conflict_warnings

if TYPE_CHECKING:
    from execplan.context.context_settings import ContextSettings
    from execplan.context.gathering.pack_gathering import GatheredPack


_EXPERIMENT_EXAMPLE = "execplan context --experiment ID --key KEY"


@define_command(
    reads="the plan, the files that it names, its artifacts, git's index and working tree; the files of --file, --units and --session.",
    writes="nothing.",
    examples=(
        "execplan context",
        "execplan context parser --budget 4000 --task 3",
        "execplan context parser --json",
        "execplan context parser --explain",
        "execplan context parser --item section:purpose",
        "execplan context parser --compare",
        "execplan context --file build.log --format xml",
    ),
)
@plan_argument()
@click.option(
    "--task", metavar="TASK", help="The task to work on, by number, ID or unique text. Default: the next open task."
)
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(min=MIN_BUDGET),
    help="Token budget for the system prompt, the pack and the response (default: 8000).",
)
@click.option(
    "--model",
    metavar="NAME",
    help="The model that reads the pack. Default: that of the session, otherwise of the settings.",
)
@click.option(
    "--intent",
    metavar="KIND",
    type=click.Choice(INTENTS),
    help=f"The kind of work: {', '.join(INTENTS[:-1])} or {INTENTS[-1]}. Default: inferred from the task's text.",
)
@click.option(
    "--file", "files", metavar="PATH", multiple=True, help="Always include this file; of a directory, what fits."
)
@click.option(
    "--units",
    metavar="FILE",
    multiple=True,
    help="Additional items, one JSON object per line: execplan explain context.",
)
@click.option("--session", "sessions", metavar="FILE", multiple=True, help="A session log of Claude Code or Codex.")
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], help="Output format of the pack.")
@click.option(
    "--experiment", metavar="ID", help="Assign a variant of the experiment ID: control or optimized; requires --key."
)
@click.option("--key", metavar="KEY", help="What gets the variant, such as a session; equal keys get the same one.")
@click.option("--explain", is_flag=True, help="Print a table instead: what was kept, shortened and left out, and why.")
@click.option("--plain-decision", is_flag=True, help="Print the decision as a JSON document, without a wrapper.")
@click.option("--compare", is_flag=True, help="Print a table of both variants, side by side.")
@click.option(
    "--item",
    "items",
    metavar="ID",
    multiple=True,
    help="Print this item of a pack, by its ID or path, in full, or within --budget.",
)
@click.option(
    "--exact/--estimate", default=None, help="How tokens are counted. Default: exactly if the tokenizer is installed."
)
@option_rules(
    requires("--experiment", "--key", hint=_EXPERIMENT_EXAMPLE),
    requires("--key", "--experiment", hint=_EXPERIMENT_EXAMPLE),
    excludes("--json", "--format", reason="prints no pack"),
    exclusive("--explain", "--plain-decision", "--compare", "--item", hint="omit all but one of them"),
    exclusive("--json", "--explain", "--plain-decision", reason="both print the decision"),
    *[excludes(view, "--format", reason="prints no pack") for view in ("--explain", "--plain-decision", "--compare")],
    excludes("--experiment", "--compare", "--item", hint="omit --experiment and --key"),
)
def context(
    call: Call,
    plan: str | None,
    task: str | None,
    files: tuple[str, ...],
    units: tuple[str, ...],
    sessions: tuple[str, ...],
    **flags: Any,
) -> Answer:
    """Select what an agent should read, within a token budget.

    The result, a context pack, has what an agent needs to continue the plan: parts of the plan and of the files that it
    names. The pack goes to standard output, a summary line to standard error. --explain prints instead a table of what
    was kept, shortened and left out, and --json prints the same as data. --experiment and --compare are for measuring
    whether packs help.
    """
    from execplan.context.context_settings import parse_context_settings
    from execplan.context.gathering.pack_gathering import GatherOptions, gather_pack

    options = ContextOptions(**flags)
    if "" in (options.experiment, options.key):
        message = "--experiment and --key require a value that is not empty"
        raise usage_error(message, _EXPERIMENT_EXAMPLE)
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    stored_plan = plan_store.load(project, ref)
    parsed_plan = stored_plan.require_plan()
    settings = parse_context_settings(project.settings.context)
    gathered = gather_pack(project, ref, parsed_plan, GatherOptions(task, settings.decisions, files, units, sessions))
    gathered = gathered._replace(warnings=(*conflict_warnings([stored_plan]), *gathered.warnings))
    if options.items:
        return _items_answer(gathered, settings, options)
    if options.compare:
        return _comparison_answer(gathered, settings, options)
    return _pack_answer(gathered, settings, options, call)


def _pack_answer(gathered: GatheredPack, settings: ContextSettings, options: ContextOptions, call: Call) -> Answer:
    from execplan.cli.output.context_decision import decide_pack, decision_summary, explanation_table

    pack_result = decide_pack(gathered, settings, options)
    if not call.as_json and not call.quiet:
        sys.stdout.flush()
        print(f"execplan: {decision_summary(pack_result.decision)}", file=sys.stderr)
    text = pack_result.text
    if options.explain:
        text = explanation_table(pack_result.decision)
    elif options.plain_decision:
        from execplan.core.documents.document_io import document_bytes

        text = document_bytes(pack_result.decision).decode()
    return Answer(pack_result.decision.model_dump(), text, warnings=pack_result.decision.warnings)


def _comparison_answer(gathered: GatheredPack, settings: ContextSettings, options: ContextOptions) -> Answer:
    from execplan.cli.output.context_decision import comparison_table, decide_variants

    control, optimized = [pack_result.decision for pack_result in decide_variants(gathered, settings, options)]
    data = {"control": control.model_dump(), "optimized": optimized.model_dump()}
    return Answer(data, comparison_table(control, optimized), warnings=optimized.warnings)


def _items_answer(gathered: GatheredPack, settings: ContextSettings, options: ContextOptions) -> Answer:
    from execplan.cli.output.context_decision import fetch_items

    fetched = fetch_items(gathered, settings, options)
    items = [
        {**json_fields(unit, "id type title path"), "action": action, "tokens": tokens, "content": text}
        for unit, action, text, tokens in fetched.items
    ]
    counter = json_fields(fetched.counter, "name exact")
    warnings = gathered.warnings_for([unit for unit, *_ in fetched.items])
    return Answer(
        {"plan_id": gathered.pack.plan_id, "items": items, "counter": counter}, fetched.text, warnings=warnings
    )
