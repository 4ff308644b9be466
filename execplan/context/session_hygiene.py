"""Advice on compacting a session, by the use of the model's window, and earlier if it has many messages."""

from __future__ import annotations

from typing import Final

from execplan.context.decision import SessionHygiene

CONTINUE: Final = "continue"
PREPARE: Final = "prepare_checkpoint"
COMPACT: Final = "checkpoint_then_compact"
COMPACT_NOW: Final = "checkpoint_then_compact_immediately"

ACTION_THRESHOLDS = ((80.0, 55, COMPACT_NOW), (50.0, 35, COMPACT), (35.0, 25, PREPARE))
"""Minimum window percentage, minimum number of messages, and the action; most urgent first.

With that many messages, half of the percentage is enough.
"""

PLAYBOOKS = {
    CONTINUE: (
        "Continue with the task: there is enough space.",
        "Check off tasks and record decisions as you make them; a later session starts from them.",
    ),
    PREPARE: (
        "Update the plan: check off completed tasks, split half-done tasks, and record decisions and discoveries.",
        "Finish the current step, and don't start anything large.",
        "Keep long output out of the session: write it to a file, and read the relevant part.",
    ),
    COMPACT: (
        "Stop at the next point where the working tree is consistent, and commit.",
        "Update the plan, then write the restart page: execplan checkpoint",
        "Compact the session, and tell it to keep the current task and what the restart page does not contain.",
        "Review the plan before you continue: execplan prime",
    ),
    COMPACT_NOW: (
        "Write the restart page now, before anything else: execplan checkpoint",
        "Compact the session, or start a new one from that page: new content now displaces the oldest content.",
        "Leave other work to a separate session.",
        "Review the plan before you continue: execplan prime",
    ),
}
"""Instructions for each action, in order."""


def recommend_action(utilization: float, messages: int) -> str:
    """Return the action for a window percentage and a number of messages."""
    return next(
        (
            action
            for min_utilization, min_messages, action in ACTION_THRESHOLDS
            if utilization >= min_utilization / (2 if messages >= min_messages else 1)
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
