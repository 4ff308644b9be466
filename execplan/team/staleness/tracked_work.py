"""The issues and pull requests that a plan is about: those of its metadata, and of the lines below its title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan.plan_metadata import read_metadata
from execplan.team.staleness.merged_work import is_own_reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.core.plan.model import ParsedPlan

_HEADER_LINE = re.compile(
    r"^[\s>*+-]*\**(?P<kind>(?:tracking |tracked |github |related )?issues?|prs?|mrs?|pull requests?|merge requests?|closes|fixes)\**\s*:\**\s*(?P<value>.+)$",
    re.IGNORECASE,
)
_ISSUE = re.compile(
    r"(?:(?P<url>https?://[^\s)>\]]*?)/(?:-/)?issues/|(?P<owner>[\w.-]+/[\w.-]+)?#|^)(?P<number>\d{1,9})\b"
)
_REQUEST = re.compile(
    r"(?:(?P<url>https?://[^\s)>\]]*?)/(?:-/)?(?:pulls?|pull-requests|merge_requests|pullrequest)/"
    r"|(?P<owner>[\w.-]+/[\w.-]+)?[#!]|^)(?P<number>\d{1,9})\b"
)
_MAX_VALUE_LENGTH = 1000
"""Number of characters of a value in which to look, because the time grows with the square of the length."""
_MAX_HEADER_LINES = 40
"""Number of lines below the title in which to look."""


class TrackedWork(NamedTuple):
    """Numbers of the issues and pull requests of a plan, in this repository."""

    issues: tuple[int, ...]
    pull_requests: tuple[int, ...]


def read_tracked_work(plan: ParsedPlan, repository: str) -> TrackedWork:
    """Return the issues and pull requests of a plan; those of other repositories than `repository` are left out."""
    links = read_metadata(plan).links
    issues, requests = list(links.issue), list(links.pr)
    for line in _header_lines(plan):
        header = _HEADER_LINE.match(line[:_MAX_VALUE_LENGTH])
        if header is not None:
            is_request = header["kind"].lower().startswith(("pr", "mr", "pull", "merge"))
            (requests if is_request else issues).append(header["value"])
    return TrackedWork(
        tuple(dict.fromkeys(_numbers(_ISSUE, issues, repository))),
        tuple(dict.fromkeys(_numbers(_REQUEST, requests, repository))),
    )


def _header_lines(plan: ParsedPlan) -> list[str]:
    """Return the lines between the title and the first section."""
    start = plan.title_line + 1
    end = plan.sections[0].start if plan.sections else len(plan.text.lines)
    return plan.text.lines[start : min(end, start + _MAX_HEADER_LINES)]


def _numbers(pattern: re.Pattern[str], values: Iterable[str], repository: str) -> Iterator[int]:
    for value in values:
        for reference in pattern.finditer(value.strip()[:_MAX_VALUE_LENGTH]):
            if is_own_reference(reference["url"] or reference["owner"] or "", repository):
                yield int(reference["number"])
