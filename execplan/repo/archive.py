"""Filing a finished plan away, with its artifacts."""

from __future__ import annotations

import os
from functools import partial

from execplan.clock import now
from execplan.errors import INPUT, NO, ExecplanError
from execplan.lint.runner import ERROR, lint_plan
from execplan.plan import outline, reader
from execplan.plan.change import Change, facts
from execplan.plan.logs import revise
from execplan.plan.model import FORCED, OPEN
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import Options, diff, rewrite
from execplan.repo.commit import commit_paths
from execplan.repo.home import existing
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Written
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Archived(NamedTuple):
    """What became of a plan that was to be archived."""

    path: str
    changed: bool
    digest: str
    """Of the plan as it is now; in a dry run, as it would be."""
    diff: str
    moves: tuple[tuple[str, str], ...]
    """From and to of each path, from the root of the repository."""
    commit: str | None
    warnings: tuple[str, ...]


def archive(home: Home, ref: Ref, options: Options, *, reason: str | None = None) -> Archived:
    """Move a finished plan and its artifacts into the archive; a reason, in clean words, forces it.

    Raises ExecplanError.
    """
    existing(home)
    if ref.archived:
        data = shelf.open_bytes(home, ref.path)
        return Archived(home.shown(ref.path), False, digest(data), "", (), None, ())
    finished = _finished(ref, reason)
    target = home.file(home.archive, ref.id)
    if options.dry_run:
        written = rewrite(home, ref, finished, options)
        shown = diff(written.old, written.new, home.shown(ref.path)) if written.new != written.old else ""
        return _archived(home, target, _moves(home, ref, target), written, reason, shown, None)
    with state.lock(home, "home", f"archive of {ref.id}"), state.lock(home, os.path.realpath(ref.path), "archive"):
        moves = _moves(home, ref, target)
        written = rewrite(home, ref, finished, options)
        _move(moves)
        made = None
        if options.commits(home):
            paths = [path for pair in moves for path in pair]
            before = {ref.path: written.old}
            made = commit_paths(home, ref.id, paths, "archive", "archive", before, written.change.expected.title)
    return _archived(home, target, moves, written, reason, "", made)


def _finished(ref: Ref, reason: str | None) -> Changer:
    """The change that an archive makes: none to a finished plan; to another a note that says why, or a refusal."""

    def change(plan: Plan) -> Change:
        reasons = why_not(plan)
        if not reasons:
            return Change((), facts(plan), "archive", ())
        if reason is not None:
            return revise(f"{FORCED}: {reason}", now())(plan)
        from shlex import quote

        raise ExecplanError(
            "not-finished",
            f"{ref.id} is not finished",
            exit=NO,
            hint=f"finish it, or archive it as it is: execplan archive {quote(ref.id)} --force --reason 'Why'",
            candidates=reasons,
            data={"reasons": reasons},
        )

    return change


def _archived(
    home: Home,
    target: str,
    moves: list[tuple[str, str]],
    written: Written,
    reason: str | None,
    shown: str,
    made: Committed | None,
) -> Archived:
    pairs = tuple([(home.shown(old), home.shown(new)) for old, new in moves])
    warnings = written.warnings + (made.warnings if made else ())
    if reason is not None and not written.change.edits and not reader.read(written.new).forced:
        warnings += ("nothing had to be forced: the reason was not written",)
    commit = made.digest if made else None
    return Archived(home.shown(target), True, digest(written.new), shown, pairs, commit, warnings)


def why_not(plan: Plan) -> list[str]:
    """Every reason for which a plan is not finished."""
    reasons = [f"task {task.number} is open: {task.text}" for task in plan.tasks if task.state == OPEN]
    if not plan.outcomes:
        reasons.append(f"{outline.OUTCOMES} says nothing yet")
    errors = [each for each in lint_plan(plan) if each.level == ERROR and each.code not in ("EP501", "EP502")]
    return reasons + [f"{each.code} in line {each.line}: {each.message}" for each in errors]


def _moves(home: Home, ref: Ref, target: str) -> list[tuple[str, str]]:
    """The renames, artifacts first: a plan that is left behind by a crash is still where the next try looks for it."""
    moves = []
    old, new = home.artifacts_of(ref.path, archived=False), home.artifacts_of(target, archived=True)
    if os.path.isdir(old):
        if os.path.lexists(new):
            raise _taken(home.shown(new))
        moves.append((old, new))
        if os.path.dirname(ref.path) == old:
            return moves
    if os.path.lexists(target):
        raise _taken(home.shown(target))
    return [*moves, (ref.path, target)]


def _move(moves: list[tuple[str, str]]) -> None:
    """All of the renames, or none; a link is made anew, because what it says counts from its folder."""
    undo: list[Callable[[], None]] = []
    for old, new in moves:
        try:
            disk.make_folder(os.path.dirname(new))
            if os.path.islink(old):
                said = os.readlink(old)
                os.symlink(os.path.relpath(os.path.realpath(old), os.path.realpath(os.path.dirname(new))), new)
                undo.append(partial(os.unlink, new))
                os.unlink(old)
                undo.append(partial(os.symlink, said, old))
            else:
                os.rename(old, new)
                undo.append(partial(os.rename, new, old))
        except OSError as error:
            for step in reversed(undo):
                step()
            raise disk.trouble(error, old, "move") from None
    for folder in {os.path.dirname(path) for pair in moves for path in pair}:
        disk.sync_folder(folder)


def _taken(path: str) -> ExecplanError:
    return ExecplanError(
        "archive-taken", f"{path} is there already", exit=INPUT, hint="rename one of the two, then try again"
    )
