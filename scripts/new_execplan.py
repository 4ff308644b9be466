#!/usr/bin/env python3
"""Entry point named in the format's document, `scripts/new_execplan.py "short description"`; same as `execplan new`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.cli.main import main

if __name__ == "__main__":
    sys.argv.insert(1, "new")
    sys.exit(main())
