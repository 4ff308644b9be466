"""The differences between the issues that plans have on GitHub and those that they should have, and how to remove them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.team.github.api_client import ApiClient, unavailable_error
from execplan.team.github.plan_issue import CLOSED, PLAN_LABEL, STATE_LABELS, PlanIssue

_BEGIN: Final = re.compile(r'<!-- execplan:begin plan="([^"<>\s]*)" title="([0-9a-f]*)" -->')
_END: Final = "<!-- execplan:end -->"
_DIGEST_LENGTH: Final = 16


class ManagedPart(NamedTuple):
    """The part of a body between the comments."""

    plan_key: str
    """Names the plan (see `plan_issue.plan_key`)."""
    title_digest: str
    """Digest of the title that was written last, to tell whether a person changed it."""
    start: int
    end: int
    """Where the second comment ends; -1 if it is missing."""
    content: str
    """Text between the comments, without blank lines around it, with line feeds as line ends."""


def find_managed_part(body: str) -> ManagedPart | None:
    """Return the first part that execplan wrote, or None if there is none."""
    begin = _BEGIN.search(body)
    if begin is None:
        return None
    content_end = body.find(_END, begin.end())
    content = body[begin.end() : content_end] if content_end >= 0 else ""
    end = content_end + len(_END) if content_end >= 0 else -1
    content = content.replace("\r\n", "\n").strip("\n")
    return ManagedPart(unquote(begin[1]), begin[2], begin.start(), end, content)


def format_managed_part(plan_key: str, title: str, content: str) -> str:
    """Return a part with its comments. The content must not contain comments of its own."""
    marker = f'<!-- execplan:begin plan="{quote(plan_key, safe="")}" title="{title_digest(title)}" -->'
    return f"{marker}\n\n{content}\n\n{_END}"


def replace_managed_part(body: str, managed_part: ManagedPart, replacement: str) -> str:
    """Return a body with another managed part; all other text stays as it is."""
    return body[: managed_part.start] + replacement + body[managed_part.end :]


def title_digest(title: str) -> str:
    """Return what the comment stores of a title, so that the title itself can't break the comment."""
    return digest(title.encode("utf-8", "surrogatepass"))[:_DIGEST_LENGTH]


CREATE, UPDATE, KEEP = "create", "update", "none"
"""What `sync` does with an issue."""
_PAGE_SIZE: Final = 100
"""Number of issues in a page; GitHub's maximum."""


class ExistingIssue(NamedTuple):
    """An issue that GitHub has for a plan."""

    number: int
    id: int
    """Identifies the issue on the whole server, for projects."""
    url: str
    title: str
    body: str
    labels: frozenset[str]
    state: str
    managed_part: ManagedPart


class IssueChange(NamedTuple):
    """What has to change so that a plan has its issue."""

    plan_issue: PlanIssue
    issue: ExistingIssue | None
    """None if the plan has no issue yet."""
    fields: dict[str, str]
    """Fields to set: title, body, state and state_reason."""
    new_labels: tuple[str, ...]
    old_labels: tuple[str, ...]
    """Labels for other states of plans, to be removed."""

    @property
    def action(self) -> str:
        """What to do: `CREATE`, `UPDATE` or, if nothing differs, `KEEP`."""
        if self.issue is None:
            return CREATE
        return UPDATE if self.fields or self.new_labels or self.old_labels else KEEP

    @property
    def changed_parts(self) -> tuple[str, ...]:
        """Names of what changes, for people: fields, and labels with a sign."""
        names = [name for name in self.fields if name != "state_reason"]
        return (
            *[f"state {self.fields[name]}" if name == "state" else name for name in names],
            *[f"+{label}" for label in self.new_labels],
            *[f"-{label}" for label in self.old_labels],
        )


def load_issues(client: ApiClient, repository: str) -> dict[str, list[ExistingIssue]]:
    """Return the issues of a repository with the label of plans, by the plan that they name, oldest first."""
    issues: dict[str, list[ExistingIssue]] = {}
    path = f"/repos/{repository}/issues?labels={PLAN_LABEL}&state=all&sort=created&direction=asc&per_page={_PAGE_SIZE}"
    for fields in client.get_all(path):
        if "pull_request" not in fields:  # GitHub lists pull requests as issues
            issue = read_issue(fields)
            if issue is not None:
                issues.setdefault(issue.managed_part.plan_key, []).append(issue)
    return issues


def add_linked_issues(
    client: ApiClient,
    repository: str,
    plan_issues: Sequence[PlanIssue],
    issues: dict[str, list[ExistingIssue]],
) -> None:
    """Add the issues that plans name in their metadata and that have lost the label; the hidden comment must name the plan."""
    for plan_issue in plan_issues:
        for number in plan_issue.linked_numbers if plan_issue.key not in issues else ():
            try:
                fields = client.get(f"/repos/{repository}/issues/{number}")
            except ExecplanError as error:
                if error.code != "github-not-found":
                    raise
                continue
            issue = read_issue(fields) if isinstance(fields, dict) else None
            if issue is not None and issue.managed_part.plan_key == plan_issue.key:
                issues[plan_issue.key] = [issue]
                break


def read_issue(fields: Mapping[str, Any]) -> ExistingIssue | None:
    """Return an issue from GitHub's answer; None if execplan did not write it. Raises ExecplanError for another answer."""
    body = fields.get("body") or ""
    labels = fields.get("labels")
    try:
        managed_part = find_managed_part(body)
        if managed_part is None:
            return None
        names = [label if isinstance(label, str) else label["name"] for label in labels or ()]
        return ExistingIssue(
            number=int(fields["number"]),
            id=int(fields["id"]),
            url=str(fields["html_url"]),
            title=str(fields["title"]),
            body=body,
            labels=frozenset(names),
            state=str(fields["state"]),
            managed_part=managed_part,
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise unavailable_error("GitHub's answer describes an issue without its number, title or labels") from None


def compare_issue(plan_issue: PlanIssue, issue: ExistingIssue | None) -> IssueChange:
    """Return what has to change. A title that a person has changed stays, and so does all text outside the comments."""
    if issue is None:
        body = format_managed_part(plan_issue.key, plan_issue.title, plan_issue.content)
        return IssueChange(plan_issue, None, {"title": plan_issue.title, "body": body}, plan_issue.labels, ())
    fields: dict[str, str] = {}
    managed_part = issue.managed_part
    if managed_part.end >= 0 and not plan_issue.is_broken:
        has_own_title = title_digest(issue.title) != managed_part.title_digest
        title = issue.title if has_own_title else plan_issue.title
        if title != issue.title:
            fields["title"] = title
        is_same_title = has_own_title or title_digest(title) == managed_part.title_digest
        if managed_part.content != plan_issue.content or managed_part.plan_key != plan_issue.key or not is_same_title:
            replacement = format_managed_part(plan_issue.key, plan_issue.title, plan_issue.content)
            if has_own_title:
                replacement = replacement.replace(title_digest(plan_issue.title), managed_part.title_digest, 1)
            fields["body"] = replace_managed_part(issue.body, managed_part, replacement)
    if plan_issue.state != issue.state:
        fields["state"] = plan_issue.state
        fields["state_reason"] = plan_issue.state_reason or "reopened"
    wanted_labels = {*plan_issue.labels}
    return IssueChange(
        plan_issue,
        issue,
        fields,
        tuple([label for label in plan_issue.labels if label not in issue.labels]),
        tuple([label for label in STATE_LABELS if label in issue.labels and label not in wanted_labels]),
    )


def match_issues(
    plan_issues: Sequence[PlanIssue],
    issues: dict[str, list[ExistingIssue]],
    find_former_keys: Callable[[PlanIssue], Sequence[str]],
) -> Iterator[IssueChange]:
    """Yield the change for each plan. A plan without an issue gets that of one of its former names, if no plan has it.

    A plan that can't be read gets no new issue.
    """
    current_keys = {plan_issue.key for plan_issue in plan_issues}
    for plan_issue in plan_issues:
        found_issues = issues.get(plan_issue.key)
        if found_issues is None and issues:
            former_keys = [key for key in find_former_keys(plan_issue) if key not in current_keys]
            found_issues = next((issues[key] for key in former_keys if key in issues), None)
        if found_issues or not plan_issue.is_broken:
            yield compare_issue(plan_issue, found_issues[0] if found_issues else None)


def apply_change(client: ApiClient, repository: str, change: IssueChange) -> ExistingIssue:
    """Make a change on GitHub and return the issue; after an interruption, the next run continues.

    Labels are added and removed one by one, so that labels of people stay. Raises ExecplanError.
    """
    issue = change.issue
    plan_issue = change.plan_issue
    if issue is None:
        fields = client.send(
            "POST", f"/repos/{repository}/issues", {**change.fields, "labels": list(change.new_labels)}
        )
        issue = _require_issue(fields)
        if PLAN_LABEL not in issue.labels:
            message = f"GitHub created {issue.url} without its labels, so execplan can't find it again"
            hint = f"add the label {PLAN_LABEL} there by hand, and use a token that may set labels"
            raise ExecplanError("github-forbidden", message, hint=hint)
        if plan_issue.state != CLOSED:
            return issue
        close = {"state": CLOSED, "state_reason": plan_issue.state_reason}
        return _require_issue(client.send("PATCH", f"/repos/{repository}/issues/{issue.number}", close))
    path = f"/repos/{repository}/issues/{issue.number}"
    if change.fields:
        client.send("PATCH", path, change.fields)
    if change.new_labels:
        client.send("POST", f"{path}/labels", {"labels": list(change.new_labels)})
    for label in change.old_labels:
        _remove_label(client, path, label)
    return issue


def _remove_label(client: ApiClient, path: str, label: str) -> None:
    """Remove a label; that somebody else has removed it meanwhile is no error."""
    try:
        client.send("DELETE", f"{path}/labels/{label}")
    except ExecplanError as error:
        if error.code != "github-not-found":
            raise


def _require_issue(fields: Any) -> ExistingIssue:
    issue = read_issue(fields) if isinstance(fields, dict) else None
    if issue is None:
        raise unavailable_error("GitHub's answer does not contain the issue that was written")
    return issue
