"""Mutated documents get the answers that pydantic gave when it validated them: the same violations in the same order.

`recorded_outcomes.json` was written by the last commit whose models were pydantic's. Only the pointer of a
`new_information` of the wrong type was changed in it, since it showed how pydantic checks JSON, and suggestions of names
that are similar only by chance were removed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.execution.documents.document_mutants import (
    EXAMPLES,
    Example,
    json_outcome,
    python_outcome,
    selected_mutants,
)

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_outcomes.json").read_text(encoding="utf-8"))
"""The different outcomes, and for each document their indexes by the change."""
STRICT_IN_PYTHON = {"approval"}
"""The model took only a tuple and a member of `Level` from Python, where the others took lists and texts too."""


@pytest.mark.parametrize("document_name", EXAMPLES)
def test_the_answers_are_as_recorded(document_name: str) -> None:
    outcomes, indexes = RECORDED["outcomes"], RECORDED[document_name]
    changes = [
        (change, example, mutant) for name, change, example, mutant in selected_mutants() if name == document_name
    ]
    assert [change for change, _, _ in changes] == list(indexes)
    for change, example, mutant in changes:
        expected = [outcomes[index] for index in indexes[change]]
        assert _outcomes(document_name, example, mutant)[: len(expected)] == expected, change


def _outcomes(document_name: str, example: Example, mutant: Any) -> list[list[str]]:
    """What is answered to JSON, and to Python objects."""
    from_json = json_outcome(example.kind, mutant)
    return [from_json] if document_name in STRICT_IN_PYTHON else [from_json, python_outcome(example.kind, mutant)]


def test_hundreds_are_recorded() -> None:
    assert sum([len(RECORDED[name]) for name in EXAMPLES]) > 2000
    assert {len(outcome) for outcome in RECORDED["outcomes"]} > {1, 2, 3}
