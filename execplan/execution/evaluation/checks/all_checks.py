"""All checks of an evaluation, ordered by name."""

from __future__ import annotations

from execplan.execution.evaluation.checks import (  # noqa: F401 - importing each one registers its check
    dependency_check,
    existence_check,
    expectation_check,
    hidden_text_check,
    import_check,
    limit_check,
    path_check,
    pattern_check,
    permission_check,
    resource_check,
    shell_check,
    syntax_check,
)
from execplan.execution.evaluation.checks.check_registry import CHECKS

__all__ = ["CHECKS"]
