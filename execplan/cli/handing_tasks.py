"""A plan without written steps as text for a model: its open tasks, how to record work, and what the plan says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.fitting import Part
from execplan.cli.handing_parts import DATA, reasoning, task_line, title
from execplan.execution.evaluation.page import code_span, code_block

if TYPE_CHECKING:
    from execplan.engine.agent.handoff import Handoff

_COMMANDS, _SECTION, _TASK = 6, 3, 1
"""Ranks of what is shortened: first the inferred commands, at last all tasks but the first ones."""
_FIRST = 5
"""Tasks that are never left out."""


def parts(found: Handoff) -> list[Part]:
    """The parts of the text."""
    told, report = found.payload, found.payload["report"]
    tasks = told["tasks"]
    head = "This plan is prose: it has no steps to approve or to run. You do its open tasks, in their order."
    made = [Part(title(told)), Part(head), Part("## Open tasks"), Part(DATA)]
    made += [Part(task_line(each), _TASK if at >= _FIRST else 0) for at, each in enumerate(tasks)]
    if not tasks:
        made.append(Part("No task is open."))
    made += [
        Part("## How to work"),
        Part(
            f"Read the plan first: {code_span(told['plan']['path'])}. Do one task, check the result as the plan says, and record it at "
            "once, before you begin another. TASK is the id of the task:"
        ),
        Part(code_block(report["done"], "sh")),
        Part("Record what you find out and what you decide, and add what is missing:"),
        Part(code_block("\n".join([report["discover"], report["decide"], report["add"]]), "sh")),
        Part(
            "Where the guard is installed it allows only approved steps. Then a person looks at the steps and approves them: "
            f"`execplan evaluate {report['handoff'].removeprefix('execplan handoff ')}`."
        ),
        Part("## Why it is done"),
        *reasoning(told["reasoning"]),
    ]
    if told["sections"]:
        made += [Part("## What the plan says"), Part(DATA)]
    for at, each in enumerate(told["sections"]):
        short = f"{code_span(each['title'])}: see the plan."
        made.append(Part(f"{code_span(each['title'])}:\n\n{code_block(each['text'], 'text')}", _SECTION + at / 10, short))
    commands = [each["command"] for each in told["steps"] if each["command"]]
    if commands:
        words = "Commands that the plan's prose names, inferred from prose:"
        made.append(Part(f"{words}\n\n{code_block(chr(10).join(commands), 'sh')}", _COMMANDS))
    return made
