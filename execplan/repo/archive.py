"""Filing a finished plan away, with its artifacts."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import INPUT, NO, About, ExecplanError
from execplan.lint.runner import ERROR, lint_plan
from execplan.plan import outline, reader
from execplan.plan.change import stop_conflicts
from execplan.plan.logs import revise
from execplan.plan.model import FORCED, OPEN
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import Options, amend, check_match, commit_paths, digest
from execplan.repo.home import existing
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
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
    with About(home.shown(ref.path)):
        data = shelf.open_bytes(home, ref.path)
        plan = reader.read(data)
        stop_conflicts(plan)
    check_match(home, ref, data, options)
    reasons = why_not(plan)
    if reasons and reason is None:
        raise ExecplanError(
            "not-finished",
            f"{ref.id} is not finished",
            exit=NO,
            hint="finish it, or archive it as it is: execplan archive --force --reason 'Why'",
            candidates=reasons,
            data={"reasons": reasons},
        )
    target = ref._replace(path=os.path.join(home.archive, os.path.basename(ref.path)), archived=True)
    moves = _moves(home, ref, target)
    warnings: tuple[str, ...] = ()
    shown, would_be = "", digest(data)
    forced = reason is not None and bool(reasons)
    if reason is not None and not reasons:
        warnings = ("nothing had to be forced: the reason was not written",)
    if forced and reason is not None:
        noted = amend(home, ref, revise(f"{FORCED}: {reason}", now()), options._replace(commit=False), verb="archive")
        shown, would_be, warnings = noted.diff, noted.digest, noted.warnings
    pairs = tuple([(home.shown(old), home.shown(new)) for old, new in moves])
    if options.dry_run:
        return Archived(home.shown(target.path), True, would_be, shown, pairs, None, warnings)
    with state.lock(home, "home", f"archive of {ref.id}"), state.lock(home, os.path.realpath(ref.path), "archive"):
        now_held = shelf.open_bytes(home, ref.path)
        if not forced and now_held != data:
            raise disk.changed_underneath(home.shown(ref.path))
        _move(_moves(home, ref, target))
    commit = None
    if options.commits(home):
        paths = [path for pair in moves for path in pair]
        before = {ref.path: data}
        made = commit_paths(home, ref.id, paths, "archive", "archive", before, plan.title)
        commit, warnings = made.digest, warnings + made.warnings
    return Archived(home.shown(target.path), True, digest(now_held), shown, pairs, commit, warnings)


def why_not(plan: Plan) -> list[str]:
    """Every reason for which a plan is not finished."""
    reasons = [f"task {task.number} is open: {task.text}" for task in plan.tasks if task.state == OPEN]
    if not plan.outcomes:
        reasons.append(f"{outline.OUTCOMES} says nothing yet")
    errors = [each for each in lint_plan(plan) if each.level == ERROR and each.code not in ("EP501", "EP502")]
    return reasons + [f"{each.code} in line {each.line}: {each.message}" for each in errors]


def _moves(home: Home, ref: Ref, target: Ref) -> list[tuple[str, str]]:
    """The renames, artifacts first: a plan that is left behind by a crash is still where the next try looks for it."""
    moves = []
    old, new = home.artifacts(ref.id), home.artifacts(ref.id, archived=True)
    if os.path.isdir(old):
        if os.path.lexists(new):
            raise _taken(home.shown(new))
        moves.append((old, new))
    if os.path.lexists(target.path):
        raise _taken(home.shown(target.path))
    return [*moves, (ref.path, target.path)]


def _move(moves: list[tuple[str, str]]) -> None:
    """All of the renames, or none."""
    done: list[tuple[str, str]] = []
    try:
        for old, new in moves:
            disk.make_folder(os.path.dirname(new))
            if os.path.islink(old):
                os.symlink(os.path.relpath(os.path.realpath(old), os.path.dirname(new)), new)
                os.unlink(old)
            else:
                os.rename(old, new)
            done.append((old, new))
    except OSError as error:
        for old, new in reversed(done):
            os.rename(new, old)
        raise disk.trouble(error, moves[len(done)][0], "move") from None
    for folder in {os.path.dirname(path) for pair in moves for path in pair}:
        disk.sync_folder(folder)


def _taken(path: str) -> ExecplanError:
    return ExecplanError(
        "archive-taken", f"{path} is there already", exit=INPUT, hint="rename one of the two, then try again"
    )
