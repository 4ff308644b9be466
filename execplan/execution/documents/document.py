"""Documents to bytes and back: what is written is canonical, and what is read is checked in full, with all that is wrong."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from execplan.document import canonical, models_of
from execplan.errors import INPUT, ExecplanError
from execplan.execution.documents import strict
from execplan.execution.documents.patterns import WORDS
from execplan.execution.documents.rules import plain
from execplan.execution.documents.violation import Violation, pointer
from execplan.execution.model import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T", bound=BaseModel)

RULES: Final = "rules"
"""The type of the one error that pydantic tells when rules between fields are broken; its context has all of them."""

_LEAST: Final = "is the least"


def to_bytes(document: BaseModel) -> bytes:
    """The document as it is written: every field, in the order of the model, so that equal documents have equal bytes."""
    return canonical(document.model_dump(mode="json", by_alias=True))


def load(data: bytes, kind: type[T], where: str) -> T:
    """Read and check a document; `where` is what it is called in a refusal.

    Raises ExecplanError with every violation at once: how the JSON is written, fields, and rules between fields.
    """
    found = strict.read(data)
    if not found.whole:
        raise refusal(where, kind, found.violations, found.more)
    document, violations = check(found.value, kind)
    told = {each.pointer for each in found.violations}
    violations = [*found.violations, *[each for each in violations if each.pointer not in told]]
    if violations or document is None:
        raise refusal(where, kind, violations, found.more)
    if isinstance(document, Document):
        document.refuse_unsafe(where)
    return document


def check(value: object, kind: type[T]) -> tuple[T | None, list[Violation]]:
    """The document that plain data makes, or all that is wrong with it."""
    document, violations = None, []
    try:
        data = json.dumps(value)
    except (TypeError, ValueError):  # what Python has and JSON has not, or a circle
        return None, list(plain(value)) or [Violation("", "a key is no string")]
    try:
        document = kind.model_validate_json(data)
    except ValidationError as error:
        violations = _meant(list(violations_of(error, kind)))
    if violations and isinstance(value, dict):
        told = {each.pointer for each in violations}
        violations += [each for each in _rules(value, kind) if each.pointer not in told]
    return document, violations


def refusal(
    where: str, kind: type[BaseModel], violations: Sequence[Violation], more: int = 0, *, hint: str = ""
) -> ExecplanError:
    """The refusal of a document with so much wrong in it; the first is in its message, all are its candidates."""
    more += max(len(violations) - strict.MOST, 0)
    violations = violations[: strict.MOST]
    lines = [str(each) for each in violations]
    count = len(lines) + more
    message = f"{where}: {lines[0]}" if count == 1 else f"{where}: {count} things are wrong; the first: {lines[0]}"
    return ExecplanError(
        "bad-document",
        message,
        exit=INPUT,
        hint=hint or f"see what it must be: execplan schema {name_of(kind)}".rstrip(),
        candidates=[*lines, *([f"and {more} more"] if more else [])] if count > 1 else (),
        data={"violations": [each._asdict() for each in violations]},
    )


def name_of(kind: type[BaseModel]) -> str:
    """What `execplan schema` calls a kind of document."""
    return str(getattr(kind, "document_name", ""))


def _rules(value: dict[str, Any], kind: type[BaseModel]) -> Iterable[Violation]:
    """What the rules of a kind say of data whose fields may be wrong."""
    return kind.broken_rules(value) if issubclass(kind, Document) else ()


def violations_of(error: ValidationError, kind: type[BaseModel]) -> Iterable[Violation]:
    """What pydantic found, in our words."""
    for each in error.errors(include_url=False, include_input=False):
        where = pointer(_path(each["loc"]))
        if each["type"] == RULES:
            yield from [Violation(where + inner, message) for inner, message in each["ctx"]["violations"]]
        elif each["type"] == "value_error":
            yield Violation(where, str(each["ctx"]["error"]))
        elif each["type"] == "extra_forbidden":
            yield Violation(where, "unknown key" + _nearest(str(each["loc"][-1]), kind))
        elif each["type"] == "missing":
            yield Violation(where, "missing")
        elif each["type"] == "string_pattern_mismatch":
            pattern = each["ctx"]["pattern"]
            yield Violation(where, f"should be {WORDS.get(pattern, f'like {pattern}')}")
        elif each["type"] in ("too_short", "too_long"):
            yield Violation(where, _counted(each["ctx"]))
        else:
            yield Violation(where, each["msg"][:1].lower() + each["msg"][1:])


def _counted(limits: dict[str, Any]) -> str:
    """How many there are, and how many there should be."""
    if "min_length" in limits:
        return f"holds {limits['actual_length']}; {limits['min_length']} {_LEAST}"
    return f"holds {limits['actual_length']}; {limits['max_length']} are the most"


def _meant(violations: list[Violation]) -> list[Violation]:
    """Without lists told to be too short only because something in them is wrong."""
    return [
        each
        for each in violations
        if _LEAST not in each.message or not any([other.pointer.startswith(each.pointer + "/") for other in violations])
    ]


def _path(location: tuple[int | str, ...]) -> list[int | str]:
    """A location without what pydantic puts into it for keys of dictionaries."""
    return [part for part in location if part != "[key]"]


def _nearest(name: str, kind: type[BaseModel]) -> str:
    near = get_close_matches(name, _names(kind), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _names(kind: type[BaseModel]) -> set[str]:
    """The names of all fields of a kind, and of what is in it."""
    return {field.alias or name for each in models_of(kind) for name, field in each.model_fields.items()}
