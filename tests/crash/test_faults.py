"""Promise 2: where the disk is full or broken, a command refuses and leaves the old bytes, at whichever call it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COUNTED
from tests.crash.bench import Bench
from tests.crash.faults import Failed, errors, inject
from tests.crash.scenes import SCENES
from tests.crash.sweep import spread
from tests.needs import need

MOST = {"done": 12, "archive": 16, "rename": 8, "new": 8, "attach": 8, "lint --fix": 8}
"""How many errors are injected here; `make torture` injects them all."""


@pytest.mark.parametrize("name", MOST)
def test_errors(tmp_path: Path, name: str, record_property: Callable[[str, object], None]) -> None:
    need("strace")
    bench = Bench(tmp_path, SCENES[name])
    every = errors(bench.undisturbed.calls)
    failed = Failed(name, tuple(inject(bench, [every[at] for at in spread(range(len(every)), MOST[name])])))
    record_property(COUNTED, failed.line)
    assert not failed.bad, "\n".join(failed.bad)
