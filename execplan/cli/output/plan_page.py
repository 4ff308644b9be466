"""A plan at a glance, for people at a terminal: its purpose, progress, last activity and runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import STATE_STYLES, bar_parts, fit_line, paint, paint_words
from execplan.core.clock import current_minute
from execplan.core.plan.model import DONE, OPEN, ParsedPlan
from execplan.core.plan.outline import PURPOSE
from execplan.core.plan.plan_dates import day_start, latest_date
from execplan.core.text.markdown_blocks import PARAGRAPH
from execplan.core.text.message_parts import format_count, shorten
from execplan.execution import states
from execplan.team.advice.execution_status import NOT_COMPILED, failed_run_text, open_run_text, status_text
from execplan.team.advice.plan_json import task_notes

_TASK_STYLES = {DONE: "green", OPEN: ""}
_OTHER_TASK_STYLE = "yellow"
_MAX_PURPOSE_LENGTH = 400
"""Maximum number of characters of the purpose."""
_LABEL_WIDTH = 15
"""Width of the labels before the facts about a plan."""


_RUN_LEAD = "run "
"""Start of a text about a run, which has a label instead."""


def plan_page(data: dict[str, Any], parsed_plan: ParsedPlan, why: str, execution: dict[str, Any] | None) -> str:
    """Return a plan as text for a terminal.

    `data` is the JSON form of the plan, with its open run; `why` says why the next command is urgent; `execution` is
    the status of its steps, if it is open.
    """
    lines = [paint(line, "bold") for line in fit_line(printable_line(data["title"] or "(no title)"), indent=0)]
    lines += [paint(printable_line(data["path"]), "dim"), ""]
    purpose = _first_paragraph(parsed_plan)
    lines += [*fit_line(printable_line(shorten(purpose, _MAX_PURPOSE_LENGTH)), indent=0), ""] if purpose else []
    facts = _facts(data, parsed_plan, execution)
    for label, text, styles in facts:
        first_line, *more_lines = fit_line(f"{label:{_LABEL_WIDTH}}{printable_line(text)}", indent=_LABEL_WIDTH)
        value = paint_words(first_line[_LABEL_WIDTH:], styles)
        lines += [paint(first_line[:_LABEL_WIDTH], "dim") + value, *more_lines]
    is_shown = why.removeprefix(_RUN_LEAD) in [text for _, text, _ in facts]
    lines += fit_line(printable_line(why)) if why and not is_shown else []
    lines += [""] if data["tasks"] else []
    for task in data["tasks"]:
        lines += _task_lines(task)
    for heading, last_entry in entry_summaries(data):
        lines += ["", paint(heading, "bold"), *fit_line(f"  {printable_line(last_entry)}", indent=2)]
    return "\n".join(lines)


def entry_summaries(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a heading and the text of the last entry for each log of a plan that has entries."""
    for name, singular in (("decisions", "decision"), ("discoveries", "discovery"), ("outcomes", "outcome")):
        if entries := data[name]:
            noun = name if len(entries) > 1 else singular
            yield f"{len(entries)} {noun}, the last on line {entries[-1]['line_start']}:", entries[-1]["text"]


def _facts(
    data: dict[str, Any], parsed_plan: ParsedPlan, execution: dict[str, Any] | None
) -> list[tuple[str, str, dict[str, str]]]:
    """Return the state, activity, steps and runs of a plan: each with a label, and styles of words in it."""
    counts, state = data["counts"], data["state"]
    other_text = f", {parsed_plan.other_states_text}" if counts["other"] else ""
    full, empty = bar_parts(counts["done"], counts["total"])
    progress = f"{full}{empty} {counts['done']} of {format_count(counts['total'], 'task')} done{other_text}"
    facts = [
        ("state", state, {state: STATE_STYLES[state]}),
        ("progress", progress if counts["total"] else "no tasks yet", {full: "green", empty: "dim"}),
    ]
    day = day_start(last_date := latest_date(parsed_plan))
    facts += [("last activity", _date_text(last_date, day), {})] if day is not None else []
    if execution is not None and execution["state"] != NOT_COMPILED:
        facts.append(("steps", status_text({**execution, "run": None}), {}))
    run_text, style = _run_text(data["run"], execution)
    run_text = run_text.removeprefix(_RUN_LEAD)
    return [*facts, ("run", run_text, {run_text: style})] if run_text else facts


def _run_text(open_run: dict[str, Any] | None, execution: dict[str, Any] | None) -> tuple[str, str]:
    """Describe the open run of a plan, or its last one, with a style; empty without a run."""
    if open_run is not None:
        return open_run_text(open_run, execution["state"] if execution is not None else NOT_COMPILED), "yellow"
    last_run = execution["run"] if execution is not None else None
    if last_run is None:
        return "", ""
    if last_run["state"] != states.COMPLETED:
        return failed_run_text(last_run), "bold red" if last_run["state"] == states.FAILED else "yellow"
    from execplan.execution.engine.run_records.run_statuses import run_number

    return f"run {run_number(last_run['id'])} completed", "green"


def _first_paragraph(parsed_plan: ParsedPlan) -> str:
    """Return the first paragraph of the plan's purpose on one line, without template text; empty if there is none."""
    section = parsed_plan.section(PURPOSE)
    if section is None:
        return ""
    for block in parsed_plan.blocks[section.first_block : section.block_end]:
        if block.kind == PARAGRAPH and not block.depth and block.start not in parsed_plan.placeholder_lines:
            return " ".join([line.strip() for line in parsed_plan.text.lines[block.start : block.end]])
    return ""


def _date_text(text: str, day: int) -> str:
    """Return a date with the time that has passed since; `day` is the minute in which it begins."""
    days = (current_minute() - day) // 1440
    if days < 0:
        return text
    return f"{text}, today" if not days else f"{text}, {format_count(days, 'day')} ago"


def _task_lines(task: dict[str, Any]) -> list[str]:
    """Return the lines of a task, wrapped below its text."""
    lead = f"{task['number']:>3}. {'  ' * task['depth']}[{task['mark']}] "
    notes = printable_line(task_notes(task))
    lines = fit_line(f"{lead}{printable_line(task['text'])}{notes}", indent=len(lead))
    style = _TASK_STYLES.get(task["state"], _OTHER_TASK_STYLE)
    lines[0] = paint(lead, style) + lines[0][len(lead) :]
    lines[-1] = lines[-1].removesuffix(notes) + paint(notes, "dim") if lines[-1].endswith(notes) else lines[-1]
    if task["check"] and task["state"] != DONE:
        indent = " " * len(lead)
        check_lines = fit_line(f"{indent}check: {printable_line(task['check'])}", indent=len(lead))
        lines += [paint(line, "dim") for line in check_lines]
    return lines
