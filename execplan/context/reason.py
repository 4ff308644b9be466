"""Why a unit is printed, shortened or left out, in a sentence for people."""

from __future__ import annotations

from execplan.context.unit import PRUNE, SUMMARIZE, TRUNCATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.score import Scored

_CUT = {
    SUMMARIZE: "shortened: no room for all of it",
    TRUNCATE: "cut: no room for all of it",
    PRUNE: "left out: others need the room more",
}


def reason(scored: Scored, action: str, *, filtered: bool) -> str:
    """What makes a unit relevant, the strongest first, and why it is not printed whole, where it is not."""
    told = list(scored.reasons[:2])
    if filtered:
        told = [
            f"shares only {each[7:]}" if each.startswith("shares ") and "shares no " not in each else each
            for each in told
        ]
    elif action in _CUT:
        told.append(_CUT[action])
    words = "; ".join(told)
    return words[:1].upper() + words[1:]
