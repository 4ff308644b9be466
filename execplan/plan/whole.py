"""Changes that come as a whole text: what was made of an earlier version, done to the plan as it is now."""

from __future__ import annotations

from execplan.errors import CHANGED, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.reader import decode, read_text
from execplan.text.edit import Edit, apply
from execplan.text.merge import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.text.lines import Text
    from execplan.text.merge import Chunk


def rebased(plan: Plan, base: bytes, changed: bytes, summary: str, said: str, hint: str) -> Change:
    """What leads from the base to the changed text, made to a plan that came from the base too.

    Raises ExecplanError when the plan has changed at the same place; `hint` says what to do then.
    """
    edits = []
    at = 0
    parts = _parts(plan.text)
    for chunk in merge(_parts(decode(base)), parts, _parts(decode(changed))):
        new = chunk.merged
        if new is None:
            line, what = _difference(chunk)
            raise ExecplanError(
                "changed-since", f"line {at + line + 1} {what}", exit=CHANGED, hint=hint, line=at + line + 1
            )
        end = at + len(chunk.ours)
        if new != chunk.ours:
            if not new and end == len(parts) and at:  # the line above becomes the last: it keeps the end that it has
                at, new = at - 1, (parts[at - 1],)
            lines = [part.rstrip("\r\n") for part in new]
            ends = tuple([part[len(line) :] for part, line in zip(new, lines, strict=True)])
            edits.append(Edit(at, end, tuple(lines), ends))
        at = end
    expected = facts(read_text(apply(plan.text, edits))) if edits else facts(plan)
    return Change(tuple(edits), expected, summary, (said,), whole=True)


def _parts(text: Text) -> list[str]:
    """The lines of a text with their ends."""
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


def _difference(chunk: Chunk) -> tuple[int, str]:
    """The first line of ours that is not as it was, within the chunk, and what became of it."""
    base, ours = chunk.base, chunk.ours
    at = next((at for at, (one, two) in enumerate(zip(base, ours, strict=False)) if one != two), -1)
    if at >= 0:
        return at, f"has changed since: {_shown(ours[at])} is no longer {_shown(base[at])}"
    if len(ours) > len(base):
        return len(base), f"was put in since, at the same place: {_shown(ours[len(base)])}"
    return max(len(ours) - 1, 0), f"stands where lines were taken out since: {_shown(base[len(ours)])}"


def _shown(part: str) -> str:
    """A line, for a message."""
    line = part.strip()
    return repr(line if len(line) <= 60 else line[:59] + "…")
