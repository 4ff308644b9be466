"""Figures from ledgers, and their form for Prometheus."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.journal import journal_entries
from tests.execution.engine.audited_plan import AuditedPlan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def recorded_runs(audited_plan: AuditedPlan) -> AuditedPlan:
    """Two runs: one failed, was resumed, completed and was rolled back; one failed and was rolled back by itself."""
    audited_plan.audit_log.append("approved", {"approval": "1"})
    audited_plan.audit_log.append("approved", {"approval": "2"})
    audited_plan.audit_log.append("not_given", {"file": ""})
    audited_plan.audit_log.append("declined", {})
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
        run, journal = audited_plan.run()
        with journal:
            for kind, fields in rows:
                journal.write(kind, **fields)
        audited_plan.audit_log.append_entries(run.id, journal.entries)
    return audited_plan


def samples(text: str) -> dict[str, float]:
    """Each sample by its name and labels; as promtool checks: one HELP and one TYPE a family, before it, nothing twice."""
    assert text.endswith("\n")
    values: dict[str, float] = {}
    for family in families(text):
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            name = f"{sample.name}{sorted(sample.labels.items())}"
            assert name not in values
            assert family.type != "counter" or sample.name.endswith("_total")
            assert not sample.name.endswith("_created")
            values[name] = sample.value
    heads = [line.split()[1:3] for line in text.splitlines() if line.startswith("#")]
    assert len({tuple(head) for head in heads}) == len(heads)
    assert [head[0] for head in heads] == ["HELP", "TYPE"] * (len(heads) // 2)
    return values


def test_figures(recorded_runs: AuditedPlan) -> None:
    data = recorded_runs.repo.data("stats")
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


def test_for_people(recorded_runs: AuditedPlan) -> None:
    out = recorded_runs.repo.type("stats").out
    assert "runs           3: 1 completed, 1 in progress, 1 rolled back" in out
    assert "duration       31.0 s on average, 61.5 s at most" in out
    assert "rates          approval 50%, success 50%, rollback 67%" in out


def test_for_prometheus(recorded_runs: AuditedPlan) -> None:
    metrics = samples(recorded_runs.repo.type("stats", "--format", "prometheus").out)
    assert metrics["plan_executions_total[('status', 'completed')]"] == 1
    assert metrics["plan_executions_total[('status', 'failed')]"] == 0
    assert metrics["plan_executions_total[('status', 'rolled_back')]"] == 1
    assert metrics["plan_execution_duration_seconds_bucket[('le', '1.0')]"] == 1
    assert metrics["plan_execution_duration_seconds_bucket[('le', '60.0')]"] == 1
    assert metrics["plan_execution_duration_seconds_bucket[('le', '+Inf')]"] == 2
    assert metrics["plan_execution_duration_seconds_count[]"] == 2
    assert metrics["plan_execution_duration_seconds_sum[]"] == 62
    assert metrics["plan_rollbacks_total[('cause', 'failure')]"] == 1
    assert metrics["plan_steps_completed_total[]"] == 2
    assert metrics["plan_replans_total[]"] == 1
    assert metrics["plan_approvals_total[('status', 'declined')]"] == 1
    assert metrics["plan_approval_rate[]"] == 0.5
    assert {"plan_execution_success_rate[]", "plan_rollback_rate[]"} <= set(metrics)


def test_of_nothing_there_are_counts_and_no_rates(audited_plan: AuditedPlan) -> None:
    metrics = samples(audited_plan.repo.type("stats", "--format", "prometheus").out)
    assert metrics["plan_executions_total[('status', 'failed')]"] == 0
    assert not [name for name in metrics if "rate" in name]
    assert audited_plan.repo.type("stats").out == "no records yet\n"


def test_archived_plans_count_and_a_plan_can_be_named(recorded_runs: AuditedPlan) -> None:
    recorded_runs.repo.plan(name="2026-01-02_other")
    assert recorded_runs.repo.data("stats", "other")["plans"] == 0
    assert recorded_runs.repo.data("stats", "parser", "other", "parser")["plans"] == 1
    recorded_runs.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    assert recorded_runs.repo.data("stats")["executions"] == {"completed": 1, "failed": 0, "rolled_back": 1}
    recorded_runs.repo.refused(3, "no-such-plan", "stats", "nothing like it")


def test_a_broken_ledger_is_counted_as_far_as_it_can_be_read(recorded_runs: AuditedPlan) -> None:
    recorded_runs.path.write_bytes(recorded_runs.path.read_bytes().replace(b'"approval":"2"', b'"approval":"3"'))
    result = recorded_runs.repo.type("stats", "--json")
    assert result.exit == 0
    assert "record 2 on line 2" in result.json["warnings"][0]
    assert result.json["data"]["executions"]["rolled_back"] == 1


def test_a_file_for_a_collector(recorded_runs: AuditedPlan, tmp_path: Path) -> None:
    file = tmp_path / "collector" / "execplan.prom"
    recorded_runs.repo.refused(3, "no-such-file", "stats", "--textfile", str(file))
    file.parent.mkdir()
    mask = os.umask(0o077)
    try:
        assert recorded_runs.repo.data("stats", "--textfile", str(file))["changed"] is True
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o644
    assert file.read_text() == recorded_runs.repo.type("stats", "--format", "prometheus").out
    assert recorded_runs.repo.data("stats", "--textfile", str(file))["changed"] is False
    AuditLog(recorded_runs.project, recorded_runs.ref).append("declined", {})
    data = recorded_runs.repo.data("stats", "--textfile", str(file))
    assert (data["changed"], data["path"]) == (True, str(file))
    assert samples(file.read_text())["plan_approvals_total[('status', 'declined')]"] == 2
    assert [path.name for path in file.parent.iterdir()] == ["execplan.prom"]


@pytest.mark.parametrize("name", ["README.md", "Makefile", ".git/config"])
def test_a_file_that_holds_something_else_is_not_overwritten(recorded_runs: AuditedPlan, name: str) -> None:
    recorded_runs.repo.write("README.md", "# HELP us\n")
    before = (recorded_runs.repo.path / name).read_bytes()
    recorded_runs.repo.refused(1, "not-metrics", "stats", "--textfile", name)
    assert (recorded_runs.repo.path / name).read_bytes() == before
    recorded_runs.repo.refused(3, "not-a-file", "stats", "--textfile", "src")


def test_one_form_at_a_time(recorded_runs: AuditedPlan) -> None:
    recorded_runs.repo.refused(2, "usage", "stats", "--format", "prometheus")


def test_neither_models_nor_metrics_are_imported(recorded_runs: AuditedPlan) -> None:
    code = (
        "import sys; from execplan.cli.main import main; sys.argv = ['execplan', 'stats']; main(); print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    modules: set[Any] = set(out.splitlines()[-1].split())
    assert "runs           3" in out
    assert not {"pydantic", "prometheus_client", "git", "rich"} & modules
