"""Moving a plan with its artifacts, and letting every plan that names them follow: archive, restore and rename."""

from __future__ import annotations

import os
from functools import partial

from execplan.errors import INPUT, ExecplanError
from execplan.plan import reader
from execplan.plan.whole import rebased
from execplan.record import NamedTuple
from execplan.repo import journal, shelf, state
from execplan.repo.amend import Options, diff, rewrite, stop_gone
from execplan.repo.commit import commit_paths
from execplan.repo.evidence import FILE, is_evidence
from execplan.repo.references import carry, follow, naming
from execplan.text import disk
from execplan.text.edit import apply
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.change import Change, Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Written
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

    Evidence = Callable[[bytes], bytes]


class Goal(NamedTuple):
    """Where a plan shall be."""

    id: str
    path: str
    artifacts: str


class Moved(NamedTuple):
    """What became of a plan that was to be moved; paths count from the root of the repository."""

    path: str
    changed: bool
    digest: str
    """Of the plan as it is now; in a dry run, as it would be."""
    diff: str
    """Of all plans, in a dry run only."""
    moves: tuple[tuple[str, str], ...]
    """From and to."""
    followed: tuple[str, ...]
    """Other plans in which paths were rewritten."""
    said: tuple[str, ...]
    evidence: str | None
    """Where the evidence is, when there is any."""
    commit: str | None
    warnings: tuple[str, ...]


class _Followed(NamedTuple):
    """Other plans that name what has moved."""

    written: tuple[tuple[Ref, Written], ...]
    warnings: tuple[str, ...]


def move(
    home: Home, ref: Ref, goal: Goal, changer: Changer, options: Options, *, verb: str, evidence: Evidence | None = None
) -> Moved:
    """Change a plan and move it with its artifacts, all or nothing, then let the other plans follow.

    With `evidence`, what it makes of the plan's new bytes is put beside the artifacts; without, old evidence is removed.
    Raises ExecplanError.
    """
    moves = _moves(home, ref, goal)
    ids = (ref.id, goal.id)
    folders = (os.path.dirname(ref.path), os.path.dirname(goal.path))
    changer = _both(_both(changer, carry(moves, *folders)), follow(home, moves, ids, *folders))
    if options.dry_run:
        written = rewrite(home, ref, changer, options, verb=verb)
        followed = _follow(home, ref, moves, ids, options, verb)
        shown = [(home.shown(each.path), told) for each, told in ((ref, written), *followed.written)]
        diffs = [diff(told.old, told.new, path) for path, told in shown if told.new != told.old]
        return _moved(home, goal, moves, written, followed, "\n".join(diffs), None, kept=evidence is not None)
    with state.lock(home, "home", f"{verb} of {ref.id}"), state.lock(home, os.path.realpath(ref.path), verb):
        stop_gone(home, ref)
        moves = _moves(home, ref, goal)
        written = rewrite(home, ref, changer, options, verb=verb)
        try:
            _move(moves, goal, evidence(written.new) if evidence is not None else None)
        except BaseException:
            if written.new != written.old:
                disk.replace(ref.path, written.new, written.old)
            raise
        journal.move(home, ref.path, goal.path, [old for old, _ in moves])
        followed = _follow(home, ref, moves, ids, Options(), verb)
        made = None
        if options.commits(home):
            before = {ref.path: written.old} | {each.path: told.old for each, told in followed.written}
            paths = [goal.path, goal.artifacts, *[path for pair in moves for path in pair]] + [
                each.path for each, _ in followed.written
            ]
            summary, title = written.change.summary, written.change.expected.title
            made = commit_paths(home, goal.id, paths, verb, summary, before, title)
        return _moved(home, goal, moves, written, followed, "", made, kept=evidence is not None)


def _moves(home: Home, ref: Ref, goal: Goal) -> list[tuple[str, str]]:
    """The renames, artifacts first: a plan that is left behind by a crash is still where the next try looks for it."""
    old = home.artifacts_of(ref.path, archived=ref.archived)
    moves = [(old, goal.artifacts)] if os.path.isdir(old) else []
    if not (moves and ref.path.startswith(old + "/") and goal.path == goal.artifacts + ref.path[len(old) :]):
        moves.append((ref.path, goal.path))  # else it lies among its artifacts and goes with them
    moves = [(source, target) for source, target in moves if source != target]
    for source, target in moves:
        if os.path.lexists(target) and not os.path.samefile(source, target):
            raise _taken(home.shown(target))
    return moves


def _taken(path: str) -> ExecplanError:
    hint = "rename one of the two, then try again"
    return ExecplanError("target-taken", f"{path} is there already", exit=INPUT, hint=hint)


def _both(first: Changer, second: Changer) -> Changer:
    """One change after the other."""

    def change(plan: Plan) -> Change:
        one = first(plan)
        then = reader.read_text(apply(plan.text, one.edits)) if one.edits else plan
        two = second(then)
        if not two.edits:
            return one
        old, new = plan.text.to_bytes(), apply(then.text, two.edits).to_bytes()
        return rebased(plan, old, new, one.summary, "", "")._replace(said=one.said)

    return change


def _move(moves: Sequence[tuple[str, str]], goal: Goal, evidence: bytes | None) -> None:
    """All of the renames with the evidence, or none; the plan comes last, so that a try that was killed can be repeated."""
    undo: list[Callable[[], object]] = []
    plan = [pair for pair in moves if pair[1] == goal.path]
    try:
        for pair in moves:
            if pair not in plan:
                _rename_to(*pair, goal, undo)
        _swap_evidence(goal, evidence, undo)
        for pair in plan:
            _rename_to(*pair, goal, undo)
    except BaseException:
        for step in reversed(undo):
            step()
        raise
    if evidence is None:
        disk.remove_empty(goal.artifacts)
    for folder in {os.path.dirname(path) for pair in moves for path in pair}:
        if os.path.isdir(folder):
            disk.sync_folder(folder)


def _swap_evidence(goal: Goal, evidence: bytes | None, undo: list[Callable[[], object]]) -> None:
    """Remove old evidence, and put new evidence beside the artifacts; raises ExecplanError."""
    path = os.path.join(goal.artifacts, FILE)
    if is_evidence(path):
        old, _ = disk.read(path, reader.MAX_BYTES)
        os.unlink(path)
        undo.append(partial(disk.create, path, old))
    if evidence is not None:
        _make_folder(goal.artifacts, undo)
        if not disk.create(path, evidence):
            raise _taken(path)
        undo.append(partial(os.unlink, path))


def _rename_to(old: str, new: str, goal: Goal, undo: list[Callable[[], object]]) -> None:
    """Rename a file or a folder; what lies in a folder that was renamed already is found in it."""
    _make_folder(os.path.dirname(new), undo)
    _rename(old if os.path.lexists(old) else os.path.join(goal.artifacts, os.path.basename(old)), new, undo)


def _rename(old: str, new: str, undo: list[Callable[[], object]]) -> None:
    """Rename a file or a folder; a link is made anew, because what it says counts from its folder."""
    try:
        if not os.path.islink(old):
            os.rename(old, new)
            undo.append(partial(os.rename, new, old))
            return
        said = os.readlink(old)
        os.symlink(os.path.relpath(os.path.realpath(old), os.path.realpath(os.path.dirname(new))), new)
        undo.append(partial(os.unlink, new))
        os.unlink(old)
        undo.append(partial(os.symlink, said, old))
    except OSError as error:
        raise disk.trouble(error, old, "move") from None


def _make_folder(path: str, undo: list[Callable[[], object]]) -> None:
    if disk.make_folder(path):
        undo.append(partial(disk.remove_empty, path))


def _follow(
    home: Home, ref: Ref, moves: Sequence[tuple[str, str]], ids: tuple[str, str], options: Options, verb: str
) -> _Followed:
    """Rewrite the paths in the other plans; archived ones are records and stay, and one that refuses is told."""
    written: list[tuple[Ref, Written]] = []
    warnings = []
    for other in naming(home, ref, moves):
        folder = os.path.dirname(other.path)
        changer = follow(home, moves, ids, folder, folder)
        try:
            if other.archived or options.dry_run:
                told = rewrite(home, other, changer, Options(dry_run=True), verb=verb)
            else:
                with state.lock(home, os.path.realpath(other.path), f"{verb} of {ref.id}"):
                    told = rewrite(home, other, changer, options, verb=verb)
        except ExecplanError as error:
            warnings.append(f"{home.shown(other.path)} may still name the old path: {error.message}")
            continue
        if other.archived and told.new != told.old:
            warnings.append(f"{home.shown(other.path)} is archived, so it still names the old path")
        elif told.new != told.old:
            written.append((other, told))
    return _Followed(tuple(written), tuple(warnings))


def _moved(
    home: Home,
    goal: Goal,
    moves: Sequence[tuple[str, str]],
    written: Written,
    followed: _Followed,
    shown: str,
    made: Committed | None,
    *,
    kept: bool,
) -> Moved:
    return Moved(
        home.shown(goal.path),
        bool(moves) or written.new != written.old,
        digest(shelf.open_bytes(home, goal.path) if made and made.rewritten else written.new),
        shown,
        tuple([(home.shown(old), home.shown(new)) for old, new in moves]),
        tuple([home.shown(each.path) for each, _ in followed.written]),
        written.change.said,
        home.shown(os.path.join(goal.artifacts, FILE)) if kept else None,
        made.digest if made else None,
        written.warnings + followed.warnings + (made.warnings if made else ()),
    )
