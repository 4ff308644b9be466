"""JSON Schemas of documents: those of msgspec with the docstrings of fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import msgspec

from execplan.core.documents.document_model import Model

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION: Final = 1
_KEY_ORDER: Final = ("description", "type", "properties", "required", "additionalProperties", "allOf", "$defs")

Json = dict[str, Any]


def make_json_schema(name: str, model: type[Model], add_rules: Callable[[Json], None] | None = None) -> Json:
    """Return the JSON Schema of a document type; `add_rules` adds constraints between fields."""
    _, definitions = msgspec.json.schema_components([model], ref_template="#/$defs/{name}")
    for nested in _nested_models(model):
        _describe(definitions[nested.__name__], nested)
    # In JSON Schema, the `$` at the end of a pattern means what `\\Z` means in Python.
    definitions = msgspec.json.decode(msgspec.json.encode(definitions).replace(rb'\\Z"', b'$"'))
    schema: Json = definitions.pop(model.__name__)
    if definitions:
        schema["$defs"] = dict(sorted(definitions.items()))
    if add_rules is not None:
        add_rules(schema)
    header = {"$schema": DIALECT, "$id": f"urn:execplan:schema:{name}:{_VERSION}", "title": name}
    return {**header, **{key: schema[key] for key in _KEY_ORDER if key in schema}}


def _nested_models(model: type[Model]) -> list[type[Model]]:
    """Return a model and all models in it."""
    models: list[type[Model]] = [model]
    for nested_model in models:
        kinds: list[Any] = [field.type for field in msgspec.structs.fields(nested_model)]
        for kind in kinds:
            kinds += getattr(kind, "__args__", ())
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in models:
                models.append(kind)  # type: ignore[arg-type]  # documents consist of models
    return models


def _describe(schema: Json, model: type[Model]) -> None:
    """Add the docstrings of a model and of its fields."""
    schema["description"] = inspect.cleandoc(model.__doc__ or "")
    for base_class in model.__mro__:
        for name, description in _field_docstrings(base_class).items():
            if name in model.__struct_fields__:
                schema["properties"][name.removesuffix("_")]["description"] = description


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
