"""What is printed can be read back, and nothing in a unit ends what it stands in."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.context.context_pack import (
    DECISION,
    FILE,
    KEEP,
    MARKDOWN,
    SUMMARIZE,
    TRUNCATE,
    XML,
    ContextPack,
    Unit,
    make_visible,
    one_line,
)
from tests.context.units import file

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(["```", "`````", "~~~", "\n", "]]>", "</unit>", "&amp;", "\0", "\r", "\u202e", "\ud800"]),
    )
).map("".join)
PRINTED = st.sampled_from([KEEP, SUMMARIZE, TRUNCATE])


@given(TEXTS, TEXTS, TEXTS, PRINTED)
def test_xml_reads_back(content: str, title: str, path: str, action: str) -> None:
    unit = Unit(f"x:{title}", FILE, content, title, path, 1, 2)
    pieces = [XML.render_unit(unit, content, action), XML.render_unit(unit, "end", KEEP)]
    root = ET.fromstring(XML.render_pack(ContextPack("p", title, "", "", (unit,)), pieces, is_shortened=True))
    assert len(root) == 2
    assert (root[0].text or "") == make_visible(content)
    assert root[0].attrib["id"] == one_line(unit.id)
    assert root[0].attrib["action"] == action
    assert root[1].text == "end"


@given(TEXTS, TEXTS, PRINTED)
def test_markdown_reads_back(content: str, title: str, action: str) -> None:
    unit = Unit("u", FILE, content, title, "a.py")
    text = MARKDOWN.render_pack(
        ContextPack("p", title, "", "", (unit,)), [MARKDOWN.render_unit(unit, content, action)] * 2, is_shortened=False
    )
    tokens = [token for token in MarkdownIt().parse(text) if token.type in ("heading_open", "fence") or not token.level]
    shape = [token.type for token in tokens if token.type not in ("inline", "heading_close")]
    assert shape == ["heading_open", "heading_open", "fence", "heading_open", "fence"]
    fences = [token for token in tokens if token.type == "fence"]
    visible = make_visible(content)
    assert all(fence.info == "python" for fence in fences)
    assert fences[0].content.removesuffix("\n") == visible.removesuffix("\n")


def test_a_heading_says_what_became_of_a_unit() -> None:
    unit = file("src/reader.py", "x = 1\ny = 2\n")
    assert MARKDOWN.render_unit(unit, "x = 1", SUMMARIZE).startswith(
        "## file: src/reader.py (lines 1-3, summarized)\n\n```python\nx = 1\n```\n"
    )
    decision = Unit("decision:b2580e1f", DECISION, "One.\nTwo.", "1 of 1")
    assert MARKDOWN.render_unit(decision, "One.", TRUNCATE).startswith(
        "## decision: 1 of 1 (truncated, id decision:b2580e1f)\n"
    )
    assert MARKDOWN.render_unit(unit, "x = 1", KEEP).startswith("## file: src/reader.py (lines 1-3)\n")
    assert 'path="src/reader.py" lines="1-3" action="summarize"' in XML.render_unit(unit, "x", SUMMARIZE)


def test_what_hides_is_shown() -> None:
    assert make_visible("a\r\nb\rc\td") == "a\nb\nc\td"
    assert make_visible("a\u202eb\0\x1b[1m") == "a\\u202eb\\u0000\\u001b[1m"
    assert make_visible("\U000e0041\ud800\uffff") == "\\U000e0041\\ud800\\uffff"
    assert make_visible("família 👩‍👩‍👧 がある") == "família 👩‍👩‍👧 がある"


@given(TEXTS)
def test_what_is_visible_stays(text: str) -> None:
    assert make_visible(make_visible(text)) == make_visible(text)
    assert "\n" not in one_line(text)
    assert len(one_line(text * 40)) <= 160
