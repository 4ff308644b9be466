"""Hooks without which sessions go on: doctor knows when they are missing, edited by hand, or disabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.agents.integrations import capture_hooks, session_hooks, stop_gate
from execplan.agents.integrations.integration_changes import apply_changes
from execplan.cli.doctor.agent_hook_checks import check_capture_hooks, check_session_hooks, check_stop_gate
from execplan.cli.doctor.doctor_check import DoctorContext
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from execplan.cli.doctor.doctor_check import DoctorFinding
    from tests.in_process_repository import InProcessRepository

CLAUDE = ".claude/settings.json"
CHECKS = [
    (session_hooks, check_session_hooks, "doesn't give sessions an overview of the plan"),
    (stop_gate, check_stop_gate, "lets every session end"),
    (capture_hooks, check_capture_hooks, "captures no plans"),
]


@pytest.mark.parametrize(("integration", "check", "consequence"), CHECKS, ids=lambda value: getattr(value, "NAME", ""))
def test_optional_hooks_are_checked(
    desk: InProcessRepository,
    integration: ModuleType,
    check: Callable[[DoctorContext], Iterator[DoctorFinding | str]],
    consequence: str,
) -> None:
    project = project_discovery.require(str(desk.path))

    def reports() -> str:
        found = check(DoctorContext(str(desk.path), str))
        return " ".join([report if isinstance(report, str) else report.message for report in found])

    assert reports() == "not installed"
    apply_changes(integration.install(project, force=False, programs=["claude"]).changes)
    assert reports() == integration.NOT_ON_PATH_WARNING
    desk.patch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert reports() == ""
    path = desk.path / CLAUDE
    original = path.read_text()
    path.write_text(original.replace('"hooks"', '"disableAllHooks": true, "hooks"', 1))
    assert "disableAllHooks" in reports()
    assert consequence in reports()
    path.write_text(original.replace('"timeout": ', '"x": 1, "timeout": ', 1))
    assert "edited by hand" in reports()
    path.write_text(original.replace("|| :", "||:"))
    assert "edited by hand" in reports()
    path.write_text(original[:-9])
    assert "expected a comma" in reports()
    path.write_text("{}")
    timeout = integration.TIMEOUT
    desk.patch.setattr(integration, "TIMEOUT", timeout - 1)
    apply_changes(integration.install(project, force=False, programs=["claude"]).changes)
    desk.patch.setattr(integration, "TIMEOUT", timeout)
    assert "is out of date" in reports()
