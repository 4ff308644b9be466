"""A run from its approval to its end, in a real repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.engine import journal, place
from execplan.engine.run import run
from execplan.engine.watch import Chosen, Watch
from execplan.repo.amend import Options
from tests.engine.running import Bench, steps

if TYPE_CHECKING:
    from pathlib import Path

PLAN = steps(
    '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```',
    "```sh {#see needs=api outputs=made.txt}\ncp src/made.py made.txt\n```",
    "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```",
)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository with a plan."""
    return Bench(tmp_path / "repo", monkeypatch)


def test_a_run_does_what_was_approved_and_says_so(bench: Bench) -> None:
    bench.approved(PLAN)
    finished = bench.go()
    assert (finished.status, finished.warnings) == ("completed", ())
    assert (bench.path / "made.txt").read_text() == "X = 1\n"
    assert not (bench.path / "src/old.py").exists()
    assert bench.told() == [
        "begun",
        *["intent api", "result api", "ticked api"],
        *["intent see", "result see", "intent drop", "result drop"],
        "ended",
    ]
    assert "- [x] (2026-01-01 00:00Z) Build the parser." in bench.text(f".agent/execplans/{bench.name}.md")
