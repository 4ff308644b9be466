"""Kinds of addresses that plans may link to; all others are shown as text."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from typing import Final

EXTERNAL: Final = "external"
"""A web page or an email address."""
ANCHOR: Final = "anchor"
"""A place on the same page."""
PATH: Final = "path"
"""A path relative to the plan's directory, or with a leading slash to the repository's root."""
BLOCKED: Final = "blocked"
"""Anything else, such as `javascript:`, `data:` or an address without a scheme on another host."""
_EXTERNAL_SCHEMES: Final = ("http", "https", "mailto")
_MAX_DECODINGS: Final = 4
"""How many times an address is decoded at most: one that was encoded several times is not written by hand."""


def classify_url(url: str) -> str:
    """Return the kind of an address as written in a plan.

    Browsers ignore tabs, line ends and leading control characters in an address. Therefore the scheme is looked for in
    the address without them, and again after each decoding of escapes such as `%3A`.
    """
    if not url.strip():
        return BLOCKED
    forms = [url]
    while len(forms) <= _MAX_DECODINGS and (decoded := unquote(forms[-1])) != forms[-1]:
        forms.append(decoded)
    kinds = {_classify_form(form) for form in forms}
    return kinds.pop() if len(kinds) == 1 else _classify_mixed(kinds)


def _classify_mixed(kinds: set[str]) -> str:
    """Return the kind of an address that looks different once it is decoded, such as `a%3Fb` or `a%23b`."""
    return PATH if kinds == {PATH, ANCHOR} else BLOCKED


def _classify_form(url: str) -> str:
    cleaned = "".join([char for char in url if char.isprintable() and not char.isspace()])
    if "\\" in cleaned or cleaned.startswith("//"):
        return BLOCKED
    head = cleaned.partition("/")[0].partition("?")[0].partition("#")[0]
    scheme, colon, _ = head.partition(":")
    if colon:
        return EXTERNAL if scheme.lower() in _EXTERNAL_SCHEMES else BLOCKED
    return ANCHOR if cleaned.startswith("#") else PATH if cleaned else BLOCKED
