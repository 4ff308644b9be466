"""Which pull requests are merged and which issues are closed, according to the messages in the main branch.

No network is asked, so only what git's history says counts: merge commits of GitHub, GitLab, Bitbucket and Azure DevOps,
squashed commits whose subject ends with the number, and the keywords that close an issue. Reverts are taken into account.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.core.git.main_branch import CommitMessage

_MERGE_SUBJECTS = re.compile(
    r"^(?:Merge pull request #(\d{1,9})\b|Merged PR (\d{1,9}):|Merged in \S+ \(pull request #(\d{1,9})\))"
)
_SQUASH_SUBJECT = re.compile(r"\((?:#|!|PR #)(\d{1,9})\)\s*$")
_MERGE_REQUEST = re.compile(r"^See merge request (?:[\w./-]+)?!(\d{1,9})\s*$", re.MULTILINE)
_CLOSING = re.compile(
    r"\b(?:close[sd]?|closing|fix(?:e[sd]|ing)?|resolve[sd]?|resolving|implement(?:s|ed)?)\b:?\s+(?:issues?\s+)?"
    r"((?:[\w./:-]*(?:#|/issues/)\d{1,9}(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)?)+)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"([\w./:-]*?)(?:#|/issues/)(\d{1,9})")
_REVERTED_COMMIT = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})\b")
_REVERTED_REQUEST = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?[#!](\d{1,9})\s*$", re.MULTILINE)


class MergedWork(NamedTuple):
    """The merged pull requests and the closed issues of a repository, each with the commit that says so."""

    pull_requests: dict[int, CommitMessage]
    issues: dict[int, CommitMessage]


def find_merged_work(messages: Iterable[CommitMessage], repository: str) -> MergedWork:
    """Return what the messages of the main branch, newest first, say about pull requests and issues.

    `repository` is the owner and name, so that references to other repositories don't count; empty if it is unknown.
    """
    work = MergedWork({}, {})
    reverted_commits: list[str] = []
    reverted_requests: set[int] = set()
    for message in messages:
        numbers = list(_request_numbers(message))
        is_reverted = any([message.commit.startswith(commit) for commit in reverted_commits])
        if is_reverted or not reverted_requests.isdisjoint(numbers):
            continue  # neither its work nor what it reverts counts
        reverted = _reverted_request_numbers(message)
        reverted_commits += _REVERTED_COMMIT.findall(message.body)
        reverted_requests |= reverted - work.pull_requests.keys()
        for number in numbers:
            work.pull_requests.setdefault(number, message)
        for number in _closed_issues(message, repository):
            work.issues.setdefault(number, message)
    return work


def _request_numbers(message: CommitMessage) -> Iterator[int]:
    """Yield the pull requests that a commit merges."""
    merge = _MERGE_SUBJECTS.search(message.subject)
    if merge is not None:
        yield int(next(filter(None, merge.groups())))
    squash = _SQUASH_SUBJECT.search(message.subject)
    if squash is not None:
        yield int(squash[1])
    for number in _MERGE_REQUEST.findall(message.body):
        yield int(number)


def _reverted_request_numbers(message: CommitMessage) -> set[int]:
    """Return the pull requests that a commit reverts, as GitHub's button for it says."""
    return {int(number) for number in _REVERTED_REQUEST.findall(message.body)}


def _closed_issues(message: CommitMessage, repository: str) -> Iterator[int]:
    """Yield the issues of the repository that a commit closes."""
    for closing in _CLOSING.finditer(f"{message.subject}\n{message.body}"):
        for owner, number in _REFERENCE.findall(closing[1]):
            if is_own_reference(owner, repository):
                yield int(number)


def is_own_reference(prefix: str, repository: str) -> bool:
    """Return whether the text before the number of an issue, such as `owner/name` or a URL, means this repository."""
    name = prefix.rstrip("/").removesuffix("/-").lower()
    if name in ("", "gh-"):
        return True
    return not repository or name == repository.lower() or name.endswith(f"/{repository.lower()}")
