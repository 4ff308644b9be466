"""What two branches did to tasks, merged: each rule, in both directions."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from tests.merge_checks import merge_both_ways, merge_by_rules

BASE = """\
- [x] (2026-01-01 09:00Z) Read lines.
- [ ] Build the parser.
- [ ] Write the tests."""

MERGES = {
    "one side ticked": (
        {"- [ ] Build": "- [x] (2026-01-02 10:00Z) Build"},
        {"- [ ] Write": "- [x] (2026-01-03 10:00Z) Write"},
        """\
- [x] (2026-01-01 09:00Z) Read lines.
- [x] (2026-01-02 10:00Z) Build the parser.
- [x] (2026-01-03 10:00Z) Write the tests.""",
        [],
    ),
    "one side reopened": (
        {"- [x] (2026-01-01 09:00Z) Read": "- [ ] Read"},
        {"- [ ] Build": "- [x] Build"},
        "- [ ] Read lines.\n- [x] Build the parser.\n- [ ] Write the tests.",
        [],
    ),
    "both ticked": (
        {"- [ ] Build": "- [x] (2026-01-02 10:00Z) Build"},
        {"- [ ] Build": "- [x] (2026-01-02 11:00+02:00) Build"},
        BASE.replace("- [ ] Build", "- [x] (2026-01-02 11:00+02:00) Build"),
        ['both sides checked off "Build the parser.": the earlier time is kept (2026-01-02 11:00+02:00)'],
    ),
    "both ticked, one without a time": (
        {"- [ ] Build": "- [x] Build"},
        {"- [ ] Build": "- [x] (2026-01-02 11:00Z) Build"},
        BASE.replace("- [ ] Build", "- [x] (2026-01-02 11:00Z) Build"),
        ['both sides checked off "Build the parser.": the earlier time is kept (2026-01-02 11:00Z)'],
    ),
    "ticked and marked otherwise": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"- [ ] Build": "- [~] Build"},
        BASE.replace("- [ ] Build", "- [x] (2026-01-02) Build"),
        ['"Build the parser." was checked off on one side and marked [~] on the other: it is done'],
    ),
    "another mark on one side": (
        {"- [ ] Build": "- [-] Build"},
        {"- [ ] Write": "- [~] Write"},
        BASE.replace("- [ ] Build", "- [-] Build").replace("- [ ] Write", "- [~] Write"),
        [],
    ),
    "ticked and widened": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"the parser.": "the parser and the printer."},
        BASE.replace("the parser.", "the parser and the printer."),
        ['"Build the parser." was checked off on one side and reworded to "Build the parser and the printer." on the other: it stays'],
    ),
    "ticked and said anew": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"Build the parser.": "Something else entirely."},
        BASE.replace("Build the parser.", "Something else entirely."),
        ["it stays open"],
    ),
    "both ticked, one its wider words": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"- [ ] Build the parser.": "- [x] (2026-01-03) Build the parser and the printer."},
        BASE.replace("- [ ] Build the parser.", "- [x] (2026-01-03) Build the parser and the printer."),
        ["both sides checked off"],
    ),
    "ticked and only punctuated": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"Build the parser.": "Build the *parser*"},
        BASE.replace("- [ ] Build the parser.", "- [x] (2026-01-02) Build the *parser*"),
        [],
    ),
    "both ticked, one with a stamp that no space follows": (
        {"- [ ] Build": "- [x] 2026-01-02：Build"},
        {"- [ ] Build": "- [x] Build"},
        BASE.replace("- [ ] Build", "- [x] 2026-01-02：Build"),
        ['both sides checked off "Build the parser.": the earlier time is kept (2026-01-02)'],
    ),
    "ticked and wrapped": (
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        {"Build the parser.": "Build the\n  parser."},
        BASE.replace("- [ ] Build the parser.", "- [x] (2026-01-02) Build the\n  parser."),
        [],
    ),
    "reopened and reworded": (
        {"- [x] (2026-01-01 09:00Z) Read": "- [ ] Read"},
        {"Read lines.": "Read lines and their ends."},
        BASE.replace("- [x] (2026-01-01 09:00Z) Read lines.", "- [ ] Read lines and their ends."),
        [],
    ),
    "reworded and deleted elsewhere": (
        {"Build the parser.": "Build a parser by hand."},
        {"\n- [ ] Write the tests.": ""},
        BASE.replace("Build the parser.", "Build a parser by hand.").replace("\n- [ ] Write the tests.", ""),
        [],
    ),
    "split and ticked whole": (
        {"- [ ] Build the parser.": "- [x] (2026-01-02) Scan.\n- [ ] Nest."},
        {"- [ ] Build": "- [x] (2026-01-03) Build"},
        BASE.replace("- [ ] Build the parser.", "- [x] (2026-01-02) Scan.\n- [ ] Nest."),
        ['"Build the parser." was split on one side and checked off completely on the other: the remaining part stays open ("Nest.")'],
    ),
    "split alike": (
        {"- [ ] Build the parser.": "- [x] (2026-01-02) Scan.\n- [ ] Nest."},
        {"- [ ] Build the parser.": "- [x] (2026-01-01) Scan.\n- [ ] Nest."},
        BASE.replace("- [ ] Build the parser.", "- [x] (2026-01-01) Scan.\n- [ ] Nest."),
        ['both sides checked off "Scan.": the earlier time is kept (2026-01-01)'],
    ),
    "split on one side, its neighbour reworded on the other": (
        {"- [ ] Build the parser.": "- [x] (2026-01-02) Scan.\n- [ ] Nest."},
        {"Write the tests.": "Quite another thing."},
        BASE.replace("- [ ] Build the parser.\n- [ ] Write the tests.", "- [x] (2026-01-02) Scan.\n- [ ] Nest.\n- [ ] Quite another thing."),
        [],
    ),
    "both added the same": (
        {"tests.": "tests.\n- [ ] Print trees."},
        {"tests.": "tests.\n- [ ]  print   TREES."},
        BASE + "\n- [ ] Print trees.",
        [],
    ),
    "both added the same, one ticked it": (
        {"tests.": "tests.\n- [ ] Print trees."},
        {"tests.": "tests.\n- [x] (2026-01-04) Print trees."},
        BASE + "\n- [x] (2026-01-04) Print trees.",
        [],
    ),
    "both added": (
        {"tests.": "tests.\n- [ ] Print trees."},
        {"tests.": "tests.\n- [ ] Print tables."},
        BASE + "\n- [ ] Print trees.\n- [ ] Print tables.",
        [],
    ),
    "both added at several places": (
        {"lines.": "lines.\n- [ ] One.", "tests.": "tests.\n- [ ] Two."},
        {"parser.": "parser.\n- [ ] Three.", "- [x]": "- [ ] Four.\n- [x]"},
        """\
- [ ] Four.
- [x] (2026-01-01 09:00Z) Read lines.
- [ ] One.
- [ ] Build the parser.
- [ ] Three.
- [ ] Write the tests.
- [ ] Two.""",
        [],
    ),
    "one added what the other reworded to": (
        {"Build the parser.": "Print trees."},
        {"tests.": "tests.\n- [ ] Print trees."},
        BASE.replace("Build the parser.", "Print trees."),
        [],
    ),
    "both deleted": ({"\n- [ ] Build the parser.": ""}, {"\n- [ ] Build the parser.": ""}, BASE.replace("\n- [ ] Build the parser.", ""), []),
    "moved on one side, ticked on the other": (
        {"\n- [ ] Build the parser.": "", "tests.": "tests.\n- [ ] Build the parser."},
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        "- [x] (2026-01-01 09:00Z) Read lines.\n- [ ] Write the tests.\n- [x] (2026-01-02) Build the parser.",
        [],
    ),
    "a child here, a sibling there": (
        {"parser.": "parser.\n  - [ ] Scan."},
        {"parser.": "parser.\n- [ ] Print."},
        BASE.replace("parser.", "parser.\n  - [ ] Scan.\n- [ ] Print."),
        [],
    ),
    "a bullet below a task on either side": (
        {"parser.": "parser.\n  - It is slow."},
        {"parser.": "parser.\n  - It is long."},
        BASE.replace("parser.", "parser.\n  - It is slow.\n  - It is long."),
        [],
    ),
    "own bullets": (
        {"tests.": "tests.\n* [ ] Print trees."},
        {"tests.": "tests.\n4. [ ] Print tables."},
        BASE + "\n* [ ] Print trees.\n4. [ ] Print tables.",
        [],
    ),
    "below a heading of its own": (
        {"tests.": "tests.\n\n### Later\n\n- [ ] Print."},
        {"tests.": "tests.\n- [ ] Run them."},
        BASE + "\n\n### Later\n\n- [ ] Print.\n- [ ] Run them.",
        [],
    ),
}  # fmt: skip


def plan(tasks: str) -> str:
    return f"# Parser\n\n## Progress\n\n{tasks}\n\n## Context\n\nText.\n"


def changed(edits: dict[str, str]) -> str:
    tasks = BASE
    for old, new in edits.items():
        assert tasks.count(old) == 1, old
        tasks = tasks.replace(old, new)
    return plan(tasks)


@pytest.mark.parametrize("name", MERGES)
def test_tasks(name: str) -> None:
    ours, theirs, expected, notes = MERGES[name]
    result = merge_both_ways(plan(BASE), changed(ours), changed(theirs))
    assert (result.data.decode(), result.conflict_count) == (plan(expected), 0)
    assert len(result.notes) == len(notes)
    assert all(expected_note in note for expected_note, note in zip(notes, result.notes, strict=True))


CONFLICTS = {
    "deleted here, ticked there": (
        {"\n- [ ] Build the parser.": ""},
        {"- [ ] Build": "- [x] (2026-01-02) Build"},
        "<<<<<<< ours\n=======\n- [x] (2026-01-02) Build the parser.\n>>>>>>> theirs",
    ),
    "deleted here, a child added there": (
        {"\n- [ ] Build the parser.": ""},
        {"parser.": "parser.\n  - [ ] Scan."},
        "<<<<<<< ours\n=======\n- [ ] Build the parser.\n>>>>>>> theirs\n  - [ ] Scan.",
    ),
    "reworded differently": (
        {"Build the parser.": "Build a parser by hand."},
        {"Build the parser.": "Generate\n  the parser."},
        "<<<<<<< ours\n- [ ] Build a parser by hand.\n=======\n- [ ] Generate\n  the parser.\n>>>>>>> theirs",
    ),
    "marked differently": (
        {"- [ ] Build": "- [~] Build"},
        {"- [ ] Build": "- [-] Build"},
        "<<<<<<< ours\n- [~] Build the parser.\n=======\n- [-] Build the parser.\n>>>>>>> theirs",
    ),
    "split differently": (
        {"- [ ] Build the parser.": "- [x] Scan.\n- [ ] Nest."},
        {"- [ ] Build the parser.": "- [x] Nest.\n- [ ] Scan."},
        "<<<<<<< ours\n- [x] Scan.\n- [ ] Nest.\n=======\n- [x] Nest.\n- [ ] Scan.\n>>>>>>> theirs",
    ),
    "split and reworded": (
        {"- [ ] Build the parser.": "- [x] Scan.\n- [ ] Nest."},
        {"Build the parser.": "Generate the parser."},
        "<<<<<<< ours\n- [x] Scan.\n- [ ] Nest.\n=======\n- [ ] Generate the parser.\n>>>>>>> theirs",
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_hold_both_versions_and_nothing_else(name: str) -> None:
    ours, theirs, expected = CONFLICTS[name]
    extra_task = {"tests.": "tests.\n- [ ] Added by ours."}
    result = merge_by_rules(plan(BASE).encode(), changed(ours | extra_task).encode(), changed(theirs).encode())
    around = BASE + "\n- [ ] Added by ours."
    assert result.data.decode() == plan(around.replace("- [ ] Build the parser.", expected))
    assert result.conflict_count == 1
    merged = reader.read(result.data)
    assert [section.title for section in merged.sections] == ["Progress", "Context"]
    for side in (changed(ours), changed(theirs)):
        assert {task.text for task in reader.read(side.encode()).tasks} <= {task.text for task in merged.tasks}
    swapped = merge_by_rules(plan(BASE).encode(), changed(theirs).encode(), changed(ours | extra_task).encode())
    assert swapped.conflict_count == 1


def test_the_blank_line_between_tasks_is_kept() -> None:
    loose = BASE.replace("\n", "\n\n")
    ours, theirs = f"{loose}\n\n- [ ] Print trees.", f"{loose}\n\n- [ ] Print tables."
    result = merge_by_rules(plan(loose).encode(), plan(ours).encode(), plan(theirs).encode())
    assert result.data.decode() == plan(f"{ours}\n\n- [ ] Print tables.")


def test_equal_words_below_other_tasks_are_other_tasks() -> None:
    ours = BASE.replace("lines.", "lines.\n  - [ ] Test it.")
    theirs = BASE.replace("parser.", "parser.\n  - [ ] Test it.")
    result = merge_both_ways(plan(BASE), plan(ours), plan(theirs))
    assert result.data.decode() == plan(ours.replace("parser.", "parser.\n  - [ ] Test it."))


def test_boxes_outside_progress_are_tasks_where_lines_would_conflict() -> None:
    base = "# T\n\n## Validation and Acceptance\n\n- [ ] It runs.\n- [ ] It stops.\n"
    ours = base.replace("- [ ] It runs", "- [x] (2026-01-02) It runs")
    theirs = base.replace("- [ ] It runs", "- [x] (2026-01-01) It runs").replace("- [ ] It stops", "- [x] It stops")
    result = merge_both_ways(base, ours, theirs)
    assert (result.data.decode(), result.conflict_count) == (theirs, 0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("- [ ] Parser\n  - [ ] Write tests", "- [ ] Lexer\n  - [ ] Write tests"),
        ("- Parser\n  - [ ] Write tests", "- Lexer\n  - [ ] Write tests"),
        ("### Parser\n\n- [ ] Write tests", "### Lexer\n\n- [ ] Write tests"),
    ],
)
def test_both_sides_add_equal_words_below_other_items(ours: str, theirs: str) -> None:
    start = "# Plan\n\n## Progress\n\n- [ ] Start\n"
    merged = merge_both_ways(start, f"{start}{ours}\n", f"{start}{theirs}\n")
    assert merged[1:] == (0, ())
    assert merged.data.decode().count("[ ] Write tests") == 2
    assert merged.data.decode().startswith(start)
