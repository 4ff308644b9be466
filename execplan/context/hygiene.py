"""Whether a session should be compacted: by how much of the model's window is full, or by its messages, whichever asks for more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.context.decision import SessionHygiene

CONTINUE: Final = "continue"
PREPARE: Final = "prepare_checkpoint"
COMPACT: Final = "checkpoint_then_compact"
AT_ONCE: Final = "checkpoint_then_compact_immediately"

BOUNDS = ((80.0, 55, AT_ONCE), (50.0, 35, COMPACT), (35.0, 25, PREPARE))
"""From which percentage of the window, or from how many messages, what is recommended; the most urgent first."""

PLAYBOOKS = {
    CONTINUE: (
        "Go on with the task: there is room.",
        "Tick tasks and write down decisions as they are made; that is what a later session starts from.",
    ),
    PREPARE: (
        "Bring the plan up to date: tick what is done, split what is half done, write down what was decided and found.",
        "Finish the step that is under way, and begin nothing large.",
        "Keep long output out of the session: write it to a file, and read the part that matters.",
    ),
    COMPACT: (
        "Stop at the next point where the tree is in order, and commit.",
        "Bring the plan up to date, then write the restart page: execplan checkpoint",
        "Compact the session, and tell it to keep the task at hand and what the restart page does not say.",
        "Look at the plan before going on: execplan prime",
    ),
    AT_ONCE: (
        "Write the restart page now, before anything else: execplan checkpoint",
        "Compact the session, or begin a new one from that page: what comes now pushes out what came first.",
        "Leave other work to a session of its own.",
        "Look at the plan before going on: execplan prime",
    ),
}
"""What to do then, in order."""


def advice(utilization: float, messages: int) -> str:
    """What is recommended at so many percent of the window and so many messages."""
    return next((what for percent, most, what in BOUNDS if utilization >= percent or messages >= most), CONTINUE)


def hygiene(messages: int, given: int, optimized: int, window: int) -> SessionHygiene:
    """The advice for a session of so many messages and tokens, before and after; the percentages that are shown decide."""
    from execplan.context.decide import percentage

    full = percentage(given, window)
    what = advice(full, messages)
    return _hygiene(messages, full, percentage(optimized, window), what, PLAYBOOKS[what])


def no_session() -> SessionHygiene:
    """Without a session there is no advice: nothing is counted, nothing is to be done."""
    return _hygiene(0, 0.0, 0.0, CONTINUE, ())


def _hygiene(messages: int, full: float, optimized: float, what: str, playbook: tuple[str, ...]) -> SessionHygiene:
    from execplan.context.decision import SessionHygiene

    return SessionHygiene.model_validate(
        {
            "message_count_estimate": messages,
            "input_context_utilization_pct": full,
            "optimized_context_utilization_pct": optimized,
            "recommended_action": what,
            "playbook": playbook,
        }
    )
