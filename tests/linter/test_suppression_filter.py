"""Comments that keep findings away: for the next block or the plan, and none that does nothing goes unseen."""

from __future__ import annotations

import pytest

from execplan.linter.rules.suppression_rules import CODE
from execplan.linter.runner import lint_bytes
from tests.plans import with_sections


def codes_and_lines(progress: str, levels: dict[str, str] | None = None) -> list[tuple[str, int]]:
    """Codes and lines, within Progress, of what is found."""
    text = with_sections(f"## Progress\n\n{progress}")
    top = text.split("\n").index("## Progress") + 1
    return [(finding.code, finding.line - top) for finding in lint_bytes(text.encode(), None, levels)]


@pytest.mark.parametrize(
    ("progress", "left"),
    [
        ("- [x] One.\n- [x] Two.\n", [("EP202", 2), ("EP202", 3)]),
        ("<!-- execplan: ignore EP202 -->\n- [x] One.\n- [x] Two.\n", [("EP202", 4)]),
        ("<!-- execplan: ignore EP202 -->\n\n- [x] One.\n", []),
        ("<!-- execplan: ignore EP2 -->\n- [x] One.\n", []),
        ("<!-- execplan: ignore EP202, EP301: for a reason: EP999 -->\n- [x] One.\n", [(CODE, 2)]),
        ("<!-- execplan: ignore file EP202 -->\n- [x] One.\n- [x] Two.\n", []),
        ("- [x] One.\n- [x] Two.\n\n<!-- execplan: ignore file EP202: all of them -->\n", []),
        ("- [x] One.\n\n<!-- execplan: ignore EP202 -->\n", [("EP202", 2), (CODE, 4)]),
        ("<!-- execplan: ignore EP202 -->\n<!-- execplan: ignore EP203 -->\n- [x] (2026-02-30) A.\n- [x] B.\n",
         [(CODE, 2), ("EP202", 5)]),
        ("<!-- execplan: ignore -->\n- [ ] One.\n", [(CODE, 2)]),
        ("<!-- execplan: ignore EP777 -->\n- [ ] One.\n", [(CODE, 2)]),
        ("- [x] One. <!-- execplan: ignore EP202 -->\n", [("EP202", 2), (CODE, 2)]),
        ("```\n<!-- execplan: ignore EP202 -->\n```\n\n- [x] One.\n", [("EP202", 6)]),
        ("<!--\nexecplan: ignore EP202 -->\n- [x] One.\n", [("EP202", 4)]),
        ("- [ ] One.\n\n  <!-- execplan: ignore EP202 -->\n  - [x] Nested.\n", []),
    ],
)  # fmt: skip
def test_what_is_left(progress: str, left: list[tuple[str, int]]) -> None:
    assert codes_and_lines(progress) == left


def test_a_comment_for_a_rule_that_did_not_run_is_not_idle() -> None:
    progress = "<!-- execplan: ignore EP202 -->\n- [ ] One.\n"
    assert codes_and_lines(progress, {"EP201": "error", CODE: "warning"}) == []
    assert codes_and_lines(progress, {"EP202": "warning", CODE: "warning"}) == [(CODE, 2)]
    assert codes_and_lines(progress, {"EP202": "warning"}) == []


def test_a_block_of_many_lines_and_the_next_one() -> None:
    log = (
        "## Decision Log\n\n<!-- execplan: ignore EP301 -->\n- Decision: One.\n  Date/Author: 2026-01-01 / Ann\n"
        "- Decision: Two.\n  Date/Author: 2026-01-01 / Ann\n"
    )
    messages = [finding.message for finding in lint_bytes(with_sections(log).encode())]
    assert messages == ["the decision has no rationale: Two."]
