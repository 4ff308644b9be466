"""The overview of the plan that the real programs give their models at the start of each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.model_server import Reply, scripted

if TYPE_CHECKING:
    from tests.clients.agent_programs import Session, Workbench
    from tests.clients.conftest import Results

pytestmark = pytest.mark.exhaustive

OVERVIEW = "Keep notes"
"""The title of the plan, which the model learns from nothing else."""


def _count_overviews(session: Session, request: int) -> int:
    return session.requests[request].text.count(OVERVIEW)


def test_it_is_there_at_the_start_after_a_resume_and_after_a_compaction(bench: Workbench, results: Results) -> None:
    bench.need("session-hooks")
    fills_context = Reply([bench.program.command("git status")], fills_context=True)
    session = bench.run(scripted(fills_context))
    at_start = _count_overviews(session, 0)
    compactions = [index for index, request in enumerate(session.requests) if request.is_compaction]
    after_compaction = _count_overviews(session, compactions[0] + 1) if compactions else 0
    kept = "yes" if after_compaction else "no"
    resumed = bench.run(scripted(), "Once more.", continues=True)
    after_resume = _count_overviews(resumed, 0)
    assert "Once more." in resumed.requests[0].text
    results.check("the overview is there at the start", "yes" if at_start else "no")
    results.check("the overview is there after a compaction", kept if compactions else "wasn't compacted")
    results.check("the overview is there after a resume", "yes" if after_resume > after_compaction else "no")
