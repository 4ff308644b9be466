"""Which variant of an experiment something gets: the same key always the same one, on any machine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

CONTROL: Final = "control"
"""The plain baseline: newest first, whole units until the budget is full."""
OPTIMIZED: Final = "optimized"
"""What `context` does without an experiment."""
VARIANTS: Final = (CONTROL, OPTIMIZED)


def assign_variant(experiment: str, key: str, variants: tuple[str, ...] = VARIANTS) -> str:
    """The variant of a key, by a hash of both names; of many keys each variant gets about as many."""
    from hashlib import sha256

    key_bytes = f"{experiment}:{key}".encode("utf-8", "surrogateescape")
    return variants[int.from_bytes(sha256(key_bytes).digest()[:8], "big") % len(variants)]
