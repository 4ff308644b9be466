"""A plan without written steps as text for a model: its open tasks, how to record work, and what the plan says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.fitting import TextPart
from execplan.cli.handing_parts import DATA_NOTICE, reasoning_parts, task_item, handoff_title
from execplan.execution.evaluation.page import code_span, code_block

if TYPE_CHECKING:
    from execplan.engine.agent.handoff import Handoff

_COMMANDS_RANK, _SECTION_RANK, _TASK_RANK = 6, 3, 1
"""Ranks of what is shortened: first the inferred commands, at last all tasks but the first ones."""
_MIN_TASKS = 5
"""Tasks that are never left out."""


def task_handoff_parts(agent_handoff: Handoff) -> list[TextPart]:
    """The parts of the text."""
    handoff_json, report = agent_handoff.payload, agent_handoff.payload["report"]
    tasks = handoff_json["tasks"]
    head = "This plan is prose: it has no steps to approve or to run. You do its open tasks, in their order."
    text_parts = [TextPart(handoff_title(handoff_json)), TextPart(head), TextPart("## Open tasks"), TextPart(DATA_NOTICE)]
    text_parts += [TextPart(task_item(task), _TASK_RANK if at >= _MIN_TASKS else 0) for at, task in enumerate(tasks)]
    if not tasks:
        text_parts.append(TextPart("No task is open."))
    text_parts += [
        TextPart("## How to work"),
        TextPart(
            f"Read the plan first: {code_span(handoff_json['plan']['path'])}. Do one task, check the result as the plan says, and record it at "
            "once, before you begin another. TASK is the id of the task:"
        ),
        TextPart(code_block(report["done"], "sh")),
        TextPart("Record what you find out and what you decide, and add what is missing:"),
        TextPart(code_block("\n".join([report["discover"], report["decide"], report["add"]]), "sh")),
        TextPart(
            "Where the guard is installed it allows only approved steps. Then a person looks at the steps and approves them: "
            f"`execplan evaluate {report['handoff'].removeprefix('execplan handoff ')}`."
        ),
        TextPart("## Why it is done"),
        *reasoning_parts(handoff_json["reasoning"]),
    ]
    if handoff_json["sections"]:
        text_parts += [TextPart("## What the plan says"), TextPart(DATA_NOTICE)]
    for at, section in enumerate(handoff_json["sections"]):
        short = f"{code_span(section['title'])}: see the plan."
        text_parts.append(TextPart(f"{code_span(section['title'])}:\n\n{code_block(section['text'], 'text')}", _SECTION_RANK + at / 10, short))
    commands = [step["command"] for step in handoff_json["steps"] if step["command"]]
    if commands:
        intro = "Commands that the plan's prose names, inferred from prose:"
        text_parts.append(TextPart(f"{intro}\n\n{code_block(chr(10).join(commands), 'sh')}", _COMMANDS_RANK))
    return text_parts
