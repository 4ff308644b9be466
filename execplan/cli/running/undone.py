"""What a rollback has done, or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import printable_line
from execplan.cli.running.phrases import format_run_command, pluralize, truncate_lines

if TYPE_CHECKING:
    from execplan.engine.watch import RollbackResult


def rollback_answer(rolled_back: RollbackResult, name: str, *, dry_run: bool) -> Answer:
    """The answer of `rollback`; the plan as it can be typed."""
    if dry_run:
        next_commands: tuple[str, ...] = (format_run_command("rollback", rolled_back.run, name),)
        text = "\n".join(rollback_preview_lines(rolled_back))
    else:
        next_commands = (f"execplan show {name} --run {rolled_back.run}", f"execplan evaluate {name}")
        text = "\n".join(rollback_lines(rolled_back) + ([f"committed {rolled_back.commit[:12]}"] if rolled_back.commit else []))
    return Answer({**rollback_json(rolled_back), "changed": not dry_run}, text, warnings=rolled_back.warnings, next_commands=next_commands)


def rollback_json(rolled_back: RollbackResult) -> dict[str, Any]:
    """What was taken back, what is kept of what was there, and what could not be taken back."""
    names = ("steps", "restored", "removed", "reopened", "kept", "left")
    list_fields = {name: list(getattr(rolled_back, name)) for name in names}
    return {"run": rolled_back.run, **list_fields, "whole": rolled_back.whole, "commit": rolled_back.commit}


def rollback_preview_lines(rolled_back: RollbackResult) -> list[str]:
    """What a rollback is about to do."""
    lines = [f"would roll back {_steps_text(rolled_back)} of {rolled_back.run}"]
    lines += [f"  restore {path}" for path in rolled_back.restored]
    lines += [f"  remove {path}" for path in rolled_back.removed]
    lines += [f"  reopen {task!r}" for task in rolled_back.reopened]
    lines += [f"  keep what is there: {path}" for path in rolled_back.kept]
    lines += [f"  can't be taken back: {failure}" for failure in rolled_back.left]
    return [printable_line(line) for line in lines]


def rollback_lines(rolled_back: RollbackResult) -> list[str]:
    """What a rollback has done."""
    counts = [
        f"{len(rolled_back.restored)} restored" if rolled_back.restored else "",
        f"{len(rolled_back.removed)} removed" if rolled_back.removed else "",
        f"{pluralize(len(rolled_back.reopened), 'task')} reopened" if rolled_back.reopened else "",
    ]
    summary = ", ".join([count_text for count_text in counts if count_text]) or "nothing had to be restored"
    lines = [f"rolled back {_steps_text(rolled_back)} of {rolled_back.run}: {summary}"]
    lines += truncate_lines([f"  kept what was there: {path}" for path in rolled_back.kept])
    lines += [f"  could not be taken back: {failure}" for failure in rolled_back.left]
    return [printable_line(line) for line in lines]


def _steps_text(rolled_back: RollbackResult) -> str:
    return f"{pluralize(len(rolled_back.steps), 'step')} ({', '.join(rolled_back.steps)})" if rolled_back.steps else "no step"
