"""Whatever two branches do to a plan with the tool: nothing is lost, nothing is doubled, nobody's work is ticked for them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, reader, task_edits, task_rewording
from execplan.core.plan.merge.unit_matching import split_words
from execplan.core.plan.model import DONE, OPEN
from execplan.core.plan.plan_change import plan_content
from execplan.core.text.text_lines import Text
from tests.conftest import find_corpus
from tests.core.plan.test_plan_change import HEADS, LINES, plans
from tests.merge_checks import content_lines, merge_by_rules
from tests.plans import CLEAN

if TYPE_CHECKING:
    from execplan.core.plan.merge.plan_merge import MergeResult
    from execplan.core.plan.plan_change import ChangeBuilder

CORPUS = find_corpus()
PLANS = sorted(CORPUS.rglob("*.md")) if CORPUS else []
STEPS = ("done", "done", "done", "add", "add", "decide", "discover", "outcome", "revise", "split", "reword", "reopen")
START = datetime(2026, 6, 1, tzinfo=UTC)


class Step:
    """One verb of a branch: which, on which of the tasks that it fits, with words of its own, and when."""

    def __init__(self, command: str, pick: int, text: str, minutes: int) -> None:
        self.command = command
        self.pick = pick
        self.text = text
        self.minutes = minutes

    def __repr__(self) -> str:
        return f"{self.command} {self.pick} {self.text!r} {self.minutes}"

    def change(self, data: bytes, moment: datetime) -> ChangeBuilder | None:
        """The change that it makes of a plan, or None when that has no task for it."""
        required_state = {"done": OPEN, "split": OPEN, "reopen": DONE}.get(self.command)
        fitting = [task for task in reader.read(data).tasks if required_state in (None, task.state)]
        query = str(fitting[self.pick % len(fitting)].number) if fitting else ""
        if self.command in ("done", "reopen", "split", "reword") and not query:
            return None
        if self.command == "done":
            return task_edits.complete_tasks([query], moment)
        if self.command == "reopen":
            return task_edits.reopen_tasks([query])
        if self.command == "split":
            return task_rewording.split_task(query, f"Done {self.text}", f"Left {self.text}", moment)
        if self.command == "reword":
            return task_rewording.reword_task(query, self.text)
        if self.command == "add":
            return task_edits.add_task(
                self.text, moment, create=True, after=query if query and self.pick % 3 == 0 else None
            )
        if self.command == "decide":
            return log_edits.add_decision(self.text, "Because of it", "Ann", moment, create=True)
        if self.command == "discover":
            return log_edits.add_discovery(self.text, "Seen", create=True)
        return (
            log_edits.add_outcome(self.text, create=True)
            if self.command == "outcome"
            else log_edits.add_revision_note(self.text, moment)
        )


@st.composite
def branches(draw: st.DrawFn, commands: tuple[str, ...] = STEPS) -> list[list[Step]]:
    """What each of two branches does; the words say which one and which step of it."""
    return [
        [
            Step(
                draw(st.sampled_from(commands)),
                draw(st.integers(0, 40)),
                f"{side} number {at} of words",
                draw(st.integers(0, 9000)),
            )
            for at in range(draw(st.integers(1, 5)))
        ]
        for side in ("Ours", "Theirs")
    ]


def apply_steps(data: bytes, steps: list[Step]) -> bytes:
    """The plan after the steps that it allows."""
    for step in steps:
        try:
            change = step.change(data, START + timedelta(minutes=step.minutes))
            data = apply_change(data, change)[0] if change else data
        except ExecplanError:
            continue
    return data


def count_entries(data: bytes) -> Counter[tuple[str, str]]:
    """The tasks and the entries of a plan, each by its words, and how often."""
    content = plan_content(reader.read(data))
    lists = {
        "task": [text for _, text in content.tasks],
        "decision": [str(entry[0]) for entry in content.decisions],
        "discovery": [str(entry[0]) for entry in content.discoveries],
        "outcome": list(content.outcomes),
        "note": list(content.revisions),
    }
    return Counter((kind, " ".join(split_words(text))) for kind, texts in lists.items() for text in texts)


def check(base: bytes, ours: bytes, theirs: bytes) -> MergeResult:
    """All that must hold of any merge of what verbs did."""
    result = merge_by_rules(base, ours, theirs)
    base_entries, our_entries, their_entries, merged_entries = [
        count_entries(data) for data in (base, ours, theirs, result.data)
    ]
    for side in (our_entries, their_entries):
        assert not [fact for fact in side - base_entries if not merged_entries[fact]], "lost"
    assert not any("line by line" in note for note in result.notes)
    swapped = merge_by_rules(base, theirs, ours)
    assert swapped.conflict_count == result.conflict_count
    if not result.conflict_count:
        assert not [
            fact
            for fact in merged_entries
            if merged_entries[fact] > max(base_entries[fact], our_entries[fact], their_entries[fact])
        ], "doubled"
        assert content_lines(swapped.data) == content_lines(result.data)
        base_marks, our_marks, their_marks, merged_marks = [
            unique_task_marks(data) for data in (base, ours, theirs, result.data)
        ]
        reopened = any(
            base_marks[text] == "x" != side.get(text, "x") for text in base_marks for side in (our_marks, their_marks)
        )
        for text, mark in merged_marks.items():
            sides = (our_marks.get(text), their_marks.get(text))
            assert mark != "x" or "x" in sides, "a tick for work nobody did"
            was_done = base_marks.get(text) == "x" or (
                reopened and text not in base_marks
            )  # which the other side reworded
            assert mark == "x" or was_done or "x" not in sides, "a tick lost"
    repeated = merge_by_rules(base, ours, ours)
    assert (repeated.data, repeated.conflict_count) == (ours, 0)
    for inputs, expected in (((base, base, theirs), theirs), ((base, ours, base), ours)):
        assert merge_by_rules(*inputs).data == expected
    return result


def unique_task_marks(data: bytes) -> dict[str, str]:
    """The mark of each task whose words no other has."""
    tasks = reader.read(data).tasks
    counts = Counter(task.text for task in tasks)
    return {task.text: task.mark.lower() for task in tasks if counts[task.text] == 1}


@given(branches())
@example(
    [
        [Step("reopen", 0, "Ours number 0 of words", 0), Step("done", 1, "Ours number 1 of words", 0)],
        [Step("reword", 0, "Theirs number 0 of words", 0)],
    ]
)
@settings(max_examples=150)
def test_verbs_on_a_plan_of_ours(steps: list[list[Step]]) -> None:
    base = CLEAN.replace(
        "- [ ] Build the parser.", "- [ ] Build the parser.\n- [ ] Print it.\n  - [ ] Nested."
    ).encode()
    check(base, apply_steps(base, steps[0]), apply_steps(base, steps[1]))


@given(branches(("done", "add", "decide", "discover", "outcome", "revise", "reopen")))
@settings(max_examples=100)
def test_what_only_adds_and_ticks_never_conflicts(steps: list[list[Step]]) -> None:
    base = CLEAN.encode()
    assert check(base, apply_steps(base, steps[0]), apply_steps(base, steps[1])).conflict_count == 0


@pytest.mark.exhaustive
@pytest.mark.skipif(not PLANS, reason="no corpus here")
@given(st.data(), branches())
@settings(max_examples=80)
def test_verbs_on_plans_of_the_corpus(data: st.DataObject, steps: list[list[Step]]) -> None:
    path: Path = data.draw(st.sampled_from(PLANS))
    base = path.read_bytes()
    check(base, apply_steps(base, steps[0]), apply_steps(base, steps[1]))


@pytest.mark.exhaustive
@pytest.mark.skipif(not PLANS, reason="no corpus here")
def test_every_tenth_plan_of_the_corpus_is_cut_and_put_together_again() -> None:
    for path in PLANS[::10]:
        base = path.read_bytes()
        ours = apply_steps(base, [Step("add", 1, "Ours alone", 0), Step("revise", 0, "Ours noted", 0)])
        theirs = apply_steps(base, [Step("done", 0, "", 5), Step("decide", 0, "Theirs decided", 5)])
        assert check(base, ours, theirs).conflict_count == 0, path


@st.composite
def edited(draw: st.DrawFn, data: bytes) -> bytes:
    """A text after some careless edits of lines."""
    lines = list(Text.from_bytes(data).lines)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        new = draw(st.lists(LINES | HEADS, max_size=2))
        lines[at : at + draw(st.integers(0, 2))] = new or [""]
    text = "\n".join(lines)
    return text.encode() if text.strip() else data


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A base and two versions that grew out of it, or that have nothing to do with it."""
    base = draw(plans())
    if draw(st.booleans()):
        return base, draw(edited(base)), draw(edited(base))
    return base, draw(plans()), draw(plans())


@given(versions())
@settings(max_examples=300)
def test_any_texts_keep_the_laws_of_a_merge(three: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = three
    assert merge_by_rules(base, base, theirs).data == theirs
    assert merge_by_rules(base, ours, base).data == ours
    for ancestor in (base, None):
        merged = merge_by_rules(ancestor, ours, ours)
        assert (merged.data, merged.conflict_count) == (ours, 0)
    result = merge_by_rules(base, ours, theirs)
    assert reader.read(result.data).text.to_bytes() == result.data
    if not result.conflict_count:
        line_counts = [Counter(content_lines(data)) for data in three]
        unique_lines = [
            line for line in line_counts[0] if all(counts[line] == 1 for counts in line_counts) and line != "None yet."
        ]
        assert set(unique_lines) <= set(content_lines(result.data))
