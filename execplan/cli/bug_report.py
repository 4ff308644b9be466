"""Reports about errors in execplan itself, which users can send."""

from __future__ import annotations

import os
import platform
import sys
import traceback

from execplan import __version__
from execplan.core.secrets.redaction import Redactor
from execplan.execution.engine.commands.command_environment import public_variables


def write_bug_report(error: Exception) -> str | None:
    """Write a bug report and return its path, or None if it can't be written."""
    directory = os.path.join(
        os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "execplan", "reports"
    )
    path = os.path.join(directory, f"bug-{os.getpid()}.txt")
    try:
        os.makedirs(directory, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"execplan {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
            redaction = Redactor(os.environ, public_variables(os.environ))
            traceback_text = redaction.redact_text("".join(traceback.format_exception(error)))
            file.write(f"{redaction.redact_value(sys.argv[1:])}\n\n{traceback_text}")
    except OSError:
        return None
    return path
