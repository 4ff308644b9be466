"""Reading and writing of documents: canonical output, and full validation of input with all violations.

Records that a Python program creates itself are checked in the same way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.json_model.container_types import TOO_SHORT
from execplan.core.json_model.document_model import Model, collect_models, to_json_bytes
from execplan.core.json_model.field_types import PATTERN, UNKNOWN_KEY, InvalidValue
from execplan.core.text import fast_json, strict_json
from execplan.core.text.violation import Violation
from execplan.execution.documents.document_rules import json_violations
from execplan.execution.documents.field_patterns import DESCRIPTIONS
from execplan.execution.execution_plan import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.core.json_model.field_types import Problem

T = TypeVar("T", bound=Model)


def document_bytes(document: Model) -> bytes:
    """Serialize a document with every field in the order of the model, so that equal documents have equal bytes."""
    return to_json_bytes(document.model_dump(mode="json", by_alias=True))


def load_document(data: bytes, kind: type[T], label: str) -> T:
    """Read and validate a document; `label` names it in an error.

    Raises ExecplanError with every violation at once: JSON syntax, fields, and rules between fields.
    """
    parsed = _read_valid_json(data) or strict_json.read(data)
    if not parsed.is_complete:
        raise document_error(label, kind, parsed.violations, parsed.omitted)
    document, violations = _validate_json(parsed.value, kind)
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
    try:
        data = json.dumps(value, ensure_ascii=False)
        data.encode()
    except UnicodeEncodeError:
        return None, _with_rule_violations(list(json_violations(value)), value, kind)
    except (TypeError, ValueError):  # a value that JSON does not have, or a circular reference
        return None, list(json_violations(value)) or [Violation("", "a key is not a string")]
    return _validate_json(json.loads(data), kind)


def _read_valid_json(data: bytes) -> strict_json.ParsedJson | None:
    """Return the content of a valid JSON document, or None; the reader that reports all violations takes longer."""
    try:
        return strict_json.ParsedJson(fast_json.read(data.decode()), ()) if len(data) <= strict_json.MAX_BYTES else None
    except (ValueError, RecursionError):
        return None


def _validate_json(value: Any, kind: type[T]) -> tuple[T | None, list[Violation]]:
    """Return the document for a value that was read from JSON, which it keeps, or None with all its violations."""
    try:
        return kind.build(value, from_json=True), []
    except InvalidValue as error:
        violations = _drop_consequential(convert_problems(error.problems, kind))
    return None, _with_rule_violations(violations, value, kind)


def _with_rule_violations(violations: list[Violation], value: object, kind: type[Model]) -> list[Violation]:
    """Add the violations of the rules of a document kind at other places, for data with possibly invalid fields."""
    if not isinstance(value, dict):
        return violations
    known_pointers = {violation.pointer for violation in violations}
    return [
        *violations,
        *[violation for violation in _rule_violations(value, kind) if violation.pointer not in known_pointers],
    ]


def document_error(
    label: str, kind: type[Model], violations: Sequence[Violation], omitted: int = 0, *, hint: str = ""
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


def kind_name(kind: type[Model]) -> str:
    """Return the name that `execplan schema` uses for a kind of document."""
    return str(getattr(kind, "document_name", ""))


def _rule_violations(value: dict[str, Any], kind: type[Model]) -> Iterable[Violation]:
    """Return violations of the rules of a document kind, for data with possibly invalid fields."""
    return kind.find_violations(value) if issubclass(kind, Document) else ()


def convert_problems(problems: Iterable[Problem], kind: type[Model]) -> list[Violation]:
    """Convert the problems of plain data to violations."""
    violations = []
    for problem in problems:
        message = problem.message
        if problem.code == UNKNOWN_KEY:
            message += _suggest_name(str(problem.path[-1]), kind)
        elif problem.code == PATTERN:
            message = f"should be {DESCRIPTIONS.get(message, f'like {message}')}"
        violations.append(Violation(problem.location, message))
    return violations


def _drop_consequential(violations: list[Violation]) -> list[Violation]:
    """Remove errors about lists that are too short only because one of their entries is invalid."""
    return [
        violation
        for violation in violations
        if TOO_SHORT not in violation.message
        or not any([other.pointer.startswith(violation.pointer + "/") for other in violations])
    ]


def _suggest_name(name: str, kind: type[Model]) -> str:
    from execplan.core.text.suggestions import closest_names  # only wrong documents need it

    matches = closest_names(name, _field_names(kind))
    return f"; did you mean `{matches[0]}`?" if matches else ""


def _field_names(kind: type[Model]) -> set[str]:
    """Return the names of all fields of a document kind and its nested models."""
    return {field.key for model in collect_models(kind) for field in model.model_fields().values()}


class CheckedRecord(Model):
    """Base of records created by callers: an invalid one raises ExecplanError with every invalid field."""

    @classmethod
    def make_error(cls, problems: Iterable[Problem]) -> Exception:
        """Return the error for an invalid record."""
        violations = convert_problems(problems, cls)
        return document_error(cls.__name__, cls, violations, hint="execplan explain bad-document")
