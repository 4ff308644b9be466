"""The guard's plugin for opencode, which has no hooks in its settings: a file that it loads in every session."""

from __future__ import annotations

import os
from functools import partial

from execplan.agents.integrations.integration_changes import read_project_file
from execplan.agents.integrations.managed_directory import ManagedDirectory
from execplan.core.project import builtin_templates
from execplan.core.project.project import Project

PROGRAM = "opencode"
DIRECTORY = ".opencode/plugins"
FILE_NAME = "execplan-guard.js"
_TEMPLATE = "opencode-guard.js"


def plugin_directory(project: Project, integration: str) -> ManagedDirectory:
    """Return the directory of plugins of a repository, with the guard's plugin in it."""
    return ManagedDirectory(
        integration,
        os.path.join(project.root, DIRECTORY),
        DIRECTORY,
        {FILE_NAME: builtin_templates.read_text(_TEMPLATE).encode()},
        partial(read_project_file, project),
        f" --for {PROGRAM}",
    )


def is_used(project: Project) -> bool:
    """Check whether the repository is used with opencode."""
    names = (os.path.dirname(DIRECTORY), "opencode.json", "opencode.jsonc")
    return any([os.path.exists(os.path.join(project.root, name)) for name in names])


def is_installed(project: Project) -> bool:
    """Check whether the repository has the plugin."""
    return os.path.lexists(os.path.join(project.root, DIRECTORY, FILE_NAME))
