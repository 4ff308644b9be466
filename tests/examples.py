"""Which examples hypothesis tries: the same ones everywhere in `make test-all`, a quarter in `make test`, new ones in `make fuzz`.

`scripts/fuzz_properties.py` sets the variables below. Derandomized examples come from the source of each test, so they are the same
on every machine and in every process.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.internal.conjecture import providers

from tests import selection

if TYPE_CHECKING:
    import pytest

SEED = "EXECPLAN_FUZZ_SEED"
"""The environment variable that turns on the random search; its value orders the tests."""
UNTIL = "EXECPLAN_FUZZ_UNTIL"
"""When the search ends, in seconds since 1970; tests that have not begun by then are skipped."""
DATABASE = "EXECPLAN_FUZZ_DATABASE"
"""A directory in which hypothesis keeps what it finds, so that it tries this first the next time."""


def use_profile() -> None:
    """Let hypothesis search, or try the same examples as everywhere."""
    # Health checks of speed and deadlines fail on a machine that is busy with something else.
    untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    if SEED in os.environ:
        database = DirectoryBasedExampleDatabase(os.environ[DATABASE])
        settings.register_profile("search", untimed, derandomize=False, database=database, print_blob=False)
        settings.load_profile("search")
    else:
        max_examples = untimed.max_examples if selection.ALL else untimed.max_examples // 4
        settings.register_profile("same", untimed, derandomize=True, database=None, max_examples=max_examples)
        settings.load_profile("same")
        # Hypothesis also draws constants from the source of all modules that are loaded, which differ from process to process.
        providers._get_local_constants = lambda: providers._local_constants


def shuffle(items: list[pytest.Item]) -> None:
    """Bring the tests of a search into another order each time, so that each is reached when time is short."""
    if SEED in os.environ:
        random.Random(os.environ[SEED]).shuffle(items)


def is_over() -> bool:
    """Whether the time of a search is up."""
    return time.time() > float(os.environ.get(UNTIL, "inf"))
