"""Order, spelling, emptiness and level of the twelve sections."""

from __future__ import annotations

import pytest

from execplan.core.plan import outline, reader
from execplan.linter.runner import RuleContext, lint_plan
from tests.linter.single_rule import findings, fixed_text, lines
from tests.plans import CLEAN, with_sections

HEAD, *SECTIONS = CLEAN.split("\n## ")


def ordered(*places: int) -> str:
    return "\n## ".join([HEAD, *[SECTIONS[at] for at in places]])


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), ""),
        ((0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 4), ""),
        ((1, 3), ""),
        ((), ""),
        ((0, 5, 1, 2, 3, 8, 4), "Context and Orientation is before Progress"),
        ((1, 2, 3, 4, 0, 5, 6), "Purpose / Big Picture is after Outcomes & Retrospective"),
        ((0, 1, 2, 3, 4, 5, 6, 11, 7, 8, 9, 10), "Interfaces and Dependencies is before Concrete Steps"),
        ((4, 0, 1, 2, 3, 5), "Outcomes & Retrospective is before Purpose / Big Picture"),
        ((0, 5, 11, 1, 3, 2), "Context and Orientation is before Progress, and 2 more out of order"),
    ],
)
def test_order(places: tuple[int, ...], message: str) -> None:
    assert [finding.message for finding in findings("EP106", ordered(*places))] == ([message] if message else [])


def test_order_is_off_by_default_and_silent_in_the_archive() -> None:
    text = ordered(0, 5, 1, 2, 3)
    assert "EP106" not in {finding.code for finding in lint_plan(reader.read(text.encode()))}
    assert lines("EP106", text, RuleContext(is_archived=True)) == []


def test_sections_of_ones_own_and_those_that_stand_twice_have_no_order() -> None:
    text = ordered(0, 1, 2, 3, 4, 5) + "\n## Milestones\n\none\n\n## Progress\n\n- [ ] again\n\n## Plan of Work\n\nx\n"
    assert lines("EP106", text) == []


@pytest.mark.parametrize(
    ("title", "better"),
    [
        ("Decision log", "Decision Log"),
        ("Decisions", "Decision Log"),
        ("Surprises and Discoveries", "Surprises & Discoveries"),
        ("Suprises & Discoveries", "Surprises & Discoveries"),
        ("Context & Orientation", "Context and Orientation"),
        ("Purpose", "Purpose / Big Picture"),
        ("Purpose (why)", "Purpose / Big Picture (why)"),
        ("purpose / big picture / 목적", "Purpose / Big Picture / 목적"),
        ("Validation / 검증", "Validation and Acceptance / 검증"),
        ("Outcomes and retrospective (So Far)", "Outcomes & Retrospective (So Far)"),
        ("**Progress**", "Progress"),
        ("Progress:", "Progress"),
        ("PROGRESS (a) (b)", "Progress (a) (b)"),
        ("Artefacts and notes", "Artifacts and Notes"),
        ("Implementation Plan", "Plan of Work"),
        ("Progress / 진행 상황", ""),
        ("Progress / *진행*", ""),
        ("Purpose / 목적", ""),
        ("Purpose / Big Picture / 목적 / 큰 그림", ""),
        ("Plan of Work (edit map)", ""),
        ("Plan of Work / PR Sequence", ""),
        ("Outcomes & Retrospective (So Far)", ""),
        ("Milestones", ""),
        ("Progress Bars", ""),
    ],
)
def test_spelling(title: str, better: str) -> None:
    text = f"# A\n\n## {title} ##\n\nwords\n"
    name = reader.read(text.encode()).sections[0].name
    assert [finding.message for finding in findings("EP107", text)] == (
        [f"the standard heading is {name}"] if better else []
    )
    assert fixed_text("EP107", text) == f"# A\n\n## {better or title} ##\n\nwords\n"
    assert outline.canonical_name(better or title) == name


def test_spelling_of_an_underlined_heading() -> None:
    assert fixed_text("EP107", "# A\n\nDecision log\n------------\n\nx\n") == "# A\n\nDecision Log\n------------\n\nx\n"
    spelling_findings = findings("EP107", "# A\n\nDecision\nlog\n---\n\nx\n")
    assert [(finding.line, finding.fix) for finding in spelling_findings] == [(3, None)]


@pytest.mark.parametrize(
    ("body", "fixed"),
    [
        ("- `serde_yaml` reads the front matter", True),
        ("None.\n\n```toml\nserde = 1\n```", True),
        ("- The specification is approved.", False),
        ("- `M2` comes before `M3`", False),
        ("- This plan depends on `other-plan`.", False),
        ("- Ann and Bob", False),
    ],
)
def test_dependencies_may_be_something_else_than_interfaces(body: str, fixed: bool) -> None:
    short_name_findings = findings("EP107", f"# A\n\n## Dependencies\n\n{body}\n")
    assert [(finding.line, finding.fix is not None) for finding in short_name_findings] == [(3, fixed)]
    full_name_findings = findings("EP107", f"# A\n\n## Interfaces & Dependencies\n\n{body}\n")
    assert [finding.fix is not None for finding in full_name_findings] == [True]


def test_spelling_of_a_section_that_stands_twice_is_left_alone() -> None:
    assert lines("EP107", "# A\n\n## Validation\n\nx\n\n## Validation and Acceptance\n\ny\n") == []


@pytest.mark.parametrize("body", ["", "\n\n", "\n<!-- to come -->\n", "\n---\n", "\n### Later\n"])
def test_empty(body: str) -> None:
    text = with_sections(f"## Concrete Steps\n{body}")
    empty_findings = findings("EP108", text)
    assert [finding.message for finding in empty_findings] == ["Concrete Steps is empty"]


@pytest.mark.parametrize(
    "fragment",
    [
        "## Concrete Steps\n\nNone.\n",
        "## Concrete Steps\n\n```sh\nmake\n```\n",
        '## Concrete Steps\n\n<img src="a.png">\n',
        "## Concrete Steps\n\n### One\n\nwords\n",
        "## Concrete Steps\n\n- item\n",
        "## Concrete Steps\n\nRevision note: 2026-01-01 all new.\n",
        "## Progress\n",
        "## Outcomes & Retrospective\n",
    ],
)
def test_not_empty(fragment: str) -> None:
    assert lines("EP108", with_sections(fragment)) == []


def test_a_heading_of_ones_own_may_stand_over_others() -> None:
    assert lines("EP108", CLEAN.replace("## Progress", "## English Version\n\n## Progress")) == []
    text = CLEAN + "\n## Open Questions\n"
    assert lines("EP108", text) == [text.count("\n")]


@pytest.mark.parametrize("mark", ["#", "###", "####"])
@pytest.mark.parametrize("name", outline.NAMES)
def test_wrong_level(mark: str, name: str) -> None:
    text = CLEAN.replace(f"\n## {name}\n", f"\n{mark} {name}\n")
    level_findings = findings("EP110", text)
    assert [finding.message for finding in level_findings] == [
        f"{name} is a section: start its heading with ##, not {mark}"
    ]
    assert lines("EP103", text) == []
    messages = [finding.message for finding in findings("EP104", text)]
    assert messages == (
        [f"missing section {name}: the heading on line {level_findings[0].line} is not at level 2"]
        if name in outline.LIVING
        else []
    )


@pytest.mark.parametrize(
    "fragment",
    [
        "## Plan of Work\n\n### Validation and Acceptance\n\nx\n",
        "## Plan of Work\n\n### Validation\n\nx\n",
        "## Plan of Work\n\n> # Progress\n",
        "## Plan of Work\n\n```\n# Progress\n```\n",
        "## Plan of Work\n\n# Another part\n",
    ],
)
def test_headings_that_share_a_name(fragment: str) -> None:
    assert lines("EP110", with_sections(fragment)) == []


def test_milestones_may_have_steps_of_their_own() -> None:
    text = CLEAN.replace("## Concrete Steps", "### Concrete Steps")
    text = text.replace("Write the scanner", "### Concrete Steps\n\nWrite the scanner")
    assert lines("EP110", text) == []
    assert len(findings("EP103", text)) == 1


def test_a_short_name_below_is_no_section() -> None:
    text = CLEAN.replace("## Validation and Acceptance", "### Validation")
    assert lines("EP110", text) == []


@pytest.mark.parametrize("line", ["## Steps\n", "# Progress\n", "### Progress\n", "## A\n", "## Progress (((((\n"])
def test_much_of_one_line_is_no_work_without_end(line: str) -> None:
    text = "# A\n\n" + line * (100_000 // len(line))
    for code in ("EP103", "EP106", "EP107", "EP108", "EP110"):
        assert len(findings(code, text)) <= 101
