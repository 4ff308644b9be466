"""Whatever a plan and words look like: an edit changes its own lines or is refused, and reads back as meant."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, reader, section_edits, task_edits, task_rewording
from execplan.core.plan.model import OPEN
from execplan.core.plan.outline import NAMES
from execplan.core.plan.plan_change import plan_content, require_text
from execplan.core.plan.plan_lookup import find_section
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.text.text_lines import Text

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder, PlanChange

MOMENT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
LINES = st.sampled_from(
    [
        "- [ ] Read lines", "- [x] Done", "- [x] (2025-12-30 09:15Z) Stamped", "* [~] Odd", "  - [ ] nested",
        "1. [ ] Numbered", "- [ ] wrapped", "  and on", "- plain", "", "", "Prose.", "> - [ ] quoted", "    code",
        "```", "~~~", "<!-- note", "-->", "### Milestone", "---", "None yet.", "- Decision: D", "  Rationale: R",
        "  Date/Author: 2025-12-30 / Ann", "- Observation: O", "  Evidence: E", "\t- [ ] tabbed", "- [ ]",
        "Plan revision note: 2025-12-30 - n", "[a]: /u", "- [ ] 2025-12-30: open", "<div>", "| a | b |",
    ]
)  # fmt: skip
HEADS = st.sampled_from([f"## {name}" for name in NAMES] + ["## Risks", "# Title", "## Progress"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def plans(draw: st.DrawFn) -> bytes:
    """A plan of odd sections, with one kind of line end or mixed ones."""
    lines = ["# Build the parser", ""]
    for _ in range(draw(st.integers(1, 5))):
        lines += [draw(HEADS), "", *draw(st.lists(LINES, max_size=8)), ""]
    ends = draw(st.lists(ENDS, min_size=1, max_size=3))
    text = "".join(line + ends[at % len(ends)] for at, line in enumerate(lines))
    return (draw(st.sampled_from(["", "\ufeff"])) + text.rstrip("\r\n") + draw(st.sampled_from(["", "\n"]))).encode()


ARBITRARY_TEXTS = st.one_of(
    st.text(min_size=1, max_size=40),
    st.lists(
        st.sampled_from(
            ["a", "#", "##", "- [ ]", "```", "-->", "<!--", "\n", "Rationale:", "Evidence: x", ">", "1.", "(2026-01-01)",
             "|", "=====", "---", "Decision:", "**", "[a]: /u", "2026-01-01:", "Revision note: x", "None yet", "é", "行"]
        ),
        min_size=1,
        max_size=6,
    ).map(" ".join),
)  # fmt: skip


def changed_lines(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """The lines that an edit took out and put in."""
    import difflib

    old, new = Text.from_bytes(before).lines, Text.from_bytes(after).lines
    removed, added = [], []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += old[a:b]
            added += new[c:d]
    return removed, added


def attempt(data: bytes, changer: ChangeBuilder) -> bytes | None:
    """The bytes after a change, or None when it is refused."""
    try:
        new, change = apply_change(data, changer)
    except ExecplanError:
        return None
    assert plan_content(reader.read(new)) == (
        change.expected_content if change.edits else plan_content(reader.read(data))
    )
    return new


@given(plans())
@example(
    b"# Plan\n\n## A\n\n- [ ] Read\n\n## A\n\n- [ ] Read\n\n## A"
)  # a diff of the lines aligns the second A with the first
@settings(max_examples=300)
def test_done_then_reopen_gives_the_bytes_back(data: bytes) -> None:
    for task in reader.read(data).tasks:
        if task.state != OPEN or task.timestamp is not None:
            continue
        ticked = attempt(data, task_edits.complete_tasks([str(task.number)], MOMENT))
        if ticked is None:
            continue
        pairs = zip(Text.from_bytes(data).lines, Text.from_bytes(ticked).lines, strict=True)
        assert sum([before != after for before, after in pairs]) == 1
        assert attempt(ticked, task_edits.complete_tasks([str(task.number)], MOMENT)) == ticked
        assert attempt(ticked, task_edits.reopen_tasks([str(task.number)])) == data


@given(plans(), ARBITRARY_TEXTS, st.booleans())
@settings(max_examples=400)
def test_words_are_data(data: bytes, given_words: str, create: bool) -> None:
    try:
        text = require_text(given_words, "the words")
    except ExecplanError:
        return
    for changer in (
        task_edits.add_task(text, MOMENT, create=create),
        log_edits.add_decision(text, "why", "Ann", MOMENT, create=create),
        log_edits.add_decision("what", text, "Ann", MOMENT, create=create),
        log_edits.add_discovery(text, "shown", create=create),
        log_edits.add_discovery("what", text, create=create),
        log_edits.add_outcome(text, create=create),
        log_edits.add_revision_note(text, MOMENT),
        section_edits.add_note([text], create=create),
        section_edits.add_note(["what"], [text, "```", "## no heading"], create=create),
    ):
        after = attempt(data, changer)
        if after is None or after == data:
            continue
        removed, added = changed_lines(data, after)
        assert all(not line.strip() or line == "None yet." for line in removed)
        assert added


def same_around(before: bytes, after: bytes, start: int, end: int) -> bool:
    """Whether all lines are the same but for those from `start` to before `end`."""
    old, new = Text.from_bytes(before).lines, Text.from_bytes(after).lines
    trailing_count = len(old) - end
    return old[:start] == new[:start] and (not trailing_count or old[end:] == new[-trailing_count:])


@given(plans(), ARBITRARY_TEXTS, ARBITRARY_TEXTS)
@settings(max_examples=300)
def test_a_task_in_other_words(data: bytes, text: str, other_text: str) -> None:
    for task in reader.read(data).tasks:
        query = str(task.number)
        reworded, split = partial(reword_task, query, text), partial(split_task, query, text, other_text)
        for make in (reworded, split):
            after = attempt(data, make)
            if after is not None:
                assert same_around(data, after, task.start, task.end)
                assert attempt(after, make) == after
        after = attempt(data, reworded)
        if after is not None:
            assert reader.read(after).tasks[task.number - 1].mark == task.mark


def set_section(name: str, lines: list[str], plan: ParsedPlan) -> PlanChange:
    """A change whose refusals all come when it is made."""
    return section_edits.set_section_body(name, lines)(plan)


def reword_task(query: str, text: str, plan: ParsedPlan) -> PlanChange:
    """A change that begins anew with every call."""
    return task_rewording.reword_task(query, require_text(text, "the words"))(plan)


def split_task(query: str, done_text: str, remaining_text: str, plan: ParsedPlan) -> PlanChange:
    """A change that begins anew with every call."""
    return task_rewording.split_task(
        query, require_text(done_text, "the words"), require_text(remaining_text, "the words"), MOMENT
    )(plan)


@given(plans(), st.lists(LINES | HEADS, min_size=1, max_size=6), st.sampled_from([*NAMES, "Risks"]))
@settings(max_examples=300)
def test_a_whole_body(data: bytes, lines: list[str], name: str) -> None:
    lines = Text.from_str("\n".join(lines).strip("\n") or "x").lines
    after = attempt(data, partial(set_section, name, lines))
    if after is None:
        return
    plan, new_plan = reader.read(data), reader.read(after)
    section, new_section = find_section(plan, name), find_section(new_plan, name)
    assert same_around(data, after, section.body_start, section.notes_start)
    body = [line for line in new_plan.text.lines[new_section.body_start : new_section.notes_start] if line.strip()]
    expected = [line for line in lines if line]
    if expected[0] == plan.text.lines[section.start]:
        del expected[0]  # the section's own heading is taken for that
    assert body[: len(expected)] == expected
    assert attempt(after, section_edits.set_section_body(name, lines)) == after
    assert [section.title for section in new_plan.sections] == [section.title for section in plan.sections]


@given(plans(), plans())
@settings(max_examples=300)
def test_a_whole_text_is_changed_to_the_byte(data: bytes, other: bytes) -> None:
    assert attempt(data, lambda plan: rebase_text(plan, data, other, "edit", "edited", "")) == with_mark_of(data, other)


def with_mark_of(data: bytes, other: bytes) -> bytes:
    """The other text with the byte order mark of the first, if that has one."""
    return Text(Text.from_bytes(other).lines, Text.from_bytes(other).ends, bom=Text.from_bytes(data).bom).to_bytes()


@given(plans())
@settings(max_examples=200)
def test_every_text_is_some_plan(data: bytes) -> None:
    from execplan.linter.runner import lint_plan

    plan = reader.read(data)
    assert plan.text.to_bytes() == data
    for finding in lint_plan(plan):
        assert 1 <= finding.line <= finding.end_line <= len(plan.text.lines)
        assert 1 <= finding.column <= finding.end_column


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=300)
def test_any_bytes_are_a_plan_or_refused(data: bytes) -> None:
    try:
        text = reader.decode(data)
    except ExecplanError as refusal:
        outcome = (refusal.exit, bool(refusal.message), bool(refusal.hint))
    else:
        outcome = (3, True, reader.read_text(text).text.to_bytes() == data)
    assert outcome == (3, True, True)


@pytest.mark.parametrize("given_words", ["", " \n", "…", "None yet.", "a\0b", "a\x1b[2Jb", "\ud800"])
def test_words_that_are_refused(given_words: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        require_text(given_words, "the words")
    assert caught.value.exit == 2


@pytest.mark.parametrize("text", ["- [ ] Write it.", "[ ] Write it.", "*  [ ]  Write it.", "Write it."])
def test_a_task_that_is_given_with_its_box_has_one(text: str) -> None:
    change = task_edits.add_task(text, datetime(2026, 1, 1, tzinfo=UTC))(
        reader.parse("# Plan\n\n## Progress\n\n- [ ] Read it.\n")
    )
    assert [edit.lines for edit in change.edits] == [("- [ ] Write it.",)]
