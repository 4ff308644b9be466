r"""Constraints of texts: all of a text matches a pattern.

In Python, a `$` also matches before a line feed at the end of a text, so these patterns end with `\Z`.
"""

from __future__ import annotations

from typing import Final

import msgspec

DESCRIPTION: Final = "description"
"""Key of what a pattern means in the `extra` of its constraint, phrased to follow `should be`."""


def matching(pattern: str, description: str) -> msgspec.Meta:
    """Return the constraint of a text that all of it matches a pattern, which is from `^` to `$`."""
    return msgspec.Meta(pattern=pattern.removesuffix("$") + r"\Z", extra={DESCRIPTION: description})
