"""Mutated documents get the recorded answers: the same violations in the same order, or the same bytes.

`recorded_outcomes.json` says which documents pydantic accepted when it validated them, with what bytes. Its messages are
those of today. Only integers of more than 19 digits, which no file can have, were accepted from Python in some fields.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.execution.documents.document_mutants import EXAMPLES, outcome, selected_mutants

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_outcomes.json").read_text(encoding="utf-8"))
"""The different outcomes, and for each document their index by the change."""


@pytest.mark.parametrize("document_name", EXAMPLES)
def test_the_answers_are_as_recorded(document_name: str) -> None:
    outcomes, indexes = RECORDED["outcomes"], RECORDED[document_name]
    changes = [
        (change, example, mutant) for name, change, example, mutant in selected_mutants() if name == document_name
    ]
    assert [change for change, _, _ in changes] == list(indexes)
    for change, example, mutant in changes:
        assert outcome(example.kind, mutant) == outcomes[indexes[change]], change


def test_hundreds_are_recorded() -> None:
    assert sum([len(RECORDED[name]) for name in EXAMPLES]) > 2000
    assert {len(outcome) for outcome in RECORDED["outcomes"]} > {1, 2, 3}
