"""What the name of a setting, a variable, an option or a field says of its value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from execplan.text.secret_table import ABOUT, NEVER, SERVICES
from execplan.text.secret_table import PASSWORD as _PASSWORDS
from execplan.text.secret_table import SECRET as _SECRETS
from execplan.text.secret_values import PASSWORD, SECRET, SERVICE

_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST: Final = 3
"""Parts of a name that are one word, such as `shared_access_key`."""
_ENDS: Final = frozenset(
    "sig sid salt pat otp totp pass pw psk auth cookie dsn webhook seed jwt signature bearer".split()
)
"""What counts only at the end of a name."""
_WHOLE: Final = frozenset(("pass", "pw", "psk", "sig", "sid"))
_SETS: Final = {PASSWORD: frozenset(_PASSWORDS), SECRET: frozenset(_SECRETS)}
_ABOUT, _NEVER, _SERVICES = frozenset(ABOUT), frozenset(NEVER), frozenset(SERVICES)
_JOINED: Final = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "credential")
"""The ends of parts that join words without a mark: `dbpassword`, `mysecret`."""


@lru_cache(maxsize=4096)
def kind(name: str) -> str:
    """Whether a name is that of a PASSWORD, a SECRET or a SERVICE; nothing for any other."""
    parts = [part.lower() for part in _PART.findall(name.rpartition("/")[2])]
    while parts and (
        parts[-1].isdigit()
        or parts[-1] in ("base", "prod", "production", "dev", "staging", "b64", "base64", "plain", "x")
    ):
        parts.pop()
    if not parts or len(parts) > 12:
        return ""
    last = parts[-1]
    pairs = {"".join(parts[at : at + size]) for size in range(2, _LONGEST + 1) for at in range(len(parts) - size + 1)}
    if parts[0] in _NEVER and len(parts) > 1:
        return ""
    if last in _ABOUT and not ({"".join(parts[-2:]), "".join(parts[-3:])} & (_SETS[SECRET] | {"authorization"})):
        return ""
    for found in (PASSWORD, SECRET):
        words = _SETS[found]
        if any([part in words and (part not in _ENDS or part == last) for part in parts]) or pairs & words:
            return found
    if any([part.endswith(_JOINED) for part in parts]):
        return PASSWORD if any([part.endswith(_JOINED[:3]) for part in parts]) else SECRET
    if last in ("key", "pin") and len(parts) > 1:
        return SECRET if name.isupper() else SERVICE
    named = _SERVICES.intersection(parts) or _SERVICES & pairs
    return SERVICE if named else ""
