"""Which tests run: those that a contributor waits for, or with EXECPLAN_TESTS=all also those marked `exhaustive`.

`make test` runs the first, `make test-all` and CI the second. A test is exhaustive because of its subject: it tries all of what
another test tries one of (kill points, sizes, ways in which a cluster fails, pages in both colors), or it takes seconds with
real data, a browser or another program, and a faster test shows most of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

ALL = os.environ.get("EXECPLAN_TESTS") == "all"
"""Whether all tests run, with all of their points and examples."""


def one_or_all(points: Sequence[T]) -> Sequence[T]:
    """Return the one in the middle, or all of them when all tests run."""
    return points if ALL else points[len(points) // 2 :][:1]
