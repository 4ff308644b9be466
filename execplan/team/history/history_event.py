"""Events in the life of a plan, as `log` and `diff` report them: a task added, a decision made, a section changed."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

CREATED: Final = "created"
RENAMED: Final = "renamed"
RETITLED: Final = "retitled"
ARCHIVED: Final = "archived"
RESTORED: Final = "restored"
"""The plan is back: from the archive, or after its file was deleted."""
DELETED: Final = "deleted"
BROKEN: Final = "broken"
"""The file can't be read as a plan, or contains conflict markers; the next readable version is compared with the last."""
REPAIRED: Final = "repaired"
"""A broken plan can be read again."""
REFORMATTED: Final = "reformatted"
"""Only the layout of the file changed: white space, line endings or order."""

TASK_ADDED: Final = "task-added"
TASK_DONE: Final = "task-done"
TASK_REOPENED: Final = "task-reopened"
TASK_MARKED: Final = "task-marked"
"""The checkbox has another character than those of open and done tasks."""
TASK_REWORDED: Final = "task-reworded"
TASK_MOVED: Final = "task-moved"
TASK_REMOVED: Final = "task-removed"

DECISION: Final = "decision"
DISCOVERY: Final = "discovery"
OUTCOME: Final = "outcome"
REVISION: Final = "revision"
ENTRY_KINDS = (DISCOVERY, DECISION, OUTCOME, REVISION)
"""Kinds of entries, in the order of their sections. The kinds of their events end in the suffixes below."""
ADDED_SUFFIX: Final = "-added"
CHANGED_SUFFIX: Final = "-changed"
REMOVED_SUFFIX: Final = "-removed"

SECTION_ADDED: Final = "section-added"
SECTION_CHANGED: Final = "section-changed"
SECTION_REMOVED: Final = "section-removed"

PLAN_EVENTS = (CREATED, RENAMED, RETITLED, ARCHIVED, RESTORED, DELETED, BROKEN, REPAIRED, REFORMATTED)
TASK_EVENTS = (TASK_ADDED, TASK_DONE, TASK_REOPENED, TASK_MARKED, TASK_REWORDED, TASK_MOVED, TASK_REMOVED)
_SUFFIXES = (ADDED_SUFFIX, CHANGED_SUFFIX, REMOVED_SUFFIX)
ENTRY_EVENTS = tuple([kind + suffix for kind in ENTRY_KINDS for suffix in _SUFFIXES])
DECISION_EVENTS = tuple([DECISION + suffix for suffix in _SUFFIXES])
SECTION_EVENTS = (SECTION_ADDED, SECTION_CHANGED, SECTION_REMOVED)
EVENT_KINDS = (*PLAN_EVENTS, *TASK_EVENTS, *ENTRY_EVENTS, *SECTION_EVENTS)
"""All kinds of events."""


class HistoryEvent(NamedTuple):
    """A change of a plan in the plan's terms, with the commit that made it."""

    kind: str
    """One of `EVENT_KINDS`."""
    text: str
    """Text of the task or entry; title of the plan or section; for a broken plan, what is wrong."""
    task_id: str = ""
    """For a task, its ID after the change, or before it if the task was removed."""
    detail: str = ""
    """Rationale of a decision, evidence of a discovery, or character in the checkbox of a marked task."""
    previous: str = ""
    """Earlier text of a reworded task or a changed entry; earlier ID of a renamed plan; earlier title."""
    entry_date: str = ""
    """For an entry, the date as written in it."""
    entry_author: str = ""
    """For an entry, the author as written in it."""
    lines_added: int = 0
    """For a section, the number of lines added, without blank ones."""
    lines_removed: int = 0
    """For a section, the number of lines removed, without blank ones."""
    plan_id: str = ""
    """The plan's current ID; for a deleted plan, the last one."""
    path: str = ""
    """Current path of the plan's file from the repository root; for a deleted plan, the last one."""
    author: str = ""
    """Author of the commit; empty for a change that is not committed."""
    time: int = 0
    """Time of the change in seconds since 1970: when the commit was written, or the file was modified."""
    commit: str = ""
    """ID of the commit; empty for a change that is not committed."""

    def to_json(self) -> dict[str, Any]:
        """Return the event as in the document of `log --json`; what an event does not have is null."""
        from execplan.core.clock import format_utc_timestamp

        is_section = self.kind in SECTION_EVENTS
        return {
            "kind": self.kind,
            "plan": self.plan_id,
            "path": self.path,
            "task": self.task_id or None,
            "text": self.text,
            "detail": self.detail or None,
            "previous": self.previous or None,
            "entry_date": self.entry_date or None,
            "entry_author": self.entry_author or None,
            "lines_added": self.lines_added if is_section else None,
            "lines_removed": self.lines_removed if is_section else None,
            "author": self.author or None,
            "time": format_utc_timestamp(self.time),
            "commit": self.commit or None,
        }
