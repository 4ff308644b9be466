"""Output of `new --from - --hook`: the plan that was captured from a hook's input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.agents.capture import captured_plan, hook_input
from execplan.cli.answer import Answer
from execplan.cli.text_input import read_source
from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions


def capture_answer(program: str, options: WriteOptions) -> Answer:
    """Capture the plan in a hook's input; whatever is wrong is a warning, because the session goes on."""
    empty = {"id": None, "path": None, "action": None, "changed": False}
    try:
        hook_plan = hook_input.read_hook_plan(program, read_source("-"))
        if hook_plan is None:
            return Answer(empty, "")
        project = project_discovery.find(hook_plan.cwd if os.path.isdir(hook_plan.cwd) else os.getcwd())
        if not project.exists:
            return Answer(empty, "")
        captured = captured_plan.capture_plan(
            project, hook_input.PROGRAM_NAMES[program], hook_plan.session, hook_plan.text, options
        )
    except ExecplanError as error:
        return Answer(empty, "", warnings=(f"the plan was not captured: {error.message}",))
    changed = captured.action != captured_plan.UNCHANGED
    data = {"id": captured.id, "path": captured.path, "action": captured.action, "changed": changed}
    return Answer(data, "", warnings=captured.warnings)
