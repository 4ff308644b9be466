"""Kinds of documents on context."""

from __future__ import annotations

from execplan.core.json_model.json_bytes import DocumentKind

DECISION_KINDS = {
    "context-decision": DocumentKind("context.decision", "Decision", "What `context` includes for an agent, and why.")
}
