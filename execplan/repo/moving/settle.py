"""A move that was cut short is finished by the next command, or taken back where it can't be."""

from __future__ import annotations

import os

from execplan import trace
from execplan.errors import ExecplanError
from execplan.repo import claims, homes, state
from execplan.repo.amend import Options, tidy
from execplan.repo.edits.recovered import Recovery
from execplan.repo.moving import intent as intents
from execplan.repo.moving.evidence import FILE
from execplan.repo.moving.following import Cause, let_follow
from execplan.repo.moving.steps import carry_out, is_begun, reverse
from execplan.repo.shelf import Ref, by_file, every
from execplan.text import files
from execplan.text.lock import is_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.moving.intent import Intent


def half_done(home: Home) -> Intent | None:
    """The move that was cut short, None while whoever began it is still at it; raises ExecplanError."""
    intent = intents.pending(home)
    if intent is None or is_held(state.lock_path(home, "home")):
        return None
    return intents.pending(home)


def settle(home: Home) -> list[str]:
    """Finish a move that was cut short, or take it back; what was done, in words. Raises ExecplanError when it can't."""
    if half_done(home) is None:
        return []
    with state.lock(home, "home", "finishing a move"):
        intent = intents.pending(home)
        if intent is None:
            return []
        with state.lock(home, os.path.realpath(intent.path), f"finishing the {intent.line}"):
            return _settle(home, intent)


def settle_quietly(home: Home) -> None:
    """Finish a move that was cut short, or warn that it can't be, before a verb that may have nothing to do with it."""
    try:
        trace.warnings += settle(home)
    except ExecplanError as error:
        trace.warnings.append(f"a move was cut short and could not be finished: {error.message}; see: execplan doctor")


def _settle(home: Home, intent: Intent) -> list[str]:
    for path in (intent.path, intent.goal, os.path.join(intent.artifacts, FILE)):
        files.tidy(path, (intent.old, intent.new), within=home.root, spare=Recovery(home, path))
    if not is_begun(intent):
        reverse(home, intent)
        return [f"the {intent.line}, was cut short before anything was moved"]
    try:
        carry_out(home, intent)
    except ExecplanError as error:
        reverse(home, intent)
        return [f"the {intent.line}, was cut short; it could not be finished, so it was taken back: {error.message}"]
    home = homes.find(os.path.dirname(intent.goal))  # the homes of a repository share their state
    stays = None if by_file(home, intent.goal).archived else intent.goal
    warnings = claims.followed(home, intent.path, stays)
    ref = Ref(intent.ids[1], intent.goal, archived=False)
    cause = Cause(intent.goal, intent.operation, intent.reverses)
    followed = let_follow(home, ref, intent.moves, intent.ids, Options(), intent.verb, cause)
    for other in every(home):
        if other.path != intent.goal:
            tidy(home, other, verb=intent.verb)
    intents.drop(home)
    told = f"the {intent.line}, was cut short and is finished now: {home.shown(intent.goal)}"
    return [told, *followed.warnings, *warnings]
