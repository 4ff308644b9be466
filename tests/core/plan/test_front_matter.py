"""Front matter: the simple reader agrees with a YAML parser, and hostile front matter is bounded."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan.front_matter import MAX_CHARACTERS, key_lines, parse_front_matter, read_simple_fields
from tests.conftest import Folder

AGENTRULES = """\
id: EP-20260117-014
title: "Refactor auth refresh flow"
status: planned
owner: '@trevor'
created: 2026-01-17
tags: [auth, sessions]
touches:
- api
- db
links:
  issue: ''
  pr: https://example.org/pull/12
  docs: ""
depends_on: []
supersedes:
  - EP-20260101-001
# a comment
breaking: false  # another
""".splitlines()


def test_agentrules_keys_are_simple() -> None:
    fields = read_simple_fields(AGENTRULES)
    assert fields == yaml.load("\n".join(AGENTRULES), Loader=yaml.BaseLoader)
    assert fields is not None
    assert fields["owner"] == "@trevor"
    assert fields["links"] == {"issue": "", "pr": "https://example.org/pull/12", "docs": ""}
    assert fields["supersedes"] == ["EP-20260101-001"]


SCALARS = st.one_of(
    st.sampled_from(
        ["a", "a b", "'a'", '"a"', "'a' b", "''", '""', "'it''s'", '"a\\n"', "a: b", "a #b", "a# b", "#", "- a", "-a", "-", "[a]",
         "[a, b]", "[]", "[a,, b]", "[a,]", "['a', b]", "[a: b]", "[a] b", "[a]#b", "[a] # b", "{a: b}", "|", ">", "*a", "&a b",
         "!x y", "@a", "%a", "`a`", "? a", "a:", ":a", "null", "~", "2026-01-01", "1.5", "a\tb", "é", "a'b", "...", "---",
         "[a b, c]", "[- a]", "[-]", "[a ,b ]", "a,b", "[ ]", "'a'#b", "'a' #b", "\u2028", "\x85", "\ufeff", "http://a/b#c"]
    ),
    st.text(alphabet="ab:#-[]{},'\"? \\*&!|>%@`.~1", max_size=8),
)  # fmt: skip


@st.composite
def front_lines(draw: st.DrawFn) -> list[str]:
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.integers(0, 6))
        indent = " " * draw(st.sampled_from([0, 0, 1, 2, 2, 4]))
        key = draw(st.sampled_from(["a", "b", "c-d", "e_f", "links", "'q'", "1", "a b", ""]))
        value = draw(SCALARS)
        lines.append(
            [
                f"{key}: {value}",
                f"{key}:",
                f"{indent}- {value}",
                f"{indent}{key}: {value}",
                "",
                "# c",
                f"{indent}{value}",
            ][kind]
        )
    return lines


@given(front_lines())
def test_the_simple_reader_agrees_with_yaml(lines: list[str]) -> None:
    fields = read_simple_fields(lines)
    if fields is not None:
        expected = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)
        assert fields == (expected or {})


@given(front_lines())
def test_any_front_matter_is_read_or_has_a_problem(lines: list[str]) -> None:
    text = ["---", "z: 1", *lines, "---", "", "# T"]
    front_matter = parse_front_matter(text)
    assert front_matter.end <= len(text)
    assert 0 <= front_matter.problem_line < max(front_matter.end, 1)
    for key in front_matter.fields:
        start, stop = key_lines(text, front_matter.end, key)
        assert 0 <= start <= stop < len(text)


@pytest.mark.parametrize(
    "lines",
    [
        ["a: &x [1]", *[f"{chr(98 + n)}: &{chr(120 - n)} [*{chr(121 - n)}, *{chr(121 - n)}]" for n in range(1)]],
        ["a: &a [x, x, x, x]", "b: &b [*a, *a, *a, *a]", "c: &c [*b, *b, *b, *b]", "d: [*c, *c, *c, *c]"],
        ["a: " + "[" * 20_000],
        ["a: " + "{" * 20_000],
        ["a: &a [*a]"],
        ["a: !!python/object/apply:os.system [id]"],
        [f"k{n}: v" for n in range(100_000)],
        ["a: " + "x" * 1_000_000],
    ],
    ids=["unknown alias", "bomb", "deep list", "deep map", "recursive", "object", "many keys", "one megabyte"],
)
def test_hostile_front_matter_is_small_when_read(lines: list[str]) -> None:
    front_matter = parse_front_matter(["---", *lines, "---"])
    assert len(repr(front_matter.fields)) <= MAX_CHARACTERS


def test_what_is_too_long_is_a_problem() -> None:
    front_matter = parse_front_matter(["---", "a: " + "x" * MAX_CHARACTERS, "---"])
    assert front_matter.end == 3
    assert front_matter.problem == "longer than 32,768 characters"


def test_a_problem_has_its_line() -> None:
    front_matter = parse_front_matter(["---", "a: b", "c: 'd", "---"])
    assert front_matter.fields == {}
    assert front_matter.problem
    assert front_matter.problem_line in (1, 2)


def test_a_heading_on_the_line_that_ends_front_matter(repo: Folder) -> None:
    """Backlog.md leaves it there in some files, and reads them."""
    text = "---\nid: TASK-1\nstatus: To Do\n---## Description\n\nRead.\n\n## Acceptance Criteria\n\n- [ ] #1 Reads.\n\n---\n"
    path = repo.write("backlog/tasks/task-1 - Reader.md", text)
    repo.ok("init")
    repo.ok("done", "1")
    repo.ok("archive", "--no-commit")
    [archived] = repo.path.glob("backlog/completed/*.md")
    assert not path.exists()
    assert archived.read_text() == text.replace("To Do", "Done").replace("[ ]", "[x]")
