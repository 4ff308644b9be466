"""The list of what agent programs load: other tables that need such names contain them."""

from __future__ import annotations

import pytest

from execplan.core.files.agent_files import CONFIGURATION, INSTRUCTIONS, describe_configuration
from execplan.core.project.project_settings import NON_PLAN_FILES
from execplan.execution.risk.command_risk import builtin_table
from execplan.execution.risk.row_matching import row_matches_path


@pytest.mark.parametrize("name", [*CONFIGURATION, *sorted(INSTRUCTIONS)])
def test_a_step_that_changes_one_is_rated_high(name: str) -> None:
    levels = [row.level for row in builtin_table().rows if row.path and row_matches_path(f"sub/{name}", row)]
    assert {"HIGH", "CRITICAL"} & set(levels)


def test_a_configuration_is_known_at_any_level_and_in_any_letter_case() -> None:
    assert all(describe_configuration(f"sub/{name.upper()}/x") for name in CONFIGURATION)
    assert not any(map(describe_configuration, (".agents/x.md", ".github/workflows/x.yml", "docs/.claude.md")))


def test_instructions_are_no_plans() -> None:
    assert {name for name in INSTRUCTIONS if name.endswith(".md")} <= NON_PLAN_FILES.keys()
