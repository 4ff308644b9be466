"""One of many hands: a process that makes fifty edits of mixed kinds to one plan, or as many as it is told."""

from __future__ import annotations

import sys

from execplan.core.clock import now
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.files.file_lock import set_timeout
from execplan.core.plan import log_edits, section_edits, task_edits
from execplan.core.plan_store import plan_selection

KINDS = 5
PATIENCE = 200.0
"""Seconds for which a hand waits for the others: a machine may be busy with something else."""


def edit_text(hand: int, number: int) -> str:
    """What the edit with this number says."""
    return f"hand {hand:02} edit {number:02} is here"


def main(hand: int, edits: int, *, commit: bool) -> None:
    """Add, tick, decide, discover and note, in turns."""
    set_timeout(PATIENCE)
    for number in range(edits):
        text = edit_text(hand, number)
        command, changer = (
            ("add", task_edits.add_task(text, now())),
            ("done", task_edits.complete_tasks([edit_text(hand, number - 1)], now())),
            ("decide", log_edits.add_decision(text, f"so that {text}", "Ann", now())),
            ("discover", log_edits.add_discovery(text, f"shown by {text}")),
            ("note", section_edits.add_note([text])),
        )[number % KINDS]
        project, ref = plan_selection.select_plan(".", "parser")
        amend(project, ref, changer, WriteOptions(commit=commit), command=command)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), commit=sys.argv[3] == "commit")
