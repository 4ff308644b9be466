"""Advice on compacting a session, by the use of the model's window or by messages, whichever is more urgent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

    from execplan.context.decision import SessionHygiene

CONTINUE: Final = "continue"
PREPARE: Final = "prepare_checkpoint"
COMPACT: Final = "checkpoint_then_compact"
COMPACT_NOW: Final = "checkpoint_then_compact_immediately"

ACTION_THRESHOLDS = ((80.0, 55, COMPACT_NOW), (50.0, 35, COMPACT), (35.0, 25, PREPARE))
"""Minimum window percentage, minimum number of messages, and the action; most urgent first."""

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
    COMPACT_NOW: (
        "Write the restart page now, before anything else: execplan checkpoint",
        "Compact the session, or begin a new one from that page: what comes now pushes out what came first.",
        "Leave other work to a session of its own.",
        "Look at the plan before going on: execplan prime",
    ),
}
"""Instructions for each action, in order."""


def recommend_action(utilization: float, messages: int) -> str:
    """Return the action for a window percentage and a number of messages."""
    return next(
        (
            action
            for min_utilization, min_messages, action in ACTION_THRESHOLDS
            if utilization >= min_utilization or messages >= min_messages
        ),
        CONTINUE,
    )


def assess_session(messages: int, session_tokens: int, optimized_tokens: int, window_tokens: int) -> SessionHygiene:
    """Return the advice for a session, and its window use before and after; the rounded percentages decide."""
    from execplan.context.decision_builder import percentage

    utilization = percentage(session_tokens, window_tokens)
    action = recommend_action(utilization, messages)
    return _build_hygiene(messages, utilization, percentage(optimized_tokens, window_tokens), action, PLAYBOOKS[action])


def hygiene_without_session() -> SessionHygiene:
    """Return empty advice: no session, nothing counted, nothing to do."""
    return _build_hygiene(0, 0.0, 0.0, CONTINUE, ())


def _build_hygiene(
    messages: int, utilization: float, optimized_utilization: float, action: str, playbook: tuple[str, ...]
) -> SessionHygiene:
    from execplan.context.decision import SessionHygiene

    return SessionHygiene.model_validate(
        {
            "message_count_estimate": messages,
            "input_context_utilization_pct": utilization,
            "optimized_context_utilization_pct": optimized_utilization,
            "recommended_action": action,
            "playbook": playbook,
        }
    )
