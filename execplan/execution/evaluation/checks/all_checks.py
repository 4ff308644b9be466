"""Every check, in the order of their names."""

from __future__ import annotations

from execplan.execution.evaluation.checks.check_registry import CHECKS

__all__ = ["CHECKS"]
