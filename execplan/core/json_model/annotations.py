"""Field types of a model, read from its annotations when its first document is made."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from execplan.core.json_model import field_types as types
from execplan.core.json_model.constraints import Entries, Range, TextConstraint, ValueCheck, is_json_value
from execplan.core.json_model.container_types import ArrayType, FixedArrayType, JsonType, ObjectType
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Required:
    """The default of a field that has none."""


class ModelField(NamedTuple):
    """A field of a model."""

    key: str
    """Its name in JSON: that in Python without the `_` at the end of a reserved one."""
    type: types.FieldType
    default: Any = Required


def read_fields(model: type[types.Buildable]) -> dict[str, ModelField]:
    """Return the fields of a model, those of its base classes first."""
    hints = get_type_hints(model, include_extras=True)
    return {
        name: ModelField(name.removesuffix("_"), field_type(hint), getattr(model, name, Required))
        for name, hint in hints.items()
        if get_origin(hint) is not ClassVar
    }


def nested_models(kind: types.FieldType) -> Iterator[type[types.Buildable]]:
    """Yield the models that a type consists of."""
    if isinstance(kind, types.ModelType):
        yield kind.model
    for part in inner_types(kind):
        yield from nested_models(part)


def inner_types(kind: types.FieldType) -> Sequence[types.FieldType]:
    """Return the types that a type consists of, without those of a model's fields."""
    if isinstance(kind, types.OptionalType):
        return (kind.inner,)
    if isinstance(kind, types.UnionType):
        return kind.types
    if isinstance(kind, ArrayType):
        return (kind.entry,)
    if isinstance(kind, FixedArrayType):
        return kind.entries
    return (kind.name, kind.value) if isinstance(kind, ObjectType) else ()


def field_type(annotation: Any) -> types.FieldType:
    """Return the type that an annotation describes."""
    constraints: tuple[Any, ...] = ()
    while get_origin(annotation) is Annotated:
        constraints = (*annotation.__metadata__, *constraints)
        annotation = annotation.__origin__
    if any([is_json_value(constraint) for constraint in constraints]):
        return JsonType()
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return types.LiteralType(arguments)
    if origin is tuple:
        if arguments[-1] is ...:
            return ArrayType(field_type(arguments[0]), _constraint(constraints, Entries))
        return FixedArrayType([field_type(argument) for argument in arguments])
    if origin is dict:
        return ObjectType(field_type(arguments[0]), field_type(arguments[1]))
    if origin in (Union, UnionType):
        return _union_type([argument for argument in arguments if argument is not NoneType], len(arguments))
    return _simple_type(annotation, constraints)


def _union_type(alternatives: list[Any], count: int) -> types.FieldType:
    inner = (
        types.UnionType([field_type(alternative) for alternative in alternatives])
        if len(alternatives) > 1
        else field_type(alternatives[0])
    )
    return types.OptionalType(inner) if len(alternatives) < count else inner


def _simple_type(annotation: Any, constraints: tuple[Any, ...]) -> types.FieldType:
    if annotation is str:
        return types.TextType(_constraint(constraints, TextConstraint), _constraint(constraints, ValueCheck))
    if annotation is bool:
        return types.BooleanType()
    if annotation is int:
        return types.IntegerType(_constraint(constraints, Range))
    if annotation is float:
        return types.FloatType(_constraint(constraints, Range))
    if issubclass(annotation, types.Buildable):
        return types.ModelType(annotation)
    if issubclass(annotation, Enum):
        return types.EnumType(annotation)
    raise TypeError(f"{annotation} is no type of a field")


def _constraint(constraints: tuple[Any, ...], kind: type[Any]) -> Any:
    return next((constraint for constraint in constraints if isinstance(constraint, kind)), None)
