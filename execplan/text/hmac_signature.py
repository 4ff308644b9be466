"""Seals: HMAC-SHA256, as RFC 2104 has it; `hmac` and `hashlib` load OpenSSL, which takes 3 ms."""

from __future__ import annotations

from execplan.text.text_lines import sha256_constructor

_BLOCK_SIZE = 64
"""Bytes that SHA-256 takes at a time, and at least as many as a key of ours has."""


def sign(key: bytes, data: bytes) -> bytes:
    """The seal of some bytes, as hex digits; data begins with what it is for, so that no seal of another kind passes for it."""
    block, sha256 = key.ljust(_BLOCK_SIZE, b"\0"), sha256_constructor()
    inner_digest = sha256(bytes([byte ^ 0x36 for byte in block]) + data).digest()
    return str(sha256(bytes([byte ^ 0x5C for byte in block]) + inner_digest).hexdigest()).encode()


def signatures_match(left: bytes, right: bytes) -> bool:
    """Whether two seals are the same, compared in constant time."""
    from _operator import _compare_digest

    return _compare_digest(left, right)
