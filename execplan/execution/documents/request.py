"""Records that a Python program makes itself: what is wrong with one is an ExecplanError, as everywhere in the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from execplan.document import Model
from execplan.execution.documents.document import refusal, violations_of

if TYPE_CHECKING:

    class Request(Model):
        """The base of such records: making one raises ExecplanError with every field that is wrong."""

else:

    class _ChecksCalls(type(Model)):
        """Catches what `Record(field=…)` raises. Pydantic would call an `__init__` of the record for nested ones too."""

        def __call__(cls, *arguments: Any, **fields: Any) -> Any:
            return _checked(cls, lambda: super(_ChecksCalls, cls).__call__(*arguments, **fields))

    class Request(Model, metaclass=_ChecksCalls):
        """The base of such records: making one raises ExecplanError with every field that is wrong."""

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Any:
            """Check plain data; raises ExecplanError."""
            return _checked(cls, lambda: super(Request, cls).model_validate(obj, **options))


def _checked(kind: Any, make: Any) -> Any:
    try:
        return make()
    except ValidationError as error:
        violations = list(violations_of(error, kind))
        raise refusal(kind.__name__, kind, violations, hint="see docs/api.md") from None
