"""Which edits of a journal another program has overwritten, and how each is put back; no disk is looked at.

An edit is overwritten in a gap: between the text that one edit left and the text that the next one found, or that the
file holds now. What a later edit of the tool took away is no loss.
"""

from __future__ import annotations

from collections import Counter

from execplan.plan.merging.whole import merge as merge_plans
from execplan.plan.reader import decode
from execplan.record import NamedTuple
from execplan.text import diff3
from execplan.text.merge import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from execplan.text.merge import Chunk

    ByGit = Callable[[bytes, bytes], bool]

BOM = b"\xef\xbb\xbf"
_LONG = 4_000_000
"""Product of the lengths of two texts whose comparison letter by letter takes too long."""
_ALIKE = 0.6
"""How alike the words of two lines are of which one came from the other; those of two tasks are 0.2 to 0.5."""
_LEAD = "-*+ \t[]xX>#0123456789.)"
"""What a line of a list may begin with that says nothing of its words."""
_STAMP = "([0123456789-: TZUC)]"
"""What a stamp is made of."""
_LABEL = 20


class Step(NamedTuple):
    """An edit that came to the disk."""

    number: int
    words: str
    """What was done."""
    moment: str
    """When, as a stamp in UTC."""
    old: bytes
    new: bytes
    counts: bool
    """Whether it is to be in the file: it was not taken back, and is none that takes back another."""
    follows: bool
    """Whether the edit before it is the one that was made before it: a journal that was shortened has dropped some."""

    @property
    def said(self) -> str:
        """What was done and when."""
        return f"{self.words}, made {self.moment.replace('T', ' ')}"


class _Point(NamedTuple):
    text: bytes
    gap: bool
    """Whether an outsider may have led here from the point before; else an edit did, or nobody knows who."""


def lost(steps: Sequence[Step], now: bytes, by_git: ByGit) -> list[Step]:
    """The edits that are no longer in the file and that no edit took away, in their order.

    `by_git` says whether git put the second text in place of the first, as when a branch is switched; it is only asked
    where something is missing.
    """
    points: list[_Point] = []
    for step in steps:
        points += [_Point(step.old, step.follows), _Point(step.new, gap=False)]
    points.append(_Point(now, gap=True))
    gaps = [at for at in range(1, len(points)) if points[at].gap and points[at].text != points[at - 1].text]
    behind = gaps[-1] if gaps else 0
    found = []
    whole = now  # with what was lost so far: a tick is only missed where there is the task again that was lost too
    added = [_added(step) for step in steps] if behind else []
    for at, step in enumerate(steps):
        others = {words for each in (*added[:at], *added[at + 1 :]) for words in each}
        if 2 * at + 1 < behind and step.counts and not holds(step, whole, others):
            taken = _taken(points[2 * at + 1 :], step, others)
            if taken is not None and not by_git(*taken):
                found.append(step)
                whole = put_back(step, whole) or whole
    return found


def _added(step: Step) -> set[str]:
    """The words of the lines that an edit only added: no other edit's lines were made into them. None of a whole plan."""
    if not step.old:
        return set()
    old, new = _lines(step.old), _lines(step.new)
    return (
        set()
        if any(map(str.strip, _surplus(old, new)))
        else {_unstamped(_bare(line)) for line in _surplus(new, old)} - {""}
    )


def _taken(points: Sequence[_Point], step: Step, others: Container[str]) -> tuple[bytes, bytes] | None:
    """The text in which an edit was last, and the one that an outsider put in its place; None where that was an edit."""
    for before, after in zip(reversed(points[:-1]), reversed(points[1:]), strict=True):
        if before.text == step.new or holds(step, before.text, others):
            return (before.text, after.text) if after.gap else None
    return None


def holds(step: Step, text: bytes, others: Container[str] = ()) -> bool:
    """Whether what an edit did is in a text, at its place or at another, or what was made of it since.

    `others` are the words that other edits added, however like this one's.
    """
    old, new, lines = [_lines(each) for each in (step.old, step.new, text)]
    added = {line for line in _surplus(new, old) if line.strip()}
    if added and not _surplus([line for line in new if line in added], lines):
        return True
    chunks = [chunk for chunk in merge(new, lines, old) if chunk.theirs != chunk.base]
    return all(
        [chunk.ours == chunk.base or (chunk.ours != chunk.theirs and _made_of(chunk, others)) for chunk in chunks]
    )


def put_back(step: Step, text: bytes) -> bytes | None:
    """The text with an edit made again; None where the same task, entry or line was changed otherwise."""
    done: list[str] = []
    for chunk in merge(_lines(step.old), _lines(text), _lines(step.new)):
        merged = _merged(chunk)
        if merged is None:
            plans = merge_plans(step.old, text, step.new, diff3.merged)
            return None if plans.conflicts or plans.notes else plans.data
        done += merged
    return (BOM if text.startswith(BOM) else b"") + "".join(done).encode("utf-8")


def _merged(chunk: Chunk) -> tuple[str, ...] | None:
    """The lines of a chunk with an edit made again, `theirs` being what it left."""
    base, ours, theirs = chunk
    if not base:  # both put something in at one place: the outsider's stays, the edit's comes behind
        parts = [ours[at : at + len(theirs)] for at in range(len(ours))]
        return ours if theirs in parts else theirs if theirs[: len(ours)] == ours else ours + theirs
    if chunk.merged is not None or not len(base) == len(ours) == len(theirs):
        return chunk.merged
    lines = [theirs[at] if ours[at] == base[at] else ours[at] for at in range(len(base))]
    both = [at for at in range(len(base)) if base[at] not in (ours[at], theirs[at]) and ours[at] != theirs[at]]
    return None if both else tuple(lines)


def _made_of(chunk: Chunk, others: Container[str]) -> bool:
    """Whether lines that are neither as an edit left them nor as it found them were made of what it left."""
    added, removed = _surplus(chunk.base, chunk.theirs), _surplus(chunk.theirs, chunk.base)
    if not any([line.strip() for line in removed]):
        mine = {_bare(line) for line in added}
        there = [words for words in map(_bare, chunk.ours) if _unstamped(words) not in others or words in mine]
        return all([any([_alike(_bare(line), each) >= _ALIKE for each in there]) for line in added if line.strip()])
    if not any([line.strip() for line in added]):
        return any([line.strip() and line not in chunk.ours for line in removed])
    ours, base, theirs = ["".join(lines) for lines in (chunk.ours, chunk.base, chunk.theirs)]
    return _alike(ours, base) >= _alike(ours, theirs)


def _bare(line: str) -> str:
    """The words of a line, without what makes it a task or an entry: bullet, box, stamp, a label such as `Rationale:`."""
    words = line.strip(_LEAD)
    label, colon, rest = words.partition(": ")
    return rest if colon and len(label) <= _LABEL else words


def _unstamped(words: str) -> str:
    """The words behind a stamp such as `(2026-01-01 00:00Z)`."""
    return words.lstrip(_STAMP)


def _alike(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1; of long ones only how many letters they share."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if len(one) * len(other) < _LONG else matcher.quick_ratio()


def _surplus(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """The lines that are not among the others, or more often."""
    left = Counter(others)
    found = []
    for line in lines:
        left[line] -= 1
        if left[line] < 0:
            found.append(line)
    return found


def _lines(data: bytes) -> list[str]:
    """The lines of a plan, each with its end; none of the text before it was made, or behind it was removed."""
    if not data:
        return []
    text = decode(data)
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]
