"""Checks of a repository, such as its tests, that the user's own settings let agents run at any time, without a step."""

from __future__ import annotations

import os

from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.compound_command import extract_core_command
from execplan.execution.shell.call_patterns import matches_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall


def is_agent_check(call: ToolCall, checks: Sequence[str], scope: GuardScope, read_policy: str) -> bool:
    """Check whether a call is one of these commands at the repository's root, alone or among commands that only read."""
    core = extract_core_command(call, scope, read_policy)
    if core.reason:
        return False
    command_list = parse_command_list(core.command or call.command, call.cwd)
    if command_list is None or len(command_list.commands) != 1:
        return False
    is_at_root = {os.path.realpath(folder) for folder in command_list.folders} == {scope.root}
    return is_at_root and any([matches_command(command_list.commands[0], check) for check in checks])
