"""Each of the format's criteria for a plan, and what speaks against them: what a request and a change say of it."""

from __future__ import annotations

from execplan.context.triage.table import CRITERIA, SMALL
from execplan.context.triage.words import NAME, STOP
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from execplan.context.triage.changes import Changes
    from execplan.context.triage.table import Table
    from execplan.context.triage.words import Hit, Request

_MOST = 4.0
_WORDS_OF_ONE = 3
_SHOWN = 60
REQUEST = "request"
CHANGES = "changes"


class Evidence(NamedTuple):
    """What speaks for a criterion, and how strongly: 1 it may be so, 2 it mostly is, 3 it says so."""

    source: str
    """REQUEST or CHANGES."""
    what: str
    """The words, the file or the number."""
    why: str
    strength: float

    @property
    def sentence(self) -> str:
        """As a person reads it."""
        return f"{self.what} {self.why}"


class Case(NamedTuple):
    """What is judged."""

    request: Request | None
    hits: tuple[Hit, ...]
    """The cues of the request that count."""
    changes: Changes | None
    named: tuple[str, ...]
    """The parts of the repository that the request names."""
    table: Table


def hours(case: Case) -> Iterator[Evidence]:
    """Whether it takes hours, or is likely to sprawl: what is built, how long the request is, how much changes."""
    yield from _said(case, "hours")
    yield from _long(case)
    yield from _sized(case, "hours", "lines", "{} changed lines", "are more than is done at once")


def scope(case: Case) -> Iterator[Evidence]:
    """Whether it goes through several parts: words for that, things in a row, named files and parts, those that change."""
    yield from _said(case, "scope")
    request = case.request
    if request is not None and request.is_known:
        yield from _counted(case, "row", _row(request), "{} things", "stand in one row")
    if request is not None:
        yield from _counted(case, "paths", len(request.files), "{} files", "are named")
        parts = ", ".join(case.named)
        yield from _counted(case, "parts", len(case.named), parts, "are parts of this repository that it names")
    yield from _sized(case, "scope", "files", "{} source files", "change, and a plan is due for more than three")
    yield from _sized(case, "scope", "parts", "{} parts of the repository", "change")


def risk(case: Case) -> Iterator[Evidence]:
    """Whether it can do harm: migrations, security, what others rely on, in words or by the kind of file."""
    yield from _said(case, "risk")
    request = case.request
    leap = _leap(request) if request is not None and request.is_known else ""
    if leap:
        yield Evidence(REQUEST, f'"{leap}"', "is another major version", case.table.length["major"])
    for kind, paths in case.changes.kinds if case.changes is not None else ():
        if kind.criterion == "risk":
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            yield Evidence(CHANGES, f"{paths[0]}{more} ({kind.name})", kind.why, kind.strength)


def ambiguity(case: Case) -> Iterator[Evidence]:
    """Whether something is to be found out or decided first; only words tell."""
    yield from _said(case, "ambiguity")


def validation(case: Case) -> Iterator[Evidence]:
    """Whether it is hard to show that it is done: words for that, and sources that change without a test."""
    yield from _said(case, "validation")
    yield from _sized(case, "validation", "untested", "{} lines of source", "change, and no test does")


def small(case: Case) -> Iterator[Evidence]:
    """What speaks for no plan: words for one small thing, one place that is named, few files and lines that change."""
    request, length = case.request, case.table.length
    is_whole = request is not None and request.words <= length["whole"]
    if is_whole:
        yield from _said(case, SMALL)
    if request is not None and request.is_known and is_whole:
        places = [each for each in request.code if not each.isalnum()]
        if len(places) == len(request.code) == 1:
            yield Evidence(REQUEST, _shown(places[0]), "is the one place that it names", length["one_place"])
        if request.quoted:
            yield Evidence(REQUEST, "a text in quotes", "is given as it is meant", length["quoted"])
    if case.changes is not None:
        count, lines = len(case.changes.sources), case.changes.lines
        strength = next((each for files, most, each in case.table.few if count <= files and lines <= most), 0)
        if strength:
            what = f"{_number(case.changes.files, 'file')}, {_number(lines, 'line')} of it added or removed,"
            told = (what, "is a small change") if case.changes.files else ("nothing", "changes")
            yield Evidence(CHANGES, *told, strength)


EVERY: Mapping[str, Callable[[Case], Iterator[Evidence]]] = dict(
    zip((*CRITERIA, SMALL), (hours, scope, risk, ambiguity, validation, small), strict=True)
)


def strength(evidence: Sequence[Evidence]) -> float:
    """How strongly some evidence speaks: the strongest, and half of all other, 4 at most."""
    each = [one.strength for one in evidence]
    return min(_MOST, max(each) + (sum(each) - max(each)) / 2) if each else 0.0


def counting(hits: Sequence[Hit], request: Request) -> list[Hit]:
    """The cues that count: what is said not to be done, and what is only where the small thing is done, do not."""
    if not request.is_known:
        return []
    counts = [hit for hit in hits if not hit.negated and (hit.is_first or not hit.cue.lead)]
    slight = _is_slight(counts)
    wording = any([hit.cue.wording and (slight or not hit.cue.detail) for hit in counts])
    aside = ("risk", "validation") if wording else ()
    found = []
    for hit in counts:
        cue = hit.cue
        if cue.criterion in aside or (cue.thing and wording) or (cue.detail and not slight and not cue.halved):
            continue
        is_half = cue.thing if slight else cue.halved
        found.append(hit._replace(cue=cue._replace(strength=cue.strength / 2)) if is_half else hit)
    return found


def _is_slight(hits: Sequence[Hit]) -> bool:
    """Whether a request begins with a verb of one small act, or says how something should read."""
    return any([hit.cue.act or (hit.is_first and hit.cue.criterion == SMALL and hit.cue.strength >= 1) for hit in hits])


def _said(case: Case, criterion: str) -> Iterator[Evidence]:
    """What the words say, each row of the table once."""
    seen = set()
    for hit in case.hits:
        if hit.cue.criterion == criterion and hit.cue not in seen:
            seen.add(hit.cue)
            yield Evidence(REQUEST, f'"{hit.said}"', hit.cue.why, hit.cue.strength)


def _long(case: Case) -> Iterator[Evidence]:
    request = case.request
    if request is not None and request.is_known:
        yield from _counted(case, "words", request.words, "{} words", "are needed to say it")
        yield from _counted(case, "sentences", request.sentences, "{} sentences or items", "ask for several things")


def _leap(request: Request) -> str:
    """The two versions of an upgrade that differ in their first number: `2.2 to 5.0`."""
    if any([each.startswith("upgrad") for each in request.tokens]):
        shown = request.shown
        for at in range(1, len(shown) - 1):
            if request.tokens[at - 1 : at + 2] == ("#", "to", "#"):
                old, new = shown[at - 1], shown[at + 1]
                if old.partition(".")[0] != new.partition(".")[0]:
                    return f"{old} to {new}"
    return ""


def _row(request: Request) -> int:
    """How many things stand in the longest row of a request: `a, b and c` are three; each has three words at most."""
    longest = things = size = 0
    for token, shown in zip((*request.tokens, STOP), (*request.shown, "."), strict=True):
        is_end = token == STOP and shown != ","
        if token in ("and", "or") and things:
            longest = max(longest, things + 1 + bool(size))  # one less where a comma stands before the `and`
        if is_end or size > _WORDS_OF_ONE:
            things = size = 0
        elif token == STOP:
            things, size = things + 1, 0
        elif token not in ("and", "or"):
            size += 1
    return longest


def _counted(case: Case, name: str, count: int, what: str, why: str) -> Iterator[Evidence]:
    strength = _reached(count, case.table.length[name])
    if strength:
        yield Evidence(REQUEST, what.format(count), why, strength)


def _sized(case: Case, criterion: str, of: str, what: str, why: str) -> Iterator[Evidence]:
    if case.changes is None:
        return
    sizes = {
        "lines": case.changes.lines,
        "files": len(case.changes.sources),
        "parts": len(case.changes.parts),
        "untested": case.changes.untested,
    }
    for each in case.table.sizes:
        strength = _reached(sizes[of], each.steps) if (each.criterion, each.of) == (criterion, of) else 0
        if strength:
            yield Evidence(CHANGES, what.format(f"{sizes[of]:,}"), why, strength)


def _reached(count: int, steps: Sequence[Sequence[int]]) -> int:
    """The strength of the highest step that a count has reached, or 0."""
    return max([strength for least, strength in steps if count >= least], default=0)


def named(request: Request, parts: Mapping[str, str]) -> tuple[str, ...]:
    """The parts of the repository that a request names, by a word or by a path."""
    words = set(request.tokens) - {STOP, NAME}
    paths = [part for name, part in parts.items() if name in words]
    paths += [part for part in parts.values() if any([code.startswith(f"{part}/") for code in request.code])]
    return tuple(sorted(set(paths)))


def _shown(code: str) -> str:
    """A name in code as a sentence may hold it."""
    return f"`{code}`" if len(code) <= _SHOWN and code.isascii() and code.isprintable() else "what stands in backticks"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
