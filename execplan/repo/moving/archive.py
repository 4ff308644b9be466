"""Filing a plan away with its artifacts, and taking it back."""

from __future__ import annotations

from functools import partial

from execplan.clock import now
from execplan.errors import INPUT, NO, ExecplanError
from execplan.lint.runner import ERROR, lint_plan
from execplan.plan import outline, reader
from execplan.plan.change import Change, facts
from execplan.plan.logs import revise
from execplan.plan.model import FORCED, OPEN, RESTORED, SUPERSEDED
from execplan.repo import shelf
from execplan.repo.edits.since import check_match
from execplan.repo.homes import existing
from execplan.repo.moving.evidence import evidence
from execplan.repo.moving.move import Goal, Moved, move
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def archive(
    home: Home, ref: Ref, options: Options, *, reason: str | None = None, successor: Ref | None = None
) -> Moved:
    """Move a finished plan and its artifacts into the archive, with evidence of what it was; raises ExecplanError.

    A reason, in clean words, forces it; a successor is the plan that supersedes it, which need not be finished either.
    """
    existing(home)
    if ref.archived:
        return _there(home, ref, options)
    how, by, folder = "forced" if reason is not None else "completed", None, home.archive
    finished = _finished(ref, reason)
    if successor is not None:
        how, by, folder = "superseded", successor.id, home.superseded
        finished = _noted(f"{SUPERSEDED} {_named(home, ref, successor)}", f"archive, superseded by {successor.id}")
    path = home.file(folder, ref.id)
    goal = Goal(ref.id, path, home.artifacts_of(path, archived=True))
    write = partial(evidence, home, ref, goal.path, how, by)
    return move(home, ref, goal, finished, options, verb="archive", evidence=write)


def restore(home: Home, ref: Ref, options: Options, *, reason: str | None = None) -> Moved:
    """Move an archived plan and its artifacts back; one that was archived unfinished gets a note. Raises ExecplanError."""
    existing(home)
    if not ref.archived:
        return _there(home, ref, options)
    path = home.file(home.plans, ref.id)
    goal = Goal(ref.id, path, home.artifacts_of(path, archived=False))
    return move(home, ref, goal, _restored(reason), options, verb="restore")


def _there(home: Home, ref: Ref, options: Options) -> Moved:
    """A plan that is already where it shall be; raises ExecplanError."""
    check_match(home, ref, options.if_match)
    data = shelf.open_bytes(home, ref.path)
    return Moved(home.shown(ref.path), False, digest(data), "", (), (), (), None, None, ())


def _named(home: Home, ref: Ref, successor: Ref) -> str:
    """The plan that supersedes another, as a note names it; raises ExecplanError."""
    if successor.real == ref.real:
        raise ExecplanError(
            "own-successor", f"{ref.id} can't supersede itself", exit=INPUT, hint="name the plan that does with --by"
        )
    title = reader.read(shelf.open_bytes(home, successor.path)).title
    return f"{successor.id} ({title})" if title else successor.id


def _restored(reason: str | None) -> Changer:
    def change(plan: Plan) -> Change:
        if not plan.excused and reason is None:
            return Change((), facts(plan), "restore", ())
        return _noted(f"{RESTORED}: {reason}" if reason else RESTORED, "restore")(plan)

    return change


def _noted(words: str, summary: str) -> Changer:
    """A revision note, under the summary of the move that it goes with."""
    change = revise(words, now())
    return lambda plan: change(plan)._replace(summary=summary)


def _finished(ref: Ref, reason: str | None) -> Changer:
    """The change that an archive makes: none to a finished plan; to another a note that says why, or a refusal."""

    def change(plan: Plan) -> Change:
        reasons = why_not(plan)
        if not reasons:
            said = () if reason is None else ("nothing had to be forced: the reason was not written",)
            return Change((), facts(plan), "archive", said)
        if reason is not None:
            return _noted(f"{FORCED}: {reason}", f"archive, by force: {reason}")(plan)
        raise ExecplanError(
            "not-finished",
            f"{ref.id} is not finished",
            exit=NO,
            hint=f"finish it, or archive it as it is: execplan archive {ref.typed} --force --reason 'Why'",
            candidates=reasons,
            data={"reasons": reasons},
        )

    return change


def why_not(plan: Plan) -> list[str]:
    """Every reason for which a plan is not finished."""
    reasons = [f"task {task.number} is open: {task.text}" for task in plan.tasks if task.state == OPEN]
    if not plan.outcomes:
        reasons.append(f"{outline.OUTCOMES} says nothing yet")
    errors = [each for each in lint_plan(plan) if each.level == ERROR and each.code not in ("EP501", "EP502")]
    return reasons + [f"{each.code} in line {each.line}: {each.message}" for each in errors]
