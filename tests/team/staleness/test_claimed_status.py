"""The status that a plan states, in its front matter, below its title or in a section."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from execplan.team.staleness.claimed_status import DONE, GIVEN_UP, OPEN, read_claimed_status


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
        ("# Plan\n\nStatus: Abandoned / Done\n", None, 0),
        ("# Plan\n\nStatus: Draft/Active\n", None, 0),
        ("# Plan\n\nStatus: Abandoned, see /tmp/x\n", GIVEN_UP, 2),
        ("---\nsuperseded_by: other\n---\n\n# Plan\n", GIVEN_UP, 1),
        ("---\nsuperseded_by: null\n---\n\n# Plan\n", None, 0),
        ("---\nsuperseded_by:\n---\n\n# Plan\n", None, 0),
        ("# Plan\n", None, 0),
    ],
)
def test_status(head: str, meaning: str | None, line: int) -> None:
    status = read_claimed_status(reader.read(f"{head}\n## Progress\n\n- [ ] Status: done\n".encode()))
    assert (status.meaning, status.line) == (meaning, line) if status is not None else meaning is None


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**Complete** (2026-01-02)", "Complete (2026-01-02)"),
        ("**Status:** **Complete** (2026-01-02)", "Complete (2026-01-02)"),
        ("- **Status: Superseded** by `pr`", "Superseded by pr"),
        (
            "Status: Superseded by [another plan](docs/plans/a-plan-whose-path-has-more-than-60-characters.md)",
            "Superseded by another plan",
        ),
        ("Status: 🟢 *In progress*", "In progress"),
        ('Status: "Abandoned"', "Abandoned"),
    ],
)
def test_the_text_of_a_status_has_no_markup(line: str, text: str) -> None:
    """Below the title, or in a section."""
    heading = "" if "Status" in line else "## Status\n\n"
    status = read_claimed_status(reader.read(f"# Plan\n\n{heading}{line}\n\n## Progress\n\n- [ ] Do it.\n".encode()))
    assert status is not None
    assert status.text == text
