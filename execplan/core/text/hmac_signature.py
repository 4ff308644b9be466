"""HMAC-SHA256 signatures as in RFC 2104, without `hmac` and `hashlib`, which load OpenSSL and take 3 ms."""

from __future__ import annotations

from execplan.core.text.text_lines import sha256_constructor

_BLOCK_SIZE = 64
"""Block size of SHA-256 in bytes, which is also the maximum size of our keys."""


def sign(key: bytes, data: bytes) -> bytes:
    """Return the signature of some data as hexadecimal digits.

    The data must start with its purpose, so that a signature for another purpose is never valid for it.
    """
    block, sha256 = key.ljust(_BLOCK_SIZE, b"\0"), sha256_constructor()
    inner_digest = sha256(bytes([byte ^ 0x36 for byte in block]) + data).digest()
    return str(sha256(bytes([byte ^ 0x5C for byte in block]) + inner_digest).hexdigest()).encode()


def signatures_match(left: bytes, right: bytes) -> bool:
    """Compare two signatures in constant time."""
    from _operator import _compare_digest

    return _compare_digest(left, right)
