"""What the reader takes a text for."""

from __future__ import annotations

import pytest

from execplan.core.plan import outline, reader
from execplan.core.plan.model import Entry, ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from tests.plans import CLEAN, from_template


def read(text: str) -> ParsedPlan:
    """The plan in a text."""
    return reader.read(text.encode())


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Purpose", outline.PURPOSE),
        ("Purpose / 목적", outline.PURPOSE),
        ("PROGRESS", outline.PROGRESS),
        ("Progress (Completed)", outline.PROGRESS),
        ("Progress / 진행 상황", outline.PROGRESS),
        ("**Progress**:", outline.PROGRESS),
        ("Surprises and discoveries", outline.SURPRISES),
        ("Suprises & Discoveries", outline.SURPRISES),
        ("Decisions", outline.DECISIONS),
        ("Outcomes & Retrospective (So Far)", outline.OUTCOMES),
        ("Outcomes&Retrospective", outline.OUTCOMES),
        ("Plan of Work / PR Sequence", "Plan of Work"),
        ("Implementation Plan", "Plan of Work"),
        ("Artefacts and notes", outline.ARTIFACTS),
        ("Milestones", None),
        ("Progress report", None),
        ("Рrogress", None),
    ],
)
def test_sections_by_name(title: str, name: str | None) -> None:
    assert [section.name for section in read(f"# T\n\n## {title}\n").sections] == [name]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# T\n\n## Progress\n", "T"),
        ("T\n=\n\nProgress\n---\n", "T"),
        ("# T #\n", "T"),
        ("---\na: b\n---\n# T\n", "T"),
        ("\ufeff# T\n", "T"),
        ("## T\n\n## Progress\n", "T"),
        ("## Progress\n", None),
        ("> # T\n\n## Progress\n", None),
        ("#\n\n## Progress\n", None),
        ("```\n# T\n```\n", None),
    ],
)
def test_title(text: str, title: str | None) -> None:
    plan = read(text)
    assert plan.title == title
    assert all(section.title != title for section in plan.sections)


@pytest.mark.parametrize(
    ("lines", "tasks"),
    [
        ("- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n2) [x] e", [(" ", "a"), ("x", "b"), ("X", "c"), (" ", "d"), ("x", "e")]),
        ("- [~] a\n- [-] b\n- [✓] c", [("~", "a"), ("-", "b"), ("✓", "c")]),
        ("- [2026-01-29] a\n- [completed] b\n- [] c\n- [x](url)\n- [x]a\n- \\[x] b", []),
        ("- [ ] a\n  b\n   c\nd", [(" ", "a b c d")]),
        ("-\n  [ ] a", [(" ", "a")]),
        ("- [ ]\n- [x]", [(" ", ""), ("x", "")]),
        ("- [ ] a\n\n      code\n\n  - [x] b\n    - [ ] c", [(" ", "a"), ("x", "b"), (" ", "c")]),
        ("```\n- [ ] a\n```\n> - [ ] b\n\n<!--\n- [ ] c\n-->\n\n    - [ ] d", []),
        ("- > - [ ] a\n- b\n  > - [ ] c\n\n- [ ] d", [(" ", "d")]),
        ("### M\n\n- [ ] a\n\n# H\n\n- [ ] b", [(" ", "a")]),
        ("-     [ ] a\n- # [ ] b\n- [ ] c\n  ===", []),
    ],
)
def test_tasks(lines: str, tasks: list[tuple[str, str]]) -> None:
    plan = read(f"# T\n\n## Progress\n\n{lines}\n")
    assert [(task.mark, task.text) for task in plan.tasks] == tasks


def test_depth_and_lines_of_a_task() -> None:
    plan = read("# T\n\n## Progress\n\n- [ ] a\n  b\n\n  more\n  - [ ] c\n")
    outer, inner = plan.tasks
    assert (outer.depth, outer.start, outer.end, outer.item_end) == (0, 4, 6, 9)
    assert (inner.depth, inner.start, inner.end, inner.item_end) == (1, 8, 9, 9)


def test_boxes_outside_progress_are_checklists() -> None:
    plan = read("# T\n\n- [ ] a\n\n## Progress\n\n- [ ] b\n\n## Risks\n\n- [ ] c\n\n## Progress\n\n- [ ] d\n")
    assert [task.text for task in plan.tasks] == ["b"]
    assert [(name, task.text) for name, task in plan.checklists] == [("Risks", "c"), ("Progress", "d")]


def test_ids_are_stable_and_never_the_same() -> None:
    first_plan = read("# T\n\n## Progress\n\n- [ ] Read  lines\n- [ ] b\n- [ ] read lines\n")
    other_plan = read("# T\n\n## Progress\n\n- [ ] new\n- [x] (2026-01-01) Read\n  lines\n- [ ] b\n- [ ] Read lines\n")
    ids, other_ids = task_ids(first_plan.tasks), task_ids(other_plan.tasks)
    assert other_ids[1:] == [ids[0], ids[1], ids[2]]
    assert ids[2] == ids[0] + "-2"
    assert all(name[0].isalpha() for name in ids)


def read_decisions(body: str) -> list[Entry]:
    """The decisions in a Decision Log."""
    return read(f"# T\n\n## Decision Log\n\n{body}\n\n## Risks\n").decisions


@pytest.mark.parametrize(
    "body",
    [
        "- Decision: D\n  Rationale: R\n  Date/Author: 2026-03-01 / Ann",
        "* **Decision:** D\n  **Rationale:** R\n  **Date/Author:** 2026-03-01, Ann",
        "- **Decision**: D\n  - **Rationale**: R\n  - **Date/Author**: 2026-03-01 (Ann)",
        "- Decision: D Rationale: R Date/Author: 2026-03-01 / Ann",
        "Decision: D\nRationale: R\nDate/Author: 2026-03-01 / Ann",
        "Decision: D\n\nRationale: R\n\nDate/Author: 2026-03-01 / Ann",
        "- Decision: D\n- Rationale: R\n- Date/Author: 2026-03-01 / Ann",
        "### D\n\nRationale: R\nDate/Author: 2026-03-01 / Ann",
        "### Milestone 1\n\n- Decision: D\n  Rationale: R\n  Date/Author: 2026-03-01 / Ann",
        "1. Decision 3: D\n   Why: R\n   Date: 2026-03-01 Ann",
        "- Decision / 결정: D\n  Rationale / 근거: R\n  Date/Author: 2026-03-01 - Ann",
    ],
)
def test_forms_of_a_decision(body: str) -> None:
    [entry] = read_decisions(body)
    assert (entry.text, entry.rationale, entry.date, entry.author) == ("D", "R", "2026-03-01", "Ann")


@pytest.mark.parametrize(
    ("body", "rationale"),
    [
        (
            "  Rationale: Because:\n  - it is fast\n    enough\n  - it is small",
            "Because:\n- it is fast enough\n- it is small",
        ),
        (
            "  Rationale:\n    1. it is fast\n       - at once\n    2. it is small",
            "1. it is fast\n   - at once\n2. it is small",
        ),
        ("  - Rationale:\n    - it is fast\n\n    - it is small", "- it is fast\n\n- it is small"),
        ("  Rationale: it is - well - fast", "it is - well - fast"),
    ],
)
def test_a_list_in_a_rationale_stays_a_list(body: str, rationale: str) -> None:
    [entry] = read_decisions(f"- Decision: D\n{body}\n  Date/Author: 2026-03-01 / Ann")
    assert (entry.text, entry.rationale, entry.date, entry.author) == ("D", rationale, "2026-03-01", "Ann")


def test_other_decisions() -> None:
    [plain] = read_decisions("Some prose.\n\n- 2026-03-01: D, because R.")
    assert (plain.text, plain.date, plain.rationale) == ("D, because R.", "2026-03-01", None)
    [wrapped] = read_decisions(
        "- Decision: D goes\n  on.\n  Rationale: R goes\n  on. Supersedes: nothing\n  Date/Author: 2026-03-01 /"
    )
    assert wrapped.text == "D goes on."
    assert wrapped.rationale == "R goes on. Supersedes: nothing"
    assert (wrapped.date, wrapped.author) == ("2026-03-01", None)
    assert read_decisions("None yet.") == read_decisions("- Decision: …\n  Rationale: …\n  Date/Author: …") == []


def test_discoveries() -> None:
    text = "# T\n\n## Surprises & Discoveries\n\n{}\n"
    [discovery] = read(text.format("- Observation: O\n  Evidence: E\n  goes on.")).discoveries
    assert (discovery.text, discovery.evidence) == ("O", "E goes on.")
    assert [entry.text for entry in read(text.format("- O\n- P (seen)")).discoveries] == ["O", "P (seen)"]
    assert [entry.text for entry in read(text.format("It was odd.\n\nVery.")).discoveries] == ["It was odd.", "Very."]
    assert read(text.format("- Observation: (none yet)\n  Evidence: (fill in as discovered)")).discoveries == []


def test_outcomes() -> None:
    text = (
        "# T\n\n## Outcomes & Retrospective\n\nTo be written.\n\n- (2026-03-01) Lines.\n  More.\n\nProse: it works.\n"
    )
    outcomes = [(outcome.text, outcome.date) for outcome in read(text.replace("To be written.", "TBD")).outcomes]
    assert outcomes == [("Lines. More.", "2026-03-01"), ("Prose: it works.", None)]


@pytest.mark.parametrize(
    ("note", "date", "words"),
    [
        ("Plan revision note: 2026-03-07 23:27Z - Split.", "2026-03-07 23:27Z", "Split."),
        ("Revision note (2026-03-07 / Codex): Split.", "2026-03-07", "Split."),
        ("Revision Note: 2026-03-07 / Codex - Split.", "2026-03-07", "Split."),
        ("Revision note: 2026-03-07 /usr - Split.", "2026-03-07", "/usr - Split."),
        ("**Revision note:** Split.", None, "Split."),
        ("Revision note, 2026-03-07T10:00Z: Split.", "2026-03-07T10:00Z", "Split."),
    ],
)
def test_revision_notes(note: str, date: str | None, words: str) -> None:
    plan = read(f"{CLEAN}\n{note}\ngoes on\n")
    [entry] = plan.revisions
    assert (entry.date, entry.text) == (date, f"{words} goes on")
    last_section = plan.sections[-1]
    assert last_section.notes_start < last_section.end


def test_revision_notes_in_a_section() -> None:
    plan = read(f"{CLEAN}\n## Revision Notes\n\n- 2026-03-07: Split.\n- Joined.\n")
    assert [(revision.date, revision.text) for revision in plan.revisions] == [
        ("2026-03-07", "Split."),
        (None, "Joined."),
    ]


def test_a_conflict_is_read_on_both_sides() -> None:
    text = CLEAN.replace("- [ ] Build the parser.", "<<<<<<< a\n- [ ] Build\n=======\n- [x] Built\n>>>>>>> b")
    plan = read(text)
    assert [task.text for task in plan.tasks] == ["Read lines.", "Build", "Built", "Write the tests."]
    assert len(plan.conflict_lines) == 3
    assert len(plan.sections) == 12
    sections = "<<<<<<< a\n## Progress\n\n- [ ] Build\n=======\n## Progress\n\n- [x] Built\n>>>>>>> b\n"
    assert [(task.number, task.text) for task in read(f"# T\n\n{sections}").tasks] == [(1, "Build"), (2, "Built")]
    assert read("# T\n\nTitle\n=======\n\n>>>>>>> quote\n").conflict_lines != []
    assert read("# T\n\nTitle\n=======\n").conflict_lines == []
    assert read("# T\n\n>>>>>>> quote\n").conflict_lines == []


@pytest.mark.parametrize(
    ("fragment", "state"),
    [
        ("- [ ] a", "active"),
        ("- [x] a\n- [ ] b", "active"),
        ("- [x] a\n- [~] b", "active"),
        ("- [~] b", "active"),
        ("- [x] a\n- [-] b\n- [ ] ~~c~~", "complete"),
        ("", "active"),
    ],
)
def test_state(fragment: str, state: str) -> None:
    plan = read(f"# T\n\n## Progress\n\n{fragment}\n")
    assert plan.state() == state
    assert plan.state(archived=True) == "archived"


def test_a_plan_from_the_skeleton_is_a_draft_until_something_is_done() -> None:
    text = from_template("plan", "a", "b")
    assert read(text).state() == "draft"
    assert read(text.replace("- [ ] a", "- [x] (2026-01-01 00:00Z) a")).state() == "active"
