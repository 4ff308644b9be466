"""`set --meta`: only the lines of a key change, whatever the plan looks like."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.metadata_assignment import parse_assignment
from execplan.core.plan.metadata_edits import set_metadata
from execplan.core.plan.plan_metadata import read_metadata
from tests.conftest import Folder

BODY = "# Build the parser\n\n## Progress\n\n- [ ] Build it.\n"
AGENTRULES = """\
---
id: EP-20260117-014
title: "Refactor: auth"   # the title
status: planned # by hand
owner: '@trevor'
# who reviews
tags: [auth, sessions]
touches:
- api
- db
links:
  issue: ''
  pr: ""
depends_on: []

supersedes:
  - EP-20260101-001
---

"""


def changed(text: str, *assignments: str) -> str:
    """The text after `set --meta`."""
    change = set_metadata([parse_assignment(assignment) for assignment in assignments])
    return apply_change(text.encode(), change)[0].decode()


@pytest.mark.parametrize(
    ("assignment", "old", "new"),
    [
        ("status=active", "status: planned # by hand", "status: active # by hand"),
        ("state=active", "status: planned # by hand", "status: active # by hand"),
        ("owner=@ana", "owner: '@trevor'", "owner: '@ana'"),
        ("owner=", "owner: '@trevor'\n", ""),
        ("tags=io, parser", "tags: [auth, sessions]", "tags: [io, parser]"),
        ("tags=", "tags: [auth, sessions]\n", ""),
        ("depends_on=EP-20260101-002", "depends_on: []", "depends_on: [EP-20260101-002]"),
        ("supersedes=EP-1,EP-2", "  - EP-20260101-001", "  - EP-1\n  - EP-2"),
        ("links.pr=#14", '  pr: ""', "  pr: '#14'"),
        ("pr=14", '  pr: ""', "  pr: '14'"),
        ("links.docs=docs/a.md", '  pr: ""\n', '  pr: ""\n  docs: docs/a.md\n'),
        ("links.issue=", "  issue: ''\n", ""),
        ("updated=2026-02-01", "  - EP-20260101-001\n", "  - EP-20260101-001\nupdated: 2026-02-01\n"),
        ("title=Auth", 'title: "Refactor: auth"   # the title', "title: Auth   # the title"),
        ("touches=ui", "- api\n- db", "- ui"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_only_the_lines_of_the_key_change(assignment: str, old: str, new: str, end: str) -> None:
    text = AGENTRULES + BODY
    assert old in text
    assert changed(text.replace("\n", end), assignment) == text.replace(old, new).replace("\n", end)


def test_front_matter_is_created_and_removed() -> None:
    with_owner = changed(BODY, "owner=ana")
    assert with_owner == "---\nowner: ana\n---\n\n" + BODY
    assert (
        changed(with_owner, "links.issue=12", "tags=a")
        == f"---\nowner: ana\nlinks:\n  issue: '12'\ntags: [a]\n---\n\n{BODY}"
    )
    assert changed(with_owner, "owner=") == BODY
    assert changed(changed(BODY, "links.issue=12"), "links.issue=") == BODY


def test_several_links_are_a_list() -> None:
    assert changed(BODY, "links.issue=1,2") == f"---\nlinks:\n  issue: ['1', '2']\n---\n\n{BODY}"
    assert "issue: https://x/1,2\n" in changed(BODY, "links.issue=https://x/1,2")


def test_the_hint_names_the_plan(repo: Folder) -> None:
    for name in ("a", "b"):
        repo.plan(f"---\nlinks: 5\n---\n\n{BODY}", name)
    result = repo.run("set", "a", "--meta", "links.pr=1")
    assert "links has values without keys, so links.pr can't be added; nothing was written" in result.err
    assert result.err.endswith("by hand: execplan edit a\n")


def test_a_byte_order_mark_stays_first() -> None:
    assert changed("\ufeff" + BODY, "owner=ana") == "\ufeff---\nowner: ana\n---\n\n" + BODY


def test_a_metadata_list_is_changed_where_it_is() -> None:
    text = "# T\n\n## Metadata\n\n- **Status:** draft\n- Owner: ana\n\n## Progress\n\n- [ ] A.\n"
    assert changed(text, "status=active") == text.replace("draft", "active")
    assert changed(text, "owner=") == text.replace("- Owner: ana\n", "")
    assert changed(text, "depends_on=a-1,b-2") == text.replace("ana\n", "ana\n- Depends on: a-1, b-2\n")


def test_a_key_in_a_nested_list_is_changed_where_it_is() -> None:
    text = "# T\n\n## Metadata\n\n- Links:\n  - PR: #4\n  - Issue: #1\n- Tags:\n  - pr: x\n\n## Progress\n\n- [ ] A.\n"
    assert changed(text, "links.pr=5") == text.replace("#4", "5")
    assert changed(text, "links.pr=") == text.replace("  - PR: #4\n", "")
    assert changed(text, "owner=ana") == text.replace("pr: x\n", "pr: x\n- Owner: ana\n")
    two_lists = f"{text}\n## Metadata\n\n- Owner: bob\n"
    assert changed(two_lists, "owner=ana") == two_lists.replace("bob", "ana")


def test_a_key_that_is_listed_twice_is_left_to_a_person() -> None:
    with pytest.raises(ExecplanError) as caught:
        changed("# T\n\n## Metadata\n\n- PR: #4\n- PR: #6\n\n## Progress\n\n- [ ] A.\n", "links.pr=5")
    assert caught.value.code == "metadata-by-hand"


def test_the_same_value_changes_nothing() -> None:
    text = AGENTRULES + BODY
    assert changed(text, "status=planned", "tags=auth,sessions", "links.docs=") == text


@pytest.mark.parametrize(
    ("assignment", "code", "exit"),
    [
        ("owner", "usage", 2),
        ("=a", "usage", 2),
        ("ownr=ana", "bad-metadata", 2),
        ("links.fork=1", "bad-metadata", 2),
        ("created=yesterday", "bad-metadata", 2),
        ("owner=a\0b", "bad-character", 2),
    ],
)
def test_wrong_assignments(assignment: str, code: str, exit: int) -> None:
    with pytest.raises(ExecplanError) as caught:
        changed(BODY, assignment)
    assert (caught.value.code, caught.value.exit) == (code, exit)
    assert caught.value.hint


def test_front_matter_that_is_no_yaml_is_an_error_with_its_line() -> None:
    with pytest.raises(ExecplanError) as caught:
        changed("---\na: b\nc: 'd\n---\n\n" + BODY, "owner=ana")
    assert caught.value.code == "bad-front-matter"
    assert caught.value.line in (2, 3)


@pytest.mark.parametrize(
    ("front", "new"),
    [
        ('"owner": Ann\n', '"owner": B\n'),
        ("'id': x\nowner: Ann # who\n", "'id': x\nowner: B # who\n"),
        ("'id': x\n", "'id': x\nowner: B\n"),
    ],
)
def test_a_quoted_key_is_read(front: str, new: str) -> None:
    assert changed(f"---\n{front}---\n\n{BODY}", "owner=B") == f"---\n{new}---\n\n{BODY}"


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("\nowner: Ann\n", "a blank line follows ---"),
        ("{owner: Ann}\n", "its first line is not `key: value`"),
        ("? owner\n: Ann\n", "its first line is not `key: value`"),
    ],
)
def test_no_front_matter_is_inserted_above_other_front_matter(front: str, reason: str) -> None:
    with pytest.raises(ExecplanError, match=reason) as caught:
        changed(f"---\n{front}---\n\n{BODY}", "owner=B")
    assert (caught.value.code, caught.value.line) == ("bad-front-matter", 1)


@pytest.mark.parametrize("head", ["---\n\nSome text.\n\n---\n\n", "---\n\n", "---\n---\n", "---\n\n- a\n\n---\n"])
def test_a_thematic_break_is_no_front_matter(head: str) -> None:
    assert changed(head + BODY, "owner=B") == f"---\nowner: B\n---\n\n{head}{BODY}"


def test_a_value_in_several_lines_of_a_list_is_left_to_a_person() -> None:
    with pytest.raises(ExecplanError, match="several lines"):
        changed("# T\n\n## Metadata\n\n- Tags:\n  - a\n  - b\n\n## Progress\n\n- [ ] A.\n", "tags=c")


@pytest.mark.parametrize(
    ("front", "assignment", "new"),
    [
        ("links: {issue: 5, custom: 7} # keep {me}\n", "links.pr=1", "links: # keep {me}\n  issue: '5'\n  custom: '7'\n  pr: '1'\n"),
        ("links: {issue: 5, custom: 7} # keep\n", "links.issue=", "links: # keep\n  custom: '7'\n"),
        ("links:\n  # keep\n", "links.pr=1", "links:\n  # keep\n  pr: '1'\n"),
        ("links: # keep\n", "links.pr=1", "links: # keep\n  pr: '1'\n"),
        ("links: {}  # keep\n", "links.pr=1", "links:  # keep\n  pr: '1'\n"),
        ("links:\n  # keep\n  pr: 1\n", "links.pr=", "links:\n  # keep\n"),
        ("tags: # keep\n  # this too\n  - a\n", "tags=b", "tags: # keep\n  # this too\n  - b\n"),
        ("owner: 'Ann' # it's her\n", "owner=B", "owner: B # it's her\n"),
        ("tags: ['a] # b'] # see [c]\n", "tags=b", "tags: [b] # see [c]\n"),
    ],
)  # fmt: skip
def test_comments_stay(front: str, assignment: str, new: str) -> None:
    assert changed(f"---\n{front}---\n\n{BODY}", assignment) == f"---\n{new}---\n\n{BODY}"


@pytest.mark.parametrize(
    "links",
    [
        "links:\n- https://x/1\n- https://x/2",
        "links: https://x/1",
        "links: 5",
        "links: [5]",
        "links:\n- pr: 5",
        "links: {issue: 5,\n  custom: 7}",
        "links: {issue: 5, custom: {a: 1}}",
        "links: &all\n  - 5",
    ],
)
def test_values_that_would_be_lost_are_left_to_a_person(links: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        changed(f"---\n{links}\n---\n\n{BODY}", "links.pr=1")
    assert (caught.value.code, caught.value.hint is not None) == ("metadata-by-hand", True)


VALUES = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=("C", "Z")), st.just(" "), st.sampled_from("#:'\"[]{},-&*!|>%@`~.")
    ),
    max_size=20,
)
KEYS = st.sampled_from(
    ["id", "status", "owner", "tags", "depends_on", "supersedes", "links.issue", "links.pr", "links.docs"]
)
FIELDS = st.lists(
    st.sampled_from(
        ["kind: feature", "risk: low # r", "# note", "", "title: 'a: b'", "touches:\n- api", "touches:\n  - api\n  - db",
         "links:\n  issue: '#1'", "links: {pr: '2'}", "links:\n- a", "links: {pr: '2', x: {y: 1}} # c", "links: # c\n  # d", "tags: [x, 'y, z']", "tags:\n  - x # c\n  - y", 'status: "old"', "owner: >\n  folded\n  text",
         "depends_on: [a-1]", "links:\n    docs:\n      - a.md\n    pr: ''", "id: 'it''s'", "note: |\n  # text\n  more: yes"]
    ),
    max_size=6,
    unique_by=lambda field: field.partition(":")[0],
)  # fmt: skip


@example(["links: {pr: '2'}"], "links.docs", "0", "\n")
@given(FIELDS, KEYS, VALUES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_whatever_the_value(fields: list[str], key: str, value: str, end: str) -> None:
    """The value is read back; other lines stay; removing it leaves the text as it was, if the key was not there."""
    head = "\n".join(["---", "kind2: x", *fields, "---", "", ""]) if fields else ""
    text = (head + BODY).replace("\n", end)
    assume(reader.parse(text).title == "Build the parser")
    try:
        assignment = parse_assignment(f"{key}={value}")
        result = changed(text, f"{key}={value}")
    except ExecplanError as error:
        assert error.code in ("bad-metadata", "no-words", "bad-character", "metadata-by-hand", "usage")  # noqa: PT017
        return
    if not assignment.values:
        return
    metadata = read_metadata(reader.parse(result))
    name = assignment.key[-1]
    written = getattr(metadata.links if len(assignment.key) > 1 else metadata, name)
    assert set(assignment.values) <= set(written if isinstance(written, tuple) else (written,))
    lost_lines = [line for line in text.split(end) if line not in result.split(end)]
    assert all(
        [
            line.lstrip(" -").partition(":")[0].strip() in (name, "links") or name in _key_above(text.split(end), line)
            for line in lost_lines
        ]
    ), lost_lines
    assert changed(result, f"{key}={value}") == result
    if assignment.key[0] not in text:
        assert changed(result, f"{key}=") == text


def _key_above(lines: list[str], line: str) -> str:
    """The key at the top of the front matter that a line belongs to."""
    at = lines.index(line)
    while at and (lines[at][:1] in ("", " ", "-")):
        at -= 1
    return lines[at].partition(":")[0] if lines[at].partition(":")[0] != "links" else "issue pr docs shipped"
