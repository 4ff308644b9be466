"""Sections, prose, odd plans and line ends, merged."""

from __future__ import annotations

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.merge.plan_merge import ConflictMarkers, merge_plans
from execplan.core.text.line_merge import merge_with_markers
from tests.merge_checks import merge_both_ways, merge_by_rules

PLAN = """\
---
status: active
---

# T

A living document.

## Purpose / Big Picture

One.

Two.

Three.

## Context and Orientation

Text.

## Risks

Some.
"""


def test_each_section_is_taken_from_the_side_that_changed_it() -> None:
    ours = PLAN.replace("One.", "One!").replace("status: active", "status: done")
    theirs = PLAN.replace("Three.", "Three!").replace("Some.", "None.").replace("# T\n", "# Tee\n")
    expected = PLAN.replace("One.", "One!").replace("Three.", "Three!").replace("Some.", "None.")
    expected = expected.replace("status: active", "status: done").replace("# T\n", "# Tee\n")
    result = merge_both_ways(PLAN, ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (expected, 0)


def test_a_conflict_in_one_paragraph_leaves_all_else_merged() -> None:
    ours = PLAN.replace("Two.", "Two, ours.").replace("Text.", "More text.")
    theirs = PLAN.replace("Two.", "Two, theirs.").replace("Some.", "None.")
    marks = ConflictMarkers(9, "HEAD", "topic")
    result = merge_by_rules(PLAN.encode(), ours.encode(), theirs.encode(), marks)
    conflict = f"{'<' * 9} HEAD\nTwo, ours.\n{'=' * 9}\nTwo, theirs.\n{'>' * 9} topic"
    expected = PLAN.replace("Two.", conflict).replace("Text.", "More text.").replace("Some.", "None.")
    assert (result.data.decode(), result.conflict_count) == (expected, 1)
    merged = reader.read(result.data)
    assert len(merged.conflict_lines) == 3
    assert [section.title for section in merged.sections] == [
        section.title for section in reader.read(PLAN.encode()).sections
    ]


def test_lines_are_merged_by_what_is_handed_in() -> None:
    calls = []

    def lines(base: object, ours: object, theirs: object, marks: ConflictMarkers) -> tuple[list[str], int]:
        calls.append((base, ours, theirs, marks))
        return ["merged\n"], 3

    ours, theirs = PLAN.replace("Text.", "Ours."), PLAN.replace("Text.", "Theirs.")
    result = merge_plans(PLAN.encode(), ours.encode(), theirs.encode(), lines, ConflictMarkers(8))
    head = ["## Context and Orientation\n", "\n"]
    assert calls == [([*head, "Text.\n"], [*head, "Ours.\n"], [*head, "Theirs.\n"], ConflictMarkers(8))]
    assert result.data.decode() == PLAN.replace("## Context and Orientation\n\nText.", "merged")
    assert result.conflict_count == 3


def test_a_section_added_is_placed_behind_its_neighbour() -> None:
    ours = PLAN.replace("## Risks", "## Plan of Work\n\nFirst.\n\n## Risks")
    theirs = PLAN.replace("## Context", "## Milestones\n\nM1.\n\n## Context") + "\n## Later\n\nWhat.\n"
    expected = ours.replace("## Context", "## Milestones\n\nM1.\n\n## Context") + "\n## Later\n\nWhat.\n"
    assert merge_both_ways(PLAN, ours, theirs).data.decode() == expected


def test_sections_added_at_one_place_take_the_order_of_the_twelve() -> None:
    ours = PLAN.replace("## Context", "## Decision Log\n\nD.\n\n## Context")
    theirs = PLAN.replace("## Context", "## Surprises & Discoveries\n\nS.\n\n## Context")
    expected = PLAN.replace("## Context", "## Surprises & Discoveries\n\nS.\n\n## Decision Log\n\nD.\n\n## Context")
    assert merge_both_ways(PLAN, ours, theirs).data.decode() == expected


def test_a_section_under_another_name_is_the_same() -> None:
    ours = PLAN.replace("## Context and Orientation", "## Context & Orientation (as of May)")
    theirs = PLAN.replace("Text.", "Other text.")
    assert merge_both_ways(PLAN, ours, theirs).data.decode() == ours.replace("Text.", "Other text.")


def test_a_section_renamed_is_the_same_when_its_text_is() -> None:
    base = PLAN.replace("Some.", "Some.\n\nMore.\n\nMost.")
    ours, theirs = base.replace("## Risks", "## Dangers"), base.replace("Most.", "All.")
    assert merge_both_ways(base, ours, theirs).data.decode() == ours.replace("Most.", "All.")


def test_a_section_deleted_here_and_changed_there_is_a_conflict_of_it() -> None:
    without_risks = PLAN.replace("\n## Risks\n\nSome.\n", "")
    assert merge_both_ways(PLAN, without_risks, PLAN).data.decode() == without_risks
    result = merge_by_rules(PLAN.encode(), without_risks.encode(), PLAN.replace("Some.", "Many.").encode())
    expected = f"{without_risks}\n<<<<<<< ours\n=======\n## Risks\n\nMany.\n>>>>>>> theirs\n"
    assert (result.data.decode(), result.conflict_count) == (expected, 1)


def test_nothing_left_by_either_side_is_a_conflict() -> None:
    result = merge_by_rules(b"# T\n\n## Context\n", b"# T\n", b"## Context\n")
    assert result.data == b"<<<<<<< ours\n# T\n=======\n## Context\n>>>>>>> theirs\n"
    assert result.conflict_count == 1


def test_sections_moved_on_one_side_stay_moved() -> None:
    head, purpose, context, risks = PLAN.split("\n## ")
    ours = f"{head}\n## {purpose}\n## {risks}\n## {context}"
    result = merge_both_ways(PLAN, ours, PLAN.replace("Some.", "Many."))
    assert result.data.decode() == ours.replace("Some.", "Many.")


def test_the_second_of_two_equal_sections_is_the_second() -> None:
    base = PLAN + "\n## Risks\n\nOthers.\n"
    ours, theirs = base.replace("Some.", "Many."), base.replace("Others.", "More.")
    assert merge_both_ways(base, ours, theirs).data.decode() == ours.replace("Others.", "More.")


@pytest.mark.parametrize(
    "base",
    [
        "# One\n\n## Progress\n\n- [ ] A.\n\n# Two\n\nPasted.\n\n## Progress\n\n- [ ] B.\n",
        "Only prose.\n\nA.\n\nand on.\n\nB.\n",
        "## Parser\n\n## Progress\n\n- [ ] A.\n\n## Context\n\nB.\n",
        "# T\n\n## Progress\n\n- [ ] A.\n\n```\nopen\n\n## Context\n\nB.\n",
        "# T\n\n## Progress\n\n- [ ] A.\n\n<!-- open\n\n## Context\n\nB.\n",
        "T\n=\n\nProgress\n--------\n\n- [ ] A.\n\nContext\n-------\n\nB.\n",
        "\n\n# T\n\n## Progress\n- [ ] A.\n## Context\nB.",
    ],
)
def test_odd_plans(base: str) -> None:
    ours, theirs = base.replace("A.", "A, ours."), base.replace("B.", "B, theirs.")
    result = merge_both_ways(base, ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (ours.replace("B.", "B, theirs."), 0)


def test_a_fence_left_open_on_one_side_loses_nothing() -> None:
    ours, theirs = PLAN.replace("Two.", "```\nTwo."), PLAN.replace("Some.", "Many.")
    for left, right in ((ours, theirs), (theirs, ours)):
        result = merge_by_rules(PLAN.encode(), left.encode(), right.encode())
        assert b"```\nTwo." in result.data
        assert b"Many." in result.data


def test_added_on_both_sides() -> None:
    assert merge_by_rules(None, PLAN.encode(), PLAN.encode()).data == PLAN.encode()
    ours = PLAN.replace("## Risks", "## Progress\n\n- [ ] A.\n\n## Risks")
    theirs = PLAN.replace("## Risks", "## Progress\n\n- [x] A.\n- [ ] B.\n\n## Risks")
    for base in (None, b"", b" \n"):
        assert merge_plans(base, ours.encode(), theirs.encode(), merge_with_markers).data.decode() == theirs


def test_two_plans_added_under_one_name_conflict_whole() -> None:
    ours, theirs = PLAN, "# Another\n\n## Progress\n\n- [ ] B."
    result = merge_by_rules(None, ours.encode(), theirs.encode())
    assert result.data.decode() == f"<<<<<<< ours\n{ours}=======\n{theirs}\n>>>>>>> theirs\n"
    assert result.conflict_count == 1
    assert "two different plans" in result.notes[0]


def test_a_base_with_conflicts_of_its_own_loses_nothing() -> None:
    tasks = PLAN.replace("## Risks", "## Progress\n\n- [ ] A.\n{}\n## Risks")
    base = tasks.format(f"{'<' * 9} a\n- [x] One.\n{'=' * 9}\n- [ ] Two.\n{'>' * 9} b\n")
    ours, theirs = tasks.format("- [x] One.\n- [ ] Ours.\n"), tasks.format("- [x] One.\n- [ ] Two.\n")
    result = merge_both_ways(base, ours, theirs)
    texts = [task.text for task in reader.read(result.data).tasks]
    assert (sorted(texts), result.conflict_count) == (["A.", "One.", "Ours.", "Two."], 0)


def test_a_side_with_markers_of_its_own_is_taken_as_text() -> None:
    base = PLAN.replace("## Risks", "## Progress\n\n- [ ] A.\n- [ ] B.\n\n## Risks")
    ours = base.replace("- [ ] A.", "<<<<<<< x\n- [ ] A.\n=======\n- [x] A.\n>>>>>>> y")
    theirs = base.replace("- [ ] B.", "- [x] B.").replace("Two.", "Two!")
    result = merge_by_rules(base.encode(), ours.encode(), theirs.encode())
    expected = ours.replace("- [ ] B.", "- [x] B.").replace("Two.", "Two!")
    assert (result.data.decode(), result.conflict_count) == (expected, 0)
    assert merge_by_rules(base.encode(), theirs.encode(), ours.encode()).data.decode() == expected


CRLF = PLAN.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        (PLAN, CRLF.replace("One.", "1."), PLAN.replace("Two.", "2."), CRLF.replace("One.", "1.").replace("Two.", "2.")),
        (CRLF, CRLF.replace("One.", "1."), PLAN.replace("Two.", "2."), PLAN.replace("One.", "1.").replace("Two.", "2.")),
        (PLAN, PLAN + "Last.", PLAN.replace("One.", "1."), PLAN.replace("One.", "1.") + "Last."),
        (PLAN, PLAN.replace("One.", "1."), PLAN[:-1], PLAN.replace("One.", "1.")[:-1]),
        (PLAN[:-1], PLAN, PLAN[:-1].replace("One.", "1."), PLAN.replace("One.", "1.")),
        (PLAN, "\ufeff" + PLAN, PLAN.replace("One.", "1."), "\ufeff" + PLAN.replace("One.", "1.")),
        ("\ufeff" + PLAN, "\ufeff" + PLAN.replace("Two.", "2."), PLAN, PLAN.replace("Two.", "2.")),
        (PLAN, PLAN.replace("One.\n", "One.\r\n"), PLAN.replace("Two.", "2."), PLAN.replace("One.\n", "One.\r\n").replace("Two.", "2.")),
        (PLAN, PLAN.replace("Two.", "2."), PLAN.replace("active\n", "active\r"), PLAN.replace("active\n", "active\r").replace("Two.", "2.")),
        (PLAN, PLAN.replace("One.", "One. \t"), PLAN.replace("Two.\n", "Two.\n  \n"), PLAN.replace("One.", "One. \t").replace("Two.\n", "Two.\n  \n")),
    ],
)  # fmt: skip
def test_ends_of_lines_and_of_files(base: str, ours: str, theirs: str, wanted: str) -> None:
    result = merge_by_rules(base.encode(), ours.encode(), theirs.encode())
    assert (result.data, result.conflict_count) == (wanted.encode(), 0)


def test_new_lines_of_theirs_end_as_their_neighbours_do() -> None:
    theirs = PLAN.replace("Some.\n", "Some.\n\nNew.\n\n## New\n\nNewer.\n")
    assert merge_by_rules(PLAN.encode(), CRLF.encode(), theirs.encode()).data.decode() == theirs.replace("\n", "\r\n")
    head, tail = CRLF.split("## Risks")
    ours = head + ("## Risks" + tail).replace("\r\n", "\n")
    expected = ours.replace("Some.\n", "Some.\n\nNew.\n\n## New\n\nNewer.\n")
    assert merge_by_rules(CRLF.encode(), ours.encode(), theirs.replace("\n", "\r\n").encode()).data == expected.encode()


@pytest.mark.parametrize("bad", [b"\xff", b"a\0b", b"", "# T".encode("utf-16")])
def test_a_side_that_is_no_text_is_refused(bad: bytes) -> None:
    for three in ((PLAN.encode(), bad, PLAN.encode()), (PLAN.encode(), PLAN.encode(), bad)):
        with pytest.raises(ExecplanError) as caught:
            merge_plans(*three, merge_with_markers)
        assert caught.value.exit == 3
