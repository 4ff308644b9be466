"""The base class of all documents: no unknown fields, no type conversion, no changes.

msgspec decides what is valid. A document's fields are annotated with their types and limits; what is between fields is
in the methods of its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

import msgspec

from execplan.core.documents.json_values import find_json_violations
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.text.strict_json import MAX_VIOLATIONS
from execplan.core.text.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

T = TypeVar("T", bound="Model")


class _ModelType(msgspec.StructMeta):
    """The type of all models: a constructor checks its arguments, which that of msgspec does not."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        return super().__new__(mcs, name, bases, namespace, kw_only=True, **options)

    def __call__(cls, **fields: Any) -> Any:
        return cls.model_validate({_json_name(name): value for name, value in fields.items()})  # type: ignore[attr-defined]  # of Model


def _json_name(name: str) -> str:
    """Return the name of a field in JSON: that in Python without the `_` at the end of a reserved one."""
    return name.removesuffix("_")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Model(msgspec.Struct, metaclass=_ModelType, frozen=True, forbid_unknown_fields=True, rename=_json_name):
    """A document, or an object in one."""

    document_name: ClassVar[str] = ""
    """What `execplan schema` calls it, if it stands alone."""

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """Make a document of plain data and models; raises ExecplanError with every violation."""
        document, violations = validate_document(value, cls)
        if document is None:
            raise document_error(cls.__name__, cls, violations, hint="execplan explain bad-document")
        return document

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> Iterable[Violation]:
        """Yield the broken rules between the fields of plain data, whose fields may be invalid."""
        return ()

    def find_contradictions(self) -> Iterable[Violation]:
        """Yield the broken rules between the fields of a document whose fields are valid."""
        return ()

    def ensure_safe(self, label: str) -> None:
        """Raise ExecplanError if a valid document is unsafe to use."""

    def model_dump(self) -> dict[str, Any]:
        """Return the document as plain data, as JSON has it."""
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return data

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other fields, which are not checked."""
        return msgspec.structs.replace(self, **update)


def validate_document(value: object, kind: type[T]) -> tuple[T | None, list[Violation]]:
    """Return the document for plain data and models, or None with all its violations."""
    json_violations = list(find_json_violations(value))
    try:
        plain_value = msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, UnicodeEncodeError):
        return None, json_violations or [Violation("", "a key is not a string")]
    document, violations = validate_json(plain_value, kind)
    return (None if json_violations else document), merge(json_violations, violations)


def validate_json(value: Any, kind: type[T]) -> tuple[T | None, list[Violation]]:
    """Return the document for a value that was read from JSON, which it keeps, or None with all its violations."""
    document, violations = None, []
    try:
        document = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        from execplan.core.documents.field_violations import find_field_violations  # only wrong documents need it

        violations = list(find_field_violations(value, kind))
    if isinstance(value, dict):
        violations = merge(violations, kind.find_violations(value))
    if document is not None and not violations:
        violations = list(document.find_contradictions())
    return (None if violations else document), violations


def merge(violations: Sequence[Violation], more: Iterable[Violation]) -> list[Violation]:
    """Return violations with those of a later check at other places."""
    known_pointers = {violation.pointer for violation in violations}
    return [*violations, *[violation for violation in more if violation.pointer not in known_pointers]]


def document_error(
    label: str, kind: type[Model], violations: Sequence[Violation], omitted: int = 0, *, hint: str = ""
) -> ExecplanError:
    """Return the error for an invalid document; its message has the first violation, its candidates have all."""
    omitted += max(len(violations) - MAX_VIOLATIONS, 0)
    violations = violations[:MAX_VIOLATIONS]
    lines = [str(violation) for violation in violations]
    count = len(lines) + omitted
    message = f"{label}: {lines[0]}" if count == 1 else f"{label}: {count} errors; the first: {lines[0]}"
    return ExecplanError(
        "bad-document",
        message,
        exit=INPUT,
        hint=hint or f"see its schema: execplan schema {kind.document_name}".rstrip(),
        candidates=[*lines, *([f"and {omitted} more"] if omitted else [])] if count > 1 else (),
        data={"violations": [violation._asdict() for violation in violations]},
    )
