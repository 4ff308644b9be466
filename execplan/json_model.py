"""The base class, the byte format and the JSON Schemas of all JSON documents."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Strict

from execplan.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION: Final = 1
_KEY_ORDER: Final = ("description", "type", "properties", "required", "additionalProperties", "allOf", "$defs")

Json = dict[str, Any]
T = TypeVar("T")
ListOrTuple = Annotated[tuple[T, ...], Strict(False)]
"""A tuple field that also accepts a list from Python code; the elements are not converted."""


def ensure_real_date(timestamp: str) -> str:
    """Return a timestamp unchanged; raises ValueError for a date that does not exist."""
    from datetime import datetime

    datetime.fromisoformat(timestamp)
    return timestamp


class Model(BaseModel):
    """The strict base class of all document models: no unknown fields, no type conversion, no changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DocumentKind(NamedTuple):
    """A document type and the location of its model."""

    module: str
    """Module name within the package `execplan`; imported when the schema is requested."""
    model: str
    description: str


def to_json_bytes(value: object) -> bytes:
    """Encode plain data as indented JSON with a final newline."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def make_json_schema(name: str, model: type[BaseModel], add_rules: Callable[[Json], None] | None = None) -> Json:
    """Return the JSON Schema of a document type; `add_rules` adds constraints between fields."""
    schema = model.model_json_schema()
    _clean_schema(schema)
    _add_descriptions(model, schema)
    if add_rules is not None:
        add_rules(schema)
    header = {"$schema": DIALECT, "$id": f"urn:execplan:schema:{name}:{_VERSION}", "title": name}
    return {**header, **{key: schema[key] for key in _KEY_ORDER if key in schema}}


def _clean_schema(schema: object) -> None:
    """Remove the titles that pydantic derives from names, and disallow property names that match no pattern."""
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        if "patternProperties" in schema:
            schema.setdefault("additionalProperties", False)
        for child in schema.values():
            _clean_schema(child)
    elif isinstance(schema, list):
        for child in schema:
            _clean_schema(child)


def _add_descriptions(model: type[BaseModel], schema: Json) -> None:
    """Add the field docstrings of a model and its nested models to a schema as descriptions."""
    for nested_model in collect_models(model):
        model_schema = schema if nested_model is model else schema["$defs"][nested_model.__name__]
        descriptions = {
            field_name: description
            for base_class in nested_model.__mro__
            for field_name, description in _field_docstrings(base_class).items()
        }
        for name, field in nested_model.model_fields.items():
            if name in descriptions:
                model_schema["properties"][field.alias or name].setdefault("description", descriptions[name])


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


def collect_models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and all models nested in it."""
    models = [model]
    for known_model in models:
        nested_models = [
            nested_model
            for field in known_model.model_fields.values()
            for nested_model in _annotation_models(field.annotation)
        ]
        models += [nested_model for nested_model in dict.fromkeys(nested_models) if nested_model not in models]
    return models


def _annotation_models(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _annotation_models(argument)
