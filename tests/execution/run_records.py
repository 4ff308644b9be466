"""Records of runs for the tests, as plain data."""

from __future__ import annotations

from typing import Any


def record(**fields: Any) -> dict[str, Any]:
    """A run of two steps that is over, the second of which was skipped."""
    record_fields: dict[str, Any] = {
        "schema": "execplan-run-record",
        "version": 1,
        "run_id": "run-1",
        "plan_id": "2026-01-01_parser",
        "revision": 1,
        "document": "0" * 64,
        "status": "completed",
        "user": "ann",
        "started": "2025-12-31T23:00:00Z",
        "ended": "2025-12-31T23:05:00Z",
        "duration_s": 300.5,
        "resources": {"files_created": 1, "cpu_s": 2},
        "steps": [
            {"number": 1, "id": "build", "status": "completed", "attempts": 1, "max_attempts": 2},
            {"number": 2, "id": "clean", "status": "skipped", "reason": "build succeeded"},
        ],
        "completed_steps": [1],
    }
    return {**record_fields, **fields}
