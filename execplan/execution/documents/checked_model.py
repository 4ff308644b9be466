"""Base class for records that a Python program creates itself; invalid fields raise ExecplanError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.json_model.document_model import Model
from execplan.execution.documents.document_io import convert_problems, document_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.json_model.field_types import Problem


class Request(Model):
    """Base of records created by callers: an invalid one raises ExecplanError with every invalid field."""

    @classmethod
    def make_error(cls, problems: Iterable[Problem]) -> Exception:
        """Return the error for an invalid record."""
        violations = convert_problems(problems, cls)
        return document_error(cls.__name__, cls, violations, hint="execplan explain bad-document")
