"""Whether a repository has the guard: for which programs, and which commands agents are therefore denied."""

from __future__ import annotations

from collections.abc import Collection

from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS, DENIED_COMMANDS
from execplan.agents.integrations import hook_entry, opencode_plugin
from execplan.agents.integrations.hook_file import PROGRAMS, hook_file_path
from execplan.agents.integrations.integration_changes import LIMIT
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.project.project import Project

UNSEEN_CAUSE = (
    "start the agent in the root of the repository, and check that its program runs the guard: execplan doctor"
)
"""What to do after a step that was completed without a call that the guard saw."""


def find_programs(project: Project) -> list[str]:
    """Return the programs that have a guard hook, installed by execplan or added by hand, or the guard's plugin."""
    with_hooks = [name for name in PROGRAMS if _has_command(hook_file_path(project, name))]
    return [*with_hooks, *([opencode_plugin.PROGRAM] if opencode_plugin.is_installed(project) else [])]


def denied_commands(project: Project) -> Collection[str]:
    """Return the commands, and options such as `lint --unsafe-fixes`, that the guard denies to agents in a project.

    Nothing if it is not installed there. `approve` is not among them, because `evaluate` comes before it, nor `edit`,
    because an agent edits files itself.
    """
    if not find_programs(project):
        return ()
    options = {
        f"{command} {option}"
        for command, allowed in ALLOWED_COMMANDS.items()
        for option in allowed.denied_options.split()
    }
    return options | DENIED_COMMANDS.keys() - {"approve", "edit"}


def _has_command(path: str) -> bool:
    try:
        return hook_entry.GUARD.command_text.encode() in file_access.read(path, LIMIT)[0]
    except ExecplanError:
        return False
