"""The issues and pull requests of a plan, in metadata and below the title."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from execplan.team.staleness.stale_plans import read_tracked_work


def tracked(header: str, front: str = "") -> tuple[set[int], set[int]]:
    """The issues and pull requests of a plan of team/app."""
    front = f"---\n{front}\n---\n\n" if front else ""
    plan = reader.read(f"{front}# Plan\n\n{header}\n\n## Progress\n\n- [ ] Fix issue: #99\n".encode())
    issues, requests = read_tracked_work(plan, "team/app")
    return set(issues), set(requests)


@pytest.mark.parametrize(
    ("header", "issues", "requests"),
    [
        ("Issue: #12", {12}, set()),
        ("**Tracking issue:** [#12](https://example.org/team/app/issues/12)", {12}, set()),
        ("- Issues: #12, #13", {12, 13}, set()),
        ("> PR: #7", set(), {7}),
        ("Pull request: https://example.org/team/app/pull/7/files", set(), {7}),
        ("Merge request: !7", set(), {7}),
        ("PR: https://example.org/team/app/-/merge_requests/7", set(), {7}),
        ("Issue: other/lib#12", set(), set()),
        ("Issue: https://example.org/other/lib/issues/12", set(), set()),
        ("Issue: `parser-42`", set(), set()),
        ("Issue: `docs/tasks/issue-12.md`", set(), set()),
        ("The issue: it is slow, see #12", set(), set()),
        ("Closes: #12", {12}, set()),
        (f"Closes: #{'1' * 5000}", set(), set()),
    ],
)
def test_header(header: str, issues: set[int], requests: set[int]) -> None:
    assert tracked(header) == (issues, requests)


def test_metadata() -> None:
    front = "links:\n  issue: [12, '#13']\n  pr: https://example.org/team/app/pull/7"
    assert tracked("", front) == ({12, 13}, {7})
    assert tracked("", "issue: 12") == ({12}, set())
