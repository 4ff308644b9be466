"""`execplan show`."""

from __future__ import annotations

import os

import click

from execplan.cli import door, standing
from execplan.cli.advice import Advice, advise
from execplan.cli.ahead import ahead
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_argument
from execplan.cli.shape import conflict_warnings, plan_json, whole_json
from execplan.cli.verb import completes, verb
from execplan.errors import USAGE, About, ExecplanError
from execplan.plan.model import ACTIVE, DONE, DRAFT
from execplan.plan.seek import find_section
from execplan.repo import pick, shelf


@verb(
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
    shell_complete=completes("section"),
    help="Only this section's lines, exactly as in the file.",
)
@click.option("--steps", is_flag=True, help="The steps that it compiles to now, and how they stand.")
@click.option(
    "--run", metavar="[RUN]", is_flag=False, flag_value="", help="A run of it, step by step; else the last one."
)
def show(call: Call, plan: str | None, section: str | None, steps: bool, run: str | None) -> Answer:
    """Show one plan: its state, its tasks with number and id, its decisions; or a section, its steps, or a run of it."""
    if (section is not None) + steps + (run is not None) > 1:
        what = "--section, --steps and --run exclude each other"
        raise ExecplanError("usage", what, exit=USAGE, hint="execplan show --steps")
    home, ref = pick.open_plan(os.getcwd(), plan)
    if run is not None:
        from execplan.cli.running.one import load
        from execplan.cli.running.showing import shown_run
        from execplan.engine import place as places

        return shown_run(load(home, ref, places.find_run(home, ref, run or None)))
    shelved = shelf.load(home, ref)
    if shelved.plan is None:
        assert shelved.error is not None
        with About(home.shown(ref.path)):
            raise shelved.error
    read = shelved.plan
    warnings = conflict_warnings([shelved])
    if section is not None:
        with About(home.shown(ref.path)):
            found = find_section(read, section)
        text = "".join(
            [line + end for line, end in zip(read.text.lines, read.text.ends, strict=True)][found.start : found.notes]
        )
        place = {"section": found.title, "name": found.name, "line_start": found.start + 1, "line_end": found.notes}
        return Answer({**plan_json(shelved), **place, "text": text}, text, warnings=warnings)
    if steps:
        from execplan.cli.steps import steps_of

        return steps_of(shelved, warnings)
    data = whole_json(shelved, read)
    execution = standing.known(shelved)
    open_tasks = ahead(home, ref, read) if shelved.state in (ACTIVE, DRAFT) else None
    advice = advise(shelved, open_tasks, execution) if not ref.archived else Advice()
    data["run"] = standing.unfinished(execution) if not ref.archived else standing.open_run(home, ref)
    commands = tuple([each for each in advice.commands if each != f"execplan show {typed(ref.id, data['path'])}"])
    return Answer(data, _overview(data, advice.why), warnings=warnings, next=commands, work=advice.work)


def _overview(data: dict[str, object], why: str) -> str:
    """A plan on a page."""
    counts, tasks, run = data["counts"], data["tasks"], data["run"]
    assert isinstance(counts, dict)
    assert isinstance(tasks, list)
    lines = [f"{data['title'] or '(no title)'}", f"{door.shown(str(data['path']))}: {data['state']}, {_done(counts)}"]
    if isinstance(run, dict):
        lines.append(standing.run_words(run))
    lines += [door.shown(why)] if why else []
    if tasks:
        lines.append("")
    for task in tasks:
        lead = "  " * task["depth"]
        stamp = f"  {task['stamp']}" if task["stamp"] and task["state"] == DONE else ""
        lines.append(f"{task['number']:>3}. {lead}[{task['mark']}] {task['text']}  [{task['id']}]{stamp}")
    for name, what in (("decisions", "decision"), ("discoveries", "discovery"), ("outcomes", "outcome")):
        entries = data[name]
        assert isinstance(entries, list)
        if entries:
            lines += [
                "",
                f"{len(entries)} {name if len(entries) > 1 else what}, the last in line {entries[-1]['line_start']}:",
            ]
            lines.append(f"  {entries[-1]['text']}")
    return "\n".join(lines)


def _done(counts: dict[str, int]) -> str:
    """`3 of 8 done`, and what is neither open nor done."""
    other = f", {counts['other']} other" if counts["other"] else ""
    return f"{counts['done']} of {counts['total']} tasks done{other}"


command = show
