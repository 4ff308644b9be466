"""The plan in an answer, whatever a model puts around it."""

from __future__ import annotations

import pytest

from execplan.agents.drafting.plan_drafting import extract_plan, find_errors, shorten

PLAN = "# Title\n\n## Concrete Steps\n\n```sh\nmake\n```\n"


@pytest.mark.parametrize(
    "answer",
    [
        PLAN,
        f"\ufeff\n\n{PLAN}\n\n",
        PLAN.replace("\n", "\r\n"),
        f"Sure:\n\n{PLAN}",
        f"```markdown\n{PLAN}```\n",
        f"Here it is.\n\n````md\n\n{PLAN}````\n\nShall I go on?\n",
        f"~~~\n{PLAN}~~~\n",
        f"```sh\nls\n```\n\n```\n{PLAN}```",
        f"```markdown\n{PLAN}",
    ],
)
def test_what_is_around_the_plan(answer: str) -> None:
    expected = PLAN
    if answer == f"```markdown\n{PLAN}":
        expected = PLAN.removesuffix("```\n")  # the block was never closed, so its last fence is taken for the end
    assert extract_plan(answer.encode(), "Title").decode() == expected


def test_the_title_is_the_requested_one() -> None:
    assert extract_plan(b"# Something *else*\n\nText\n", "Read # lines").decode() == "# Read # lines\n\nText\n"


def test_no_plan() -> None:
    data = extract_plan(b"I can't.", "Title")
    assert data == b"I can't.\n"
    assert find_errors(data)[1]
    assert find_errors(b"\0\n")[1]


def test_many_problems_are_counted() -> None:
    assert shorten([str(number) for number in range(23)])[-1] == "and 3 more"
