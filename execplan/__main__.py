"""`python -m execplan`."""

import sys

from execplan.cli.main import run

sys.exit(run())
