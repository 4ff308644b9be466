"""Where GitHub's API is and with which token to call it: from the environment, and only over an encrypted connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from execplan.core.errors import ExecplanError

API_URL: Final = "GITHUB_API_URL"
"""Variable with the address of the API, for GitHub Enterprise."""
_DEFAULT_URL: Final = "https://api.github.com"
_TOKEN_VARIABLES: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class ApiEndpoint(NamedTuple):
    """The address of the API and the token for it."""

    scheme: str
    host: str
    """Host and port, as in a URL."""
    path: str
    """Path before that of each request; empty on github.com."""
    token: str
    is_loopback: bool

    def __repr__(self) -> str:
        """Show the address without the token."""
        return f"ApiEndpoint({self.scheme}://{self.host}{self.path})"


def find_endpoint(environ: Mapping[str, str]) -> ApiEndpoint:
    """Return the endpoint that the environment names.

    Raises ExecplanError if there is no token, or if the address is neither encrypted nor on this machine.
    """
    url = environ.get(API_URL) or _DEFAULT_URL
    token = next((environ[name] for name in _TOKEN_VARIABLES if environ.get(name)), "")
    try:
        parts = urlsplit(url)
        is_loopback = parts.hostname in _LOOPBACK_HOSTS
        has_valid_port = parts.port != 0
    except ValueError:
        raise _address_error(url) from None
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc) and url.isascii() and url.isprintable()
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and is_loopback)
    if not (is_encrypted and parts.hostname and has_valid_port and is_plain and " " not in url):
        raise _address_error(url)
    if not token:
        message = f"no token for GitHub: neither {' nor '.join(_TOKEN_VARIABLES)} is set"
        hint = "create a token that may write issues, and set GITHUB_TOKEN; to see the issues without it: --offline"
        raise ExecplanError("no-github-token", message, hint=hint)
    if not (token.isascii() and token.isprintable() and " " not in token):
        message = "the token for GitHub contains spaces or other characters that no token has"
        raise ExecplanError("no-github-token", message, hint="set GITHUB_TOKEN to the token and nothing else")
    return ApiEndpoint(parts.scheme, parts.netloc, parts.path.rstrip("/"), token, is_loopback)


def _address_error(url: str) -> ExecplanError:
    scheme, _, address = url.rpartition("://")
    shown_url = f"{scheme}://{address.rpartition('@')[2]}"  # the address may contain a password
    message = f"{API_URL} must be an https:// address without user, query and fragment, not {shown_url!r}"
    hint = "set it to the address of your server, such as https://HOST/api/v3, or unset it for github.com"
    return ExecplanError("bad-api-url", message, hint=hint)
