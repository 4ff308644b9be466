"""`python -m execplan`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the folder that somebody stands in: no module in there is one of ours
from execplan.cli.main import run

sys.exit(run())
