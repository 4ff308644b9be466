"""The verdict: how often it is right on labelled requests, what it says, and that the same words always get the same."""

from __future__ import annotations

import os
import subprocess
import sys
from math import exp, log
from pathlib import Path

import pytest

from execplan.context.triage.triage_evaluation import NONE, PLAN, UNCLEAR, Thresholds, evaluate_triage
from execplan.context.triage.triage_table import CRITERIA, SMALL, load_builtin_table
from tests.conftest import find_corpus
from tests.context.triage.rates import FITTED, HELD_OUT, brier, calibration, confusion, evaluate_requests

CORPUS = find_corpus()
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("path", "plans", "fixes"), [(FITTED, 0.95, 0.9), (HELD_OUT, 0.9, 0.8)])
def test_labelled_requests(path: Path, plans: float, fixes: float) -> None:
    triages = evaluate_requests(path)
    counts = confusion(triages)
    large, small = [len([labelled for labelled in triages if labelled.label == label]) for label in ("plan", SMALL)]
    assert large == small == len(triages) / 2
    assert counts["plan", NONE] == 0
    assert counts["plan", PLAN] >= plans * large
    assert counts[SMALL, NONE] >= fixes * small
    assert counts["plan", UNCLEAR] + counts[SMALL, UNCLEAR] < 0.15 * len(triages)
    assert sum([confidence_bin.total for confidence_bin in calibration(triages)]) == len(triages)
    assert brier(triages) < 0.05


def test_no_request_of_the_held_out_stands_in_the_others() -> None:
    assert not {labelled.request for labelled in evaluate_requests(HELD_OUT)} & {
        labelled.request for labelled in evaluate_requests(FITTED)
    }


@pytest.mark.skipif(CORPUS is None, reason="no corpus")
def test_plans_of_the_labelled_requests_are_in_the_corpus() -> None:
    assert CORPUS is not None
    for path in (FITTED, HELD_OUT):
        for row in path.read_text(encoding="utf-8").splitlines():
            label, request, source = row.split("\t")
            assert (source == "-") == (label == SMALL)
            if label == "plan":
                file, _, line = source.rpartition(":")
                lines = (CORPUS / file).read_text(encoding="utf-8", errors="replace").splitlines()
                assert lines[int(line) - 1].strip(), source
                assert request not in "\n".join(lines), f"quoted from the corpus: {request}"


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("Upgrade Django from 2.2 to 5.0", UNCLEAR),
        ("Upgrade Django from 2.2 to 2.3", NONE),
        ("Change the default port from 8000 to 8080", NONE),
        ("Delete the dead function of the reader", NONE),
    ],
)
def test_another_major_version_is_no_detail(words: str, verdict: str) -> None:
    assert evaluate_triage(words).verdict == verdict


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("Change 40 files", PLAN),
        ("Update the copyright in 3 files", NONE),
        ("This takes 6 hours", PLAN),
        ("Two days of work on the sidebar", PLAN),
        ("It takes 20 minutes", NONE),
        ("It touches three services", PLAN),
        ("Show 20 files on a page", NONE),
        ("Keep the pages for 6 hours", UNCLEAR),
        ("It does not change 40 files, only 2", UNCLEAR),
    ],
)
def test_numbers_that_say_how_much_work_it_is_count(words: str, verdict: str) -> None:
    assert evaluate_triage(words).verdict == verdict


def test_where_nothing_changes_that_is_reported() -> None:
    assert evaluate_triage(None, []).reasons == ("small: nothing changes",)


def test_the_confidence_is_what_the_points_say() -> None:
    result = evaluate_triage("Rewrite the storage across services, and fix the label")
    score = load_builtin_table().weights["nothing"] + sum([criterion.points for criterion in result.criteria])
    assert result.confidence == round(1 / (1 + exp(-score)), 4)
    assert [criterion.name for criterion in result.criteria] == [*CRITERIA, SMALL]
    for criterion in result.criteria:
        assert 0 <= criterion.strength <= 4
        assert bool(criterion.strength) == bool(criterion.evidence)


def test_weak_evidence_decides_nothing_and_plain_evidence_does() -> None:
    """What triage.toml promises of its weights."""
    weights, limits = load_builtin_table().weights, Thresholds()
    to_plan = weights["nothing"] - log(limits.plan / (1 - limits.plan))
    to_none = log(limits.none / (1 - limits.none)) - weights["nothing"]
    for name in CRITERIA:
        assert weights[name] < to_plan < 2 * weights[name]
    assert weights[SMALL] < to_none < 2 * weights[SMALL]


def test_thresholds_decide() -> None:
    request = "Fix the login"
    sure = evaluate_triage(request).confidence
    assert evaluate_triage(request, thresholds=Thresholds(sure, 0.1)).verdict == NONE
    assert evaluate_triage(request, thresholds=Thresholds(1, sure)).verdict == UNCLEAR
    assert evaluate_triage(request, thresholds=Thresholds(1, sure + 0.0001)).verdict == PLAN


@pytest.mark.parametrize(
    "words", ["Do it", "Tidy up", "Users can't log in on the phone", "修复按钮", "Behebe das Problem mit der Liste"]
)
def test_who_says_nothing_is_asked(words: str) -> None:
    result = evaluate_triage(words)
    assert result.verdict == UNCLEAR
    assert result.reasons
    assert all(["?" in unclear_point.question for unclear_point in result.unclear])
    assert result.unclear


def test_what_is_unclear_is_what_is_asked_about() -> None:
    (unclear_point,) = evaluate_triage("Put a cache in front of it").unclear
    assert unclear_point.criterion == "risk"
    assert '"cache"' in unclear_point.unclear


def test_wording_is_only_wording() -> None:
    assert evaluate_triage("Fix a typo in the migration guide of the authentication service").verdict == NONE
    assert evaluate_triage("Design a comment system with permissions").verdict == PLAN


def test_reasons_quote_the_request_and_the_weightiest_comes_first() -> None:
    result = evaluate_triage("Fix the label, then migrate every service to the new database")
    assert result.verdict == PLAN
    assert result.reasons[0].startswith("risk: ")
    assert '"migrate"' in result.reasons[0]
    assert not [reason for reason in result.reasons if reason.startswith("small")]


def test_the_same_under_any_hash_seed() -> None:
    code = (
        "from execplan.context.triage.change_summary import ChangedFile; from execplan.context.triage.triage_evaluation import evaluate_triage; "
        "print(evaluate_triage('Migrate the reader, the writer and the engine across services; fix `a_b`', "
        "[ChangedFile(f'p{n}/auth.py', n) for n in range(9)], {'reader': 'src/reader', 'engine': 'engine'}))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("4242", "Asia/Tokyo"))
    }
    assert len(outputs) == 1
