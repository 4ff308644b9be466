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
WANTED = {"plan": PLAN, "small": NONE}
"""What each label is to be judged as."""
VERDICTS = (PLAN, UNCLEAR, NONE)


class Judged(NamedTuple):
    """A request with its label and its triage."""

    label: str
    words: str
    triage: TriageResult


class Bin(NamedTuple):
    """Requests of about one confidence."""

    least: float
    below: float
    total: int
    mean: float
    """Of the confidences that no plan is needed."""
    small: int
    """For how many of them none is."""


def judged(path: Path) -> list[Judged]:
    """Every request of a file, judged by its words alone."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [Judged(label, words, evaluate_triage(words)) for label, words, _ in rows]


def confusion(found: list[Judged]) -> dict[tuple[str, str], int]:
    """How many of each label got each verdict."""
    return {
        (label, verdict): len([each for each in found if (each.label, each.triage.verdict) == (label, verdict)])
        for label in WANTED
        for verdict in VERDICTS
    }


def calibration(found: list[Judged], edges: tuple[float, ...] = (0, 0.2, 0.7, 0.95, 1.0001)) -> list[Bin]:
    """How often no plan was needed, by how sure it was that none is."""
    bins = []
    for least, below in pairwise(edges):
        inside = [each for each in found if least <= each.triage.confidence < below]
        mean = sum([each.triage.confidence for each in inside]) / len(inside) if inside else 0.0
        bins.append(Bin(least, below, len(inside), mean, len([each for each in inside if each.label == SMALL])))
    return bins


def brier(found: list[Judged]) -> float:
    """The mean square of what confidences are off."""
    return sum([(each.triage.confidence - (each.label == SMALL)) ** 2 for each in found]) / len(found)
