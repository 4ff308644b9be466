"""Is a plan due? The score of what a request and a change say, and what would settle it where that is unclear."""

from __future__ import annotations

from math import exp

from execplan.context.triage.changes import summed
from execplan.context.triage.criteria import EVERY, Case, counting, named, strength
from execplan.context.triage.table import SMALL, builtin
from execplan.context.triage.words import hits, read
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.triage.changes import Changed, Changes
    from execplan.context.triage.criteria import Evidence
    from execplan.context.triage.table import Table
    from execplan.context.triage.words import Request

NONE: Final = "none"
PLAN: Final = "plan"
UNCLEAR: Final = "unclear"
_ASKED = 2
"""Questions of one answer."""


class Thresholds(NamedTuple):
    """Confidences that no plan is needed, between which it is unclear."""

    none: float = 0.95
    """From there on none is needed."""
    plan: float = 0.70
    """Below, one is."""


class Criterion(NamedTuple):
    """A criterion, or `small`, with what speaks for it."""

    name: str
    strength: float
    """0 to 4."""
    weight: float
    evidence: tuple[Evidence, ...]

    @property
    def points(self) -> float:
        """What it adds to the score, or takes from it."""
        return self.strength * self.weight * (1 if self.name == SMALL else -1)


class Question(NamedTuple):
    """What is unclear, and what would settle it."""

    criterion: str
    unclear: str
    question: str


class Triage(NamedTuple):
    """The verdict with all that it comes from."""

    verdict: str
    confidence: float
    """That no plan is needed, from 0 to 1."""
    criteria: tuple[Criterion, ...]
    reasons: tuple[str, ...]
    """Sentences, the weightiest first."""
    unclear: tuple[Question, ...]
    request: Request | None
    changes: Changes | None


def triage(
    words: str | None,
    changed: Sequence[Changed] | None = None,
    parts: Mapping[str, str] | None = None,
    thresholds: Thresholds | None = None,
) -> Triage:
    """Judge a request, a change, or both; parts are those of the repository, by the names that a request may give them."""
    table, limits = builtin(), thresholds or Thresholds()
    case = _case(words, changed, parts or {}, table)
    criteria = _judged(case)
    score = confidence(criteria, table)
    if case.request is not None and case.changes is not None:
        words_alone = confidence(_judged(case._replace(changes=None)), table)
        change_alone = confidence(_judged(case._replace(request=None, hits=(), named=())), table)
        is_settled = case.request.is_known and words_alone >= limits.plan
        # a change may be only the beginning of what is asked, and no words make light of what it does
        score = min(score, change_alone, 1 if is_settled else words_alone)
    verdict = NONE if score >= limits.none else PLAN if score < limits.plan else UNCLEAR
    reasons = _reasons(case, criteria, verdict)
    unclear = _questions(case, criteria) if verdict == UNCLEAR else ()
    return Triage(verdict, score, criteria, reasons, unclear, case.request, case.changes)


def _case(words: str | None, changed: Sequence[Changed] | None, parts: Mapping[str, str], table: Table) -> Case:
    request = read(words, table) if words is not None else None
    found = tuple(counting(hits(request, table), request)) if request is not None else ()
    changes = summed(changed, table) if changed is not None else None
    return Case(request, found, changes, named(request, parts) if request is not None else (), table)


def _judged(case: Case) -> tuple[Criterion, ...]:
    """Every criterion with its evidence, the strongest first."""
    found = []
    for name, tell in EVERY.items():
        evidence = tuple(sorted(tell(case), key=lambda each: (-each.strength, each.source, each.what)))
        found.append(Criterion(name, strength(evidence), case.table.weights[name], evidence))
    return tuple(found)


def confidence(criteria: Sequence[Criterion], table: Table) -> float:
    """How sure it is that no plan is needed, from 0 to 1 with four digits."""
    score = table.weights["nothing"] + sum([each.points for each in criteria])
    return round(1 / (1 + exp(-score)), 4)


def _reasons(case: Case, criteria: Sequence[Criterion], verdict: str) -> tuple[str, ...]:
    """What speaks for the verdict, and where nothing does, that."""
    told = [each for each in criteria if each.evidence and (verdict != PLAN or each.name != SMALL)]
    if verdict == NONE:
        told.sort(key=lambda each: each.name != SMALL)
    else:
        told.sort(key=lambda each: -abs(each.points))
    sentences = [f"{each.name}: {'; '.join([one.sentence for one in each.evidence])}" for each in told]
    if case.request is not None and not case.request.is_known:
        sentences.append("it is not in English, as far as can be told, so its words are not judged")
    elif not sentences:
        sentences.append("nothing in it says how large it is, what it risks, or how it is shown to be done")
    return tuple(sentences)


def _questions(case: Case, criteria: Sequence[Criterion]) -> tuple[Question, ...]:
    """What is asked: about the criteria that something speaks for, weightiest first; else about those that say most."""
    asks = case.table.questions
    asked = sorted([each for each in criteria if each.evidence and each.name != SMALL], key=lambda each: each.points)
    found = [
        Question(each.name, f"{each.evidence[0].sentence}; that alone decides nothing", asks[each.name]["question"])
        for each in asked
    ]
    open_ = [] if found else ["scope", "validation"]
    if case.request is not None and not case.request.is_known:
        open_ = ["language"]
    return tuple([*[Question(name, **asks[name]) for name in open_], *found][:_ASKED])
