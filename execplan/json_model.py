"""What all documents share that go out as JSON: the base of their models, their bytes, and their JSON Schemas."""

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
"""A list or a tuple where Python hands it in; what is in it is not converted."""


class Model(BaseModel):
    """What all of them share: no unknown field, no conversion, no change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DocumentKind(NamedTuple):
    """A kind of document."""

    module: str
    """Below `execplan`; loaded when its schema is asked for."""
    model: str
    description: str


def to_json_bytes(value: object) -> bytes:
    """Plain data as our documents are written."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def make_json_schema(name: str, model: type[BaseModel], add_rules: Callable[[Json], None] | None = None) -> Json:
    """The schema of a kind of document; `add_rules` puts in what holds between fields."""
    schema = model.model_json_schema()
    _clean_schema(schema)
    _add_descriptions(model, schema)
    if add_rules is not None:
        add_rules(schema)
    header = {"$schema": DIALECT, "$id": f"urn:execplan:schema:{name}:{_VERSION}", "title": name}
    return {**header, **{key: schema[key] for key in _KEY_ORDER if key in schema}}


def _clean_schema(schema: object) -> None:
    """Take out the titles that pydantic makes of names, which tell nothing more, and refuse names that fit no pattern."""
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
    """Put in what stands under the fields of a model and of those within it."""
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
    """What stands under each field of a class of ours."""
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
    """A model and all models within it."""
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
