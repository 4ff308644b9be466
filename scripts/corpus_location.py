"""Location of the corpus of real plans: `$EXECPLAN_CORPUS`, or `../shared/corpus` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus")
