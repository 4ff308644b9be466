"""The plans of some projects that are not what they say, found with a fixed number of git processes per repository.

Messages in the main branch show which pull requests are merged and which issues are closed. A rule of the linter
reports plans with open tasks whose work is done.

No network is asked about merged pull requests and closed issues, so only what git's history says counts: merge
commits of GitHub, GitLab, Bitbucket and Azure DevOps, squashed commits whose subject ends with the number, and the
keywords that close an issue. Reverts are taken into account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from execplan.core.git import git_history, main_branch
from execplan.core.git.main_branch import CommitMessage
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_activity import PlanActivity
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project.plan_names import extract_slugs
from execplan.core.project.project import Project
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.rule_facts import ShippedWork
from execplan.linter.rule_selection import RuleSelection
from execplan.team.staleness.claimed_status import find_successor_names
from execplan.team.staleness.plan_timeline import NO_TIMELINE, PlanTimeline, load_timelines
from execplan.team.staleness.stale_evidence import MergedReference, StalenessFacts
from execplan.team.staleness.stale_plan import SHIPPED_UNCHECKED, StalePlan, assess

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
CODE = "EP513"
"""Code of the rule that needs the evidence, which takes a search of the main branch's history."""


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


class RepositoryEvidence:
    """What git says about the open plans of a repository; without git, nothing."""

    def __init__(self, project: Project, stored_plans: Sequence[StoredPlan]) -> None:
        self._work = MergedWork({}, {})
        self._modified: frozenset[str] = frozenset()
        self.repository_name = ""
        self.timelines: dict[str, PlanTimeline] = {}
        if project.git is None or git_history.resolve_commit(project, "HEAD") is None:
            return
        self.repository_name = main_branch.remote_name(project)
        self.timelines = load_timelines(project, stored_plans)
        folders = sorted({project.display_path(stored_plan.project.plans) for stored_plan in stored_plans})
        self._modified = frozenset(git_history.modified_files(project, folders)) if folders else frozenset()
        self._work = find_merged_work(main_branch.read_messages(project), self.repository_name)

    def is_modified(self, stored_plan: StoredPlan) -> bool:
        """Return whether a plan differs from HEAD."""
        return stored_plan.project.display_path(stored_plan.ref.real_path) in self._modified

    def find_merged(self, stored_plan: StoredPlan) -> tuple[MergedReference, ...]:
        """Return the pull requests of a plan if all are merged, or else its issues if all are closed."""
        tracked = read_tracked_work(stored_plan.require_plan(), self.repository_name)
        for numbers, merged_numbers, noun, verb in (
            (tracked.pull_requests, self._work.pull_requests, "pull request", "merged"),
            (tracked.issues, self._work.issues, "issue", "closed"),
        ):
            if numbers and all([number in merged_numbers for number in numbers]):
                return tuple([_reference(number, merged_numbers, noun, verb) for number in numbers])
        return ()


def _reference(number: int, merged_numbers: dict[int, CommitMessage], noun: str, verb: str) -> MergedReference:
    return MergedReference(f"{noun} #{number} is {verb}", merged_numbers[number])


def find_stale_plans(stored_plans: Sequence[StoredPlan]) -> list[StalePlan]:
    """Return the plans that are not what they say, in the order given; plans that can't be read are left out.

    Raises ExecplanError if git fails.
    """
    readable = [
        stored_plan
        for stored_plan in stored_plans
        if stored_plan.plan is not None and not stored_plan.plan.conflict_lines
    ]
    successors = _find_successors(readable)
    activity = PlanActivity()
    evidence: dict[str, RepositoryEvidence] = {}
    for root in dict.fromkeys([stored_plan.project.root for stored_plan in readable]):
        open_plans = [plan for plan in readable if plan.project.root == root and not plan.ref.archived]
        if open_plans:
            evidence[root] = RepositoryEvidence(open_plans[0].project, open_plans)
    stale_plans = []
    for stored_plan in readable:
        facts = StalenessFacts(stored_plan, NO_TIMELINE)
        if not stored_plan.ref.archived:
            repository = evidence[stored_plan.project.root]
            facts = StalenessFacts(
                stored_plan,
                repository.timelines.get(stored_plan.ref.path, NO_TIMELINE),
                repository.find_merged(stored_plan),
                successors.get((stored_plan.project.base, plan_store.normalize_id(stored_plan.ref.id)), ""),
                activity.is_stalled(stored_plan.project, stored_plan.ref.path, stored_plan.require_plan()),
                repository.is_modified(stored_plan),
            )
        stale_plan = assess(facts)
        if stale_plan is not None:
            stale_plans.append(stale_plan)
    return stale_plans


def _find_successors(stored_plans: Sequence[StoredPlan]) -> dict[tuple[str, str], str]:
    """Return, by project and normalized ID, the plan that supersedes a plan, by the metadata or status of one of them."""
    successors: dict[tuple[str, str], str] = {}
    ids_by_name: dict[tuple[str, str], set[str]] = {}
    for stored_plan in stored_plans:
        for name in read_metadata(stored_plan.require_plan()).supersedes:
            plan_id = name.strip().rpartition("/")[2].removesuffix(".md")
            key = stored_plan.project.base, plan_store.normalize_id(plan_id)
            if key[1] != plan_store.normalize_id(stored_plan.ref.id):
                successors.setdefault(key, stored_plan.ref.id)
        for name in (stored_plan.ref.id, *extract_slugs(stored_plan.project.settings.name, stored_plan.ref.id)):
            key = stored_plan.project.base, plan_store.normalize_id(name)
            ids_by_name.setdefault(key, set()).add(stored_plan.ref.id)
    for stored_plan in stored_plans:
        own_key = stored_plan.project.base, plan_store.normalize_id(stored_plan.ref.id)
        for name in find_successor_names(stored_plan.require_plan()):
            ids = ids_by_name.get((own_key[0], plan_store.normalize_id(name)), set()) - {stored_plan.ref.id}
            if len(ids) == 1:
                successors.setdefault(own_key, *ids)
    return successors


def find_shipped_work(stored_plans: Sequence[StoredPlan], selection: RuleSelection) -> dict[str, ShippedWork]:
    """Return the evidence by absolute path of the plan, for plans on which the rule runs. Raises ExecplanError if Git fails."""
    open_plans = [
        stored_plan
        for stored_plan in stored_plans
        if CODE in active_levels(stored_plan.project, selection, stored_plan.project.display_path(stored_plan.ref.path))
        and stored_plan.require_plan().unfinished_tasks
    ]
    return {
        stale_plan.stored_plan.ref.path: ShippedWork("; ".join(stale_plan.evidence[1:]), stale_plan.remedy)
        for stale_plan in find_stale_plans(open_plans)
        if stale_plan.kind == SHIPPED_UNCHECKED
    }
