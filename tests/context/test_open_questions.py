"""Open questions are what stands below their headings: list items, or paragraphs if there are none."""

from __future__ import annotations

from execplan.context.open_questions import find_open_questions
from execplan.core.plan import reader
from tests.plans import CLEAN


def questions(text: str) -> list[tuple[str, str, bool]]:
    """The questions of a plan that ends with a text."""
    plan = reader.read(f"{CLEAN}\n{text}".encode())
    return [(question.heading, question.text, question.is_question) for question in find_open_questions(plan)]


def test_items_and_paragraphs() -> None:
    assert questions("### Open Questions\n\nThese are open:\n\n- Which\n  encoding?\n\n  More.\n1. Who?\n") == [
        ("Open Questions", "Which encoding?", True),
        ("Open Questions", "Who?", True),
    ]
    assert questions("### Known unknowns\n\nThe size.\nAnd the cost.\n\nThe time.\n") == [
        ("Known unknowns", "The size. And the cost.", True),
        ("Known unknowns", "The time.", True),
    ]


def test_risks_are_no_questions() -> None:
    assert questions("### Risks\n\n- It may be slow.\n") == [("Risks", "It may be slow.", False)]


def test_the_next_heading_ends_them() -> None:
    assert questions("### Questions\n\n### Notes\n\n- A note.\n") == []
    assert questions("") == []
