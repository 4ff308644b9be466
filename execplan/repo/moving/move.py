"""Moving a plan with its artifacts, and letting every plan that names them follow: archive, restore and rename."""

from __future__ import annotations

import os

from execplan.errors import BUSY, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import claims, shelf, state
from execplan.repo.amend import Options, diff, rewrite, stop_gone
from execplan.repo.commit import commit_paths
from execplan.repo.edits.entries import MOVE
from execplan.repo.edits.journal import Operation, Recording, new_id
from execplan.repo.moving import documents, intent
from execplan.repo.moving.details import Details, pack
from execplan.repo.moving.evidence import FILE
from execplan.repo.moving.following import Cause, Followed, both, bystanders, let_follow
from execplan.repo.moving.references import carry, follow
from execplan.repo.moving.steps import carry_out, read_evidence, reverse
from execplan.repo.moving.transfer import taken
from execplan.text.lines import digest
from execplan.text.lock import holder, is_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.change import Change, Changer
    from execplan.repo.amend import Written
    from execplan.repo.edits.entries import Journaled
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.moving.documents import Agrees, Mention
    from execplan.repo.moving.following import Renewed
    from execplan.repo.moving.intent import Intent
    from execplan.repo.shelf import Ref

    Evidence = Callable[[bytes], bytes]
    Renew = Callable[[Ref, Sequence[tuple[str, str]]], Renewed]


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
    """Other plans in which paths were rewritten, and files of its own that name it."""
    said: tuple[str, ...]
    evidence: str | None
    """Where the evidence is, when there is any."""
    commit: str | None
    warnings: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    """Documents outside the plans in which paths were rewritten."""
    mentions: tuple[Mention, ...] = ()
    """Files outside the plans that name the old paths."""


class Reversal(NamedTuple):
    """The operation that a move reverses."""

    latest: Journaled
    """What last did it, or undid it."""
    operation: str
    """The operation that is undone or redone."""
    files: tuple[tuple[str, str], ...] = ()
    """Other files that go along: from and to."""


def move(
    home: Home,
    ref: Ref,
    goal: Goal,
    changer: Changer,
    options: Options,
    *,
    verb: str,
    evidence: Evidence | None = None,
    renew: Renew | None = None,
    origin: str = "",
    agrees: Agrees | None = None,
    reversal: Reversal | None = None,
) -> Moved:
    """Change a plan and move it with its artifacts, all or nothing, then let the other plans follow.

    `renew` makes again what names the plan by its id among the moved artifacts.
    With `evidence`, what it makes of the plan's new bytes is put beside the artifacts; without, old evidence is removed.
    `origin`: the path from which somebody has moved the file by hand, without its artifacts. `agrees`: whether documents
    outside the plans that name the old paths are rewritten; None for no. With `reversal`, the changer brings the plan's own
    paths back by itself. Raises ExecplanError.
    """
    _require_committable(home, goal, options)
    files = reversal.files if reversal is not None else ()
    moves = [*files, *_moves(home, ref, goal, origin)]
    ids = (home.place(origin)[1] if origin else ref.id, goal.id)
    folders = (os.path.dirname(origin or ref.path), os.path.dirname(goal.path))
    by_hand = [(origin, goal.path)] if origin else []
    named = [*moves, *by_hand]
    if reversal is None:
        changer = both(both(changer, carry(named, *folders)), follow(home, named, ids, *folders))
    reverses = reversal.latest.id if reversal is not None else ""
    found = documents.mentions(home, named)
    if options.dry_run:
        written = rewrite(home, ref, changer, options, verb=verb)
        followed = let_follow(home, ref, named, ids, options, verb, Cause(ref.path, "", reverses))
        shown = [(home.shown(each.path), told) for each, told in ((ref, written), *followed.written)]
        diffs = [diff(told.old, told.new, path) for path, told in shown if told.new != told.old]
        would = _moved(home, goal, moves, written, followed, "\n".join(diffs), None, kept=evidence is not None)
        return would._replace(mentions=tuple(found))
    wanted = bool(found) and agrees is not None and agrees(found)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    stop_running(home, ref)
    with state.lock(home, "home", f"{verb} of {ref.id}"), state.lock(home, ref.real, verb):
        stop_gone(home, ref)
        moves = [*files, *_moves(home, ref, goal, origin)]
        beginning = _Beginning(home, ref, goal, verb, ids, moves, evidence, reversal)
        try:
            written = rewrite(home, ref, changer, options, verb=verb, begin=beginning.begin)
            carry_out(home, beginning.intent)
        except BaseException:
            beginning.take_back()
            raise
        this = beginning.intent
        try:
            cause = Cause(goal.path, this.operation, reverses)
            followed = let_follow(home, ref, [*moves, *by_hand], ids, Options(), verb, cause)
            stays = None if shelf.by_file(home, goal.path).archived else goal.path
            followed = followed.also(claims.followed(home, ref.path, stays))
            intent.drop(home)
        except ExecplanError as error:
            followed = Followed((), (f"the next command goes on with the plans that name it: {error.message}",))
        if renew is not None and (moves or written.new != written.old):
            followed = followed.and_renewed(renew(shelf.Ref(goal.id, goal.path, False), moves))
        commits, commit = options.commits(home), None
        outside = documents.rewrite(home, found, commits=commits) if wanted else documents.Rewritten((), {}, ())
        followed = followed.also(outside.warnings)
        if commits:
            others = {each.path: told.old for each, told in followed.written}
            before = {ref.path: written.old, **others, **outside.before}
            pairs = [path for pair in (*moves, *by_hand) for path in pair]
            paths = [goal.path, goal.artifacts, *pairs, *others, *outside.before]
            paths = [path for path in paths if not path.startswith(f"{home.state}/")]
            summary, title = written.change.summary, written.change.expected.title
            commit = commit_paths(home, goal.id, paths, verb, summary, before, title)
        moved = _moved(home, goal, moves, written, followed, "", commit, kept=evidence is not None)
        left = tuple([each for each in found if each.path not in outside.paths])
        return moved._replace(rewritten=outside.paths, mentions=left)


def _require_committable(home: Home, goal: Goal, options: Options) -> None:
    """Stop before a plan is moved to where git ignores it, if the move is to be committed; raises ExecplanError."""
    if options.commits(home):
        from execplan.repo.ignored import require_visible

        require_visible(home, goal.path)


class _Beginning:
    """Journals a move and writes its intent; again, if the plan has changed since."""

    def __init__(
        self,
        home: Home,
        ref: Ref,
        goal: Goal,
        verb: str,
        ids: tuple[str, str],
        moves: Sequence[tuple[str, str]],
        evidence: Evidence | None,
        reversal: Reversal | None,
    ) -> None:
        self.home = home
        self.ref = ref
        self.goal = goal
        self.verb = verb
        self.ids = ids
        self.moves = moves
        self.evidence = evidence
        self.reversal = reversal
        self.artifacts = home.artifacts_of(ref.path, archived=ref.archived)
        self._begun: Intent | None = None
        self._recording: Recording | None = None

    @property
    def intent(self) -> Intent:
        """The move that has begun."""
        assert self._begun is not None
        return self._begun

    def begin(self, old: bytes, new: bytes, change: Change) -> None:
        """Begin; raises ExecplanError."""
        if self._begun is not None:
            intent.drop(self.home)
            self._begun = None
        self._cancel()
        was = read_evidence(self.artifacts) or read_evidence(self.goal.artifacts)
        texts = old, new, self.evidence(new) if self.evidence is not None else None, was
        places = self.ref.path, self.goal.path, self.goal.artifacts
        reverses = self.reversal.latest.id if self.reversal is not None else ""
        begun = intent.begun(self.verb, self.ids, places, list(self.moves), texts, new_id(), reverses)
        if self.moves or new != old:
            self._journal(begun, change)
        else:
            begun = begun._replace(operation="")
        intent.write(self.home, begun)
        self._begun = begun

    def _journal(self, begun: Intent, change: Change) -> None:
        files, undoes = (self.reversal.files, self.reversal.operation) if self.reversal is not None else ((), "")
        artifacts = (self.artifacts, begun.artifacts)
        named = bystanders(self.home, self.ref, self.moves)
        about = Details(
            begun.ids, begun.path, begun.goal, artifacts, files, begun.made, begun.evidence, begun.was, named
        )
        operation = Operation(begun.operation, MOVE, undoes, pack(self.home, about))
        recording = Recording(self.home, begun.path, self.verb, change.summary, begun.old, begun.new, operation)
        recording.__enter__()
        self._recording = recording

    def _cancel(self) -> None:
        if self._recording is not None:
            self._recording.cancel()
        self._recording = None

    def take_back(self) -> None:
        """Take back all that was done, if it has begun; raises ExecplanError."""
        if self._begun is not None:
            reverse(self.home, self._begun)
        self._cancel()


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


def _moves(home: Home, ref: Ref, goal: Goal, origin: str = "") -> list[tuple[str, str]]:
    """The renames, the plan last; raises ExecplanError when something is there already."""
    old = home.artifacts_of(ref.path, archived=ref.archived)
    if origin and not os.path.isdir(old):
        old = home.artifacts_of(origin, archived=False)
    moves = [(old, goal.artifacts)] if os.path.isdir(old) else []
    if not (moves and ref.path.startswith(old + "/") and goal.path == goal.artifacts + ref.path[len(old) :]):
        moves.append((ref.path, goal.path))  # else it lies among its artifacts and goes with them
    moves = [(source, target) for source, target in moves if source != target]
    for source, target in moves:
        if os.path.lexists(target) and not os.path.samefile(source, target):
            raise taken(home.shown(target))
    return moves


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
        tuple([home.shown(path) for path in (*[each.path for each, _ in followed.written], *followed.pages)]),
        written.change.said,
        home.shown(os.path.join(goal.artifacts, FILE)) if kept else None,
        made.digest if made else None,
        written.warnings + followed.warnings + (made.warnings if made else ()),
    )
