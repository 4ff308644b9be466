"""The status that a plan states, in its front matter, below its title or in a section."""

from __future__ import annotations

import pytest

from execplan.plan import reader
from execplan.staleness.claimed_status import DONE, GIVEN_UP, OPEN, read_claimed_status


@pytest.mark.parametrize(
    ("head", "meaning", "line"),
    [
        ("# Plan\n\nStatus: In Progress\n", OPEN, 2),
        ("# Plan\n\n- **Status**: done (2026-01-01)\n", DONE, 2),
        ("---\nstate: completed\n---\n\n# Plan\n", DONE, 1),
        ("---\nstatus: active\n---\n\n# Plan\n", OPEN, 1),
        ("# Plan\n\n> Status: Superseded by 2026-01-02_other\n", GIVEN_UP, 2),
        ("# Plan\n\n## Status\n\nNot started.\n", OPEN, 4),
        ("# Plan\n\nStatus: done | active\n", None, 0),
        ("# Plan\n\nStatus: <draft>\n", None, 0),
        ("# Plan\n\nStatus: openly discussed\n", None, 0),
        ("# Plan\n\nThe status: active\n", None, 0),
        ("# Plan\n", None, 0),
    ],
)
def test_status(head: str, meaning: str | None, line: int) -> None:
    status = read_claimed_status(reader.read(f"{head}\n## Progress\n\n- [ ] Status: done\n".encode()))
    assert (status.meaning, status.line) == (meaning, line) if status is not None else meaning is None
