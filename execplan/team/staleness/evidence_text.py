"""Sentences with the evidence that a plan is not what it says, each with its commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.clock import format_minute
from execplan.core.text.message_parts import format_excess, join_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.team.staleness.evidence_facts import StalenessFacts
    from execplan.team.staleness.plan_timeline import Drift

_MAX_NAMES = 3
"""Maximum number of files and references in a sentence."""


def status_evidence(facts: StalenessFacts, meaning: str) -> list[str]:
    """Return a sentence about the status, unless it has this meaning and all tasks are done."""
    status = facts.status
    if status is None or (status.meaning == meaning and facts.plan.tasks and not facts.open_tasks):
        return []
    return [f"the status on line {status.line + 1} says `{status.text}`"]


def merge_evidence(facts: StalenessFacts) -> list[str]:
    """Return a sentence about the merged pull requests or closed issues of a plan, with the commits that say so."""
    references = [
        f"{reference.label} ({cite_commit(reference.message.commit, reference.message.subject)})"
        for reference in facts.merged
    ]
    return [join_first(references, _MAX_NAMES)] if references else []


def missing_evidence(facts: StalenessFacts) -> list[str]:
    """Return a sentence about files that a plan promises and that don't exist."""
    missing = facts.timeline.missing
    return [f"but these files that it promises don't exist: {join_first(missing, _MAX_NAMES)}"] if missing else []


def error_evidence(errors: Sequence[str]) -> list[str]:
    """Return a sentence about what must be fixed before a plan can be archived."""
    return [f"before it can be archived, correct {join_first(errors, _MAX_NAMES)}"] if errors else []


def file_evidence(facts: StalenessFacts) -> list[str]:
    """Return sentences about when the promised files were created, and when the plan was last edited."""
    timeline = facts.timeline
    if timeline.shipped is None or timeline.changed is None:
        return []
    files = f"{join_first(timeline.existing, _MAX_NAMES)} exist{'s' if len(timeline.existing) == 1 else ''}"
    commit = cite_commit(timeline.shipped.commit, timeline.shipped.subject)
    return [f"{files} since {commit}", f"the plan's last edit is of {format_minute(timeline.changed.time)[:10]}"]


def cite_commit(commit: str, subject: str) -> str:
    """Return a commit as a sentence names it: its ID and its subject."""
    return f"{commit[:10]} {subject}".rstrip()


def drift_evidence(drifts: Sequence[Drift]) -> list[str]:
    """Return a sentence for each of the first files that have changed too much, with the commit."""
    sentences = [
        f"{drift.path} was {_drift_verb(drift)} by {cite_commit(drift.step.commit, drift.step.subject)}"
        for drift in drifts[:_MAX_NAMES]
    ]
    excess = format_excess(len(drifts), _MAX_NAMES, "")
    return [*sentences, *([f"{excess} files"] if excess else [])]


def _drift_verb(drift: Drift) -> str:
    if not drift.is_deleted:
        return "largely rewritten"
    return f"moved to {drift.new_path}" if drift.new_path else "deleted"
