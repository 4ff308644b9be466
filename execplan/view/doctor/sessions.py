"""Is a session told where the plan stands, where that was installed?"""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

from execplan.agents import hook_file, session_hooks
from execplan.view.doctor.check import WARNING, Finding, check
from execplan.view.doctor.guarded import find_disabled_hooks
from execplan.view.doctor.integrations import NOT_INSTALLED, check_integration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.view.doctor.ground import DoctorContext


@check("session-hooks")
def check_session_hooks(context: DoctorContext) -> Iterator[Finding | str]:
    """The hooks that tell a session where the plan stands are whole and of today, and nothing that is known switches them off."""
    project, integration = context.project, session_hooks.WHAT
    installed_programs = [name for name in hook_file.PROGRAMS if hook_file.has_mark(project, name, session_hooks.ALL_HOOKS, {})]
    if not installed_programs:
        yield NOT_INSTALLED
        return
    install = partial(session_hooks.install, project, programs=installed_programs)
    yield from check_integration(project, integration, install, partial(session_hooks.uninstall, project, programs=installed_programs))
    if shutil.which("execplan") is None:
        yield Finding(
            WARNING, "", session_hooks.NOT_ON_PATH_WARNING, "put the folder of execplan on PATH, or install it there: pipx install ."
        )
    yield from find_disabled_hooks(project, installed_programs, WARNING, "tells no session where the plan stands")
