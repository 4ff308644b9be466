"""The base class of all documents: no unknown fields, no type conversion, no changes.

msgspec decides what is valid. A document's fields are annotated with their types and limits; what is between fields is
in the methods of its class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import repeat
from types import GenericAlias, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, dataclass_transform, get_args, get_origin

import msgspec

from execplan.core.documents.json_values import find_json_violations
from execplan.core.documents.text_patterns import DESCRIPTION
from execplan.core.errors import ExecplanError
from execplan.core.text.strict_json import MAX_VIOLATIONS
from execplan.core.text.suggestions import closest_names
from execplan.core.text.violation import Violation, json_pointer

Path = tuple[int | str, ...]


def find_field_violations(value: object, kind: Any, path: Path = ()) -> Iterator[Violation]:
    """Yield each violation at the deepest place whose value alone is refused."""
    if message := _refusal(value, kind):
        violations = list(_find_in_parts(value, kind, path))
        yield from violations or [Violation(json_pointer(path), message)]


def _find_in_parts(value: Any, kind: Any, path: Path) -> Iterator[Violation]:
    """Yield the violations of a value's parts, and of their number."""
    constraints: Sequence[Any] = ()
    if get_origin(kind) is Annotated:
        kind, *constraints = get_args(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for alternative in arguments:
            yield from _find_in_parts(value, alternative, path)
    elif origin is tuple and isinstance(value, list):
        yield from _find_in_array(value, arguments, constraints, path)
    elif origin is dict and isinstance(value, dict):
        for name, entry in value.items():
            yield from find_field_violations(name, arguments[0], (*path, name))
            yield from find_field_violations(entry, arguments[1], (*path, name))
    elif isinstance(kind, msgspec.StructMeta) and isinstance(value, dict):
        yield from _find_in_object(value, kind, path)


def _find_in_array(
    value: list[Any], kinds: Sequence[Any], constraints: Sequence[Any], path: Path
) -> Iterator[Violation]:
    """Yield the violations of an array's length and entries."""
    shape: Any = GenericAlias(tuple, (Any, ...) if kinds[-1] is ... else (Any,) * len(kinds))
    for length in (shape, *[Annotated[shape, constraint] for constraint in constraints]):
        if message := _refusal(value, length):
            yield Violation(json_pointer(path), message)
            if "<=" in message:  # too long
                return
    for index, (entry, kind) in enumerate(zip(value, repeat(kinds[0]) if kinds[-1] is ... else kinds, strict=False)):
        yield from find_field_violations(entry, kind, (*path, index))


def _find_in_object(value: dict[str, Any], model: Any, path: Path) -> Iterator[Violation]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(model)}
    for name, field in fields.items():
        if name in value:
            yield from find_field_violations(value[name], field.type, (*path, name))
        elif field.required:
            yield Violation(json_pointer((*path, name)), "missing")
    for name in value:
        if name not in fields:
            similar = closest_names(name, fields)
            suggestion = f"; did you mean `{similar[0]}`?" if similar else ""
            yield Violation(json_pointer((*path, name)), f"unknown key{suggestion}")


def _refusal(value: object, kind: Any) -> str:
    """Return why msgspec refuses a value; an empty string if it accepts it."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message = str(error)
        if message.startswith("Invalid enum value"):
            choices = [repr(choice) for choice in _choices(kind)]
            return "should be " + " or ".join([", ".join(choices[:-1]), choices[-1]] if choices[1:] else choices)
        if " matching regex " in message:
            return f"should be {' or '.join(_pattern_descriptions(kind))}"
        return message[0].lower() + message[1:]
    return ""


def _choices(kind: Any) -> list[str]:
    """Return the texts that a type allows, if it has a choice of them."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [member.value for member in kind]
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for argument in get_args(kind) for choice in _choices(argument)]


def _pattern_descriptions(kind: Any) -> list[str]:
    """Return what the patterns of a type mean."""
    if isinstance(kind, msgspec.Meta):
        return [kind.extra[DESCRIPTION]] if kind.extra else []
    return [text for argument in get_args(kind) for text in _pattern_descriptions(argument)]


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
        hint=hint or f"see its schema: execplan schema {kind.document_name}".rstrip(),
        candidates=[*lines, *([f"and {omitted} more"] if omitted else [])] if count > 1 else (),
        data={"violations": [violation._asdict() for violation in violations]},
    )
