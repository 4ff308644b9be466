"""Milestones that nobody works on, and those whose end can't be seen."""

from __future__ import annotations

import pytest

from tests.linter.single_rule import lines

WORK = "## Plan of Work\n\n### Milestone 1: Scanner\n\na\n\n### Milestone 2 - Reader\n\nb\n\n### Milestone 3 (later)\n\nc\n"


def plan(*tasks: str, work: str = WORK) -> str:
    items = "".join(f"- [ ] {task}\n" for task in tasks)
    return f"# Build\n\n## Progress\n\n{items}\n{work}"


@pytest.mark.parametrize(
    "tasks",
    [
        ("Milestone 1", "Milestone 2", "Milestone 3"),
        ("milestones 1 and 2", "M3: speed"),
        ("Milestones 1-3",),
        ("Milestones 1 through 3",),
        ("MS001 scan", "MS002 read", "EP-7/MS003 measure"),
        ("Milestone 1", "Milestone 2", "All milestones are validated"),
        ("Build the scanner", "Build the reader"),  # no numbers: nobody can tell
        ("Milestone 1", "Build the reader"),  # one number only
        ("Close the phase 1 leftovers", "Step 2"),
    ],
)
def test_every_milestone_is_named_or_none_is(tasks: tuple[str, ...]) -> None:
    assert lines("EP213", plan(*tasks)) == []


def test_the_one_that_is_not_named() -> None:
    assert lines("EP213", plan("Milestone 1", "Milestone 2 with 3 tests")) == [18]
    assert lines("EP213", plan("Milestone 1", "Milestone 3")) == [14]
    two = "## Milestones\n\n### Milestone EP-1/MS001\n\n### Milestone EP-1/MS002\n\n### Milestone EP-1/MS004\n"
    assert lines("EP213", plan("MS001", "MS002", work=two)) == [14]


def test_the_words_of_its_title_name_a_milestone() -> None:
    work = WORK.replace("Milestone 3 (later)", "Milestone 3: Final verification and cleanup")
    assert lines("EP213", plan("Milestone 1", "Milestone 2", "Final cleanup", work=work)) == []
    assert lines("EP213", plan("Milestone 1", "Milestone 2", "Other", work=work)) == [19]


def test_sub_headings_of_progress_name_milestones() -> None:
    heads = "".join(f"### Milestone {at}\n\n- [ ] do it, part {at}\n\n" for at in (1, 2, 3))
    assert lines("EP213", f"# Build\n\n## Progress\n\n{heads}{WORK}") == []
    assert lines("EP213", f"# Build\n\n## Progress\n\n{heads.split('### Milestone 3')[0]}{WORK}") == [23]


@pytest.mark.parametrize(
    "body",
    [
        "Move the functions. Then the tests pass.",
        "Move the functions and run `make all`.",
        "Move the functions to the module.\n\n```sh\nmake\n```",
        "At the end of this milestone the page is there.",
        "把函数移到新的模块。",  # the words are sought in English only
    ],
)
def test_an_end_that_can_be_seen(body: str) -> None:
    assert lines("EP214", f"# Build\n\n## Plan of Work\n\n### Milestone 1: Move\n\n{body}\n") == []


@pytest.mark.parametrize("head", ["## Milestone 1: Move", "### Milestone A: Move", "#### milestone M2"])
@pytest.mark.parametrize("body", ["Move the functions to `src/a.py`.", ""])
def test_an_end_that_can_not(head: str, body: str) -> None:
    assert lines("EP214", f"# Build\n\n## Plan of Work\n\n{head}\n\n{body}\n") == [5]


def test_the_end_may_be_told_elsewhere() -> None:
    text = (
        "# Build\n\n## Plan of Work\n\n### Milestone 1: Move\n\nMove the file.\n\n### Milestone 2\n\nMove the other.\n"
    )
    assert lines("EP214", text) == [5, 9]
    assert lines("EP214", text + "\n## Validation and Acceptance\n\nAfter milestone 1 the menu is there.\n") == [9]
    assert lines("EP214", text + "\n## Concrete Steps\n\n### Milestone 2\n\n    make test\n") == [5]


@pytest.mark.parametrize(
    ("title", "body", "proof", "told"),
    [
        ("Bend (FFD)", "Move it to the module.", "Shapes (FFD) are saved and read again.", True),
        ("Bend (FFD)", "Move it to the module.", "Shapes (FFDs) are saved and read again.", False),
        ("Bend (API)", "Move it to the module.", "Both (API) are there.", False),  # another has it, too
        ("Add the sidebar", "Move it to the module.", "The Sidebar is there.", True),
        ("Add the sidebar", "Move it to the module.", "The sidebars are there.", False),
        ("Rewrite all", "Move it to the module.", "Nothing else to rewrite.", False),
        ("Add the sidebar", "Move it to the sidebar.\n" * 6, "The sidebar is there.", False),  # the word is everywhere
        ("Move", "Add the field to `state_summary`.", "`get_state_summary_v1` has it.", True),
        ("Move", "Add the field to `state_summary`.", "The state_summary has it.", False),
        ("Move", "Add it to `state_summary`, `state_summary` and `state_summary`.", "`state_summary`", False),
        ("Move", "Add the field to `src/state.py`.", "`src/state.py` is there.", False),
        ("Move", "Add the field to `state`.", "`state` is there.", False),
    ],
)
def test_the_end_may_be_told_by_other_words(title: str, body: str, proof: str, told: bool) -> None:
    other_milestone = "### Milestone 2: Write the API\n\nIt prints 3.\n"
    text = f"# Build\n\n## Plan of Work\n\n### Milestone 1: {title}\n\n{body}\n\n{other_milestone}"
    assert lines("EP214", text) == [5]
    assert lines("EP214", f"{text}\n## Validation and Acceptance\n\n{proof}\n") == ([] if told else [5])


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("Update `docs/parser.md` and `README.md` to describe the new forms.", []),
        ("Update `docs/parser.md` to describe `read`.", []),
        ("Update `docs/parser.md` and the words of `src/help.py`.", [5]),
        ("Update `read` to the new forms.", [5]),
        ("Move the latest blueprint to the contest of the compass.", [5]),
        ("Move the validator and the miner to the module.", [5]),
        ("Move the file to the module and validate it.", []),
        ("Move the file to the module (tested by hand).", []),
    ],
)
def test_documents_and_words_within_words(body: str, at: list[int]) -> None:
    assert lines("EP214", f"# Build\n\n## Plan of Work\n\n### Milestone 1: Move\n\n{body}\n") == at


def test_as_many_milestones_as_no_plan_has_are_not_judged() -> None:
    heads = [f"### Milestone {at}: Sidebar\n\nMove the file.\n\n" for at in range(3000)]
    for count in (49, 3000):
        text = f"# Build\n\n## Plan of Work\n\n{''.join(heads[:count])}"
        assert len(lines("EP214", text)) == (count if count < 50 else 0)


def test_a_heading_about_milestones_is_none() -> None:
    text = "# Build\n\n## Milestones\n\n### Milestone overview\n\nThree of them.\n\n## Progress\n\n### Milestone 1\n\n- [ ] a\n"
    assert lines("EP214", text) == []
