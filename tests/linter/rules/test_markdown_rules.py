"""Headings and fences that are something else to markdown than they seem."""

from __future__ import annotations

import pytest

from tests.linter.single_rule import findings, lines
from tests.plans import CLEAN


@pytest.mark.parametrize(
    "heading",
    [
        "> ## Notes",
        "> # Notes",
        "> ### Decision Log",
        "- ## Progress",
        "1. First\n\n   # a comment",
        "- > # deep",
        " ## Notes",
        "   ### Notes",
    ],
)
def test_a_heading_out_of_place_is_found(heading: str) -> None:
    text = f"# A\n\n## Plan of Work\n\n{heading}\n"
    assert lines("EP007", text) == [4 + len(heading.split("\n"))]


@pytest.mark.parametrize(
    "words",
    [
        "> ### A detail in what is quoted",
        "1. ### A step with a heading",
        "```sh\n# a comment\n```",
        "- item\n\n  ```sh\n  # a comment\n  ```",
        "    # a comment in code",
        "    ## Plan of Work",
        "Head\n====",
        "#hashtag",
        "<!--\n## Progress\n-->",
    ],
)
def test_what_is_in_place_or_no_heading_is_fine(words: str) -> None:
    assert lines("EP007", f"# A\n\n## Plan of Work\n\n{words}\n") == []


def test_a_section_that_became_code_is_found() -> None:
    text = CLEAN.replace("## Plan of Work", "    ## Plan of Work")
    code_findings = findings("EP007", text)
    assert [finding.message for finding in code_findings] == ["this heading is indented so far that it counts as code"]
    assert (code_findings[0].column, code_findings[0].end_column) == (5, 19)


def test_fences_inside_a_fence_of_the_same_marks_are_found_once_each() -> None:
    tangled_fences = "```md\ntext\n```sh\nmake\n```\nmore\n```\n\nwords\n\n```sh\nmake\n```\n"
    assert lines("EP008", f"# A\n\n{tangled_fences}") == [5]
    assert lines("EP008", f"# A\n\n{tangled_fences}\n{tangled_fences}") == [5, 19]


@pytest.mark.parametrize(
    "words",
    [
        "````md\n```sh\nmake\n```\n````",
        "~~~md\n```sh\nmake\n```\n~~~",
        "```md\n~~~sh\nmake\n~~~\n```",
        "```diff\n+```sh\n-make\n+```\n```",
        "```md\n    ```sh\n    make\n    ```\n```",
        "```\none\n```\n\ntext\n\n```\ntwo\n```",
        "```sh\necho '```'\n```",
        "```text\n```inline``` is code\n```",
        "- a\n\n  ```sh\n  make\n  ```\n\n- b\n\n  ```sh\n  make\n  ```",
        "> ```sh\n> make\n> ```\n> ```sh\n> make\n> ```",
    ],
)
def test_fences_that_are_right_are_fine(words: str) -> None:
    assert lines("EP008", f"# A\n\n{words}\n") == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("```sh\nmake\n\n```text\nok\n```", 6),
        ("- a\n\n  ```sh\n  make\n\n  ```text\n  ok\n  ```", 8),
        ("> ```sh\n> make\n> ```text\n> ok\n> ```", 5),
        ("~~~sh\nmake\n~~~text\nok\n~~~", 5),
        ("```sh\nmake\n````text\nok\n````", 5),
        ("```\ntext\n```sh\nmake\n```\n```", 5),
    ],
)
def test_a_fence_that_was_not_closed_before_the_next_is_found(words: str, line: int) -> None:
    assert lines("EP008", f"# A\n\n{words}\n") == [line]


def test_what_nested_fences_leave_in_the_open_is_told_once() -> None:
    nested = "```diff\n one\n ```sh\n make\n ```\n \n ## Notes\n```\n\n"
    text = f"# A\n\n{nested}Words.\n\n```sh\nmake\n```\n\n ## Later\n"
    assert lines("EP008", text) == [5]
    assert lines("EP007", text) == [18]  # the damage ends with the fence that was left over
    assert lines("EP007", " ## Before\n\n" + text) == [1, 20]
    unclosed = "# A\n\n```sh\nmake\n\n```text\nok\n```\n\n ## Out of place\n"
    assert lines("EP008", unclosed) == [6]
    assert lines("EP007", unclosed) == [10]


@pytest.mark.parametrize(
    "line",
    ["```a\n", "> # a\n", " # a\n", "```\n", "    ## Progress\n\nx\n\n", "- # a\n", "> # a\n\n```a\n```b\n```\n"],
)
def test_much_of_one_line_is_no_work_without_end(line: str) -> None:
    text = "# A\n\n" + line * (100_000 // len(line))
    for code in ("EP007", "EP008"):
        assert len(findings(code, text)) <= 101
