"""Tests of the table of roles: which heading means what, in which language."""

from __future__ import annotations

import pytest

from execplan.core.plan import outline, section_roles
from execplan.core.plan.reader import parse
from execplan.core.plan.role_table import TITLES
from execplan.core.plan.stated_status import find_done_status
from execplan.core.plan.title_edits import title_edit
from execplan.core.text.text_lines import apply_edits

ROLES = ["tasks", "validation", "next_step", "status", "purpose", "decisions", "discoveries", "outcomes", "context"]


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Goals", "purpose"),
        ("1. Executive Summary", "purpose"),
        ("一、目标", "purpose"),
        ("Entscheidungen", "decisions"),
        ("설계 결정", "decisions"),
        ("Lessons Learned", "discoveries"),
        ("振り返り", "outcomes"),
        ("Contexto", "context"),
        ("Out of Scope", "scope"),
        ("Вне объёма", "scope"),
        ("Risques", "risks"),
        ("**Risks & Mitigations:**", "risks"),
        ("Task 3: Parser", "tasks"),
        ("次のステップ", "next_step"),
        ("Parser", None),
    ],
)
def test_role_of_a_title(title: str, role: str | None) -> None:
    """A title has the role that it has in any of the languages."""
    assert section_roles.find_role(title, {}) == role


def test_a_title_belongs_to_one_role_and_is_written_as_it_is_compared() -> None:
    """Titles are unique and in the form of `title_key`, so that each can match."""
    titles = [title for titles in TITLES.values() for title in titles]
    assert len(titles) == len(set(titles))
    assert [title for title in titles if outline.title_key(title) != title] == []
    assert set(ROLES) <= set(TITLES)


@pytest.mark.parametrize(
    ("title", "role"), [("Open risks of the release", "risks"), ("项目目标", "purpose"), ("Offene Fragen", "questions")]
)
def test_word_of_a_longer_title(title: str, role: str) -> None:
    """A longer title has the role of one of its words."""
    assert section_roles.find_role(title, {}) is None
    assert section_roles.guess_role(title) == role
    assert section_roles.has_role(title, role, {})


@pytest.mark.parametrize(
    "heading", ["Overview", "Key Decisions", "Lessons Learned", "Results", "Background", "Scope", "Risks"]
)
def test_roles_that_documents_have_make_no_plan(heading: str) -> None:
    """A design has a purpose and risks, too: only sections about the work make a file a plan."""
    assert parse(f"# Parser\n\n## {heading}\n\nSome text.\n").is_document
    assert not parse(f"# Parser\n\n## {heading}\n\nText.\n\n## Next steps\n\nSome text.\n").is_document


def test_status_section_with_another_title_is_checked() -> None:
    """The rule about a finished status knows the sections of the table."""
    plan = parse("# Plan\n\n## Current Status\n\nDone\n\n## Tasks\n\n- [ ] Write it\n")
    assert [span.text for span in find_done_status(plan)] == ["Done"]


@pytest.mark.parametrize(
    ("text", "is_document"),
    [
        ("# Parser\n\nStatus: completed on this branch\n\n## Outcome\n\nIt parses.\n", False),
        ("# Parser\n\n**Status:** In Progress\n\n## Notes\n\nText.\n", False),
        ("# Parser\n\n状态：已完成\n\n## Notes\n\nText.\n", False),
        ("# Parser\n\n## Status: Completed\n\n## Notes\n\nText.\n", False),
        ("# Parser\n\nStatus: accepted by the board\n\n## Notes\n\nText.\n", True),
        ("# Parser Design\n\n**Status:** Done\n\n## Testing\n\nText.\n", True),
        ("# ADR: Parser\n\n**Status:** Done\n\n## Testing\n\nText.\n", True),
        ("# Parser Design\n\n- [ ] Write it\n", False),
    ],
)
def test_what_says_how_far_it_is_is_a_plan(text: str, is_document: bool) -> None:
    assert parse(text).is_document == is_document


def test_the_title_of_front_matter_counts_before_a_heading_in_the_text() -> None:
    plan = parse("---\ntitle: >-\n  Read long\n  lines\n---\n\n## Description\n\nText.\n\n# TODO.md\n\n- [ ] Cut\n")
    assert (plan.title, plan.title_line) == ("Read long lines", 1)
    edit = title_edit(plan, "Read short lines")
    assert edit is not None
    assert parse(apply_edits(plan.text, [edit]).to_str()).title == "Read short lines"
