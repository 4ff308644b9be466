"""What a plan says that a command prints, and what of that is no promise."""

from __future__ import annotations

import pytest

from tests.execution.inference.test_step_inference import parsed_steps

EXPECTED_OUTPUTS = {
    "a block below": ("    make hello\n\nExpected output:\n\n    hello\n", "…\nhello\n…"),
    "a fence below": ("```sh\nmake hello\n```\n\nYou should see:\n\n```text\na b\n  c\n```", "…\na b\n  c\n…"),
    "in an item": ("1. Run it:\n\n       make hello\n\n   It prints:\n\n       hello\n", "…\nhello\n…"),
    "only what stays": (
        "    make hello\n\nExpected output:\n\n    start\n    12 passed in 0.03s\n    at /home/ann/x\n    ...\n    end\n",
        "…\nstart\n…\nend\n…",
    ),
    "a transcript": ("```console\n$ make hello\nhello\n$ make b\n```", "…\nhello\n…"),
    "a sentence": ("    make hello\n\nIt prints `hello`.", "…\nhello\n…"),
    "a colon": ("    make hello\n\nExpected output: `hello`", "…\nhello\n…"),
    "a number": ("    make hello\n\nThe command prints:\n\n    42\n", "…\n42\n…"),
}
UNCERTAIN_OUTPUTS = {
    "an example": "    make hello\n\nExample output:\n\n    hello\n",
    "something like it": "    make hello\n\nExpected output (something like):\n\n    hello\n",
    "a shape": "    make hello\n\nExpected output shape:\n\n    hello\n",
    "a failure": "    make hello\n\nExpected output before the change:\n\n    hello\n",
    "all of it varies": "    make hello\n\nExpected output:\n\n    12 passed in 0.03s\n    ...\n",
    "what go test prints": "    go test ./a\n\nExpected output:\n\n    ok      example.com/a\n",
    "two commands": "    make hello\n    make b\n\nExpected output:\n\n    hello\n",
    "another language": "    make hello\n\nExpected output:\n\n```json\n{}\n```",
    "under another heading": "    make hello\n\n### Expected output:\n\n    hello\n",
    "another command between": "    make hello\n\nThen run `make b`.\n\nExpected output:\n\n    hello\n",
    "into a file": "    make hello > out.txt\n\nExpected output:\n\n    hello\n",
    "in words": "    make hello\n\nExpected output: all tests pass and `hello` is among them.",
    "two spans": "    make hello\n\nIt prints `hello` or `hi`.",
}


@pytest.mark.parametrize("name", EXPECTED_OUTPUTS)
def test_what_is_shown_is_expected(name: str) -> None:
    markdown, expected = EXPECTED_OUTPUTS[name]
    parsed = parsed_steps(markdown)
    assert [draft.expect for draft in parsed.drafts if draft.command == "make hello"] == [expected]
    assert not [skipped_line for skipped_line in parsed.skipped if "output" in skipped_line.why]


@pytest.mark.parametrize("name", UNCERTAIN_OUTPUTS)
def test_what_is_no_promise(name: str) -> None:
    drafts = parsed_steps(UNCERTAIN_OUTPUTS[name]).drafts
    assert drafts
    assert [draft.expect for draft in drafts if draft.expect is not None] == []
