"""Other plans that name a plan which moves: the paths in them follow, and go back when the move is undone."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.plan.whole import rebased
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.amend import Options, rewrite
from execplan.repo.edits import journal, moved
from execplan.repo.edits.entries import FOLLOW
from execplan.repo.edits.journal import Operation
from execplan.repo.moving import details
from execplan.repo.moving.references import follow, naming
from execplan.text.edit import apply
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.plan.change import Change, Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Written
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Renewed(NamedTuple):
    """Files among the artifacts that were made again because the plan has another id."""

    paths: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Followed(NamedTuple):
    """Other plans that name what has moved."""

    written: tuple[tuple[Ref, Written], ...]
    warnings: tuple[str, ...]
    pages: tuple[str, ...] = ()
    """Files among the artifacts that were made again."""

    def and_renewed(self, renewed: Renewed) -> Followed:
        """The same with files among the artifacts."""
        return self._replace(pages=renewed.paths, warnings=self.warnings + renewed.warnings)

    def also(self, warnings: tuple[str, ...]) -> Followed:
        """The same with more to warn of."""
        return self._replace(warnings=self.warnings + warnings)


class Cause(NamedTuple):
    """The move that plans follow, as the journal knows it."""

    path: str = ""
    """Where the journal of the plan that moves is now; empty where it was begun by an older version."""
    operation: str = ""
    reverses: str = ""
    """The operation that this one reverses: what followed that one is put back as it was."""


def let_follow(
    home: Home,
    ref: Ref,
    moves: Sequence[tuple[str, str]],
    ids: tuple[str, str],
    options: Options,
    verb: str,
    cause: Cause = Cause(),  # noqa: B008
) -> Followed:
    """Rewrite the paths in the other plans; archived ones are not changed, and one that can't be is reported."""
    written: list[tuple[Ref, Written]] = []
    warnings = []
    followed, bystanders = _before(home, cause)
    for other in _others(home, ref, moves, followed):
        folder = os.path.dirname(other.path)
        changer = follow(home, moves, ids, folder, folder)
        if other.path in followed:
            changer = _back(*followed[other.path], changer)
        elif other.path in bystanders and bystanders[other.path] == digest(shelf.load(home, other).data):
            continue
        try:
            if other.archived or options.dry_run:
                told = rewrite(home, other, changer, Options(dry_run=True), verb=verb)
            else:
                told = _rewritten(home, ref, other, changer, options, verb, cause)
        except ExecplanError as error:
            warnings.append(f"{home.shown(other.path)} may still name the old path: {error.message}")
            continue
        if other.archived and told.new != told.old:
            warnings.append(f"{home.shown(other.path)} is archived, so it still names the old path")
        elif told.new != told.old:
            written.append((other, told))
    return Followed(tuple(written), tuple(warnings))


def bystanders(home: Home, ref: Ref, moves: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The other plans that name the new places of a move already, each with its digest."""
    names = {os.fsencode(os.path.basename(new).removesuffix(".md")) for _, new in moves}
    found = {}
    for other in shelf.every(home) if names else ():
        try:
            data = shelf.open_bytes(home, other.path)
        except ExecplanError:
            continue
        if any([name in data for name in names]) and other.real != ref.real:
            found[other.path] = digest(data)
    return found


def both(first: Changer, second: Changer) -> Changer:
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


def _rewritten(
    home: Home, ref: Ref, other: Ref, changer: Changer, options: Options, verb: str, cause: Cause
) -> Written:
    if cause.operation:
        moved.add_follower(home, cause.path, cause.operation, other.path)
    operation = Operation(cause.operation, FOLLOW)
    with state.lock(home, other.real, f"{verb} of {ref.id}"):
        return rewrite(home, other, changer, options, verb=verb, operation=lambda: operation)


def _before(home: Home, cause: Cause) -> tuple[dict[str, tuple[bytes, bytes]], Mapping[str, str]]:
    """The texts before and after of what followed the reversed move, by path, and who named its places before it."""
    if not cause.reverses:
        return {}, {}
    found = {}
    for path in moved.followers(home, cause.path, cause.reverses):
        for entry in journal.edits(home, path):
            if entry.id == cause.reverses and entry.made:
                try:
                    found[path] = entry.unpack()
                except ValueError:  # then its paths are rewritten as those of any other plan
                    continue
    reversed_move = next((each for each in journal.edits(home, cause.path) if each.id == cause.reverses), None)
    try:
        return found, details.unpack(home, reversed_move).bystanders if reversed_move is not None else {}
    except ValueError:
        return found, {}


def _others(
    home: Home, ref: Ref, moves: Sequence[tuple[str, str]], followed: Mapping[str, tuple[bytes, bytes]]
) -> list[Ref]:
    own = [new for _, new in moves]  # the plan itself, where it was moved already
    found = [
        other
        for other in naming(home, ref, moves)
        if not any([other.path == new or other.path.startswith(f"{new}/") for new in own])
    ]
    there = {other.path for other in found}
    more = [path for path in followed if path not in there and os.path.lexists(path)]
    return found + [shelf.by_file(home, path) for path in more]


def _back(old: bytes, new: bytes, follow: Changer) -> Changer:
    """The change that puts back a text that followed a move; where it has changed since, the other lines stay."""

    def back(plan: Plan) -> Change:
        return rebased(plan, new, old, "paths", "", "")._replace(said=())

    def change(plan: Plan) -> Change:
        if plan.text.to_bytes() == new:
            return back(plan)
        try:
            return both(back, follow)(plan)
        except ExecplanError:
            return follow(plan)

    return change
