"""The byte format of JSON documents, and how the kinds of documents are declared."""

from __future__ import annotations

import json

from execplan.core.named_tuple import NamedTuple


class DocumentKind(NamedTuple):
    """A document type and the location of its model."""

    module: str
    """Module name within the package `execplan`; imported when the schema is requested."""
    model: str
    description: str


def to_json_bytes(value: object) -> bytes:
    """Encode plain data as indented JSON with a final newline."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
