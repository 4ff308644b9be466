"""What a rollback has done, or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.running.phrases import command, counted, listed

if TYPE_CHECKING:
    from execplan.engine.watch import RollbackResult


def undone_answer(undone: RollbackResult, name: str, *, dry_run: bool) -> Answer:
    """The answer of `rollback`; the plan as it can be typed."""
    if dry_run:
        follow: tuple[str, ...] = (command("rollback", undone.run, name),)
        text = "\n".join(would_lines(undone))
    else:
        follow = (f"execplan show {name} --run {undone.run}", f"execplan evaluate {name}")
        text = "\n".join(undone_lines(undone) + ([f"committed {undone.commit[:12]}"] if undone.commit else []))
    return Answer({**undone_json(undone), "changed": not dry_run}, text, warnings=undone.warnings, next=follow)


def undone_json(undone: RollbackResult) -> dict[str, Any]:
    """What was taken back, what is kept of what was there, and what could not be taken back."""
    lists = ("steps", "restored", "removed", "reopened", "kept", "left")
    told = {name: list(getattr(undone, name)) for name in lists}
    return {"run": undone.run, **told, "whole": undone.whole, "commit": undone.commit}


def would_lines(undone: RollbackResult) -> list[str]:
    """What a rollback is about to do."""
    lines = [f"would roll back {_steps(undone)} of {undone.run}"]
    lines += [f"  restore {each}" for each in undone.restored]
    lines += [f"  remove {each}" for each in undone.removed]
    lines += [f"  reopen {each!r}" for each in undone.reopened]
    lines += [f"  keep what is there: {each}" for each in undone.kept]
    lines += [f"  can't be taken back: {each}" for each in undone.left]
    return [shown(each) for each in lines]


def undone_lines(undone: RollbackResult) -> list[str]:
    """What a rollback has done."""
    said = [
        f"{len(undone.restored)} restored" if undone.restored else "",
        f"{len(undone.removed)} removed" if undone.removed else "",
        f"{counted(len(undone.reopened), 'task')} reopened" if undone.reopened else "",
    ]
    what = ", ".join([each for each in said if each]) or "nothing had to be restored"
    lines = [f"rolled back {_steps(undone)} of {undone.run}: {what}"]
    lines += listed([f"  kept what was there: {each}" for each in undone.kept])
    lines += [f"  could not be taken back: {each}" for each in undone.left]
    return [shown(each) for each in lines]


def _steps(undone: RollbackResult) -> str:
    return f"{counted(len(undone.steps), 'step')} ({', '.join(undone.steps)})" if undone.steps else "no step"
