"""Filing a plan away with its artifacts, and taking it back."""

from __future__ import annotations

import os
from functools import partial

from execplan.clock import now
from execplan.errors import INPUT, NO, ExecplanError
from execplan.lint.folded import fold
from execplan.lint.runner import ERROR, lint_plan
from execplan.plan import outline, reader
from execplan.plan.change import Change, facts
from execplan.plan.logs import revise
from execplan.plan.model import ABANDONED, FORCED, OPEN, RESTORED, SUPERSEDED
from execplan.repo import missing, shelf
from execplan.repo.edits.losses import look
from execplan.repo.edits.since import check_match
from execplan.repo.homes import existing
from execplan.repo.moving import documents
from execplan.repo.moving.evidence import evidence, recorded
from execplan.repo.moving.move import Goal, Moved, move
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.moving.documents import Agrees
    from execplan.repo.shelf import Ref


def archive(
    home: Home,
    ref: Ref,
    options: Options,
    *,
    reason: str | None = None,
    successor: Ref | None = None,
    abandoned: bool = False,
    origin: str = "",
    agrees: Agrees | None = None,
) -> Moved:
    """Move a finished plan and its artifacts into the archive, with evidence of what it was; raises ExecplanError.

    A reason, in clean words, forces it, or says why the plan is abandoned; a successor is the plan that supersedes it,
    which need not be finished either. `origin`: the path from which its file was moved by hand. `agrees`: whether documents
    that name it are rewritten.
    """
    existing(home)
    if ref.archived and not origin:
        return _there(home, ref, options, agrees)
    lost = [f"another program has overwritten an edit: {step.said}" for step in look(home, ref).lost]
    how, by, folder = "forced" if reason is not None else "completed", None, home.archive
    finished = _finished(ref, reason, lost)
    if successor is not None:
        how, by, folder = "superseded", successor.id, home.superseded
        finished = _noted(f"{SUPERSEDED} {_named(home, ref, successor)}", f"archive, superseded by {successor.id}")
    elif abandoned:
        how, folder = "abandoned", home.superseded
        finished = _noted(f"{ABANDONED}: {reason}", f"archive, abandoned: {reason}")
    path = ref.path if ref.archived else home.file(folder, ref.id)
    goal = Goal(ref.id, path, home.artifacts_of(path, archived=True))
    write = partial(evidence, home, ref, origin, goal.path, how, by)
    moved = move(home, ref, goal, finished, options, verb="archive", evidence=write, origin=origin, agrees=agrees)
    return moved._replace(warnings=(*[f"{each}; see: execplan doctor" for each in lost], *moved.warnings))


def moved_from(home: Home, ref: Ref) -> str:
    """The path from which somebody moved the file of a plan by hand, into the archive or under another name; else empty.

    Raises ExecplanError.
    """
    if ref.archived and recorded(home, ref.path):
        return ""
    found = missing.origin(home, ref)
    if found or not ref.archived:
        return found
    left_behind = os.path.isdir(home.artifacts(ref.id)) and not os.path.lexists(home.file(home.plans, ref.id))
    return home.file(home.plans, ref.id) if left_behind else ""


def reasons_against(home: Home, ref: Ref) -> list[str]:
    """Every reason for which a plan can't be archived as completed; raises ExecplanError for one that can't be read."""
    return why_not(reader.read(shelf.open_bytes(home, ref.path)))


def restore(
    home: Home, ref: Ref, options: Options, *, reason: str | None = None, agrees: Agrees | None = None
) -> Moved:
    """Move an archived plan and its artifacts back; one that was archived unfinished gets a note. Raises ExecplanError."""
    existing(home)
    if not ref.archived:
        return _there(home, ref, options)
    path = home.file(home.plans, ref.id)
    goal = Goal(ref.id, path, home.artifacts_of(path, archived=False))
    return move(home, ref, goal, _restored(reason), options, verb="restore", agrees=agrees)


def _there(home: Home, ref: Ref, options: Options, agrees: Agrees | None = None) -> Moved:
    """A plan that is already where it shall be; documents that name its old place may be left. Raises ExecplanError."""
    check_match(home, ref, options.if_match)
    data = shelf.open_bytes(home, ref.path)
    there = Moved(home.shown(ref.path), False, digest(data), "", (), (), (), None, None, ())
    if agrees is None or not ref.archived:
        return there
    old, artifacts = home.file(home.plans, ref.id), home.artifacts(ref.id)
    moves = [(artifacts, home.artifacts_of(ref.path, archived=True)), (old, ref.path)]
    found = documents.mentions(home, [pair for pair in moves if not os.path.lexists(pair[0])])
    if options.dry_run or not found or not agrees(found):
        return there._replace(mentions=tuple(found))
    done = documents.rewrite(home, found, commits=False)
    left = tuple([each for each in found if each.path not in done.paths])
    return there._replace(changed=bool(done.paths), rewritten=done.paths, mentions=left, warnings=done.warnings)


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


def _finished(ref: Ref, reason: str | None, lost: list[str]) -> Changer:
    """The change that an archive makes: none to a finished plan; to another a note that says why, or an error.

    A plan is not finished either while it lacks edits that another program has overwritten.
    """

    def change(plan: Plan) -> Change:
        reasons = why_not(plan)
        if lost and reason is None:
            raise ExecplanError(
                "not-finished",
                f"{ref.id} lacks {len(lost)} edit{'s' if len(lost) > 1 else ''} that another program has overwritten",
                exit=NO,
                hint="put them back: execplan doctor --fix; if they were taken out on purpose: "
                f"execplan doctor --forget {ref.typed}",
                candidates=[*reasons, *lost],
                data={"reasons": [*reasons, *lost]},
            )
        if not reasons:
            said = () if reason is None else ("nothing had to be forced: the reason was not written",)
            return Change((), facts(plan), "archive", said)
        if reason is not None:
            return _noted(f"{FORCED}: {reason}", f"archive, by force: {reason}")(plan)
        raise ExecplanError(
            "not-finished",
            f"{ref.id} is not finished",
            exit=NO,
            hint=f"finish it, or give it up: execplan archive {ref.typed} --as abandoned --reason 'Why'",
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
    return reasons + [f"{each.code} in line {each.line}: {each.message}" for each in fold(errors)]
