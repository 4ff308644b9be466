"""`execplan show`."""

from __future__ import annotations

import os

import click

from execplan.cli import door, standing
from execplan.cli.advice import Advice, advise
from execplan.cli.ahead import find_open_tasks
from execplan.cli.answer import Answer, Call, quote_plan_name
from execplan.cli.plan_name import plan_argument
from execplan.cli.shape import conflict_warnings, plan_json, full_plan_json
from execplan.cli.verb import complete_with, define_command
from execplan.errors import USAGE, ErrorContext, ExecplanError
from execplan.plan.model import ACTIVE, DONE, DRAFT
from execplan.plan.seek import find_section
from execplan.repo import pick, shelf


@define_command(
    reads="the plan; with --steps, its execution plan and the approvals among its artifacts; with --run, that run.",
    writes="nothing.",
    examples=(
        "execplan show",
        "execplan show parser --json",
        "execplan show parser --section 'Decision Log'",
        "execplan show parser --steps",
        "execplan show parser --run 1",
    ),
)
@plan_argument()
@click.option(
    "--section",
    metavar="NAME",
    shell_complete=complete_with("section"),
    help="Only this section's lines, exactly as in the file.",
)
@click.option("--steps", is_flag=True, help="The steps that it compiles to now, and how they stand.")
@click.option(
    "--run", metavar="[RUN]", is_flag=False, flag_value="", help="A run of it, step by step; else the last one."
)
def show(call: Call, plan: str | None, section: str | None, steps: bool, run: str | None) -> Answer:
    """Show one plan: its state, its tasks with number and id, its decisions; or a section, its steps, or a run of it."""
    if (section is not None) + steps + (run is not None) > 1:
        message = "--section, --steps and --run exclude each other"
        raise ExecplanError("usage", message, exit=USAGE, hint="execplan show --steps")
    project, ref = pick.select_plan(os.getcwd(), plan)
    if run is not None:
        from execplan.cli.running.one import load_run
        from execplan.cli.running.showing import run_answer
        from execplan.engine import place as places

        return run_answer(load_run(project, ref, places.find_run(project, ref, run or None)))
    stored_plan = shelf.load(project, ref)
    if stored_plan.plan is None:
        assert stored_plan.error is not None
        with ErrorContext(project.display_path(ref.path)):
            raise stored_plan.error
    parsed_plan = stored_plan.plan
    warnings = conflict_warnings([stored_plan])
    if section is not None:
        with ErrorContext(project.display_path(ref.path)):
            found_section = find_section(parsed_plan, section)
        text = "".join(
            [line + end for line, end in zip(parsed_plan.text.lines, parsed_plan.text.ends, strict=True)][found_section.start : found_section.notes_start]
        )
        section_range = {"section": found_section.title, "name": found_section.name, "line_start": found_section.start + 1, "line_end": found_section.notes_start}
        return Answer({**plan_json(stored_plan), **section_range, "text": text}, text, warnings=warnings)
    if steps:
        from execplan.cli.steps import steps_answer

        return steps_answer(stored_plan, warnings)
    data = full_plan_json(stored_plan, parsed_plan)
    execution = standing.status_if_readable(stored_plan)
    open_tasks = find_open_tasks(project, ref, parsed_plan) if stored_plan.state in (ACTIVE, DRAFT) else None
    advice = advise(stored_plan, open_tasks, execution) if not ref.archived else Advice()
    data["run"] = standing.unfinished_run(execution) if not ref.archived else standing.find_open_run(project, ref)
    commands = tuple([next_command for next_command in advice.commands if next_command != f"execplan show {quote_plan_name(ref.id, data['path'])}"])
    return Answer(data, _plan_page(data, advice.why), warnings=warnings, next_commands=commands, work=advice.work)


def _plan_page(data: dict[str, object], why: str) -> str:
    """A plan on a page."""
    counts, tasks, run = data["counts"], data["tasks"], data["run"]
    assert isinstance(counts, dict)
    assert isinstance(tasks, list)
    lines = [f"{data['title'] or '(no title)'}", f"{door.printable_line(str(data['path']))}: {data['state']}, {_progress_text(counts)}"]
    if isinstance(run, dict):
        lines.append(standing.open_run_text(run))
    lines += [door.printable_line(why)] if why else []
    if tasks:
        lines.append("")
    for task in tasks:
        lead = "  " * task["depth"]
        stamp = f"  {task['stamp']}" if task["stamp"] and task["state"] == DONE else ""
        lines.append(f"{task['number']:>3}. {lead}[{task['mark']}] {task['text']}  [{task['id']}]{stamp}")
    for name, singular in (("decisions", "decision"), ("discoveries", "discovery"), ("outcomes", "outcome")):
        entries = data[name]
        assert isinstance(entries, list)
        if entries:
            lines += [
                "",
                f"{len(entries)} {name if len(entries) > 1 else singular}, the last in line {entries[-1]['line_start']}:",
            ]
            lines.append(f"  {entries[-1]['text']}")
    return "\n".join(lines)


def _progress_text(counts: dict[str, int]) -> str:
    """`3 of 8 done`, and what is neither open nor done."""
    other_text = f", {counts['other']} other" if counts["other"] else ""
    return f"{counts['done']} of {counts['total']} tasks done{other_text}"


command = show
