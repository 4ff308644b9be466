"""When a session should be compacted: exactly at the bounds, and by the figures that are shown."""

from __future__ import annotations

import pytest

from execplan.context.session_hygiene import (
    COMPACT,
    COMPACT_NOW,
    CONTINUE,
    PLAYBOOKS,
    PREPARE,
    assess_session,
    recommend_action,
)

WINDOW = 100_000


@pytest.mark.parametrize(
    ("tokens", "messages", "what"),
    [
        (0, 0, CONTINUE),
        (34_949, 24, CONTINUE),  # 34.9 %
        (34_950, 0, PREPARE),  # shown as 35.0 %
        (35_000, 0, PREPARE),
        (100, 60, CONTINUE),  # many messages that hardly take room
        (17_400, 25, CONTINUE),
        (17_500, 25, PREPARE),  # half of the bound is enough with many messages
        (49_900, 34, PREPARE),
        (50_000, 0, COMPACT),
        (25_000, 35, COMPACT),
        (79_900, 54, COMPACT),
        (80_000, 0, COMPACT_NOW),
        (40_000, 55, COMPACT_NOW),
        (35_000, 55, COMPACT),
        (80_000, 25, COMPACT_NOW),
        (500_000, 0, COMPACT_NOW),
    ],
)
def test_bounds(tokens: int, messages: int, what: str) -> None:
    assessment = assess_session(messages, tokens, tokens // 2, WINDOW)
    assert assessment.recommended_action == what
    assert assessment.recommended_action == recommend_action(assessment.input_context_utilization_pct, messages)
    assert assessment.playbook == PLAYBOOKS[what]
    assert assessment.message_count_estimate == messages


def test_figures_are_of_the_window() -> None:
    assessment = assess_session(3, 58_100, 34_700, WINDOW)
    assert (assessment.input_context_utilization_pct, assessment.optimized_context_utilization_pct) == (58.1, 34.7)
    assert assess_session(3, 58_100, 34_700, 10 * WINDOW).recommended_action == CONTINUE


def test_each_playbook_says_something_of_its_own() -> None:
    assert len({steps[0] for steps in PLAYBOOKS.values()}) == len(PLAYBOOKS) == 4
    for action in (COMPACT, COMPACT_NOW):
        assert any("execplan checkpoint" in step for step in PLAYBOOKS[action])
