"""The format's criteria for a plan, and evidence for and against them in a request and a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.triage.request_parsing import CLAUSE_END, QUOTED_NAME
from execplan.context.triage.triage_table import CRITERIA, SMALL
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_count, format_excess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from execplan.context.triage.change_summary import ChangeSummary
    from execplan.context.triage.request_parsing import CueHit, Quantity, TokenizedRequest
    from execplan.context.triage.triage_table import TriageTable

_MAX_STRENGTH = 4.0
_MAX_ENTRY_WORDS = 3
_MAX_SHOWN_CHARS = 60
REQUEST = "request"
CHANGES = "changes"


class Evidence(NamedTuple):
    """Evidence for a criterion, with its strength: 1 is possible, 2 is likely, 3 is explicit."""

    source: str
    """Origin of the evidence: `REQUEST` or `CHANGES`."""
    what: str
    """Words, file or number that the evidence consists of."""
    why: str
    strength: float

    @property
    def sentence(self) -> str:
        """Return the evidence as a sentence for people."""
        return f"{self.what} {self.why}"


class TriageCase(NamedTuple):
    """The request and the change to evaluate."""

    request: TokenizedRequest | None
    hits: tuple[CueHit, ...]
    """Cues of the request that count."""
    changes: ChangeSummary | None
    named_parts: tuple[str, ...]
    """Parts of the repository that the request names."""
    table: TriageTable
    quantities: tuple[Quantity, ...] = ()
    """Numbers in an English request."""


def hours_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence that the work takes hours or may sprawl: cues, numbers, the request's length, the size of the change."""
    yield from _cue_evidence(case, "hours")
    yield from _quantity_evidence(case, "hours")
    yield from _length_evidence(case)
    yield from _size_evidence(case, "hours", "lines", "{} changed lines", "are too many for a quick change")


def scope_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence that several parts are affected: cues, numbers, enumerations, and named or changed files and parts."""
    yield from _cue_evidence(case, "scope")
    yield from _quantity_evidence(case, "scope")
    request = case.request
    if request is not None and request.is_english:
        yield from _length_step_evidence(case, "row", _longest_enumeration(request), "{} things", "are listed together")
    if request is not None:
        yield from _length_step_evidence(case, "paths", len(request.files), "{} files", "are named")
        part_names = ", ".join(case.named_parts)
        yield from _length_step_evidence(
            case, "parts", len(case.named_parts), part_names, "are parts of this repository that the request names"
        )
    yield from _size_evidence(
        case, "scope", "files", "{} source files", "change; a change of more than three needs a plan"
    )
    yield from _size_evidence(case, "scope", "parts", "{} parts of the repository", "change")


def risk_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence that the work can do harm, such as migrations, security or interfaces: cues and kinds of files."""
    yield from _cue_evidence(case, "risk")
    request = case.request
    upgrade = _major_upgrade(request) if request is not None and request.is_english else ""
    if upgrade:
        yield Evidence(REQUEST, f'"{upgrade}"', "is a different major version", case.table.length_rules["major"])
    for kind, paths in case.changes.kinds if case.changes is not None else ():
        if kind.criterion == "risk":
            yield Evidence(CHANGES, f"{paths[0]}{format_excess(len(paths), 1)} ({kind.name})", kind.why, kind.strength)


def ambiguity_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence that something must be found out or decided first; only cues show it."""
    yield from _cue_evidence(case, "ambiguity")


def validation_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence that completion is hard to prove: cues, and source changes without a test."""
    yield from _cue_evidence(case, "validation")
    yield from _size_evidence(case, "validation", "untested", "{} lines of source", "change, but no test does")


def small_evidence(case: TriageCase) -> Iterator[Evidence]:
    """Yield evidence against a plan: cues for one small thing, a single named place, few changed files and lines."""
    request, length_rules = case.request, case.table.length_rules
    is_short = request is not None and request.word_count <= length_rules["whole"]
    if is_short:
        yield from _cue_evidence(case, SMALL)
        yield from _quantity_evidence(case, SMALL)
    if request is not None and request.is_english and is_short:
        code_names = [name for name in request.code_names if not name.isalnum()]
        if len(code_names) == len(request.code_names) == 1:
            yield Evidence(
                REQUEST,
                _format_code(code_names[0]),
                "is the only place that the request names",
                length_rules["one_place"],
            )
        if request.quoted:
            yield Evidence(REQUEST, "quoted text", "is given literally", length_rules["quoted"])
    if case.changes is not None:
        file_count, line_count = len(case.changes.source_files), case.changes.lines
        strength = next(
            (
                level
                for max_files, max_lines, level in case.table.small_change_limits
                if file_count <= max_files and line_count <= max_lines
            ),
            0,
        )
        if strength:
            size_text = (
                f"{format_count(case.changes.files, 'file')} with {format_count(line_count, 'line')} added or removed"
            )
            statement = (size_text, "is a small change") if case.changes.files else ("nothing", "changes")
            yield Evidence(CHANGES, *statement, strength)


EVIDENCE_FINDERS: Mapping[str, Callable[[TriageCase], Iterator[Evidence]]] = dict(
    zip(
        (*CRITERIA, SMALL),
        (hours_evidence, scope_evidence, risk_evidence, ambiguity_evidence, validation_evidence, small_evidence),
        strict=True,
    )
)


def combined_strength(evidence: Sequence[Evidence]) -> float:
    """Combine evidence into one strength: the strongest plus half of all others, at most 4."""
    strengths = [entry.strength for entry in evidence]
    return min(_MAX_STRENGTH, max(strengths) + (sum(strengths) - max(strengths)) / 2) if strengths else 0.0


def select_counted_hits(hits: Sequence[CueHit], request: TokenizedRequest) -> list[CueHit]:
    """Return the cues that count.

    Negated cues do not count. If the request only changes a wording, the things that it names do not count. Details
    count only in a request for a small change, or for half if their row allows it.
    """
    if not request.is_english:
        return []
    active_hits = [hit for hit in hits if not hit.is_negated and (hit.is_first or not hit.cue.lead)]
    is_small = _is_small_act(active_hits)
    is_wording = any([hit.cue.wording and (is_small or not hit.cue.detail) for hit in active_hits])
    ignored_criteria = ("risk", "validation") if is_wording else ()
    counted_hits = []
    for hit in active_hits:
        cue = hit.cue
        if (
            cue.criterion in ignored_criteria
            or (cue.thing and is_wording)
            or (cue.detail and not is_small and not cue.halved)
        ):
            continue
        is_halved = cue.thing if is_small else cue.halved
        counted_hits.append(hit._replace(cue=cue._replace(strength=cue.strength / 2)) if is_halved else hit)
    return counted_hits


def _is_small_act(hits: Sequence[CueHit]) -> bool:
    """Return whether a request begins with a verb for a small task, or describes a wording."""
    return any([hit.cue.act or (hit.is_first and hit.cue.criterion == SMALL and hit.cue.strength >= 1) for hit in hits])


def _cue_evidence(case: TriageCase, criterion: str) -> Iterator[Evidence]:
    """Yield evidence from cues; each row of the table counts once."""
    seen_cues = set()
    for hit in case.hits:
        if hit.cue.criterion == criterion and hit.cue not in seen_cues:
            seen_cues.add(hit.cue)
            yield Evidence(REQUEST, f'"{hit.text}"', hit.cue.why, hit.cue.strength)


def _quantity_evidence(case: TriageCase, criterion: str) -> Iterator[Evidence]:
    """Yield evidence from numbers in an English request."""
    for quantity in case.quantities:
        rule, amount = quantity.rule, quantity.amount
        strength = _reached_strength(amount, rule.minimums)
        strength += max([level for maximum, level in rule.maximums if amount <= maximum], default=0)
        if rule.criterion == criterion and strength:
            yield Evidence(REQUEST, f'"{quantity.text}"', rule.why, strength)


def _length_evidence(case: TriageCase) -> Iterator[Evidence]:
    request = case.request
    if request is not None and request.is_english:
        yield from _length_step_evidence(case, "words", request.word_count, "{} words", "are needed to describe it")
        yield from _length_step_evidence(
            case, "sentences", request.sentences, "{} sentences or items", "ask for several things"
        )


def _major_upgrade(request: TokenizedRequest) -> str:
    """Return the versions of an upgrade that differ in their major number, such as `2.2 to 5.0`, or an empty string."""
    if any([token.startswith("upgrad") for token in request.tokens]):
        original_tokens = request.original_tokens
        for index in range(1, len(original_tokens) - 1):
            if request.tokens[index - 1 : index + 2] == ("#", "to", "#"):
                old, new = original_tokens[index - 1], original_tokens[index + 1]
                if old.partition(".")[0] != new.partition(".")[0]:
                    return f"{old} to {new}"
    return ""


def _longest_enumeration(request: TokenizedRequest) -> int:
    """Count the items of the longest enumeration: `a, b and c` has three; an item has at most three words."""
    longest_count = entry_count = word_count = 0
    for token, original in zip((*request.tokens, CLAUSE_END), (*request.original_tokens, "."), strict=True):
        is_clause_end = token == CLAUSE_END and original != ","
        if token in ("and", "or") and entry_count:
            longest_count = max(
                longest_count, entry_count + 1 + bool(word_count)
            )  # one less if a comma precedes the `and`
        if is_clause_end or word_count > _MAX_ENTRY_WORDS:
            entry_count = word_count = 0
        elif token == CLAUSE_END:
            entry_count, word_count = entry_count + 1, 0
        elif token not in ("and", "or"):
            word_count += 1
    return longest_count


def _length_step_evidence(case: TriageCase, name: str, count: int, template: str, why: str) -> Iterator[Evidence]:
    strength = _reached_strength(count, case.table.length_rules[name])
    if strength:
        yield Evidence(REQUEST, template.format(count), why, strength)


def _size_evidence(case: TriageCase, criterion: str, measure: str, template: str, why: str) -> Iterator[Evidence]:
    if case.changes is None:
        return
    sizes = {
        "lines": case.changes.lines,
        "files": len(case.changes.source_files),
        "parts": len(case.changes.parts),
        "untested": case.changes.untested_lines,
    }
    for rule in case.table.sizes:
        if (rule.criterion, rule.measure) == (criterion, measure):
            strength = _reached_strength(sizes[measure], rule.steps)
        else:
            strength = 0
        if strength:
            yield Evidence(CHANGES, template.format(f"{sizes[measure]:,}"), why, strength)


def _reached_strength(count: float, steps: Sequence[Sequence[int]]) -> int:
    """Return the strength of the highest step that a count has reached, or 0."""
    return max([strength for minimum, strength in steps if count >= minimum], default=0)


def find_named_parts(request: TokenizedRequest, parts_by_name: Mapping[str, str]) -> tuple[str, ...]:
    """Return the parts of the repository that a request names, by a word or by a path."""
    tokens = set(request.tokens) - {CLAUSE_END, QUOTED_NAME}
    paths = [part_name for name, part_name in parts_by_name.items() if name in tokens]
    paths += [
        part_name
        for part_name in parts_by_name.values()
        if any([code.startswith(f"{part_name}/") for code in request.code_names])
    ]
    return tuple(sorted(set(paths)))


def _format_code(code: str) -> str:
    """Return a code name in a form that is safe in a sentence."""
    if len(code) <= _MAX_SHOWN_CHARS and code.isascii() and code.isprintable():
        return f"`{code}`"
    return "the text in backticks"
