"""Evaluation of whether a request or a change needs a plan, with questions that resolve unclear results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final

from execplan.context.triage.change_summary import ChangedFile, ChangeSummary, summarize_changes
from execplan.context.triage.request_parsing import TokenizedRequest, find_cues, find_quantities, parse_request
from execplan.context.triage.triage_criteria import (
    EVIDENCE_FINDERS,
    Evidence,
    TriageCase,
    combined_strength,
    find_named_parts,
    select_counted_hits,
)
from execplan.context.triage.triage_table import SMALL, TriageTable, load_builtin_table
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import setting_shapes as shapes
from execplan.core.project.setting_table import Setting, SettingTable, check_table

NONE: Final = "none"
PLAN: Final = "plan"
UNCLEAR: Final = "unclear"
_MAX_QUESTIONS = 2
"""Maximum number of questions in one result."""


class Thresholds(NamedTuple):
    """Thresholds for the confidence that no plan is needed; between them the result is unclear."""

    none: float = 0.95
    """Confidence from which no plan is needed."""
    plan: float = 0.70
    """Confidence below which a plan is needed."""


def parse_thresholds(table: Mapping[str, object]) -> Thresholds:
    """Return the thresholds of a checked table of the settings. Raises ExecplanError if one of them excludes the other."""
    thresholds = Thresholds(**{name: float(str(value)) for name, value in table.items()})
    if thresholds.plan > thresholds.none:
        message = f"triage.plan is {thresholds.plan}, which is more than triage.none, {thresholds.none}"
        hint = "between them, the result is unclear: raise none, or lower plan"
        raise ExecplanError("bad-setting", message, hint=hint)
    return thresholds


class Criterion(NamedTuple):
    """A criterion, or `small`, with its evidence."""

    name: str
    strength: float
    """Strength from 0 to 4."""
    weight: float
    evidence: tuple[Evidence, ...]

    @property
    def points(self) -> float:
        """Return the points that the criterion adds to the score or subtracts from it."""
        return self.strength * self.weight * (1 if self.name == SMALL else -1)


class TriageQuestion(NamedTuple):
    """An unclear point, and the question that resolves it."""

    criterion: str
    unclear: str
    question: str


class TriageResult(NamedTuple):
    """Verdict of triage, with the evidence for it."""

    verdict: str
    confidence: float
    """Confidence from 0 to 1 that no plan is needed."""
    criteria: tuple[Criterion, ...]
    reasons: tuple[str, ...]
    """Reasons as sentences, the most important first."""
    unclear: tuple[TriageQuestion, ...]
    request: TokenizedRequest | None
    changes: ChangeSummary | None


def evaluate_triage(
    request_text: str | None,
    changed: Sequence[ChangedFile] | None = None,
    parts_by_name: Mapping[str, str] | None = None,
    thresholds: Thresholds | None = None,
) -> TriageResult:
    """Evaluate a request, a change, or both; `parts_by_name` are the repository's parts by the names for them."""
    table, limits = load_builtin_table(), thresholds or Thresholds()
    case = _build_case(request_text, changed, parts_by_name or {}, table)
    criteria = _evaluate_criteria(case)
    score = no_plan_confidence(criteria, table)
    if case.request is not None and case.changes is not None:
        request_confidence = no_plan_confidence(_evaluate_criteria(case._replace(changes=None)), table)
        change_confidence = no_plan_confidence(
            _evaluate_criteria(case._replace(request=None, hits=(), named_parts=())), table
        )
        is_request_clear = case.request.is_english and request_confidence >= limits.plan
        # a change may be only the beginning of the request, and no words outweigh what it does
        score = min(score, change_confidence, 1 if is_request_clear else request_confidence)
    if score >= limits.none:
        verdict = NONE
    elif score < limits.plan:
        verdict = PLAN
    else:
        verdict = UNCLEAR
    reasons = _explain_verdict(case, criteria, verdict)
    unclear = _select_questions(case, criteria) if verdict == UNCLEAR else ()
    return TriageResult(verdict, score, criteria, reasons, unclear, case.request, case.changes)


def _build_case(
    request_text: str | None,
    changed: Sequence[ChangedFile] | None,
    parts_by_name: Mapping[str, str],
    table: TriageTable,
) -> TriageCase:
    request = parse_request(request_text, table) if request_text is not None else None
    counted_hits = tuple(select_counted_hits(find_cues(request, table), request)) if request is not None else ()
    changes = summarize_changes(changed, table) if changed is not None else None
    named_parts = find_named_parts(request, parts_by_name) if request is not None else ()
    quantities = tuple(find_quantities(request, table)) if request is not None and request.is_english else ()
    return TriageCase(request, counted_hits, changes, named_parts, table, quantities)


def _evaluate_criteria(case: TriageCase) -> tuple[Criterion, ...]:
    """Return every criterion with its evidence, strongest evidence first."""
    criteria = []
    for name, find_evidence in EVIDENCE_FINDERS.items():
        evidence = tuple(sorted(find_evidence(case), key=lambda entry: (-entry.strength, entry.source, entry.what)))
        criteria.append(Criterion(name, combined_strength(evidence), case.table.weights[name], evidence))
    return tuple(criteria)


def no_plan_confidence(criteria: Sequence[Criterion], table: TriageTable) -> float:
    """Return the confidence that no plan is needed, from 0 to 1 with four decimals."""
    score = table.weights["nothing"] + sum([criterion.points for criterion in criteria])
    return round(1 / (1 + exp(-score)), 4)


def _explain_verdict(case: TriageCase, criteria: Sequence[Criterion], verdict: str) -> tuple[str, ...]:
    """Return the reasons for the verdict; if there is no evidence, state that."""
    supported = [
        criterion for criterion in criteria if criterion.evidence and (verdict != PLAN or criterion.name != SMALL)
    ]
    if verdict == NONE:
        supported.sort(key=lambda criterion: criterion.name != SMALL)
    else:
        supported.sort(key=lambda criterion: -abs(criterion.points))
    sentences = [
        f"{criterion.name}: {'; '.join([entry.sentence for entry in criterion.evidence])}" for criterion in supported
    ]
    if case.request is not None and not case.request.is_english:
        sentences.append("it is apparently not in English, so its text is not evaluated")
    elif not sentences:
        sentences.append("it does not show how large it is, what it risks, or how its result is verified")
    return tuple(sentences)


def _select_questions(case: TriageCase, criteria: Sequence[Criterion]) -> tuple[TriageQuestion, ...]:
    """Return questions about criteria with evidence, the most important first; else about scope and validation."""
    question_texts = case.table.questions
    supported = sorted(
        [criterion for criterion in criteria if criterion.evidence and criterion.name != SMALL],
        key=lambda criterion: criterion.points,
    )
    questions = [
        TriageQuestion(
            criterion.name,
            f"{criterion.evidence[0].sentence}; that alone is not decisive",
            question_texts[criterion.name]["question"],
        )
        for criterion in supported
    ]
    default_names = [] if questions else ["scope", "validation"]
    if case.request is not None and not case.request.is_english:
        default_names = ["language"]
    return tuple(
        [*[TriageQuestion(name, **question_texts[name]) for name in default_names], *questions][:_MAX_QUESTIONS]
    )


def _check_triage_table(table: dict[str, object], source: str) -> None:
    check_table("triage", table, f"{source}: triage")
    with ErrorContext(source):
        parse_thresholds(table)


_SETTINGS: Final = (
    Setting("none", shapes.CONFIDENCE, "From this confidence on, no plan is needed.", Thresholds().none),
    Setting("plan", shapes.CONFIDENCE, "Below this confidence, a plan is needed; 0: never.", Thresholds().plan),
)
TABLE: Final = SettingTable("Only in a repository's settings.", _SETTINGS, _check_triage_table)
