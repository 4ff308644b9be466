"""Reading and writing of documents: canonical output, and full validation of input with all violations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from execplan.errors import INPUT, ExecplanError
from execplan.execution.documents.field_patterns import DESCRIPTIONS
from execplan.execution.documents.plan_rules import json_violations
from execplan.execution.execution_plan import Document
from execplan.json_model import collect_models, to_json_bytes
from execplan.text import strict_json
from execplan.text.suggestions import closest_names
from execplan.text.violation import Violation, json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T", bound=BaseModel)

RULES_ERROR: Final = "rules"
"""Type of the single error that pydantic reports for broken rules between fields; its context contains all of them."""

_TOO_SHORT: Final = "is the minimum"


def document_bytes(document: BaseModel) -> bytes:
    """Serialize a document with every field in the order of the model, so that equal documents have equal bytes."""
    return to_json_bytes(document.model_dump(mode="json", by_alias=True))


def load_document(data: bytes, kind: type[T], label: str) -> T:
    """Read and validate a document; `label` names it in an error.

    Raises ExecplanError with every violation at once: JSON syntax, fields, and rules between fields.
    """
    parsed = strict_json.read(data)
    if not parsed.is_complete:
        raise document_error(label, kind, parsed.violations, parsed.omitted)
    document, violations = validate_document(parsed.value, kind)
    known_pointers = {violation.pointer for violation in parsed.violations}
    violations = [
        *parsed.violations,
        *[violation for violation in violations if violation.pointer not in known_pointers],
    ]
    if violations or document is None:
        raise document_error(label, kind, violations, parsed.omitted)
    if isinstance(document, Document):
        document.ensure_safe(label)
    return document


def validate_document(value: object, kind: type[T]) -> tuple[T | None, list[Violation]]:
    """Return the document for plain data, or None with all its violations."""
    document, violations = None, []
    try:
        data = json.dumps(value)
    except (TypeError, ValueError):  # a value that JSON does not have, or a circular reference
        return None, list(json_violations(value)) or [Violation("", "a key is not a string")]
    try:
        document = kind.model_validate_json(data)
    except ValidationError as error:
        violations = _drop_consequential(list(convert_errors(error, kind)))
    if violations and isinstance(value, dict):
        known_pointers = {violation.pointer for violation in violations}
        violations += [
            violation for violation in _rule_violations(value, kind) if violation.pointer not in known_pointers
        ]
    return document, violations


def document_error(
    label: str, kind: type[BaseModel], violations: Sequence[Violation], omitted: int = 0, *, hint: str = ""
) -> ExecplanError:
    """Return the error for an invalid document; its message has the first violation, its candidates have all."""
    omitted += max(len(violations) - strict_json.MAX_VIOLATIONS, 0)
    violations = violations[: strict_json.MAX_VIOLATIONS]
    lines = [str(violation) for violation in violations]
    count = len(lines) + omitted
    message = f"{label}: {lines[0]}" if count == 1 else f"{label}: {count} errors; the first: {lines[0]}"
    return ExecplanError(
        "bad-document",
        message,
        exit=INPUT,
        hint=hint or f"see its schema: execplan schema {kind_name(kind)}".rstrip(),
        candidates=[*lines, *([f"and {omitted} more"] if omitted else [])] if count > 1 else (),
        data={"violations": [violation._asdict() for violation in violations]},
    )


def kind_name(kind: type[BaseModel]) -> str:
    """Return the name that `execplan schema` uses for a kind of document."""
    return str(getattr(kind, "document_name", ""))


def _rule_violations(value: dict[str, Any], kind: type[BaseModel]) -> Iterable[Violation]:
    """Return violations of the rules of a document kind, for data with possibly invalid fields."""
    return kind.find_violations(value) if issubclass(kind, Document) else ()


def convert_errors(error: ValidationError, kind: type[BaseModel]) -> Iterable[Violation]:
    """Convert pydantic's errors to violations."""
    for detail in error.errors(include_url=False, include_input=False):
        location = json_pointer(_strip_key_markers(detail["loc"]))
        if detail["type"] == RULES_ERROR:
            yield from [Violation(location + inner, message) for inner, message in detail["ctx"]["violations"]]
        elif detail["type"] == "value_error":
            yield Violation(location, str(detail["ctx"]["error"]))
        elif detail["type"] == "extra_forbidden":
            yield Violation(location, "unknown key" + _suggest_name(str(detail["loc"][-1]), kind))
        elif detail["type"] == "missing":
            yield Violation(location, "missing")
        elif detail["type"] == "string_pattern_mismatch":
            pattern = detail["ctx"]["pattern"]
            yield Violation(location, f"should be {DESCRIPTIONS.get(pattern, f'like {pattern}')}")
        elif detail["type"] in ("too_short", "too_long"):
            yield Violation(location, _describe_length(detail["ctx"]))
        else:
            yield Violation(location, detail["msg"][:1].lower() + detail["msg"][1:])


def _describe_length(limits: dict[str, Any]) -> str:
    """Return a message with the actual and the allowed number of entries."""
    if "min_length" in limits:
        return f"has {limits['actual_length']} entries; {limits['min_length']} {_TOO_SHORT}"
    return f"has {limits['actual_length']} entries; {limits['max_length']} is the maximum"


def _drop_consequential(violations: list[Violation]) -> list[Violation]:
    """Remove errors about lists that are too short only because one of their entries is invalid."""
    return [
        violation
        for violation in violations
        if _TOO_SHORT not in violation.message
        or not any([other.pointer.startswith(violation.pointer + "/") for other in violations])
    ]


def _strip_key_markers(location: tuple[int | str, ...]) -> list[int | str]:
    """Return a location without the markers that pydantic adds for dictionary keys."""
    return [part for part in location if part != "[key]"]


def _suggest_name(name: str, kind: type[BaseModel]) -> str:
    matches = closest_names(name, _field_names(kind))
    return f"; did you mean `{matches[0]}`?" if matches else ""


def _field_names(kind: type[BaseModel]) -> set[str]:
    """Return the names of all fields of a document kind and its nested models."""
    return {field.alias or name for model in collect_models(kind) for name, field in model.model_fields.items()}
