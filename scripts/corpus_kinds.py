"""Where tools keep plans by convention, and what else is in these directories; the product's own table is not used."""

from __future__ import annotations

import re

_STATES = (
    r"(?:(?:active|current|open|in[-_]progress|wip|todo|doing|completed?|done|archived?|finished|closed|superseded|obsolete"
    r"|abandoned|cancelled|rejected|deferred|backlog)/)?(?:\d{4}/(?:\d\d/)?)?"
)
_FLAT = rf"{_STATES}[^/]+\.md"
KINDS = {
    "planning-with-files": (r"(?:.*/)?(?=(?:task_plan|findings|progress)\.md$)", r"task_plan\.md"),
    "openspec": (r"openspec/", r"changes/(?:archive/)?[^/]+/tasks\.md"),
    "kiro": (r"\.kiro/", r"specs/[^/]+/tasks\.md"),
    "spec-kit": (r"(?:\.specify/|specs/(?=\d))", r"[^/]+/tasks\.md"),
    "backlog": (r"backlog/", r"(?:tasks|drafts|completed|archive/tasks)/[^/]+\.md"),
    "superpowers": (r"docs/superpowers/", rf"plans/{_FLAT}"),
    "harness": (r"(?:docs|agent-docs)/exec[-_]?plans/", _FLAT),
    "execplan": (r"(?:.*/)?\.agents?/(?:exec[-_]?plans|plans|done)/", _FLAT),
    "plain": (r"(?:(?:docs/|\.claude/|\.cursor/|\.)?plans|exec[-_]?plans)/", _FLAT),
}
"""For each kind of plan, regular expressions of its directory, and of the plans in it."""
_NO_PLANS = (
    (r"(?!.*\.md$)", "not Markdown"),
    (r"(?:.*/)?(?:readme|index)\.md$", "README or index"),
    (r"(?:.*/)?(?:agents|claude|gemini)\.md$", "instructions for agents"),
    (r"(?:.*/)?plans\.md$", "guide"),
    (r"(?:.*/)?(?:[^/]*[-_])?templates?\.md$", "template"),
    (r"(?:.*/)?(?:[^/]*[-_])?tracker\.md$", "tracker"),
)
NO_KIND = "none"


def classify(path: str) -> tuple[str, str]:
    """Return the kind of a path in a repository, and why it is no plan; empty for a plan."""
    kind, rest = next(
        ((kind, path[match.end() :]) for kind, (folder, _) in KINDS.items() if (match := re.match(folder, path))),
        (NO_KIND, path),
    )
    reason = next((reason for pattern, reason in _NO_PLANS if re.match(pattern, path, re.IGNORECASE)), "")
    if not reason and kind == NO_KIND:
        reason = "in no directory for plans"
    elif not reason and not re.fullmatch(KINDS[kind][1], rest):
        reason = "belongs to a plan, or describes the project"
    return kind, reason
