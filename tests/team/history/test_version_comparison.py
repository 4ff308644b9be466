"""Two versions of a plan are compared as tasks, entries and sections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.team.history.history_event import EVENT_KINDS, HistoryEvent
from execplan.team.history.version_comparison import compare_versions
from execplan.team.history.version_reader import TEXT_BEFORE_SECTIONS, VersionReader, VersionUnits
from tests.plans import CLEAN
from tests.shell import ROOT


def compare(old: str, new: str) -> list[HistoryEvent]:
    """The events from one text to another."""
    return compare_versions(_units(old), _units(new))


def _units(text: str) -> VersionUnits:
    return VersionReader({}).read(text.encode())


def changes(old: str, new: str) -> list[tuple[str, str]]:
    """The kinds and texts of the events from one text to another."""
    return [(event.kind, event.text) for event in compare(old, new)]


def edited(*replacements: tuple[str, str]) -> str:
    """The clean plan with some texts replaced."""
    text = CLEAN
    for before, after in replacements:
        assert before in text
        text = text.replace(before, after, 1)
    return text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("- [ ] Build", "- [x] Build", [("task-done", "Build the parser.")]),
        ("- [ ] Build", "- [X] (2026-01-01) Build", [("task-done", "Build the parser.")]),
        ("- [x] (2025-12-30 09:15Z) Read", "- [ ] Read", [("task-reopened", "Read lines.")]),
        ("- [ ] Build", "- [~] Build", [("task-marked", "Build the parser.")]),
        ("Build the parser.\n- [ ]", "Build the whole parser.\n- [ ]", [("task-reworded", "Build the whole parser.")]),
        ("- [ ] Write the tests.\n", "", [("task-removed", "Write the tests.")]),
        (
            "- [ ] Build the parser.\n- [ ] Write the tests.\n",
            "- [ ] Write the tests.\n- [ ] Build the parser.\n",
            [("task-moved", "Build the parser.")],
        ),
        ("- [ ] Write", "- [x] Measure.\n- [ ] Write", [("task-added", "Measure."), ("task-done", "Measure.")]),
        ("- [ ] Write the tests.", "- [ ] Write\n  the tests.", []),
        (
            "- [ ] Build the parser.\n",
            "- [x] Build the scanner of the parser.\n- [ ] Build the reader of the parser.\n",
            [
                ("task-reworded", "Build the scanner of the parser."),
                ("task-done", "Build the scanner of the parser."),
                ("task-added", "Build the reader of the parser."),
            ],
        ),
        (
            "- [ ] Build the parser.\n",
            "- [ ] Build the parser.\n\n  It is hard.\n\n",
            [("section-changed", "Progress")],
        ),
        ("(2025-12-30 09:15Z) Read", "(2025-12-31 09:15Z) Read", [("section-changed", "Progress")]),
        (
            "  Rationale: A task is a line.",
            "  Rationale: A task is a line or two.",
            [("decision-changed", "Read line by line.")],
        ),
        ("2025-12-30 / Ann", "2025-12-30 / Bob", [("decision-changed", "Read line by line.")]),
        (
            "## Outcomes",
            "- Decision: Keep bytes.\n  Rationale: Nothing is lost.\n\n## Outcomes",
            [("decision-added", "Keep bytes.")],
        ),
        (
            "- Observation: The last line is dropped.\n  Evidence: `tests/test_lines.py::test_last` failed.\n",
            "",
            [("discovery-removed", "The last line is dropped.")],
        ),
        ("Lines can be read.", "Lines can be read.\n\nBlocks too.", [("outcome-added", "Blocks too.")]),
        ("# Build the parser", "# Build the reader", [("retitled", "Build the reader")]),
        ("This ExecPlan is a", "This plan is a", [("section-changed", TEXT_BEFORE_SECTIONS)]),
        ("Write the scanner, then", "Write the reader, then", [("section-changed", "Plan of Work")]),
        ("## Plan of Work", "## Work", [("section-changed", "Work")]),
        ("## Plan of Work", "## Risks\n\nNone.\n\n## Plan of Work", [("section-added", "Risks")]),
        ("## Plan of Work\n\nWrite the scanner, then the reader.\n\n", "", [("section-removed", "Plan of Work")]),
        ("None so far.", "None so far.\n\nRevision note: (2026-01-01) New.", [("revision-added", "New.")]),
        ("Write the scanner, then the reader.", "Write the scanner, then the reader.   ", []),
    ],
)
def test_a_change_has_its_events(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    assert changes(CLEAN, edited((before, after))) == expected


def test_events_have_details() -> None:
    reworded, decision, section = compare(
        CLEAN,
        edited(
            ("Build the parser.\n- [ ]", "Build the whole parser.\n- [ ]"),
            ("## Outcomes", "- Decision: Keep.\n  Rationale: Safe.\n  Date/Author: 2026-02-03 / Bob\n\n## Outcomes"),
            ("Write the scanner, then the reader.", "Write the scanner.\nThen the reader.\nThen stop."),
        ),
    )
    assert (reworded.previous, reworded.task_id[0]) == ("Build the parser.", "t")
    assert (decision.detail, decision.entry_date, decision.entry_author) == ("Safe.", "2026-02-03", "Bob")
    assert (section.lines_added, section.lines_removed) == (3, 1)


def test_line_endings_are_no_change() -> None:
    assert changes(CLEAN, CLEAN.replace("\n", "\r\n")) == []


def test_the_content_of_a_new_plan_are_its_tasks_and_entries() -> None:
    events = compare_versions(None, _units(CLEAN))
    assert [event.kind for event in events] == [
        *("task-added", "task-done", "task-added", "task-added"),
        *("discovery-added", "decision-added", "outcome-added"),
    ]


def test_replaced_tasks_are_not_reworded_ones() -> None:
    new = edited(("Build the parser.\n", "Ask a lawyer.\n"), ("Write the tests.\n", "Buy paper.\n"))
    assert [kind for kind, _ in changes(CLEAN, new)] == ["task-added", "task-added", "task-removed", "task-removed"]


def test_a_task_below_another_heading_is_moved() -> None:
    old = "# T\n\n## Progress\n\n### One\n\n- [ ] A task\n- [ ] B task\n\n### Two\n\n- [ ] C task\n"
    new = "# T\n\n## Progress\n\n### One\n\n- [ ] A task\n\n### Two\n\n- [ ] B task\n- [ ] C task\n"
    assert changes(old, new) == [("task-moved", "B task")]
    assert changes(old, old.replace("### Two", "### Second")) == [("section-changed", "Progress")]


def test_equal_tasks_have_ids_of_their_own() -> None:
    old = "# T\n\n## Progress\n\n- [ ] Same\n- [ ] Same\n"
    (event,) = compare(old, old.replace("- [ ] Same\n- [ ] Same", "- [ ] Same\n- [x] Same"))
    assert event.task_id.endswith("-2")


ENTRIES = st.lists(st.sampled_from(["Use bytes", "Use lines", "Use words"]), unique=True, max_size=3)


@st.composite
def plan_texts(draw: st.DrawFn, marks: str = " x~") -> str:
    """A plan with some tasks, decisions and prose."""
    texts = st.sampled_from([f"Task number {index}" for index in range(8)])
    tasks = "".join(
        [f"- [{mark}] {text}\n" for mark, text in draw(st.lists(st.tuples(st.sampled_from(marks), texts), max_size=6))]
    )
    decisions = "".join([f"- Decision: {text}\n  Rationale: It is so.\n" for text in draw(ENTRIES)])
    prose = draw(st.sampled_from(["", "One line.\n", "Two\nlines.\n"]))
    return f"# Title\n\n## Progress\n\n{tasks}\n## Decision Log\n\n{decisions}\n## Plan of Work\n\n{prose}"


def test_kinds_of_events_are_documented() -> None:
    page = (ROOT / "docs/how-to/see-what-happened.md").read_text()
    assert [kind for kind in EVENT_KINDS if f"`{kind}`" not in page] == []


@given(plan_texts())
def test_a_version_does_not_differ_from_itself(text: str) -> None:
    assert changes(text, text) == []


@given(plan_texts(), plan_texts())
def test_events_account_for_all_tasks_and_decisions(old: str, new: str) -> None:
    events = compare(old, new)
    kinds = [event.kind for event in events]
    assert set(kinds) <= set(EVENT_KINDS)
    old_units, new_units = _units(old), _units(new)
    for added, removed, counts in (
        ("task-added", "task-removed", (len(old_units.tasks), len(new_units.tasks))),
        (
            "decision-added",
            "decision-removed",
            (len(old_units.entries("decision")), len(new_units.entries("decision"))),
        ),
    ):
        assert counts[0] + kinds.count(added) - kinds.count(removed) == counts[1]
    if sorted(old.split()) != sorted(new.split()):
        assert events


@given(plan_texts(marks=" x"), plan_texts(marks=" x"))
def test_done_tasks_follow_from_the_events(old: str, new: str) -> None:
    old_marks = {version.id: version.task.mark for version in _units(old).tasks}
    done = list(old_marks.values()).count("x")
    for event in compare(old, new):
        done += event.kind == "task-done"
        done -= event.kind == "task-reopened"
        done -= event.kind == "task-removed" and old_marks[event.task_id] == "x"
    assert done == [version.task.mark for version in _units(new).tasks].count("x")
