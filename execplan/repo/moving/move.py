"""Moving a plan with its artifacts, and letting every plan that names them follow: archive, restore and rename."""

from __future__ import annotations

import os

from execplan.errors import BUSY, ExecplanError
from execplan.plan import reader
from execplan.plan.whole import rebased
from execplan.record import NamedTuple
from execplan.repo import claims, shelf, state
from execplan.repo.amend import Options, diff, rewrite, stop_gone
from execplan.repo.commit import commit_paths
from execplan.repo.moving import intent
from execplan.repo.moving.evidence import FILE
from execplan.repo.moving.references import carry, follow, naming
from execplan.repo.moving.steps import carry_out, read_evidence, reverse
from execplan.repo.moving.transfer import taken
from execplan.text.edit import apply
from execplan.text.lines import digest
from execplan.text.lock import holder, is_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.change import Change, Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Written
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.moving.intent import Intent
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


class Followed(NamedTuple):
    """Other plans that name what has moved."""

    written: tuple[tuple[Ref, Written], ...]
    warnings: tuple[str, ...]

    def also(self, warnings: tuple[str, ...]) -> Followed:
        """The same with more to warn of."""
        return self._replace(warnings=self.warnings + warnings)


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
        followed = let_follow(home, ref, moves, ids, options, verb)
        shown = [(home.shown(each.path), told) for each, told in ((ref, written), *followed.written)]
        diffs = [diff(told.old, told.new, path) for path, told in shown if told.new != told.old]
        return _moved(home, goal, moves, written, followed, "\n".join(diffs), None, kept=evidence is not None)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    stop_running(home, ref)
    with state.lock(home, "home", f"{verb} of {ref.id}"), state.lock(home, ref.real, verb):
        stop_gone(home, ref)
        moves = _moves(home, ref, goal)
        artifacts = home.artifacts_of(ref.path, archived=ref.archived)
        begun: list[Intent] = []

        def begin(old: bytes, new: bytes) -> None:
            """Write down what is to come; anew, if the plan has changed since."""
            was = read_evidence(artifacts) or read_evidence(goal.artifacts)
            texts = old, new, evidence(new) if evidence is not None else None, was
            if begun:
                intent.drop(home)
            begun[:] = [intent.begun(verb, ids, (ref.path, goal.path, goal.artifacts), moves, texts)]
            intent.write(home, begun[0])

        try:
            written = rewrite(home, ref, changer, options, verb=verb, begin=begin)
            carry_out(home, begun[0])
        except BaseException:
            if begun:
                reverse(home, begun[0])
            raise
        try:
            followed = let_follow(home, ref, moves, ids, Options(), verb)
            followed = followed.also(claims.followed(home, ref.path, None if verb == "archive" else goal.path))
            intent.drop(home)
        except ExecplanError as error:
            followed = Followed((), (f"the next command goes on with the plans that name it: {error.message}",))
        made = None
        if options.commits(home):
            before = {ref.path: written.old} | {each.path: told.old for each, told in followed.written}
            paths = [goal.path, goal.artifacts, *[path for pair in moves for path in pair]] + [
                each.path for each, _ in followed.written
            ]
            summary, title = written.change.summary, written.change.expected.title
            made = commit_paths(home, goal.id, paths, verb, summary, before, title)
        return _moved(home, goal, moves, written, followed, "", made, kept=evidence is not None)


def stop_running(home: Home, ref: Ref) -> None:
    """Refuse to take away a plan whose run is at work, and writes among its artifacts; raises ExecplanError."""
    path = state.lock_path(home, "run")
    if not is_held(path):
        return
    said = holder(path)
    if not said or any([f" of {ref.id}{end}" in said for end in (" ", ",")]):
        raise ExecplanError(
            "run-busy",
            f"a run of {ref.id} is at work: {said or 'unknown'}",
            exit=BUSY,
            hint="wait until it has ended, or interrupt it; one that has died holds nothing",
        )


def _moves(home: Home, ref: Ref, goal: Goal) -> list[tuple[str, str]]:
    """The renames, the plan last; raises ExecplanError when something is there already."""
    old = home.artifacts_of(ref.path, archived=ref.archived)
    moves = [(old, goal.artifacts)] if os.path.isdir(old) else []
    if not (moves and ref.path.startswith(old + "/") and goal.path == goal.artifacts + ref.path[len(old) :]):
        moves.append((ref.path, goal.path))  # else it lies among its artifacts and goes with them
    moves = [(source, target) for source, target in moves if source != target]
    for source, target in moves:
        if os.path.lexists(target) and not os.path.samefile(source, target):
            raise taken(home.shown(target))
    return moves


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


def let_follow(
    home: Home, ref: Ref, moves: Sequence[tuple[str, str]], ids: tuple[str, str], options: Options, verb: str
) -> Followed:
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
                with state.lock(home, other.real, f"{verb} of {ref.id}"):
                    told = rewrite(home, other, changer, options, verb=verb)
        except ExecplanError as error:
            warnings.append(f"{home.shown(other.path)} may still name the old path: {error.message}")
            continue
        if other.archived and told.new != told.old:
            warnings.append(f"{home.shown(other.path)} is archived, so it still names the old path")
        elif told.new != told.old:
            written.append((other, told))
    return Followed(tuple(written), tuple(warnings))


def _moved(
    home: Home,
    goal: Goal,
    moves: Sequence[tuple[str, str]],
    written: Written,
    followed: Followed,
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
