"""Types of the fields of JSON documents: each checks a value and returns it as the document keeps it.

Values are never converted, except where Python and JSON differ: a list becomes a tuple, a text a member of an
enumeration, an object a model, an integer a float. A message depends on `from_json`, since a Python program should
read of tuples and dictionaries, and the author of a document of arrays and objects.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.violation import json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from enum import Enum
    from typing import Self

    from execplan.core.json_model.constraints import Range, TextConstraint, ValueCheck

Path = tuple[int | str, ...]

PATTERN: Final = "pattern"
"""Code of a text that doesn't match; the message is the pattern."""
UNKNOWN_KEY: Final = "unknown key"


class Problem(NamedTuple):
    """A problem of a value."""

    path: Path
    """Keys and indexes from the checked value."""
    message: str
    code: str = ""
    """How the message can be completed, if it can: `PATTERN` or `UNKNOWN_KEY`."""
    pointer: str = ""
    """JSON pointer from the end of the path, for a broken rule between fields."""

    @property
    def location(self) -> str:
        """Return the JSON pointer from the checked value."""
        return json_pointer(self.path) + self.pointer


class InvalidValue(Exception):  # noqa: N818 - it never leaves this package
    """A value that is not of the type of its field."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    def below(self, key: int | str) -> Iterable[Problem]:
        """Return the problems as seen from the container that has the value under a key."""
        return [problem._replace(path=(key, *problem.path)) for problem in self.problems]


def invalid(message: str, code: str = "") -> InvalidValue:
    """Return the exception for a value that has a single problem."""
    return InvalidValue(Problem((), message, code))


class FieldType:
    """Base class of the types of fields."""

    label = ""
    """Name of the type in the path of a value that fits no alternative of a union."""

    def check(self, value: Any, *, from_json: bool) -> Any:
        """Return a valid value as the document keeps it; raises InvalidValue with all problems."""
        raise NotImplementedError


class Buildable:
    """A class whose instances are built of plain data: the base of `Model`."""

    @classmethod
    def build(cls, value: object, *, from_json: bool) -> Self:
        """Make an instance; raises InvalidValue with every problem."""
        raise NotImplementedError


class TextType(FieldType):
    """A text with constraints."""

    def __init__(self, constraint: TextConstraint | None = None, check: ValueCheck | None = None) -> None:
        self.constraint = constraint
        self.verification = check
        self.label = "constrained-str" if constraint is not None else "str"
        self._matches: Any = None

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, str):
            raise invalid("input should be a valid string")
        if self.constraint is not None:
            if not from_json and not value.isascii() and _has_surrogate(value):
                raise invalid("input should be a valid string, unable to parse raw data as a unicode string")
            self._check_constraint(value, self.constraint)
        if self.verification is not None:
            try:
                self.verification.function(value)
            except ValueError as error:
                raise invalid(str(error)) from None
        return value

    def _check_constraint(self, text: str, constraint: TextConstraint) -> None:
        if constraint.min_length is not None and len(text) < constraint.min_length:
            raise invalid(f"string should have at least {_count(constraint.min_length, 'character')}")
        if constraint.max_length is not None and len(text) > constraint.max_length:
            raise invalid(f"string should have at most {_count(constraint.max_length, 'character')}")
        if constraint.pattern:
            if self._matches is None:
                self._matches = re.compile(constraint.pattern.removeprefix("^").removesuffix("$")).fullmatch
            if self._matches(text) is None:
                raise invalid(constraint.pattern, PATTERN)


class IntegerType(FieldType):
    """An integer with limits; true and 1.0 are none."""

    label = "int"

    def __init__(self, constraint: Range | None = None) -> None:
        self.constraint = constraint

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise invalid("input should be a valid integer")
        if self.constraint is not None:
            _check_limits(value, self.constraint)
        return value


class FloatType(FieldType):
    """A finite number with limits; true is none."""

    label = "float"

    def __init__(self, constraint: Range | None = None) -> None:
        self.constraint = constraint

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise invalid("input should be a valid number")
        number = float(value)
        if number - number != 0:
            raise invalid("input should be a finite number")
        if self.constraint is not None:
            _check_limits(number, self.constraint)
        return number


class BooleanType(FieldType):
    """Either true or false, but no number."""

    label = "bool"

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, bool):
            raise invalid("input should be a valid boolean")
        return value


class LiteralType(FieldType):
    """One of some texts."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values
        self.label = f"literal[{','.join([repr(value) for value in values])}]"

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        if not isinstance(value, str) or value not in self.values:
            raise invalid(f"input should be {_alternatives(self.values)}")
        return value


class EnumType(FieldType):
    """A member of an enumeration of texts."""

    def __init__(self, enum: type[Enum]) -> None:
        self.enum = enum
        self.label = enum.__name__
        self._members = {member.value: member for member in enum}

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        member = self._members.get(value) if isinstance(value, str) else None
        if member is None:
            raise invalid(f"input should be {_alternatives(list(self._members))}")
        return member


class OptionalType(FieldType):
    """A value of a type, or null."""

    def __init__(self, inner: FieldType) -> None:
        self.inner = inner
        self.label = inner.label

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        return None if value is None else self.inner.check(value, from_json=from_json)


class UnionType(FieldType):
    """A value of the first type that fits it; the path of a problem names the type."""

    label = "union"

    def __init__(self, types: Sequence[FieldType]) -> None:
        self.types = types

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        problems: list[Problem] = []
        for field_type in self.types:
            try:
                return field_type.check(value, from_json=from_json)
            except InvalidValue as error:
                problems += error.below(field_type.label)
        raise InvalidValue(*problems)


class ModelType(FieldType):
    """An object with the fields of a model."""

    def __init__(self, model: type[Buildable]) -> None:
        self.model = model
        self.label = model.__name__

    def check(self, value: Any, *, from_json: bool) -> Any:
        """See the base class."""
        return value if isinstance(value, self.model) else self.model.build(value, from_json=from_json)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _check_limits(value: float, constraint: Range) -> None:
    if constraint.minimum is not None and value < constraint.minimum:
        raise invalid(f"input should be greater than or equal to {constraint.minimum}")
    if constraint.maximum is not None and value > constraint.maximum:
        raise invalid(f"input should be less than or equal to {constraint.maximum}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _alternatives(values: Sequence[str]) -> str:
    quoted = [f"'{value}'" for value in values]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]
