"""What the text of a task says it needs from other plans."""

from __future__ import annotations

import pytest

from execplan.core.plan.task_needs import read_task_needs


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("Deploy (needs auth#3)", ["auth#3"]),
        ("Deploy; needs `auth#t1b2c3`.", ["auth#t1b2c3"]),
        ("Deploy; needs auth#3, docs#t9z-2 and site#1.", ["auth#3", "docs#t9z-2", "site#1"]),
        ("Deploy; Needs plans/auth.md#3", ["plans/auth.md#3"]),
        ("Needs review", []),
        ("Needs review of auth#3", []),
        ("Deploy, it needs owner/name#12", []),
        ("Fix auth#3", []),
        ("needs #3", []),
        ("needs auth#", []),
        ("needs auth#3 needs auth#3", ["auth#3"]),
        ("It needs auth#3. Issue docs#7 is another matter", ["auth#3"]),
    ],
)
def test_needs(text: str, needs: list[str]) -> None:
    assert [need.name for need in read_task_needs(text)] == needs
