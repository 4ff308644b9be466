"""A title → the short name of its file."""

from __future__ import annotations

from execplan.text.text_lines import digest

MAX_LENGTH = 60
"""Characters of a slug: with the date, a line of `list` stays readable."""


def slug(title: str) -> str:
    """Lower-case ASCII letters and digits, joined by hyphens; other scripts are transliterated; never empty."""
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
