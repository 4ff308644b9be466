"""The items of a plan cover its text: each line is in one of them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.context.search.search_items import (
    ARTIFACT,
    MAX_CHARS,
    SearchItem,
    artifact_items,
    is_living_statement,
    plan_items,
)
from execplan.core.plan import reader
from execplan.core.plan.placeholder_text import PLACEHOLDER_LINES
from execplan.core.text.markdown_blocks import FRONT, PARAGRAPH
from tests.plans import CLEAN

PLAN = """\
Before the title.

# Build the parser

## Purpose / Big Picture

Plans can be read.

### For whom

Everyone.

## Progress

- [x] (2026-01-02 09:15Z) Read lines,
  all of them.
  - [~] Nested.

  More about the first.
- [ ] Build the parser.

## Decision Log

Prose before.

- Decision: Read bytes.
  Rationale: Nothing is lost.
  Date/Author: 2026-01-03 / Ann

## Risks

None.

# Another title

Text of no section.
"""
LINES = [
    *PLAN.splitlines(),
    *CLEAN.splitlines(),
    "```",
    "~~~",
    "> quote",
    "- item",
    "<<<<<<< a",
    "---",
    "<!--",
    "-->",
    "Plan revision note: 2026-01-05 - Changed.",
    *sorted(PLACEHOLDER_LINES)[:5],
]


def items_of(text: str) -> list[SearchItem]:
    return plan_items(reader.parse(text))


def test_items() -> None:
    items = {item.text.strip(): item for item in items_of(PLAN)}
    assert items["# Build the parser"].kind == "title"
    assert items["Plans can be read."].section == "purpose"
    assert items["### For whom\nEveryone."].heading == "Purpose / Big Picture › For whom"
    first = items["- [x] (2026-01-02 09:15Z) Read lines,\n  all of them.\n  More about the first."]
    assert (first.kind, first.state, first.date, first.lines) == ("task", "done", "2026-01-02", (15, 16, 19))
    assert (items["- [~] Nested."].state, items["- [ ] Build the parser."].state) == ("other", "open")
    decision = next(item for item in items.values() if item.kind == "decision")
    assert (decision.author, decision.date, decision.section) == ("Ann", "2026-01-03", "decision log")
    assert items["Prose before."].kind == "section"
    assert items["## Risks\nNone."].section == "risks"
    assert items["Before the title.\n# Another title\nText of no section."].section == ""


def test_the_sentence_about_a_living_document_is_in_no_item() -> None:
    sentence = (
        "This ExecPlan is a living document. Keep `Progress`\nup to date. Maintain it in accordance with PLANS.md."
    )
    items = [item.text for item in items_of(f"# T\n\n{sentence}\n\nOther text.\n\n## Notes\n\n{sentence}\n")]
    assert sorted(items) == ["# T", f"## Notes\n{sentence}", "Other text."]
    more = "This ExecPlan is a living document. It is about parsers."
    assert more in [item.text for item in items_of(f"# T\n\n{more}\n")]


def test_template_text_is_in_no_item() -> None:
    text = "---\nkey: value\n---\n\n# T\n\n## Plan of Work\n\n## Decision Log\n\n## Risks\n\nNone.\n"
    assert [item.text for item in items_of(text)] == ["key: value", "# T", "## Risks\nNone."]


@example(PLAN)
@example(CLEAN)
@example("---\na: b\n---\n# T\n")
@example("This ExecPlan is a living document.\nBefore the title.")
@given(st.lists(st.sampled_from(LINES), max_size=60).map("\n".join))
def test_each_line_is_in_one_item(text: str) -> None:
    if not text.strip():
        return
    plan = reader.parse(text)
    left_out = {*plan.placeholder_lines}
    for section in plan.sections:
        left_out |= set(range(section.start, section.body_start)) if section.name else set()
    first_section = min([section.start for section in plan.sections], default=len(plan.text.lines))
    for block in plan.blocks:
        left_out |= {block.start, block.end - 1} if block.kind == FRONT else set()
        block_lines = range(block.start, block.end)
        if block.kind == PARAGRAPH and not block.depth and block.start < first_section:
            if is_living_statement(" ".join([plan.text.lines[at] for at in block_lines])):
                left_out |= set(block_lines)
    expected = {index + 1: line for index, line in enumerate(plan.text.lines) if line.strip() and index not in left_out}
    found = [
        (number, line)
        for item in plan_items(plan)
        for number, line in zip(item.lines, item.text.split("\n"), strict=True)
    ]
    assert sorted(found) == sorted(expected.items())


def test_large_sections_and_lines_are_split() -> None:
    text = "# T\n\n## Notes\n\n" + "short line\n" * 10_000 + "x" * 200_000 + "\nlast\n"
    items = items_of(text)[1:]
    assert all([len(item.text) < 1.1 * MAX_CHARS for item in items])
    assert [number for item in items for number in item.lines] == [3, *range(5, 10_007)]
    assert items[-1].text == "last"
    assert items[-2].text == "x" * MAX_CHARS


def test_artifacts() -> None:
    (item,) = artifact_items(["logs/test.txt"])
    assert (item.kind, item.text, item.lines) == (ARTIFACT, "logs/test.txt", ())
