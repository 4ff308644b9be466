"""Is a session told where the plan stands, where that was installed?"""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

from execplan.agents import hook_file, session_hooks
from execplan.view.doctor.check import WARNING, Finding, check
from execplan.view.doctor.guarded import switched_off
from execplan.view.doctor.integrations import ABSENT, installed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.view.doctor.ground import Ground


@check("session-hooks")
def sessions(ground: Ground) -> Iterator[Finding | str]:
    """The hooks that tell a session where the plan stands are whole and of today, and nothing that is known switches them off."""
    home, what = ground.home, session_hooks.WHAT
    there = [name for name in hook_file.PROGRAMS if hook_file.has_mark(home, name, session_hooks.ALL_HOOKS, {})]
    if not there:
        yield ABSENT
        return
    install = partial(session_hooks.install, home, programs=there)
    yield from installed(home, what, install, partial(session_hooks.uninstall, home, programs=there))
    if shutil.which("execplan") is None:
        yield Finding(
            WARNING, "", session_hooks.NOT_ON_PATH_WARNING, "put the folder of execplan on PATH, or install it there: pipx install ."
        )
    yield from switched_off(home, there, WARNING, "tells no session where the plan stands")
