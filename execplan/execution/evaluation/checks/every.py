"""Every check, in the order of their names."""

from __future__ import annotations

from execplan.execution.evaluation.checks import (  # noqa: F401 - each registers what it holds
    dependencies,
    existence,
    hidden,
    imports,
    limits,
    paths,
    patterns,
    permissions,
    resources,
    shell,
    syntax,
)
from execplan.execution.evaluation.checks.check import CHECKS

__all__ = ["CHECKS"]
