"""All violations of a value's fields: msgspec stops at the first one, so what it refuses is tried part by part."""

from __future__ import annotations

from enum import Enum
from itertools import repeat
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from execplan.core.documents.text_patterns import DESCRIPTION
from execplan.core.text.suggestions import closest_names
from execplan.core.text.violation import Violation, json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Path = tuple[int | str, ...]


def find_field_violations(value: object, kind: Any, path: Path = ()) -> Iterator[Violation]:
    """Yield each violation at the deepest place whose value alone is refused."""
    message = _refusal(value, kind)
    if message:
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
        message = _refusal(value, length)
        if message:
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
