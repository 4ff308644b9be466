"""One of many hands: a process that makes fifty edits of mixed kinds to one plan, or as many as it is told."""

from __future__ import annotations

import sys

from execplan.clock import now
from execplan.edits.plan_writer import WriteOptions, amend
from execplan.files.file_lock import set_timeout
from execplan.plan import log_edits, section_edits, task_edits
from execplan.plan_store import plan_selection

KINDS = 5
PATIENCE = 200.0
"""Seconds for which a hand waits for the others: a machine may be busy with something else."""


def words(hand: int, number: int) -> str:
    """What the edit with this number says."""
    return f"hand {hand:02} edit {number:02} is here"


def main(hand: int, edits: int, *, commit: bool) -> None:
    """Add, tick, decide, discover and note, in turns."""
    set_timeout(PATIENCE)
    for number in range(edits):
        said = words(hand, number)
        verb, changer = (
            ("add", task_edits.add_task(said, now())),
            ("done", task_edits.complete_tasks([words(hand, number - 1)], now())),
            ("decide", log_edits.add_decision(said, f"so that {said}", "Ann", now())),
            ("discover", log_edits.add_discovery(said, f"shown by {said}")),
            ("note", section_edits.add_note([said])),
        )[number % KINDS]
        project, ref = plan_selection.select_plan(".", "parser")
        amend(project, ref, changer, WriteOptions(commit=commit), command=verb)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), commit=sys.argv[3] == "commit")
