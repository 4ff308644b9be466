"""The base class of all document models: no unknown fields, no type conversion, no changes.

pydantic had this task, and still checks the parameters of tools (`approvals/tool_runner.py`). In processor time, with
click loaded, its import, the models of an execution plan and the reading of one of 10 steps took 130 ms; this package
takes 14 ms. msgspec takes 15 ms and validates 1,000 steps in a tenth of the time, but it stops at the first violation,
lets a pattern's `$` match before a final line feed, and accepts integers of any length: a second set of checks would
have to report all violations, so two would decide what is valid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, dataclass_transform

from execplan.core.json_model.annotations import ModelField, Required, nested_models, read_fields
from execplan.core.json_model.field_types import UNKNOWN_KEY, Buildable, InvalidValue, Problem, invalid
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

_PLAIN_TYPES = frozenset((str, int, bool, float, type(None)))


class DocumentKind(NamedTuple):
    """A document type and the location of its model."""

    module: str
    """Module name within the package `execplan`; imported when the schema is requested."""
    model: str
    description: str


def to_json_bytes(value: object) -> bytes:
    """Encode plain data as indented JSON with a final newline."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


class ValidationError(ValueError):
    """Plain data that a model does not accept."""

    def __init__(self, model: type[Model], problems: Iterable[Problem]) -> None:
        super().__init__(model, problems)
        self.model = model
        self.problems = tuple(problems)

    def __str__(self) -> str:
        lines = [str(Violation(problem.location, problem.message)) for problem in self.problems]
        return "\n".join([f"{self.model.__name__}: {len(lines)} errors", *lines])


def field(*, default: Any) -> Any:
    """Return the default of a field, if it is a dictionary, of which each document gets its own."""
    return default


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Model(Buildable):
    """The strict base class of all document models."""

    def __init__(self, **fields: Any) -> None:
        """Make a document of Python values; raises an error with every violation."""
        try:
            self.__dict__.update(_checked_fields(type(self), fields, from_json=False))
            _ensure_consistent(self)
        except InvalidValue as error:
            raise self.make_error(error.problems) from None

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """Make a document of Python values in a dictionary; raises an error with every violation."""
        return cls._validated(value, from_json=False)

    @classmethod
    def model_validate_json(cls, data: str | bytes) -> Self:
        """Make a document of JSON; raises an error with every violation, and ValueError for invalid JSON."""
        import json

        return cls._validated(json.loads(data), from_json=True)

    @classmethod
    def _validated(cls, value: object, *, from_json: bool) -> Self:
        try:
            return value if isinstance(value, cls) else cls.build(value, from_json=from_json)
        except InvalidValue as error:
            raise cls.make_error(error.problems) from None

    @classmethod
    def build(cls, value: object, *, from_json: bool) -> Self:
        """Make a document of plain data; raises InvalidValue with every problem."""
        if not isinstance(value, dict):
            expected = "an object" if from_json else f"a valid dictionary or instance of {cls.__name__}"
            raise invalid(f"input should be {expected}")
        fields = _checked_fields(cls, value, from_json=from_json)
        document = object.__new__(cls)
        document.__dict__.update(fields)
        _ensure_consistent(document)
        return document

    @classmethod
    def make_error(cls, problems: Iterable[Problem]) -> Exception:
        """Return the error for invalid plain data."""
        return ValidationError(cls, problems)

    @classmethod
    def model_fields(cls) -> Mapping[str, ModelField]:
        """Return the fields by name, in their order."""
        fields: dict[str, ModelField] | None = cls.__dict__.get("_fields")
        if fields is None:
            fields = read_fields(cls)
            cls._fields = fields  # type: ignore[attr-defined]  # declared here, it would be a field
        return fields

    def find_problems(self) -> Iterable[Problem]:
        """Yield the broken rules between the fields of a document whose fields are valid."""
        return ()

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other fields, which are not checked."""
        document = object.__new__(type(self))
        document.__dict__.update(self.__dict__, **update)
        return document

    def model_dump(
        self,
        *,
        mode: str = "python",
        by_alias: bool = False,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_defaults: bool = False,
    ) -> dict[str, Any]:
        """Return the document as plain data; in the mode `json` with lists and texts, else with tuples and members."""
        is_json = mode == "json"
        values = self.__dict__
        data = {}
        for name, model_field in self.model_fields().items():
            if name in exclude or (include is not None and name not in include):
                continue
            value = values[name]
            if exclude_defaults and value == model_field.default:
                continue
            if value.__class__ not in _PLAIN_TYPES:
                value = to_plain(value, is_json=is_json, by_alias=by_alias, exclude_defaults=exclude_defaults)
            data[model_field.key if by_alias else name] = value
        return data

    def model_dump_json(self) -> str:
        """Return the document as compact JSON, with the names of its fields in Python."""
        import json

        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: {name}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in self.__dict__.items()])})"


def collect_models(model: type[Model]) -> list[type[Model]]:
    """Return a model and all models nested in it."""
    models = [model]
    for known_model in models:
        for model_field in known_model.model_fields().values():
            for nested_model in nested_models(model_field.type):
                if nested_model not in models and issubclass(nested_model, Model):
                    models.append(nested_model)
    return models


def _checked_fields(model: type[Model], value: dict[Any, Any], *, from_json: bool) -> dict[str, Any]:
    """Return the valid fields of an object by name."""
    fields: dict[str, Any] = {}
    problems: list[Problem] = []
    model_fields = model.model_fields()
    count = 0
    for name, (key, field_type, default) in model_fields.items():
        if key in value:
            count += 1
            try:
                fields[name] = field_type.check(value[key], from_json=from_json)
            except InvalidValue as error:
                problems += error.below(key)
        elif default is Required:
            problems.append(Problem((key,), "missing"))
        else:
            fields[name] = dict(default) if default.__class__ is dict else default
    if count < len(value):
        keys = {model_field.key for model_field in model_fields.values()}
        problems += [Problem((str(key),), UNKNOWN_KEY, UNKNOWN_KEY) for key in value if key not in keys]
    if problems:
        raise InvalidValue(*problems)
    return fields


def _ensure_consistent(document: Model) -> None:
    problems = tuple(document.find_problems())
    if problems:
        raise InvalidValue(*problems)


def to_plain(value: Any, *, is_json: bool, by_alias: bool, exclude_defaults: bool = False) -> Any:
    """Return a field's value as plain data."""
    if value.__class__ in _PLAIN_TYPES:
        return value
    if isinstance(value, tuple | list):
        entries = [
            to_plain(entry, is_json=is_json, by_alias=by_alias, exclude_defaults=exclude_defaults) for entry in value
        ]
        return entries if is_json or isinstance(value, list) else tuple(entries)
    if isinstance(value, dict):
        return {
            name: to_plain(entry, is_json=is_json, by_alias=by_alias, exclude_defaults=exclude_defaults)
            for name, entry in value.items()
        }
    if isinstance(value, Model):
        mode = "json" if is_json else "python"
        return value.model_dump(mode=mode, by_alias=by_alias, exclude_defaults=exclude_defaults)
    return value.value if is_json and hasattr(value, "value") else value
