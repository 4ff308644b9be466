"""Descriptions of tasks as quotes in markdown, which change nothing around them and are no steps."""

from __future__ import annotations

from execplan.agents.capture.native_text import make_safe
from execplan.exchange.field_values import printable


def quote_notes(text: object) -> str:
    """Return the description of a task as a quote; empty for anything but text."""
    if not isinstance(text, str):
        return ""
    lines = [
        printable(line.expandtabs(4)).rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    ]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join([f"> {line}".rstrip() for line in make_safe(lines)]) if lines else ""
