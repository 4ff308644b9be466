"""Base class for records that a Python program creates itself; invalid fields raise ExecplanError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from execplan.execution.documents.document_io import convert_errors, document_error
from execplan.json_model import Model

if TYPE_CHECKING:

    class Request(Model):
        """Base of records created by callers: an invalid one raises ExecplanError with every invalid field."""

else:

    class _ChecksCalls(type(Model)):
        """Converts errors of `Record(field=…)`. Pydantic would call an `__init__` for nested records too."""

        def __call__(cls, *arguments: Any, **fields: Any) -> Any:
            return _call_checked(cls, lambda: super(_ChecksCalls, cls).__call__(*arguments, **fields))

    class Request(Model, metaclass=_ChecksCalls):
        """Base of records created by callers: an invalid one raises ExecplanError with every invalid field."""

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Any:
            """Validate plain data against the model. Raises ExecplanError if it is invalid."""
            return _call_checked(cls, lambda: super(Request, cls).model_validate(obj, **options))


def _call_checked(kind: Any, create: Any) -> Any:
    try:
        return create()
    except ValidationError as error:
        violations = list(convert_errors(error, kind))
        raise document_error(kind.__name__, kind, violations, hint="execplan explain bad-document") from None
