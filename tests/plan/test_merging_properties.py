"""Whatever two branches do to a plan with the tool: nothing is lost, nothing is doubled, nobody's work is ticked for them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.edits.plan_writer import apply_change
from execplan.errors import ExecplanError
from execplan.plan import log_edits, reader, task_edits, task_rewording
from execplan.plan.merge.unit_matching import split_words
from execplan.plan.model import DONE, OPEN
from execplan.plan.plan_change import plan_content
from execplan.text.text_lines import Text
from tests.conftest import find_corpus
from tests.merging import general, said
from tests.plan.test_properties import HEADS, LINES, plans
from tests.plans import CLEAN

if TYPE_CHECKING:
    from execplan.plan.merge.plan_merge import MergeResult
    from execplan.plan.plan_change import ChangeBuilder

CORPUS = find_corpus()
PLANS = sorted(CORPUS.rglob("*.md")) if CORPUS else []
STEPS = ("done", "done", "done", "add", "add", "decide", "discover", "outcome", "revise", "split", "reword", "reopen")
START = datetime(2026, 6, 1, tzinfo=UTC)


class Step:
    """One verb of a branch: which, on which of the tasks that it fits, with words of its own, and when."""

    def __init__(self, verb: str, pick: int, words: str, minutes: int) -> None:
        self.verb = verb
        self.pick = pick
        self.words = words
        self.minutes = minutes

    def __repr__(self) -> str:
        return f"{self.verb} {self.pick} {self.words!r} {self.minutes}"

    def change(self, data: bytes, moment: datetime) -> ChangeBuilder | None:
        """The change that it makes of a plan, or None when that has no task for it."""
        wanted = {"done": OPEN, "split": OPEN, "reopen": DONE}.get(self.verb)
        fitting = [task for task in reader.read(data).tasks if wanted in (None, task.state)]
        query = str(fitting[self.pick % len(fitting)].number) if fitting else ""
        if self.verb in ("done", "reopen", "split", "reword") and not query:
            return None
        if self.verb == "done":
            return task_edits.complete_tasks([query], moment)
        if self.verb == "reopen":
            return task_edits.reopen_tasks([query])
        if self.verb == "split":
            return task_rewording.split_task(query, f"Done {self.words}", f"Left {self.words}", moment)
        if self.verb == "reword":
            return task_rewording.reword_task(query, self.words)
        if self.verb == "add":
            return task_edits.add_task(
                self.words, moment, create=True, after=query if query and self.pick % 3 == 0 else None
            )
        if self.verb == "decide":
            return log_edits.add_decision(self.words, "Because of it", "Ann", moment, create=True)
        if self.verb == "discover":
            return log_edits.add_discovery(self.words, "Seen", create=True)
        return (
            log_edits.add_outcome(self.words, create=True)
            if self.verb == "outcome"
            else log_edits.add_revision_note(self.words, moment)
        )


@st.composite
def branches(draw: st.DrawFn, verbs: tuple[str, ...] = STEPS) -> list[list[Step]]:
    """What each of two branches does; the words say which one and which step of it."""
    return [
        [
            Step(
                draw(st.sampled_from(verbs)),
                draw(st.integers(0, 40)),
                f"{side} number {at} of words",
                draw(st.integers(0, 9000)),
            )
            for at in range(draw(st.integers(1, 5)))
        ]
        for side in ("Ours", "Theirs")
    ]


def walked(data: bytes, steps: list[Step]) -> bytes:
    """The plan after the steps that it allows."""
    for step in steps:
        try:
            change = step.change(data, START + timedelta(minutes=step.minutes))
            data = apply_change(data, change)[0] if change else data
        except ExecplanError:
            continue
    return data


def said_by(data: bytes) -> Counter[tuple[str, str]]:
    """The tasks and the entries of a plan, each by its words, and how often."""
    told = plan_content(reader.read(data))
    lists = {
        "task": [text for _, text in told.tasks],
        "decision": [str(each[0]) for each in told.decisions],
        "discovery": [str(each[0]) for each in told.discoveries],
        "outcome": list(told.outcomes),
        "note": list(told.revisions),
    }
    return Counter((kind, " ".join(split_words(text))) for kind, texts in lists.items() for text in texts)


def check(base: bytes, ours: bytes, theirs: bytes) -> MergeResult:
    """All that must hold of any merge of what verbs did."""
    result = general(base, ours, theirs)
    was, one, two, now = [said_by(data) for data in (base, ours, theirs, result.data)]
    for side in (one, two):
        assert not [fact for fact in side - was if not now[fact]], "lost"
    assert not any("line by line" in note for note in result.notes)
    swapped = general(base, theirs, ours)
    assert swapped.conflict_count == result.conflict_count
    if not result.conflict_count:
        assert not [fact for fact in now if now[fact] > max(was[fact], one[fact], two[fact])], "doubled"
        assert said(swapped.data) == said(result.data)
        before, here, there, then = [marks(data) for data in (base, ours, theirs, result.data)]
        reopened = any(before[words] == "x" != side.get(words, "x") for words in before for side in (here, there))
        for words, mark in then.items():
            sides = (here.get(words), there.get(words))
            assert mark != "x" or "x" in sides, "a tick for work nobody did"
            was_done = before.get(words) == "x" or (reopened and words not in before)  # which the other side reworded
            assert mark == "x" or was_done or "x" not in sides, "a tick lost"
    again = general(base, ours, ours)
    assert (again.data, again.conflict_count) == (ours, 0)
    for three, wanted in (((base, base, theirs), theirs), ((base, ours, base), ours)):
        assert general(*three).data == wanted
    return result


def marks(data: bytes) -> dict[str, str]:
    """The mark of each task whose words no other has."""
    tasks = reader.read(data).tasks
    words = Counter(task.text for task in tasks)
    return {task.text: task.mark.lower() for task in tasks if words[task.text] == 1}


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
    check(base, walked(base, steps[0]), walked(base, steps[1]))


@given(branches(("done", "add", "decide", "discover", "outcome", "revise", "reopen")))
@settings(max_examples=100)
def test_what_only_adds_and_ticks_never_conflicts(steps: list[list[Step]]) -> None:
    base = CLEAN.encode()
    assert check(base, walked(base, steps[0]), walked(base, steps[1])).conflict_count == 0


@pytest.mark.skipif(not PLANS, reason="no corpus here")
@given(st.data(), branches())
@settings(max_examples=80)
def test_verbs_on_plans_of_the_corpus(data: st.DataObject, steps: list[list[Step]]) -> None:
    path: Path = data.draw(st.sampled_from(PLANS))
    base = path.read_bytes()
    check(base, walked(base, steps[0]), walked(base, steps[1]))


@pytest.mark.skipif(not PLANS, reason="no corpus here")
def test_every_tenth_plan_of_the_corpus_is_cut_and_put_together_again() -> None:
    for path in PLANS[::10]:
        base = path.read_bytes()
        ours = walked(base, [Step("add", 1, "Ours alone", 0), Step("revise", 0, "Ours noted", 0)])
        theirs = walked(base, [Step("done", 0, "", 5), Step("decide", 0, "Theirs decided", 5)])
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
    assert general(base, base, theirs).data == theirs
    assert general(base, ours, base).data == ours
    for was in (base, None):
        same = general(was, ours, ours)
        assert (same.data, same.conflict_count) == (ours, 0)
    result = general(base, ours, theirs)
    assert reader.read(result.data).text.to_bytes() == result.data
    if not result.conflict_count:
        versions = [Counter(said(data)) for data in three]
        kept = [line for line in versions[0] if all(each[line] == 1 for each in versions) and line != "None yet."]
        assert set(kept) <= set(said(result.data))
