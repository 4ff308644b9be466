"""Locations of real plans: `$EXECPLAN_CORPUS` and `$EXECPLAN_WILD`, or `../shared/corpus` and `../shared/wild` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

_SHARED = Path(__file__).resolve().parents[2] / "shared"
CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or _SHARED / "corpus")
WILD = Path(os.environ.get("EXECPLAN_WILD") or _SHARED / "wild")
"""Plan files of repositories that write plans in other forms, in their directories, with a `MANIFEST.tsv`."""
