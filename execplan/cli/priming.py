"""What a session is told when it begins; without click, because every session waits for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, Call, emit, typed
from execplan.cli.bearings import bearings, redact
from execplan.cli.moving import finish
from execplan.cli.shape import plan_json
from execplan.context import primer
from execplan.context.quoted import QUOTE_PREFIX, quote_line
from execplan.errors import ExecplanError
from execplan.repo import homes, pick, shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.repo.shelf import Shelved

    Clean = Callable[[str], str]

CLAUDE, CODEX = "claude", "codex"
PROGRAMS = (CLAUDE, CODEX)
_SLOW = ("EP6",)
"""What takes longer than all else: whether steps can be compiled, of which `Steps:` and evaluate tell."""
_NOTHING = ("no-plan", "plan-deleted", "no-home", "ambiguous-plan")
"""What is no refusal where no plan was named: a session begins all the same."""


def quick(arguments: Sequence[str]) -> int:
    """Answer `prime`, `prime PLAN` and `prime --hook PROGRAM`; -1 for all else. Raises ExecplanError."""
    hook = arguments[1] if len(arguments) == 2 and arguments[0] == "--hook" and arguments[1] in PROGRAMS else None
    named = [] if hook else list(arguments)
    if len(named) > 1 or any([not each or each.startswith("-") for each in named]):
        return -1
    homes.finish_moves(finish)
    return emit(answer(named[0] if named else None, hook)._replace(next=()), Call(), "prime")


def answer(plan: str | None, hook: str | None) -> Answer:
    """What is told of a plan, of the only one, or of why there is none to tell of; raises ExecplanError."""
    clean = redact()
    try:
        found = _found(plan, clean)
    except ExecplanError as error:
        if not hook and (plan is not None or error.code not in _NOTHING):
            raise
        found = _unknown(error, clean)
    return Answer(found.data, _for(hook, found.text)) if hook else found


def _for(hook: str, text: str) -> str:
    """The text as a program takes it: Claude Code adds what is printed, Codex wants a document of one form."""
    if hook == CLAUDE:
        return text
    import json

    return json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


def _found(plan: str | None, clean: Clean) -> Answer:
    """What is told of the plan that is meant; raises ExecplanError."""
    home, ref = pick.open_plan(os.getcwd(), plan)
    shelved = shelf.load(home, ref)
    if shelved.plan is None:
        told = f"{ref.id} can't be read: {shelved.error.message if shelved.error else ''}"
        lint = f"execplan lint {typed(home.shown(ref.path))}"
        return _answer(shelved, clean, f"{QUOTE_PREFIX}{quote_line(told, clean, 600)}\n{quote_line(lint, clean, 400)}\n", (lint,))
    found = bearings(shelved, shelved.plan, ignore=_SLOW)
    more = {
        "task": found.next_task_id or None,
        "steps": found.steps_status or None,
        "drift": {"commits": found.drift.commits, "paths": list(found.drift.paths)} if found.drift else None,
        "without_git": [quote_line(each, clean) for each in found.git_error] if found.git_error else None,
        "findings": [quote_line(each, clean) for each in found.lint_errors],
    }
    return _answer(shelved, clean, primer.format_primer(found, clean), found.commands[: primer.MAX_COMMANDS], more)


def _answer(
    shelved: Shelved, clean: Clean, text: str, follow: tuple[str, ...], more: dict[str, Any] | None = None
) -> Answer:
    """The plan as every document names it, its words without secrets."""
    data: dict[str, Any] = {**plan_json(shelved), "text": text, **(more or {})}
    words = {name: quote_line(data[name], clean) for name in ("title", "error") if data.get(name)}
    return Answer({**data, **words}, text, next=follow)


def _unknown(error: ExecplanError, clean: Clean) -> Answer:
    """That there is no plan to tell of, or several."""
    if error.code == "ambiguous-plan":
        from execplan.repo.candidates import summary

        plans = [
            (name, each["title"] or "", summary(each))
            for name, each in zip(error.candidates, error.details, strict=True)
        ]
        text = primer.format_plan_choices(error.message, plans, clean)
    else:
        hint = f"{error.lead}: {quote_line(error.hint, clean, 200)}\n" if error.hint else ""
        text = f"execplan: {quote_line(error.message, clean, 300)}\n{hint}"
    details = [_redacted(each, clean) for each in error.details]
    return Answer({"id": None, "candidates": details or list(error.candidates), "text": text}, text)


def _redacted(value: Any, clean: Clean) -> Any:
    """A JSON value with the secrets taken out of its texts."""
    if isinstance(value, dict):
        return {name: _redacted(each, clean) for name, each in value.items()}
    if isinstance(value, list):
        return [_redacted(each, clean) for each in value]
    return quote_line(value, clean) if isinstance(value, str) else value
