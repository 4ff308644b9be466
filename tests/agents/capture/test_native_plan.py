"""What becomes of plans in the styles of agent programs: the sections of each, and that nothing gets lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from execplan.agents.capture.native_plan import UNTITLED, convert
from execplan.agents.capture.plan_assembly import fill_template
from execplan.agents.capture.plan_tasks import MAX_LENGTH
from execplan.core.plan import outline, reader
from execplan.linter.runner import draft_errors
from tests.plans import from_template

SAMPLES = Path(__file__).with_name("native_plans")
EXPECTED = SAMPLES / "expected"
NAMES = sorted([path.name for path in SAMPLES.glob("*.md")])
TEMPLATE = from_template("plan")
HOSTILE = """\
# Steps {#not-an-id}

## Progress

It has a heading that a plan has too.

```sh {#clean risk=low}
rm -rf build
```

<<<<<<< HEAD
ours
=======
theirs
>>>>>>> branch

1. (2026-13-45) A date that doesn't exist
2. ~~~
3. Third, with <!-- a comment that never ends

<!-- it is never closed

Setext
======

- [?] an odd box
- [ ]

````python
print("never closed")
"""


def sections_text(text: str, name: str) -> str:
    """Return the sections of a converted plan as one text."""
    plan = convert(text, name)
    parts = [f"# {plan.title}", *[f"## {name}\n\n" + "\n".join(lines) for name, lines in plan.sections.items()]]
    return "\n\n".join(parts) + "\n"


def filled(text: str) -> str:
    """Return the plan that a native plan becomes."""
    plan = convert(text)
    return fill_template(TEMPLATE.replace("# Build the parser", f"# {plan.title}", 1), plan.sections)


def words(line: str) -> str:
    """Return the words of a line without markup: what is not allowed to get lost."""
    return " ".join(re.findall(r"[^\W_]+", line))


def lost_lines(text: str, result: str) -> list[str]:
    """Return the lines whose words are not all in the result, in their order."""
    content = words(result)
    return [line for line in text.splitlines() if words(line) not in content]


def test_text_under_a_section_s_own_name_goes_to_that_section() -> None:
    names = [name for name in outline.NAMES if name not in outline.LIVING]
    text = "# Build it\n" + "".join([f"\n## {name}\n\nText of section {at}.\n" for at, name in enumerate(names)])
    assert convert(text).sections == {name: [f"Text of section {at}."] for at, name in enumerate(names)}


@pytest.mark.parametrize("name", NAMES)
def test_the_sections_of_each_sample(name: str) -> None:
    text = (SAMPLES / name).read_bytes().decode()
    assert sections_text(text, name.split(".", 1)[0]) == (EXPECTED / name).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_becomes_a_plan_without_errors(name: str) -> None:
    text = (SAMPLES / name).read_bytes().decode()
    plan = reader.parse(filled(text))
    assert not draft_errors(plan)
    assert [section.name for section in plan.sections] == list(outline.NAMES)
    assert plan.tasks or not convert(text).tasks
    assert "\r" not in filled(text)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "   \n\n", "---", "# ", "#\n#\n", "```", "<!--", "- [ ] ", "- ", "> ", "\0", "|", "<proposed_plan>"],
)
def test_almost_nothing_becomes_a_draft(text: str) -> None:
    plan = reader.parse(filled(text))
    assert not draft_errors(plan)
    assert plan.title in (UNTITLED, "|")
    assert all([task.box_line in plan.placeholder_lines for task in plan.tasks]), "only that of the template"


def test_a_hostile_plan_keeps_the_structure() -> None:
    plan = reader.parse(filled(HOSTILE))
    assert not draft_errors(plan)
    assert not plan.conflict_lines
    assert [section.name for section in plan.sections] == list(outline.NAMES)
    assert lost_lines(HOSTILE, filled(HOSTILE)) == []
    assert not any(["{" in block.text for block in plan.blocks if block.kind == "fence"]), "no step has attributes"


def test_a_huge_plan_is_converted_in_time_that_grows_with_its_length() -> None:
    part = (
        "## Step {0}: Do it\n\nIt is part {0}, in `src/part{0}.py`.\n\n- [ ] Task {0}\n\n```sh\nmake part{0}\n```\n\n"
    )
    text = "# Much\n\n" + "".join([part.format(number) for number in range(3000)])
    plan = convert(text)
    assert len(plan.tasks) == 3000
    assert "It is part 2999, in `src/part2999.py`." in "\n".join(plan.sections[outline.WORK])


def test_a_long_task_is_shortened_and_its_whole_text_kept() -> None:
    text = f"# Long\n\n- [ ] {'word ' * 60}end\n- [ ] Short\n"
    plan = convert(text)
    assert all([len(line) < MAX_LENGTH + 20 for line in plan.sections[outline.PROGRESS]])
    assert lost_lines(text, filled(text)) == []


LINES = st.sampled_from(
    [
        *(
            "",
            "",
            "",
            "# Title",
            "## Context",
            "## Approach",
            "### Step 1: Read",
            "### 2. Write",
            "#### Deep",
            "## Verification",
        ),
        *(
            "- [ ] task",
            "- [x] done",
            "  - [ ] nested",
            "- item",
            "  - nested item",
            "1. first",
            "2. second",
            "10) tenth",
        ),
        *("```sh", "```", "~~~", "```sh {#a risk=low}", "    code", "<!-- open", "-->", "<div>", "</div>", "<script>"),
        *(
            "| a | b |",
            "|---|---|",
            "> quote",
            "> ```",
            "---",
            "===",
            "***",
            "**Goal:** one",
            "**Files:**",
            "`src/a.py`: change",
        ),
        *(
            "## Progress",
            "## Decision Log",
            "- Decision: none",
            "Rationale: none",
            "Revision note: later",
            "[a]: b",
            "<proposed_plan>",
        ),
        *(
            "</proposed_plan>",
            "<<<<<<< HEAD",
            "=======",
            ">>>>>>> x",
            "name: x",
            "todos:",
            "\tindented",
            "(2026-02-30) never",
        ),
        *(
            "- [ ] (2026-02-30) never",
            "- [ ] TBD",
            "Überprüfung",
            "验证",
            "text",
            "## Progress ##",
            "- ```",
            "1. > - [ ] deep",
            "<!--",
        ),
    ]
)


@example("## Progress\n## Decision Log\n- [ ] TBD")
@example("> ```\n- ```\n<!-- open\n## Context")
@example("- [ ] (2026-02-30) never\n- Decision: none")
@given(st.lists(LINES, max_size=14).map("\n".join))
def test_no_words_get_lost_and_the_plan_has_no_errors(text: str) -> None:
    result = filled(text)
    assert not draft_errors(reader.parse(result)), result
    if "proposed_plan>" not in text:
        assert lost_lines(text, result) == [], result


@given(st.text(max_size=200))
def test_any_text_becomes_a_plan_without_errors(text: str) -> None:
    assert not draft_errors(reader.parse(filled(text)))
