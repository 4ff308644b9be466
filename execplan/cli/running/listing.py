"""`runs`: a line for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.running.following import is_unapproved
from execplan.cli.running.phrases import command, lasted
from execplan.cli.table import table
from execplan.errors import NO, OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.runs import RunSummary


def listed(found: Sequence[RunSummary], broken: Sequence[str], name: str | None, state: str | None) -> Answer:
    """The runs of a plan, or of all, and why others can't be read; the plan as it can be typed."""
    exit_, warnings = NO if broken else OK, tuple(broken)
    see = ("execplan audit --verify",) if broken else ()
    kept = [each for each in found if state in (None, each.state)]
    data = {"runs": [_json(each) for each in kept]}
    if not kept:
        text = f"no run is {state}" if found else "no run can be read" if broken else "no run yet"
        follow = see if found or broken else (f"execplan run {name}" if name else "execplan run",)
        return Answer(data, text, exit_, warnings=warnings, next=follow)
    head = ("state", "run", "plan", "begun", "time", "done", "what")
    spare = ("begun", "time", "done", "plan")
    text = table(head, [_row(each) for each in kept], spare)
    return Answer(data, text, exit_, warnings=warnings, next=_follow(kept) + see)


def _json(summary: RunSummary) -> dict[str, Any]:
    question = summary.question
    return {
        **summary._asdict(),
        "started": summary.started or None,
        "question": question._asdict() if question is not None else None,
        "rolled_back": list(summary.rolled_back),
    }


def _row(summary: RunSummary) -> tuple[str, ...]:
    time = lasted(summary.seconds) if summary.seconds is not None else "-"
    done = f"{summary.done}/{summary.total}"
    return summary.state, summary.id, summary.plan, summary.started or "-", time, done, _what(summary)


def _what(summary: RunSummary) -> str:
    """How it stands, in words."""
    if summary.rolling:
        return "a rollback was cut short"
    if summary.question is not None:
        return f"waits: {summary.question.words}"
    if summary.cut_short:
        return "cut short"
    words = summary.status.replace("_", " ") + (", by an agent" if summary.agent else "")
    part = summary.rolled_back and summary.status != "rolled_back"
    return f"{words}, {', '.join(summary.rolled_back)} rolled back" if part else words


def _follow(kept: Sequence[RunSummary]) -> tuple[str, ...]:
    """The command that continues the first run that waits or was interrupted, else the one that shows the first run."""
    for each in kept:
        if is_unapproved(each.status, each.question):
            return (f"execplan evaluate {typed(each.plan)}",)  # until the revision is approved a resume is refused
        verb = "rollback" if each.rolling else "resume" if each.question or each.cut_short else ""
        if verb:
            return (command(verb, each.id, typed(each.plan)),)
    return (f"execplan show {typed(kept[0].plan)} --run {kept[0].id}",)
