"""Types of fields that contain others: arrays, objects with free names, and any JSON value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.core.json_model.field_types import FieldType, InvalidValue, Problem, invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.json_model.constraints import Entries

TOO_SHORT: Final = "is the minimum"
"""End of the message on an array that is too short."""


class ArrayType(FieldType):
    """An array of any number of entries of a type."""

    label = "tuple"

    def __init__(self, entry: FieldType, constraint: Entries | None = None) -> None:
        self.entry = entry
        self.constraint = constraint

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class. Only valid entries count for the minimum."""
        _ensure_array(value, from_json=from_json)
        maximum = self.constraint.maximum if self.constraint is not None else None
        if maximum is not None and len(value) > maximum:
            raise invalid(f"has {len(value)} entries; {maximum} is the maximum")
        check = self.entry.check
        entries: list[Any] = []
        problems: list[Problem] = []
        for index, entry in enumerate(value):
            try:
                entries.append(check(entry, from_json=from_json))
            except InvalidValue as error:
                problems += error.below(index)
        if self.constraint is not None and len(entries) < self.constraint.minimum:
            problems.append(Problem((), f"has {len(entries)} entries; {self.constraint.minimum} {TOO_SHORT}"))
        if problems:
            raise InvalidValue(*problems)
        return tuple(entries)


class FixedArrayType(FieldType):
    """An array with an entry of each of some types."""

    label = "tuple"

    def __init__(self, entries: Sequence[FieldType]) -> None:
        self.entries = entries

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        _ensure_array(value, from_json=from_json)
        if len(value) > len(self.entries):
            raise invalid(f"has {len(value)} entries; {len(self.entries)} is the maximum")
        entries: list[Any] = []
        problems: list[Problem] = []
        for index, (field_type, entry) in enumerate(zip(self.entries, value, strict=False)):
            try:
                entries.append(field_type.check(entry, from_json=from_json))
            except InvalidValue as error:
                problems += error.below(index)
        problems += [Problem((index,), "missing") for index in range(len(value), len(self.entries))]
        if problems:
            raise InvalidValue(*problems)
        return tuple(entries)


class ObjectType(FieldType):
    """An object with names of one type and values of another."""

    label = "dict"

    def __init__(self, name: FieldType, value: FieldType) -> None:
        self.name = name
        self.value = value

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, dict):
            raise invalid("input should be an object" if from_json else "input should be a valid dictionary")
        entries: dict[Any, Any] = {}
        problems: list[Problem] = []
        for name, entry in value.items():
            try:
                checked_name = self.name.check(name, from_json=from_json)
            except InvalidValue as error:
                problems += error.below(name if isinstance(name, str | int) else str(name))
                checked_name = None
            try:
                checked_entry = self.value.check(entry, from_json=from_json)
            except InvalidValue as error:
                problems += error.below(name if isinstance(name, str | int) else str(name))
                continue
            entries[checked_name] = checked_entry
        if problems:
            raise InvalidValue(*problems)
        return entries


class JsonType(FieldType):
    """Any JSON value; the check of a document rejects numbers and texts that no JSON can have."""

    label = "any"

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if from_json or value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, dict):
            return _JSON_OBJECT.check(value, from_json=from_json)
        if isinstance(value, list):
            return list(_JSON_ARRAY.check(value, from_json=from_json))
        raise invalid("input was not a valid JSON value")


class _JsonName(FieldType):
    def check(self, value: Any, *, from_json: bool) -> Any:
        if not isinstance(value, str):
            raise invalid("keys should be strings")
        return value


_JSON_ARRAY = ArrayType(JsonType())
_JSON_OBJECT = ObjectType(_JsonName(), JsonType())


def _ensure_array(value: object, *, from_json: bool) -> None:
    if not isinstance(value, list | tuple):
        raise invalid("input should be a valid array" if from_json else "input should be a valid tuple")
