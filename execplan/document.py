"""What all documents share that go out as JSON: the base of their models, their bytes, and their JSON Schemas."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Strict

from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION: Final = 1
_ORDER: Final = ("description", "type", "properties", "required", "additionalProperties", "allOf", "$defs")

Json = dict[str, Any]
T = TypeVar("T")
Many = Annotated[tuple[T, ...], Strict(False)]
"""A list or a tuple where Python hands it in; what is in it is not converted."""


class Model(BaseModel):
    """What all of them share: no unknown field, no conversion, no change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Kind(NamedTuple):
    """A kind of document."""

    module: str
    """Below `execplan`; loaded when its schema is asked for."""
    model: str
    about: str


def canonical(value: object) -> bytes:
    """Plain data as our documents are written."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def schema_of(name: str, model: type[BaseModel], rules: Callable[[Json], None] | None = None) -> Json:
    """The schema of a kind of document; `rules` puts in what holds between fields."""
    made = model.model_json_schema()
    _tidy(made)
    _describe(model, made)
    if rules is not None:
        rules(made)
    head = {"$schema": DIALECT, "$id": f"urn:execplan:schema:{name}:{_VERSION}", "title": name}
    return {**head, **{key: made[key] for key in _ORDER if key in made}}


def _tidy(made: object) -> None:
    """Take out the titles that pydantic makes of names, which tell nothing more, and refuse names that fit no pattern."""
    if isinstance(made, dict):
        if isinstance(made.get("title"), str):
            del made["title"]
        if "patternProperties" in made:
            made.setdefault("additionalProperties", False)
        for value in made.values():
            _tidy(value)
    elif isinstance(made, list):
        for value in made:
            _tidy(value)


def _describe(model: type[BaseModel], made: Json) -> None:
    """Put in what stands under the fields of a model and of those within it."""
    for each in models_of(model):
        part = made if each is model else made["$defs"][each.__name__]
        words = {name: told for kind in each.__mro__ for name, told in _docstrings(kind).items()}
        for name, field in each.model_fields.items():
            if name in words:
                part["properties"][field.alias or name].setdefault("description", words[name])


def _docstrings(kind: type) -> dict[str, str]:
    """What stands under each field of a class of ours."""
    if not kind.__module__.startswith("execplan."):
        return {}
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
                found[field.target.id] = " ".join(below.value.value.split())
    return found


def models_of(kind: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and all models within it."""
    found = [kind]
    for each in found:
        parts = [part for field in each.model_fields.values() for part in _models(field.annotation)]
        found += [part for part in dict.fromkeys(parts) if part not in found]
    return found


def _models(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in getattr(annotation, "__args__", ()):
        yield from _models(each)
