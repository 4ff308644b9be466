"""Conversion of a title to a slug, the short name of its file."""

from __future__ import annotations

from execplan.core.text.text_lines import digest

MAX_LENGTH = 60
"""Maximum characters of a slug, so that a line of `list` with its date stays readable."""


def slug(title: str) -> str:
    """Convert a title to words of lower-case ASCII letters and digits, joined by hyphens; never empty.

    Other scripts are transliterated.
    """
    if not title.isascii():
        from anyascii import anyascii

        title = anyascii(title)
    cleaned = "".join([char.lower() if char.isascii() and char.isalnum() else " " for char in title.replace("'", "")])
    short = ""
    for word in cleaned.split():
        if short and len(short) + 1 + len(word) > MAX_LENGTH:
            break
        short += ("-" if short else "") + word[:MAX_LENGTH]
    if short:
        return short
    return "plan-" + digest(title.encode("utf-8"))[:6]
