"""The `execplan use` command."""

from __future__ import annotations

import os

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.plan_store import implied_plan, plan_selection
from execplan.core.project import project_discovery


@define_command(
    reads="the plan's name.",
    writes="your choice for this worktree, in the git directory; it is not committed.",
    examples=("execplan use parser", "execplan use", "execplan use -"),
)
@plan_argument(default="show the sticky plan")
def use(call: Call, plan: str | None) -> Answer:
    """Set the sticky plan: the plan that commands mean when none is named.

    Without PLAN, show it; with `-`, end it. -p and EXECPLAN_PLAN come first. Commands that write name the sticky plan if
    another one could have been meant. It is yours in this worktree: other authors, such as agents with a name of their
    own, have their own. It follows a rename, and counts no more while the plan is archived.
    """
    project = project_discovery.require(os.getcwd())
    if plan == "-":
        implied_plan.set_sticky_plan(project, None)
    elif plan is not None:
        chosen = plan_selection.select_plan(os.getcwd(), plan)
        ensure_not_archived(*chosen)
        implied_plan.set_sticky_plan(project, chosen[1])
    current = implied_plan.find_sticky_plan(project)
    data = {
        "id": current[1].id if current is not None else None,
        "path": current[0].display_path(current[1].path) if current is not None else None,
    }
    if current is not None:
        return Answer(data, printable_lines([f"sticky plan: {current[1].id} (to end it: execplan use -)"]))
    path = implied_plan.sticky_path(project)
    reason = f": {project.split_plan_path(path)[1]} is archived or gone" if path else ""
    next_commands = () if plan == "-" else ("execplan use PLAN",)
    return Answer(data, printable_lines([f"no sticky plan{reason}"]), next_commands=next_commands)
