"""`execplan prime`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.shape import plan_json
from execplan.cli.verb import verb
from execplan.context.quoted import MARK, line
from execplan.errors import INPUT, ExecplanError
from execplan.repo import pick, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.shelf import Shelved

CLAUDE, CODEX = "claude", "codex"
_NOTHING = ("no-plan", "no-home", "ambiguous-plan")
"""What is no refusal where no plan was named: a session begins all the same."""


@verb(
    reads="the plan, its claims, its last run, what git says of the working tree.",
    writes="nothing.",
    examples=("execplan prime", "execplan prime parser", "execplan prime --hook codex", "execplan prime --json"),
)
@click.argument("plan", required=False)
@click.option("--hook", type=click.Choice([CLAUDE, CODEX]), help="As that program wants it of a hook; exit 0 always.")
def prime(call: Call, plan: str | None, hook: str | None) -> Answer:
    """Print in about 1 KB where the plan stands: for a session that begins, or whose memory is about to be cut.

    The next task, the last decisions, the last discovery, how the last run stands, what has changed since the plan was
    last written, and three commands. What comes from the repository is quoted, without secrets. Where no plan is named
    and there is none, or several, that is all it says.
    """
    from execplan.cli.bearings import redact

    clean = redact()
    try:
        answer = _found(plan, clean)
    except ExecplanError as error:
        if not hook and (plan is not None or error.code not in _NOTHING):
            raise
        answer = _unknown(error, clean)
    if hook:
        return Answer(answer.data, _for(hook, answer.text))
    return answer if call.as_json else answer._replace(next=())


def _for(hook: str, text: str) -> str:
    """The text as a program takes it: Claude Code adds what is printed, Codex wants a document of one form."""
    if hook == CLAUDE:
        return text
    return json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


def _found(plan: str | None, clean: Callable[[str], str]) -> Answer:
    """What is told of the plan that is meant; raises ExecplanError."""
    from execplan.cli.bearings import bearings
    from execplan.context import primer

    home, ref = pick.open_plan(os.getcwd(), plan)
    shelved = shelf.load(home, ref)
    if shelved.plan is None:
        name = typed(home.shown(ref.path))
        told = f"{ref.id} can't be read: {shelved.error.message if shelved.error else ''}"
        lint = f"execplan lint {name}"
        text = f"{MARK}{line(told, clean, 600)}\n{line(lint, clean, 400)}\n"
        return Answer(_data(shelved, clean, text), text, next=(lint,))
    found = bearings(shelved, shelved.plan)
    text = primer.primer(found, clean)
    data = {
        **_data(shelved, clean, text),
        "task": found.next or None,
        "steps": found.steps or None,
        "drift": {"commits": found.drift.commits, "paths": list(found.drift.paths)} if found.drift else None,
        "findings": [line(each, clean) for each in found.findings],
    }
    return Answer(data, text, next=found.commands[:3])


def _data(shelved: Shelved, clean: Callable[[str], str], text: str) -> dict[str, Any]:
    """The plan as every document names it, its words without secrets."""
    told = {**plan_json(shelved), "text": text}
    return {**told, **{name: line(told[name], clean) for name in ("title", "error") if told.get(name)}}


def _unknown(error: ExecplanError, clean: Callable[[str], str]) -> Answer:
    """That there is no plan to tell of, or several."""
    from execplan.context import primer

    data = {"id": None, "candidates": list(error.candidates)}
    if error.code == "ambiguous-plan":
        text = primer.several(error.candidates, clean)
    else:
        text = f"execplan: {line(error.message, clean, 300)}\n"
        if error.exit != INPUT or error.code == "no-plan":
            text += f"{error.lead}: {line(error.hint, clean, 200)}\n"
    return Answer({**data, "text": text}, text)


command = prime
