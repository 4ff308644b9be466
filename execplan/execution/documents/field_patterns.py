"""Patterns of text fields in documents, each with a description for error messages that follows `should be`."""

from __future__ import annotations

from typing import Final

from execplan.core.documents.text_patterns import matching
from execplan.execution.attributes import ALTERNATIVE, STRATEGIES, TRIGGERS

ID: Final = matching(r"^[A-Za-z][A-Za-z0-9_.-]*$", "an ID: a letter, then letters, digits and `_.-`")
PLAN_ID: Final = matching(r"^[^/\x00-\x1f\x7f]+$", "a name without `/` or control characters")
LINE: Final = matching(r"^[^\x00-\x1f\x7f]+$", "one line without control characters")
SHA256: Final = matching(r"^[0-9a-f]{64}$", "a SHA-256 digest: 64 of the digits 0-9a-f")
TOOL: Final = matching(
    r"^[A-Za-z][A-Za-z0-9_-]*\.[A-Za-z][A-Za-z0-9_-]*$", "`domain.tool`: letters, digits and `_-`, with exactly one dot"
)
TIMESTAMP: Final = matching(
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", "a time in UTC, such as 2026-01-31T23:59:59Z"
)
ARGUMENT: Final = matching(r"^[^\x00]*$", "text without NUL")
TRIGGER: Final = matching(
    rf"^(exit(:([1-9][0-9]?|1[0-9]{{2}}|2[0-4][0-9]|25[0-5]))?|{'|'.join(TRIGGERS[1:])})$",
    f"one of exit, exit:1 to exit:255, {', '.join(TRIGGERS[1:])}",
)
STRATEGY: Final = matching(
    rf"^({'|'.join(STRATEGIES)}|{ALTERNATIVE}[A-Za-z][A-Za-z0-9_.-]*)$",
    f"one of {', '.join(STRATEGIES)}, {ALTERNATIVE}ID",
)
VARIABLE: Final = matching(
    r"^[A-Za-z_][A-Za-z0-9_]*$", "a variable name: letters, digits and `_`, not starting with a digit"
)
CATEGORY: Final = matching(r"^[a-z][a-z0-9_-]*$", "a lowercase letter, then lowercase letters, digits and `_-`")
