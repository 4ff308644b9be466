"""The restart page: all of it is there, in bounds, and a plan can't break out of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.context.checkpoint_page import format_page, is_same_content, is_unedited
from execplan.context.plan_overview import PlanDrift, PlanOverview, WorkingTree
from tests.context.test_session_primer import make_overview, unchanged
from tests.plans import CLEAN, from_template, with_sections

WHEN = "2026-01-01T00:00:00Z"
TREE = WorkingTree("main", "0123456789abcdef", "First", ("src/a.py",), ("src/b.py",), ("new/",))


def page_text(overview: PlanOverview) -> str:
    """The page."""
    return format_page(overview, unchanged, WHEN, "Ann").decode()


def section_text(overview: PlanOverview, name: str) -> str:
    """What stands under a heading of the page."""
    return page_text(overview).partition(f"\n## {name}\n\n")[2].partition("\n\n## ")[0]


def test_each_part_says_what_the_plan_and_git_say() -> None:
    overview = make_overview(
        working_tree=TREE,
        drift=PlanDrift(1, has_more_commits=False, paths=("src/b.py",)),
        lint_errors=("line 3: EP104 no section",),
        steps_status="approved, run 3 is waiting for an answer",
        claimed_tasks=(("tn9pppc", "agent-1"),),
    )
    assert section_text(overview, "Objective") == "> A plan can be read and edited without loss."
    assert section_text(overview, "Done") == "- (2025-12-30 09:15Z) Read lines."
    assert (
        section_text(overview, "Next")
        == "- **next** `tmkadfq` Build the parser.\n- `tn9pppc` Write the tests. (claimed by agent-1)"
    )
    assert section_text(overview, "Decisions") == "- Read line by line. (2025-12-30, Ann)\n  Why: A task is a line."
    assert section_text(overview, "Discoveries").endswith("Evidence: `tests/test_lines.py::test_last` failed.")
    assert section_text(overview, "Risks and open questions").split("\n") == [
        "- Steps: approved, run 3 is waiting for an answer",
        "- 1 commit and 1 file changed since the plan was last written",
        "  - src/b.py",
        "- Lint: line 3: EP104 no section",
    ]
    assert section_text(overview, "How to verify the result") == "> `make test` passes."
    assert section_text(overview, "Git").startswith(
        "On branch main, at commit 0123456789ab: First\n\nStaged:\n\n- src/a.py"
    )
    assert "execplan done tmkadfq -p parser" in page_text(overview)


def test_open_questions_come_from_headings_of_any_depth() -> None:
    plan = with_sections(
        "## Risks\n\nThe disk may fill.\n\n## Plan of Work\n\n### Open questions\n\n- Is a tab\n  four columns?\n- Why?\n\n"
        "### Then\n\n- Not asked.\n"
    )
    assert sorted(section_text(make_overview(plan), "Risks and open questions").split("\n")) == [
        "- Open questions: Is a tab four columns?",
        "- Open questions: Why?",
        "- Risks: The disk may fill.",
    ]
    assert section_text(make_overview(), "Risks and open questions") == "None."


def test_a_plan_of_work_may_be_called_otherwise() -> None:
    overview = make_overview(
        CLEAN.replace("## Plan of Work", "## Implementation notes\n\nFew.\n\n## Milestones\n\n### One")
    )
    assert section_text(overview, "Plan of work") == "> ### One\n>\n> Write the scanner, then the reader."
    both = make_overview(f"{CLEAN}\n## Milestones\n\nAll that is written here is longer than that.\n")
    assert section_text(both, "Plan of work") == "> Write the scanner, then the reader."


def test_what_a_template_asks_is_not_quoted_as_what_the_plan_says() -> None:
    overview = make_overview(from_template("small"))
    assert section_text(overview, "Objective") == section_text(overview, "Plan of work") == "Not written yet."
    assert section_text(overview, "Steps from the plan") == "> The commands are in Validation and Acceptance."


def test_a_long_plan_makes_a_page_that_can_be_read() -> None:
    done_tasks = "".join([f"- [x] Done {number}.\n" for number in range(300)])
    open_tasks = "".join([f"- [ ] Left {number}.\n" for number in range(300)])
    orientation = "".join([f"Line {number}.\n\n" for number in range(3000)])
    plan = with_sections(f"## Progress\n\n{done_tasks}{open_tasks}\n## Context and Orientation\n\n{orientation}")
    tree = TREE._replace(untracked=tuple([f"f{number}" for number in range(500)]))
    overview = make_overview(plan, working_tree=tree, lint_errors=("line 1: EP101",) * 200)
    assert len(page_text(overview)) < 10_000
    assert "The last 15 of 300:" in section_text(overview, "Done")
    assert section_text(overview, "Next").endswith("- and 240 more")
    first = plan.splitlines().index("Line 20.") + 1
    assert section_text(overview, "Orientation").endswith(f"more lines are in the plan, from line {first}.")
    assert "Line 19." in section_text(overview, "Orientation")
    assert section_text(overview, "Git").endswith("- and 475 more")


def test_so_many_lines_and_entries_are_quoted() -> None:
    many_lines = "".join([f"Line {number}.\n" for number in range(100)])
    names = {"Objective": "Purpose / Big Picture", "Orientation": "Context and Orientation"}
    names |= {"Plan of work": "Plan of Work", "Steps from the plan": "Concrete Steps"}
    names |= {"How to verify the result": "Validation and Acceptance"}
    decision_entries = "".join(
        [f"- Decision: Number {number}.\n  Rationale: Why {number}.\n  Date/Author: Ann\n" for number in range(30)]
    )
    discovery_entries = "".join([f"- Observation: Seen {number}.\n  Evidence: Log {number}.\n" for number in range(30)])
    sections = "".join([f"## {name}\n\n{many_lines}\n" for name in names.values()])
    overview = make_overview(
        with_sections(
            f"{sections}## Decision Log\n\n{decision_entries}\n## Surprises & Discoveries\n\n{discovery_entries}"
        )
    )
    for name, count in zip(names, (40, 40, 40, 40, 30), strict=True):
        assert section_text(overview, name).count("> Line ") == count, name
    decisions, discoveries = section_text(overview, "Decisions"), section_text(overview, "Discoveries")
    assert [f"Number {number}." in decisions for number in range(30)] == [False] * 20 + [True] * 10
    assert "Why: Why 29." in decisions
    assert [f"Seen {number}." in discoveries for number in range(30)] == [False] * 20 + [True] * 10
    assert "Evidence: Log 29." in discoveries


def test_an_edit_is_noticed_and_only_the_time_is_passed_over() -> None:
    overview = make_overview()
    page = format_page(overview, unchanged, WHEN, "Ann")
    assert is_unedited(page)
    assert not any(
        is_unedited(edited) for edited in (page + b"x", page.replace(b"Read", b"Write", 1), b"", page[:-1], b"# Mine\n")
    )
    later = format_page(overview, unchanged, "2027-01-01T00:00:00Z", "Ann")
    assert later != page
    assert is_same_content(page, later)
    assert not is_same_content(page, format_page(overview._replace(next_task_id=""), unchanged, WHEN, "Ann"))


HOSTILE = st.text(st.sampled_from("a`#>-*<![]()~=\\ \t\u202e"), min_size=1, max_size=60)


@settings(max_examples=60)
@given(words=HOSTILE, body=st.lists(HOSTILE, max_size=6))
def test_no_plan_adds_a_heading_or_swallows_one(words: str, body: list[str]) -> None:
    line_text = " ".join(words.split()) or "x"
    quoted = "\n".join(["Words.", *body])
    plan = CLEAN.replace("Build the parser.", f"a {line_text}").replace("Read line by line.", f"a {line_text}")
    plan = plan.replace("A plan can be read and edited without loss.", quoted)
    tree = TREE._replace(branch=line_text, subject=line_text, changed=(line_text, f"{line_text}\n# x"))
    overview = make_overview(plan, working_tree=tree, lint_errors=(line_text,), path=f"{line_text}.md")
    tokens = MarkdownIt("commonmark").parse(page_text(overview))
    heads = [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and not token.level
    ]
    names = ["Objective", "Done", "Next", "Decisions", "Discoveries", "Risks and open questions"]
    assert heads[1:7] == names
    assert heads[-2:] == ["Git", "How to continue"]
