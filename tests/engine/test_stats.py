"""Figures from ledgers, and their form for Prometheus."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from execplan.engine.audit_log.log_writer import AuditLog
from execplan.engine.journal import journal_entries
from tests.engine.ledgers import Kept

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def told(kept: Kept) -> Kept:
    """Two runs: one failed, was resumed, completed and was rolled back; one failed and was rolled back by itself."""
    kept.ledger.append("approved", {"approval": "1"})
    kept.ledger.append("approved", {"approval": "2"})
    kept.ledger.append("not_given", {"file": ""})
    kept.ledger.append("declined", {})
    runs: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = (
        (
            (journal_entries.BEGUN, {}),
            (journal_entries.RESULT, {"ok": True}),
            (journal_entries.RESULT, {"ok": False}),
            (journal_entries.ENDED, {"status": "failed", "seconds": 2.0}),
            (journal_entries.RESUMED, {}),
            (journal_entries.REPLANNED, {}),
            (journal_entries.RESULT, {"ok": True}),
            (journal_entries.ENDED, {"status": "completed", "seconds": 61.5}),
            (journal_entries.ROLLBACK, {"automatic": "", "steps": ["a"]}),
            (journal_entries.ROLLED_BACK, {"whole": False, "steps": ["a"]}),
        ),
        (
            (journal_entries.BEGUN, {}),
            (journal_entries.ENDED, {"status": "failed", "seconds": 0.5}),
            (journal_entries.ROLLBACK, {"automatic": "failure", "steps": []}),
            (journal_entries.ROLLED_BACK, {"whole": True, "steps": []}),
        ),
        ((journal_entries.BEGUN, {}),),
    )
    for rows in runs:
        run, journal = kept.run()
        with journal:
            for kind, said in rows:
                journal.write(kind, **said)
        kept.ledger.append_entries(run.id, journal.entries)
    return kept


def samples(text: str) -> dict[str, float]:
    """Each sample by its name and labels; as promtool checks: one HELP and one TYPE a family, before it, nothing twice."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    for family in families(text):
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        for each in family.samples:
            name = f"{each.name}{sorted(each.labels.items())}"
            assert name not in found
            assert family.type != "counter" or each.name.endswith("_total")
            assert not each.name.endswith("_created")
            found[name] = each.value
    heads = [line.split()[1:3] for line in text.splitlines() if line.startswith("#")]
    assert len({tuple(head) for head in heads}) == len(heads)
    assert [head[0] for head in heads] == ["HELP", "TYPE"] * (len(heads) // 2)
    return found


def test_figures(told: Kept) -> None:
    data = told.repo.data("stats")
    assert data["plans"] == 1
    assert data["runs"] == {"completed": 1, "rolled_back": 1, "in_progress": 1}
    assert data["executions"] == {"completed": 1, "failed": 0, "rolled_back": 1}
    assert data["duration_s"] == {"count": 2, "sum": 62.0, "max": 61.5}
    assert data["steps"] == {"completed": 2, "failed": 1}
    assert {cause: count for cause, count in data["rollbacks"].items() if count} == {"manual": 1, "failure": 1}
    assert (data["replans"], data["approvals"]) == (1, {"approved": 1, "declined": 1, "revoked": 0, "derived": 0})
    assert data["approval_rate"] == 0.5
    assert data["execution_success_rate"] == 0.5
    assert math.isclose(data["rollback_rate"], 2 / 3)


def test_for_people(told: Kept) -> None:
    out = told.repo.type("stats").out
    assert "runs       3: 1 completed, 1 in progress, 1 rolled back" in out
    assert "took       31.0 s on average, 61.5 s at most" in out
    assert "rates      approval 50%, success 50%, rollback 67%" in out


def test_for_prometheus(told: Kept) -> None:
    found = samples(told.repo.type("stats", "--format", "prometheus").out)
    assert found["plan_executions_total[('status', 'completed')]"] == 1
    assert found["plan_executions_total[('status', 'failed')]"] == 0
    assert found["plan_executions_total[('status', 'rolled_back')]"] == 1
    assert found["plan_execution_duration_seconds_bucket[('le', '1.0')]"] == 1
    assert found["plan_execution_duration_seconds_bucket[('le', '60.0')]"] == 1
    assert found["plan_execution_duration_seconds_bucket[('le', '+Inf')]"] == 2
    assert found["plan_execution_duration_seconds_count[]"] == 2
    assert found["plan_execution_duration_seconds_sum[]"] == 62
    assert found["plan_rollbacks_total[('cause', 'failure')]"] == 1
    assert found["plan_steps_completed_total[]"] == 2
    assert found["plan_replans_total[]"] == 1
    assert found["plan_approvals_total[('status', 'declined')]"] == 1
    assert found["plan_approval_rate[]"] == 0.5
    assert {"plan_execution_success_rate[]", "plan_rollback_rate[]"} <= set(found)


def test_of_nothing_there_are_counts_and_no_rates(kept: Kept) -> None:
    found = samples(kept.repo.type("stats", "--format", "prometheus").out)
    assert found["plan_executions_total[('status', 'failed')]"] == 0
    assert not [name for name in found if "rate" in name]
    assert kept.repo.type("stats").out == "nothing is recorded yet\n"


def test_archived_plans_count_and_a_plan_can_be_named(told: Kept) -> None:
    told.repo.plan(name="2026-01-02_other")
    assert told.repo.data("stats", "other")["plans"] == 0
    assert told.repo.data("stats", "parser", "other", "parser")["plans"] == 1
    told.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    assert told.repo.data("stats")["executions"] == {"completed": 1, "failed": 0, "rolled_back": 1}
    told.repo.refused(3, "no-such-plan", "stats", "nothing like it")


def test_a_broken_ledger_is_counted_as_far_as_it_can_be_read(told: Kept) -> None:
    told.path.write_bytes(told.path.read_bytes().replace(b'"approval":"2"', b'"approval":"3"'))
    result = told.repo.type("stats", "--json")
    assert result.exit == 0
    assert "record 2, line 2" in result.json["warnings"][0]
    assert result.json["data"]["executions"]["rolled_back"] == 1


def test_a_file_for_a_collector(told: Kept, tmp_path: Path) -> None:
    file = tmp_path / "collector" / "execplan.prom"
    told.repo.refused(3, "no-such-file", "stats", "--textfile", str(file))
    file.parent.mkdir()
    mask = os.umask(0o077)
    try:
        assert told.repo.data("stats", "--textfile", str(file))["changed"] is True
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o644
    assert file.read_text() == told.repo.type("stats", "--format", "prometheus").out
    assert told.repo.data("stats", "--textfile", str(file))["changed"] is False
    AuditLog(told.project, told.ref).append("declined", {})
    data = told.repo.data("stats", "--textfile", str(file))
    assert (data["changed"], data["path"]) == (True, str(file))
    assert samples(file.read_text())["plan_approvals_total[('status', 'declined')]"] == 2
    assert [each.name for each in file.parent.iterdir()] == ["execplan.prom"]


@pytest.mark.parametrize("name", ["README.md", "Makefile", ".git/config"])
def test_a_file_that_holds_something_else_is_not_overwritten(told: Kept, name: str) -> None:
    told.repo.write("README.md", "# HELP us\n")
    before = (told.repo.path / name).read_bytes()
    told.repo.refused(1, "not-metrics", "stats", "--textfile", name)
    assert (told.repo.path / name).read_bytes() == before
    told.repo.refused(3, "not-a-file", "stats", "--textfile", "src")


def test_one_form_at_a_time(told: Kept) -> None:
    told.repo.refused(2, "usage", "stats", "--format", "prometheus")


def test_neither_models_nor_metrics_are_imported(told: Kept) -> None:
    code = (
        "import sys; from execplan.cli.main import main; sys.argv = ['execplan', 'stats']; main(); print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    modules: set[Any] = set(out.splitlines()[-1].split())
    assert "runs       3" in out
    assert not {"pydantic", "prometheus_client", "git", "rich"} & modules
