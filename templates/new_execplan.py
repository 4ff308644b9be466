#!/usr/bin/env python3
"""Create an ExecPlan: scripts/new_execplan.py "Short description". Same as `execplan new`, with all its options."""

import importlib.util
import shutil
import subprocess
import sys

program = shutil.which("execplan")
if program is None and importlib.util.find_spec("execplan") is None:
    sys.exit("new_execplan.py: execplan is not installed here; with uv, run: uvx execplan new 'Short description'")
command = [program] if program is not None else [sys.executable, "-m", "execplan"]
sys.exit(subprocess.run([*command, "new", *sys.argv[1:]], check=False).returncode)  # noqa: S603 - the user's own arguments
