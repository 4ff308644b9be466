"""Patterns of text fields in documents, and a description of each for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

ID: Final = r"^[A-Za-z][A-Za-z0-9_.-]*$"
PLAN_ID: Final = r"^[^/\x00-\x1f\x7f]+$"
LINE: Final = r"^[^\x00-\x1f\x7f]+$"
SHA256: Final = r"^[0-9a-f]{64}$"
TOOL: Final = r"^[A-Za-z][A-Za-z0-9_-]*\.[A-Za-z][A-Za-z0-9_-]*$"
TIMESTAMP: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
ARGUMENT: Final = r"^[^\x00]*$"
TRIGGER: Final = r"^(exit(:([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5]))?|timeout|expectation|syntax|test|limit)$"
STRATEGY: Final = r"^(fail_fast|retry|skip|replan|ask|alternative:[A-Za-z][A-Za-z0-9_.-]*)$"
VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
CATEGORY: Final = r"^[a-z][a-z0-9_-]*$"

DESCRIPTIONS = {
    ID: "an ID: a letter, then letters, digits and `_.-`",
    PLAN_ID: "a name without `/` or control characters",
    LINE: "one line without control characters",
    SHA256: "a SHA-256 digest: 64 of the digits 0-9a-f",
    TOOL: "`domain.tool`: letters, digits and `_-`, with exactly one dot",
    TIMESTAMP: "a time in UTC, such as 2026-01-31T23:59:59Z",
    ARGUMENT: "text without NUL",
    TRIGGER: "one of exit, exit:1 to exit:255, timeout, expectation, syntax, test, limit",
    STRATEGY: "one of fail_fast, retry, skip, replan, ask, alternative:ID",
    VARIABLE: "a variable name: letters, digits and `_`, not starting with a digit",
    CATEGORY: "a lowercase letter, then lowercase letters, digits and `_-`",
}
"""Description of each pattern, phrased to follow `should be`."""
