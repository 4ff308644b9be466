"""Reading and writing of documents: canonical output, and full validation of input with all violations."""

from __future__ import annotations

import json
from typing import TypeVar

from execplan.core.documents.document_model import Model, document_error, merge, validate_json
from execplan.core.text import fast_json, strict_json

T = TypeVar("T", bound="Model")


def to_json_bytes(value: object) -> bytes:
    """Encode plain data as indented JSON with a final newline."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def document_bytes(document: Model) -> bytes:
    """Serialize a document with every field in the order of the model, so that equal documents have equal bytes."""
    return to_json_bytes(document.model_dump())


def load_document(data: bytes, kind: type[T], label: str) -> T:
    """Read and validate a document; `label` names it in an error.

    Raises ExecplanError with every violation at once: JSON syntax, fields, and rules between fields.
    """
    parsed = _read_valid_json(data) or strict_json.read(data)
    if not parsed.is_complete:
        raise document_error(label, kind, parsed.violations, parsed.omitted)
    document, violations = validate_json(parsed.value, kind)
    violations = merge(parsed.violations, violations)
    if violations or document is None:
        raise document_error(label, kind, violations, parsed.omitted)
    document.ensure_safe(label)
    return document


def _read_valid_json(data: bytes) -> strict_json.ParsedJson | None:
    """Return the content of a valid JSON document, or None; the reader that reports all violations takes longer."""
    try:
        return strict_json.ParsedJson(fast_json.read(data.decode()), ()) if len(data) <= strict_json.MAX_BYTES else None
    except (ValueError, RecursionError):
        return None
