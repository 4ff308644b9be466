"""Calls of GitHub's REST API, with Python's own HTTP client, and errors in terms of what to do about them.

The token goes to one host only, and limits hold for each answer.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import execplan
from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.secrets.redaction import REDACTED
from execplan.core.text.message_parts import format_duration, printable_line
from execplan.team.github.api_endpoint import ApiEndpoint

_MAX_LENGTH: Final = 300
"""Maximum length of a message of GitHub, in characters."""
_VERSION: Final = "2022-11-28"
_TIMEOUT: Final = 30
"""Seconds to wait for a connection or for data."""
_MAX_BYTES: Final = 32 << 20
"""Maximum size of a response."""
_MAX_WAIT: Final = 60
"""Maximum number of seconds to wait for the end of a rate limit."""
_MAX_ATTEMPTS: Final = 3
_MAX_REDIRECTS: Final = 3
_WRITE_PAUSE: Final = 1.0
"""Seconds between requests that change something, as GitHub asks."""
_READ_METHOD: Final = "GET"
_MIN_TOKEN_LENGTH: Final = 8
"""Minimum number of characters of a token that is redacted in answers; a shorter one may be part of any word."""
_NEXT_LINK: Final = re.compile(r'<([^<>]*)>; *rel="next"')


def response_error(status: int, body: Any, request: str) -> ExecplanError:
    """Return the error for a response with a status of 300 or more.

    `body` is its JSON, or None if it has none; `request` is its method and path.
    """
    reason = _github_message(body)
    if status == 401:
        message = f"GitHub does not accept the token ({request}: {reason or status})"
        hint = "create a token that has not expired, and set GITHUB_TOKEN"
        return ExecplanError("github-unauthorized", message, hint=hint)
    if status == 403:
        message = f"the token does not allow {request}: {reason or 'no reason given'}"
        hint = "give the token the permission to write issues and, for --github-project, projects"
        return ExecplanError("github-forbidden", message, hint=hint)
    if status == 404:
        message = f"GitHub finds nothing for {request}"
        hint = "check the name; GitHub also says this if the token must not see it"
        return ExecplanError("github-not-found", message, hint=hint)
    if status < 400:
        message = f"GitHub answered {request} with a redirect ({status}), which is not followed: the token is only for one host"
        return ExecplanError("github-rejected", message, hint="use the repository's current name")
    if status < 500:
        message = f"GitHub rejected {request} ({status}): {reason or 'no reason given'}"
        hint = "see what would be sent: execplan sync github --offline --json"
        return ExecplanError("github-rejected", message, hint=hint)
    return unavailable_error(f"GitHub can't answer {request} now ({status})")


def rate_limit_error(seconds: float, request: str) -> ExecplanError:
    """Return the error for a limit that lasts for more seconds than it is reasonable to wait."""
    message = f"GitHub's rate limit stopped {request}; it ends in {format_duration(seconds)}"
    hint = "run the same command again then; it continues with what is missing"
    return ExecplanError("github-rate-limit", message, hint=hint)


def unavailable_error(message: str) -> ExecplanError:
    """Return the error for a server that can't be reached or gives no usable answer."""
    hint = "check the network and GITHUB_API_URL, then run the same command again; it continues with what is missing"
    return ExecplanError("github-unavailable", message, hint=hint)


def _github_message(body: Any) -> str:
    """Return the message in an error's body, with the fields that GitHub rejected; empty if there is none."""
    if not isinstance(body, dict):
        return ""
    texts = [body.get("message")]
    errors = body.get("errors")
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict):
            texts.append(error.get("message") or f"{error.get('field')}: {error.get('code')}")
    return printable_line("; ".join([text for text in texts if isinstance(text, str)]), _MAX_LENGTH)


class _Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    data: bytes


class ApiClient:
    """Sends requests to one endpoint, one after the other; close it at the end.

    Every method raises ExecplanError: for a status that is no success, a rate limit of more than a minute, a server that
    can't be reached, and an answer that is not JSON. A request that only reads is repeated if the server fails.
    """

    def __init__(self, endpoint: ApiEndpoint) -> None:
        self._endpoint = endpoint
        self._connection: http.client.HTTPConnection | None = None
        self._last_write = float("-inf")

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, path: str) -> Any:
        """Return the JSON at a path; redirects are followed on the same host."""
        return self._parse(self._get(path), f"{_READ_METHOD} {path}")

    def get_all(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list from all its pages."""
        while path:
            response = self._get(path)
            page = self._parse(response, f"{_READ_METHOD} {path}")
            if not isinstance(page, list) or not all([isinstance(entry, dict) for entry in page]):
                raise unavailable_error(f"GitHub's answer to {_READ_METHOD} {path} is no list of objects")
            yield from page
            link = _NEXT_LINK.search(response.headers.get("Link") or "")
            path = self._own_path(link[1], path) if link is not None else ""

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a change and return the JSON of the answer, or None if it is empty."""
        if not self._endpoint.is_loopback:
            time.sleep(max(0.0, self._last_write + _WRITE_PAUSE - time.monotonic()))
        response = self._request(method, path, body)
        self._last_write = time.monotonic()
        request = f"{method} {path}"
        if response.status >= 300:
            raise self._response_error(response, request)
        return self._parse(response, request) if response.data else None

    def _get(self, path: str) -> _Response:
        first_path = path
        for _ in range(_MAX_REDIRECTS):
            response = self._request(_READ_METHOD, path, None)
            location = response.headers.get("Location")
            if response.status not in (301, 302, 307, 308) or not location:
                break
            path = self._own_path(location, path)
        if response.status >= 300:
            raise self._response_error(response, f"{_READ_METHOD} {first_path}")
        return response

    def _own_path(self, url: str, request_path: str) -> str:
        """Return the path of a URL below the endpoint. Raises ExecplanError if it is elsewhere, which gets no token."""
        endpoint = self._endpoint
        shown_url: str = self._redact_token(url)
        try:
            parts = urlsplit(shown_url)
        except ValueError:
            parts = urlsplit("")
        is_own = (parts.scheme, parts.netloc) in ((endpoint.scheme, endpoint.host), ("", ""))
        if not is_own or not parts.path.startswith(f"{endpoint.path}/") or not url.isascii() or not url.isprintable():
            raise unavailable_error(f"GitHub's answer to {request_path} leads to another host, which gets no token")
        return parts.path.removeprefix(endpoint.path) + (f"?{parts.query}" if parts.query else "")

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> _Response:
        """Send a request until it is answered; wait for the end of a short rate limit."""
        request = f"{method} {path}"
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            trace.log(f"GitHub: {request}")
            is_last = attempt == _MAX_ATTEMPTS
            try:
                response = self._exchange(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if method != _READ_METHOD or is_last:
                    reason = self._redact_token(str(error)) or type(error).__name__
                    raise unavailable_error(f"can't reach {self._endpoint.host} for {request}: {reason}") from None
                time.sleep(attempt)
                continue
            seconds = _limit_seconds(response)
            if seconds is not None:
                if seconds > _MAX_WAIT or is_last:
                    raise rate_limit_error(seconds, request)
                trace.log(f"GitHub: rate limit, waiting {seconds:.0f} s")
                time.sleep(seconds)
            elif response.status >= 500 and method == _READ_METHOD and not is_last:
                time.sleep(attempt)
            else:
                return response
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> _Response:
        endpoint = self._endpoint
        if self._connection is None:
            kind = http.client.HTTPSConnection if endpoint.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(endpoint.host, timeout=_TIMEOUT)
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {endpoint.token}",
            "User-Agent": f"execplan/{execplan.__version__}",
            "X-GitHub-Api-Version": _VERSION,
        }
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        self._connection.request(method, endpoint.path + path, data, headers)
        with self._connection.getresponse() as response:
            content = response.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise http.client.HTTPException(f"the answer has more than {_MAX_BYTES >> 20} MiB")
        return _Response(response.status, response.headers, content)

    def _parse(self, response: _Response, request: str) -> Any:
        try:
            return self._decode(response)
        except (ValueError, RecursionError):
            raise unavailable_error(f"GitHub's answer to {request} is not JSON") from None

    def _response_error(self, response: _Response, request: str) -> ExecplanError:
        try:
            body = self._decode(response)
        except (ValueError, RecursionError):
            body = None
        return response_error(response.status, body, request)

    def _decode(self, response: _Response) -> Any:
        """Return the JSON of an answer without the token; raises ValueError or RecursionError if it is not JSON."""
        return self._redact_token(json.loads(response.data))

    def _redact_token(self, value: Any) -> Any:
        """Redact the token in the texts of an answer: a server may repeat it, and its texts are shown."""
        if isinstance(value, str):
            token = self._endpoint.token
            return value.replace(token, REDACTED) if len(token) >= _MIN_TOKEN_LENGTH else value
        if isinstance(value, list):
            return [self._redact_token(entry) for entry in value]
        if isinstance(value, dict):
            return {self._redact_token(name): self._redact_token(entry) for name, entry in value.items()}
        return value


def _limit_seconds(response: _Response) -> float | None:
    """Return how many seconds a rate limit lasts; None if the response is not about a limit."""
    if response.status not in (403, 429):
        return None
    headers = response.headers
    retry_after = headers.get("Retry-After", "")
    if retry_after.isdecimal():
        return float(min(int(retry_after[:9]), 10**8))
    if headers.get("X-RateLimit-Remaining") == "0":
        reset = headers.get("X-RateLimit-Reset", "")
        return max(0.0, int(reset[:12]) - time.time()) + 1 if reset.isdecimal() else float(_MAX_WAIT)
    return float(_MAX_WAIT) if response.status == 429 else None
