"""Classification of names: which settings, variables and options are named as secrets."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from execplan.core.secrets import secret_table

PASSWORD: Final = "password"  # noqa: S105 - the name of a kind
SECRET: Final = "secret"  # noqa: S105 - the name of a kind
SERVICE: Final = "service"
"""Kind of a name whose random values are secrets.

The others are a password, which may be short or a word, and a secret, which is unlike a word.
"""
_NAME_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_JOINED_PARTS: Final = 3
"""Maximum number of name parts that form one word, such as `shared_access_key`."""
_FINAL_PARTS: Final = frozenset(
    "sig sid salt pat otp totp pass pw psk auth cookie dsn webhook seed jwt signature bearer".split()
)
"""Name parts that count only at the end of a name."""
_NAMES_BY_KIND: Final = {PASSWORD: frozenset(secret_table.PASSWORD), SECRET: frozenset(secret_table.SECRET)}
_ABOUT, _NEVER = frozenset(secret_table.ABOUT), frozenset(secret_table.NEVER)
_SERVICES = frozenset(secret_table.SERVICES)
_JOINED_SUFFIXES: Final = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "credential")
"""Endings of name parts in which words are joined without a separator: `dbpassword`, `mysecret`."""


@lru_cache(maxsize=4096)
def classify_name(name: str) -> str:
    """Return the kind of a name (PASSWORD, SECRET or SERVICE), or an empty string for any other name."""
    name_parts = [name_part.lower() for name_part in _NAME_PART.findall(name.rpartition("/")[2])]
    while name_parts and (
        name_parts[-1].isdigit()
        or name_parts[-1] in ("base", "prod", "production", "dev", "staging", "b64", "base64", "plain", "x")
    ):
        name_parts.pop()
    if not name_parts or len(name_parts) > 12:
        return ""
    last_part = name_parts[-1]
    joined_parts = {
        "".join(name_parts[index : index + size])
        for size in range(2, _MAX_JOINED_PARTS + 1)
        for index in range(len(name_parts) - size + 1)
    }
    if name_parts[0] in _NEVER and len(name_parts) > 1:
        return ""
    if last_part in _ABOUT and not (
        {"".join(name_parts[-2:]), "".join(name_parts[-3:])} & (_NAMES_BY_KIND[SECRET] | {"authorization"})
    ):
        return ""
    for name_kind in (PASSWORD, SECRET):
        known_names = _NAMES_BY_KIND[name_kind]
        if (
            any(
                [
                    name_part in known_names and (name_part not in _FINAL_PARTS or name_part == last_part)
                    for name_part in name_parts
                ]
            )
            or joined_parts & known_names
        ):
            return name_kind
    if any([name_part.endswith(_JOINED_SUFFIXES) for name_part in name_parts]):
        return PASSWORD if any([name_part.endswith(_JOINED_SUFFIXES[:3]) for name_part in name_parts]) else SECRET
    if last_part in ("key", "pin") and len(name_parts) > 1:
        return SECRET if name.isupper() else SERVICE
    service_names = _SERVICES.intersection(name_parts) or _SERVICES & joined_parts
    return SERVICE if service_names else ""
