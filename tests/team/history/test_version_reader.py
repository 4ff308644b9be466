"""A version that is read piece by piece has the parts, tasks and entries of one that is read at once."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan.reader import decode
from execplan.team.history.history_event import ENTRY_KINDS
from execplan.team.history.version_comparison import compare_versions
from execplan.team.history.version_reader import VersionReader, VersionUnits, read_at_once
from tests.plans import CLEAN

LINES = st.sampled_from(
    [
        *("", "", "Text.", "# Title", "# Other title", "## Progress", "## Decision Log", "## Decisions", "## Custom"),
        *("### Sub", "- [ ] Task one", "- [x] Task two", "  more", "- Decision: Use it", "  Rationale: It is so."),
        *("```", "~~~", "<!--", "-->", "<div>", "<pre>", "</pre>", "---", "===", "> ## Quote", "  ## Indented"),
        *("- ```", "    code", "Revision note: (2026-01-01) Changed.", "\ttab", "[link]: x", "## Revision Notes"),
    ]
)


def content(version: VersionUnits) -> object:
    """What a comparison can see of a version."""
    return (
        version.title,
        [(part.unit.kind, part.unit.key, part.lines, part.name, part.title) for part in version.parts],
        [(task.id, task.task.text, task.task.mark, task.unit.lines, task.task.heading) for task in version.tasks],
        [[(unit.key, unit.lines) for unit in version.entries(kind)] for kind in ENTRY_KINDS],
        [part.text_lines(has_units=version.has_units(part)) for part in version.parts],
    )


def assert_same(reader: VersionReader, data: bytes) -> None:
    """Assert that a version is the same read in both ways."""
    try:
        version = reader.read(data)
    except ExecplanError:
        return
    assert content(version) == content(read_at_once(decode(data)))


@given(st.lists(LINES, max_size=30), st.booleans())
@example(["# Title", "", "<div>", "## Progress", "- [ ] Task"], False)
@example(["---", "## Progress", "---", "# Title", "", "## Decisions", "", "## Decision Log"], False)
@example(["# Title", "", "```", "", "## Progress", "", "```", "- [ ] Task"], False)
@example(["# Title", "", "## Progress", "", "- [ ] Task", "# Other title", "", "Text", "", "## Custom"], False)
def test_pieces_give_the_whole(lines: list[str], has_title: bool) -> None:
    text = "\n".join(["# Title", "", *lines] if has_title else lines)
    assert_same(VersionReader({}), text.encode())


def test_pieces_give_the_whole_of_real_plans() -> None:
    reader = VersionReader({})
    paths = sorted((Path(__file__).resolve().parents[3] / ".agent/execplans").rglob("*.md"))
    assert paths
    for path in paths:
        assert_same(reader, path.read_bytes())


@given(st.lists(st.lists(LINES, max_size=12), min_size=2, max_size=4))
def test_pieces_of_other_versions_change_nothing(versions: list[list[str]]) -> None:
    reader = VersionReader({})
    texts = ["\n".join(["# Title", "", *lines, "", *versions[0]]).encode() for lines in versions]
    for text in texts:
        assert_same(reader, text)


def test_an_unchanged_section_is_parsed_once() -> None:
    reader = VersionReader({})
    old, new = reader.read(CLEAN.encode()), reader.read(CLEAN.replace("- [ ] Write", "- [x] Write").encode())
    shared = [part for part in new.parts if any(part is old_part for old_part in old.parts)]
    assert len(new.parts) - len(shared) == 1
    assert [event.kind for event in compare_versions(old, new)] == ["task-done"]
