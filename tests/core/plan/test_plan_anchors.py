"""Anchors: how a part of a plan is named, and found again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.plan_anchors import Anchor, find_target, list_targets, locate_anchors

PLAN = """\
# Build the parser

## Progress

- [x] Read lines.
- [ ] Write the tests.
- [ ] Write the tests.
- [ ] Read `build`.

## Decision Log

- Decision: Read bytes. Rationale: Nothing is lost. Date/Author: 2026-01-01, Ann.
- Decision: Keep lines. Rationale: A task is a line. Date/Author: 2026-01-02, Ann.

## Surprises and discoveries

- Observation: CR ends lines. Evidence: old.md.

## Concrete Steps

```sh {#build}
make parser
```
"""
TARGETS = list_targets(reader.parse(PLAN), [("build", 20)])


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("1", "task 1"),
        ("task 4", "task 4"),
        ("read lines", "task 1"),
        ("decision log", "section Decision Log"),
        ("Surprises & Discoveries", "section Surprises and discoveries"),
        ("progress", "section Progress"),
        ("decision 2", "decision 2"),
        ("decision bytes", "decision 1"),
        ("nothing-is-no-match", ""),
        ("keep lines", "decision 2"),
        ("discovery 1", "discovery 1"),
        ("build", "step build"),
        ("step build", "step build"),
        ("plan", "the plan"),
        ("PLAN", "the plan"),
        ("task 9", ""),
        ("decision 3", ""),
        ("step", "section Concrete Steps"),
        ("", ""),
        ("section progress", "section Progress"),
    ],
)
def test_a_part_is_named(query: str, label: str) -> None:
    if label:
        assert find_target(TARGETS, query).label == label
        return
    with pytest.raises(ExecplanError) as caught:
        find_target(TARGETS, query)
    assert (caught.value.code, caught.value.exit) == ("no-such-part", 3)


def test_a_task_is_named_by_its_id() -> None:
    tasks = [target for target in TARGETS if target.task_id]
    assert [find_target(TARGETS, task.task_id) for task in tasks] == tasks
    assert len(tasks) == 4


@pytest.mark.parametrize("query", ["lines", "write the tests", "read"])
def test_several_matches_are_listed(query: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        find_target(TARGETS, query)
    assert (caught.value.code, caught.value.exit) == ("ambiguous-part", 3)
    assert len(caught.value.candidates) > 1
    named = re.findall("--on '(.+?)'", caught.value.hint)
    assert named == [candidate.partition(": ")[0] for candidate in caught.value.candidates[:2]]
    assert [find_target(TARGETS, name).label for name in named] == named


def test_parts_with_the_same_text_have_anchors_of_their_own() -> None:
    anchors = [target.anchor for target in TARGETS]
    assert len(set(anchors)) == len(anchors)
    assert find_target(TARGETS, "3").anchor == Anchor("task", "Write the tests.", 2, 2)
    fewer = list_targets(reader.parse(PLAN.replace("- [ ] Write the tests.\n", "", 1)))
    assert locate_anchors(fewer, [Anchor("task", "Write the tests.", 2, 2)]) == [None]


WORDS = st.lists(st.sampled_from(["read", "lines", "Write", "the", "tests", "CR"]), min_size=1, max_size=4).map(
    " ".join
)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=4))
def test_every_part_is_found_by_its_own_anchor(tasks: list[str], decisions: list[str]) -> None:
    lines = ["# Plan", "", "## Progress", "", *[f"- [ ] {task}" for task in tasks], "", "## Decision Log", ""]
    lines += [f"- Decision: {decision}" for decision in decisions]
    targets = list_targets(reader.parse("\n".join(lines) + "\n"))
    assert locate_anchors(targets, [target.anchor for target in targets]) == targets
