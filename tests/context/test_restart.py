"""The restart page: all of it is there, in bounds, and a plan can't break out of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.context.checkpoint_page import format_page, is_same_content, is_unedited
from execplan.context.plan_overview import PlanDrift, PlanOverview, WorkingTree
from tests.context.test_primer import bearings, same
from tests.plans import CLEAN, with_sections

WHEN = "2026-01-01T00:00:00Z"
TREE = WorkingTree("main", "0123456789abcdef", "First", ("src/a.py",), ("src/b.py",), ("new/",))


def text(found: PlanOverview) -> str:
    """The page."""
    return format_page(found, same, WHEN).decode()


def part(found: PlanOverview, name: str) -> str:
    """What stands under a heading of the page."""
    return text(found).partition(f"\n## {name}\n\n")[2].partition("\n\n## ")[0]


def test_each_part_says_what_the_plan_and_git_say() -> None:
    found = bearings(
        tree=TREE,
        drift=PlanDrift(1, has_more_commits=False, paths=("src/b.py",)),
        findings=("line 3: EP104 no section",),
        steps="approved, run 3 waits for an answer",
        taken=(("tn9pppc", "agent-1"),),
    )
    assert part(found, "Objective") == "> A plan can be read and edited without loss."
    assert part(found, "Done") == "- (2025-12-30 09:15Z) Read lines."
    assert (
        part(found, "Next")
        == "- **up next** `tmkadfq` Build the parser.\n- `tn9pppc` Write the tests. (claimed by agent-1)"
    )
    assert part(found, "Decisions") == "- Read line by line. (2025-12-30, Ann)\n  Why: A task is a line."
    assert part(found, "Discoveries").endswith("Evidence: `tests/test_lines.py::test_last` failed.")
    assert part(found, "Risks and open questions").split("\n") == [
        "- Steps: approved, run 3 waits for an answer",
        "- 1 commit and 1 file changed since the plan was last written",
        "  - src/b.py",
        "- Lint: line 3: EP104 no section",
    ]
    assert part(found, "How to tell that it is done") == "> `make test` passes."
    assert part(found, "Git").startswith("On branch main, at commit 0123456789ab: First\n\nStaged:\n\n- src/a.py")
    assert "execplan done tmkadfq -p parser" in text(found)


def test_open_questions_come_from_headings_of_any_depth() -> None:
    plan = with_sections(
        "## Risks\n\nThe disk may fill.\n\n## Plan of Work\n\n### Open questions\n\n- Is a tab\n  four columns?\n- Why?\n\n"
        "### Then\n\n- Not asked.\n"
    )
    assert sorted(part(bearings(plan), "Risks and open questions").split("\n")) == [
        "- Open questions: Is a tab four columns?",
        "- Open questions: Why?",
        "- Risks: The disk may fill.",
    ]
    assert part(bearings(), "Risks and open questions") == "None."


def test_a_plan_of_work_may_be_called_otherwise() -> None:
    found = bearings(CLEAN.replace("## Plan of Work", "## Implementation notes\n\nFew.\n\n## Milestones\n\n### One"))
    assert part(found, "Plan of work") == "> ### One\n>\n> Write the scanner, then the reader."
    both = bearings(f"{CLEAN}\n## Milestones\n\nAll that is written here is longer than that.\n")
    assert part(both, "Plan of work") == "> Write the scanner, then the reader."


def test_a_long_plan_makes_a_page_that_can_be_read() -> None:
    done = "".join([f"- [x] Done {number}.\n" for number in range(300)])
    left = "".join([f"- [ ] Left {number}.\n" for number in range(300)])
    words = "".join([f"Line {number}.\n\n" for number in range(3000)])
    plan = with_sections(f"## Progress\n\n{done}{left}\n## Context and Orientation\n\n{words}")
    tree = TREE._replace(untracked=tuple([f"f{number}" for number in range(500)]))
    found = bearings(plan, tree=tree, findings=("line 1: EP101",) * 200)
    assert len(text(found)) < 10_000
    assert "The last 15 of 300:" in part(found, "Done")
    assert part(found, "Next").endswith("- and 240 more")
    first = plan.splitlines().index("Line 20.") + 1
    assert part(found, "Orientation").endswith(f"more lines stand in the plan, from line {first} on.")
    assert "Line 19." in part(found, "Orientation")
    assert part(found, "Git").endswith("- and 475 more")


def test_so_many_lines_and_entries_are_quoted() -> None:
    many = "".join([f"Line {number}.\n" for number in range(100)])
    names = {"Objective": "Purpose / Big Picture", "Orientation": "Context and Orientation"}
    names |= {"Plan of work": "Plan of Work", "Steps as the plan says them": "Concrete Steps"}
    names |= {"How to tell that it is done": "Validation and Acceptance"}
    log = "".join(
        [f"- Decision: Number {number}.\n  Rationale: Why {number}.\n  Date/Author: Ann\n" for number in range(30)]
    )
    seen = "".join([f"- Observation: Seen {number}.\n  Evidence: Log {number}.\n" for number in range(30)])
    sections = "".join([f"## {name}\n\n{many}\n" for name in names.values()])
    found = bearings(with_sections(f"{sections}## Decision Log\n\n{log}\n## Surprises & Discoveries\n\n{seen}"))
    for name, most in zip(names, (40, 40, 40, 40, 30), strict=True):
        assert part(found, name).count("> Line ") == most, name
    decisions, discoveries = part(found, "Decisions"), part(found, "Discoveries")
    assert [f"Number {number}." in decisions for number in range(30)] == [False] * 20 + [True] * 10
    assert "Why: Why 29." in decisions
    assert [f"Seen {number}." in discoveries for number in range(30)] == [False] * 20 + [True] * 10
    assert "Evidence: Log 29." in discoveries


def test_an_edit_is_noticed_and_only_the_time_is_passed_over() -> None:
    found = bearings()
    one = format_page(found, same, WHEN)
    assert is_unedited(one)
    assert not any(
        is_unedited(each) for each in (one + b"x", one.replace(b"Read", b"Write", 1), b"", one[:-1], b"# Mine\n")
    )
    later = format_page(found, same, "2027-01-01T00:00:00Z")
    assert later != one
    assert is_same_content(one, later)
    assert not is_same_content(one, format_page(found._replace(next_task_id=""), same, WHEN))


HOSTILE = st.text(st.sampled_from("a`#>-*<![]()~=\\ \t\u202e"), min_size=1, max_size=60)


@settings(max_examples=60)
@given(words=HOSTILE, body=st.lists(HOSTILE, max_size=6))
def test_no_plan_adds_a_heading_or_swallows_one(words: str, body: list[str]) -> None:
    one = " ".join(words.split()) or "x"
    quoted = "\n".join(["Words.", *body])
    plan = CLEAN.replace("Build the parser.", f"a {one}").replace("Read line by line.", f"a {one}")
    plan = plan.replace("A plan can be read and edited without loss.", quoted)
    tree = TREE._replace(branch=one, subject=one, changed=(one, f"{one}\n# x"))
    found = bearings(plan, tree=tree, findings=(one,), path=f"{one}.md")
    tokens = MarkdownIt("commonmark").parse(text(found))
    heads = [tokens[at + 1].content for at, each in enumerate(tokens) if each.type == "heading_open" and not each.level]
    names = ["Objective", "Done", "Next", "Decisions", "Discoveries", "Risks and open questions"]
    assert heads[1:7] == names
    assert heads[-2:] == ["Git", "How to continue"]
