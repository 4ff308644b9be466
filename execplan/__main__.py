"""`python -m execplan`."""

import sys

from execplan.cli.main import main

sys.exit(main())
