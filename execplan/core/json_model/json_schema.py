"""JSON Schemas of document models."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from execplan.core.json_model import field_types as types
from execplan.core.json_model.annotations import ModelField, Required, inner_types
from execplan.core.json_model.container_types import ArrayType, FixedArrayType, JsonType, ObjectType
from execplan.core.json_model.document_model import Model, collect_models, to_plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

    from execplan.core.json_model.constraints import Range, TextConstraint

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION: Final = 1
_KEY_ORDER: Final = ("description", "type", "properties", "required", "additionalProperties", "allOf", "$defs")

Json = dict[str, Any]


def make_json_schema(name: str, model: type[Model], add_rules: Callable[[Json], None] | None = None) -> Json:
    """Return the JSON Schema of a document type; `add_rules` adds constraints between fields."""
    schema = _model_schema(model)
    definitions: Json = {nested.__name__: _model_schema(nested) for nested in collect_models(model)[1:]}
    for kind in _all_types(model):
        if isinstance(kind, types.EnumType):
            definitions[kind.label] = _enum_schema(kind.enum)
        elif isinstance(kind, JsonType):
            definitions["JsonValue"] = {}
    if definitions:
        schema["$defs"] = dict(sorted(definitions.items()))
    if add_rules is not None:
        add_rules(schema)
    header = {"$schema": DIALECT, "$id": f"urn:execplan:schema:{name}:{_VERSION}", "title": name}
    return {**header, **{key: schema[key] for key in _KEY_ORDER if key in schema}}


def _all_types(model: type[Model]) -> list[types.FieldType]:
    """Return the types of all fields of a model and of its nested models."""
    kinds = [model_field.type for nested in collect_models(model) for model_field in nested.model_fields().values()]
    for kind in kinds:
        kinds += inner_types(kind)
    return kinds


def _model_schema(model: type[Model]) -> Json:
    descriptions = {
        name: description for base_class in model.__mro__ for name, description in _field_docstrings(base_class).items()
    }
    properties = {
        model_field.key: _field_schema(model_field, descriptions.get(name, ""))
        for name, model_field in model.model_fields().items()
    }
    required = [model_field.key for model_field in model.model_fields().values() if model_field.default is Required]
    return {
        "additionalProperties": False,
        "description": inspect.cleandoc(model.__doc__ or ""),
        "properties": properties,
        **({"required": required} if required else {}),
        "type": "object",
    }


def _field_schema(model_field: ModelField, description: str) -> Json:
    schema = _type_schema(model_field.type)
    closed = schema.pop("additionalProperties") if "patternProperties" in schema else None
    if model_field.default is not Required:
        schema["default"] = to_plain(model_field.default, is_json=True, by_alias=True)
    schema = dict(sorted(schema.items()))
    if closed is not None:
        schema["additionalProperties"] = closed
    return {**schema, **({"description": description} if description else {})}


def _type_schema(kind: types.FieldType) -> Json:
    """Return the schema of a type, with its keys in alphabetical order."""
    if isinstance(kind, types.ModelType | types.EnumType):
        return {"$ref": f"#/$defs/{kind.label}"}
    if isinstance(kind, JsonType):
        return {"$ref": "#/$defs/JsonValue"}
    if isinstance(kind, types.OptionalType):
        alternatives = kind.inner.types if isinstance(kind.inner, types.UnionType) else (kind.inner,)
        return {"anyOf": [*[_type_schema(alternative) for alternative in alternatives], {"type": "null"}]}
    if isinstance(kind, types.UnionType):
        return {"anyOf": [_type_schema(alternative) for alternative in kind.types]}
    if isinstance(kind, types.LiteralType):
        return {
            **({"const": kind.values[0]} if len(kind.values) == 1 else {"enum": list(kind.values)}),
            "type": "string",
        }
    if isinstance(kind, types.TextType):
        verified_format = {"format": kind.verification.format} if kind.verification and kind.verification.format else {}
        return {**verified_format, **_text_constraints(kind.constraint), "type": "string"}
    if isinstance(kind, types.IntegerType | types.FloatType):
        name = "integer" if isinstance(kind, types.IntegerType) else "number"
        return {**_number_constraints(kind.constraint), "type": name}
    if isinstance(kind, types.BooleanType):
        return {"type": "boolean"}
    return _container_schema(kind)


def _container_schema(kind: types.FieldType) -> Json:
    if isinstance(kind, ArrayType):
        limits = {"maxItems": kind.constraint.maximum, "minItems": kind.constraint.minimum} if kind.constraint else {}
        known_limits = {name: limit for name, limit in limits.items() if limit is not None}
        return {"items": _type_schema(kind.entry), **known_limits, "type": "array"}
    if isinstance(kind, FixedArrayType):
        count = len(kind.entries)
        items = [_type_schema(entry) for entry in kind.entries]
        return {"maxItems": count, "minItems": count, "prefixItems": items, "type": "array"}
    assert isinstance(kind, ObjectType)
    value = _type_schema(kind.value)
    assert isinstance(kind.name, types.TextType)
    name = _text_constraints(kind.name.constraint)
    pattern = name.pop("pattern", None)
    if pattern is None:
        return {"additionalProperties": value, "type": "object"}
    names = {"propertyNames": name} if name else {}
    return {"patternProperties": {pattern: value}, **names, "type": "object", "additionalProperties": False}


def _text_constraints(constraint: TextConstraint | None) -> Json:
    if constraint is None:
        return {}
    limits = {"maxLength": constraint.max_length, "minLength": constraint.min_length}
    pattern = {"pattern": constraint.pattern} if constraint.pattern else {}
    return {**{name: limit for name, limit in limits.items() if limit is not None}, **pattern}


def _number_constraints(constraint: Range | None) -> Json:
    limits = {"maximum": constraint.maximum, "minimum": constraint.minimum} if constraint is not None else {}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _enum_schema(enum: type[Enum]) -> Json:
    return {
        "description": inspect.cleandoc(enum.__doc__ or ""),
        "enum": [member.value for member in enum],
        "type": "string",
    }


@cache
def _field_docstrings(model_class: type) -> dict[str, str]:
    """Return the docstring below each field of a class of this package."""
    if not model_class.__module__.startswith("execplan."):
        return {}
    class_node = ast.parse(textwrap.dedent(inspect.getsource(model_class))).body[0]
    assert isinstance(class_node, ast.ClassDef)
    docstrings = {}
    for node, next_node in pairwise(class_node.body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(next_node, ast.Expr):
            if isinstance(next_node.value, ast.Constant) and isinstance(next_node.value.value, str):
                docstrings[node.target.id] = " ".join(next_node.value.value.split())
    return docstrings
