"""The managed part of an issue's body: it is found again, and nothing else of the body changes."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.text.markdown_escape import escape_markdown
from execplan.team.github.issue_changes import (
    find_managed_part,
    format_managed_part,
    replace_managed_part,
    title_digest,
)

END = "<!-- execplan:end -->"
people_texts = st.text(max_size=40).filter(lambda text: "<!-- execplan:" not in text)
contents = st.lists(st.text(max_size=30).map(escape_markdown), min_size=1, max_size=4).map("\n".join)


@given(people_texts, st.text(max_size=20), st.text(max_size=20), contents, contents, people_texts)
@example("Hi\r\n\r\n", 'a" b -->', "T", "x", f"{END[:-1]}", "\r\nBye")
@example("", "packages/a:x", "é", "a", "b", END)
def test_only_the_managed_part_changes(before: str, key: str, title: str, old: str, new: str, after: str) -> None:
    body = before + format_managed_part(key, title, old) + after
    managed_part = find_managed_part(body)
    assert managed_part is not None
    assert (managed_part.plan_key, managed_part.title_digest) == (key, title_digest(title))
    assert managed_part.content == old.strip("\n")
    changed = replace_managed_part(body, managed_part, format_managed_part(key, title, new))
    assert changed == before + format_managed_part(key, title, new) + after


@given(people_texts, contents)
def test_windows_line_ends_make_no_difference(text: str, content: str) -> None:
    body = text + format_managed_part("a", "b", content)
    managed_part = find_managed_part(body.replace("\r\n", "\n").replace("\n", "\r\n"))
    assert managed_part is not None
    assert managed_part.content == content.replace("\r\n", "\n").strip("\n")


@given(st.text(max_size=30))
@example("`")
def test_text_of_a_plan_is_no_comment(text: str) -> None:
    content = escape_markdown(f"{text} {END} <!-- execplan:begin {text}")
    managed_part = find_managed_part(format_managed_part("a", "b", content))
    assert managed_part is not None
    assert managed_part.content == content


def test_a_part_without_its_end() -> None:
    body = format_managed_part("a", "b", "c").removesuffix(END)
    managed_part = find_managed_part(body)
    assert managed_part is not None
    assert (managed_part.plan_key, managed_part.end) == ("a", -1)
    assert find_managed_part("<!-- execplan:begin -->") is None
