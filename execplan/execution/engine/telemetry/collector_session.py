"""HTTP session for a collector, which keeps the outcome of its last request: the exporter of the SDK doesn't report it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests

from execplan.execution.engine.telemetry.exporter_settings import endpoint_variable

if TYPE_CHECKING:
    from typing import Any

_FIRST_REDIRECT, _FIRST_ERROR = 300, 400


class CollectorSession(requests.Session):
    """A session that keeps the response, or the error, of its last request."""

    def __init__(self) -> None:
        super().__init__()
        self.response: requests.Response | None = None
        self.error: requests.RequestException | None = None

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        """Send a request, as `requests` does. Raises RequestException."""
        self.response = self.error = None
        if isinstance(self.verify, str):  # REQUESTS_CA_BUNDLE would override the certificate of the exporter
            options.setdefault("verify", self.verify)
        try:
            self.response = super().request(*arguments, **options)
        except requests.RequestException as error:
            self.error = error
            raise
        return self.response

    def describe_rejection(self) -> str:
        """Return which answer of the collector means that it hasn't taken the spans, or an empty string."""
        if self.response is None or self.response.status_code < _FIRST_REDIRECT:
            return ""
        answer = f"the collector answered {self.response.status_code} {self.response.reason}".rstrip()
        is_redirect = self.response.status_code < _FIRST_ERROR
        return f"{answer}; redirects are not followed: check {endpoint_variable()}" if is_redirect else answer

    @property
    def has_timed_out(self) -> bool:
        """Whether the collector didn't answer the last request in time."""
        return isinstance(self.error, requests.Timeout)


def is_url_error(error: BaseException) -> bool:
    """Return whether an error says that a URL is not one of HTTP."""
    return isinstance(
        error, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL | requests.exceptions.MissingSchema
    )
