"""Records that a Python program makes itself: what is wrong with one is an ExecplanError, as everywhere in the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from execplan.execution.documents.document_io import convert_errors, document_error
from execplan.json_model import Model

if TYPE_CHECKING:

    class Request(Model):
        """The base of such records: making one raises ExecplanError with every field that is wrong."""

else:

    class _ChecksCalls(type(Model)):
        """Catches what `Record(field=…)` raises. Pydantic would call an `__init__` of the record for nested ones too."""

        def __call__(cls, *arguments: Any, **fields: Any) -> Any:
            return _call_checked(cls, lambda: super(_ChecksCalls, cls).__call__(*arguments, **fields))

    class Request(Model, metaclass=_ChecksCalls):
        """The base of such records: making one raises ExecplanError with every field that is wrong."""

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Any:
            """Check plain data; raises ExecplanError."""
            return _call_checked(cls, lambda: super(Request, cls).model_validate(obj, **options))


def _call_checked(kind: Any, create: Any) -> Any:
    try:
        return create()
    except ValidationError as error:
        violations = list(convert_errors(error, kind))
        raise document_error(kind.__name__, kind, violations, hint="see docs/api.md") from None
