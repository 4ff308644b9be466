"""How often triage is right: a file with a label, a request and where it comes from in each line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from execplan.context.triage.triage_evaluation import NONE, PLAN, UNCLEAR, TriageResult, evaluate_triage
from execplan.context.triage.triage_table import SMALL

SETS = Path(__file__).resolve().parent
FITTED = SETS / "requests.tsv"
FURTHER = SETS / "further.tsv"
"""Small fixes, written when the hundred were judged well; the cues have seen them, too."""
HELD_OUT = SETS / "held_out.tsv"
EXPECTED_VERDICTS = {"plan": PLAN, "small": NONE}
"""What each label is to be judged as."""
VERDICTS = (PLAN, UNCLEAR, NONE)


class LabelledTriage(NamedTuple):
    """A request with its label and its triage."""

    label: str
    request: str
    triage: TriageResult


class ConfidenceBin(NamedTuple):
    """Requests of about one confidence."""

    lower: float
    upper: float
    total: int
    mean: float
    """Of the confidences that no plan is needed."""
    small: int
    """For how many of them none is."""


def evaluate_requests(path: Path) -> list[LabelledTriage]:
    """Every request of a file, judged by its words alone."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [LabelledTriage(label, request, evaluate_triage(request)) for label, request, _ in rows]


def confusion(triages: list[LabelledTriage]) -> dict[tuple[str, str], int]:
    """How many of each label got each verdict."""
    return {
        (label, verdict): len(
            [labelled for labelled in triages if (labelled.label, labelled.triage.verdict) == (label, verdict)]
        )
        for label in EXPECTED_VERDICTS
        for verdict in VERDICTS
    }


def calibration(
    triages: list[LabelledTriage], edges: tuple[float, ...] = (0, 0.2, 0.7, 0.95, 1.0001)
) -> list[ConfidenceBin]:
    """How often no plan was needed, by how sure it was that none is."""
    bins = []
    for lower, upper in pairwise(edges):
        inside = [labelled for labelled in triages if lower <= labelled.triage.confidence < upper]
        mean = sum([labelled.triage.confidence for labelled in inside]) / len(inside) if inside else 0.0
        bins.append(
            ConfidenceBin(
                lower, upper, len(inside), mean, len([labelled for labelled in inside if labelled.label == SMALL])
            )
        )
    return bins


def brier(triages: list[LabelledTriage]) -> float:
    """The mean square of what confidences are off."""
    return sum([(labelled.triage.confidence - (labelled.label == SMALL)) ** 2 for labelled in triages]) / len(triages)
