"""Errors of GitHub's API in terms of what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core.errors import BUSY, ENVIRONMENT, INPUT, ExecplanError
from execplan.core.text.message_parts import format_duration, printable_line

if TYPE_CHECKING:
    from typing import Final

_MAX_LENGTH: Final = 300
"""Maximum length of a message of GitHub, in characters."""


def response_error(status: int, body: Any, request: str) -> ExecplanError:
    """Return the error for a response with a status of 300 or more.

    `body` is its JSON, or None if it has none; `request` is its method and path.
    """
    reason = _github_message(body)
    if status == 401:
        message = f"GitHub does not accept the token ({request}: {reason or status})"
        hint = "create a token that has not expired, and set GITHUB_TOKEN"
        return ExecplanError("github-unauthorized", message, exit=ENVIRONMENT, hint=hint)
    if status == 403:
        message = f"the token does not allow {request}: {reason or 'no reason given'}"
        hint = "give the token the permission to write issues and, for --github-project, projects"
        return ExecplanError("github-forbidden", message, exit=ENVIRONMENT, hint=hint)
    if status == 404:
        message = f"GitHub finds nothing for {request}"
        hint = "check the name; GitHub also says this if the token must not see it"
        return ExecplanError("github-not-found", message, exit=INPUT, hint=hint)
    if status < 400:
        message = f"GitHub answered {request} with a redirect ({status}), which is not followed: the token is only for one host"
        return ExecplanError("github-rejected", message, exit=INPUT, hint="use the repository's current name")
    if status < 500:
        message = f"GitHub rejected {request} ({status}): {reason or 'no reason given'}"
        hint = "see what would be sent: execplan sync github --offline --json"
        return ExecplanError("github-rejected", message, exit=INPUT, hint=hint)
    return unavailable_error(f"GitHub can't answer {request} now ({status})")


def rate_limit_error(seconds: float, request: str) -> ExecplanError:
    """Return the error for a limit that lasts for more seconds than it is reasonable to wait."""
    message = f"GitHub's rate limit stopped {request}; it ends in {format_duration(seconds)}"
    hint = "run the same command again then; it continues with what is missing"
    return ExecplanError("github-rate-limit", message, exit=BUSY, hint=hint)


def unavailable_error(message: str) -> ExecplanError:
    """Return the error for a server that can't be reached or gives no usable answer."""
    hint = "check the network and GITHUB_API_URL, then run the same command again; it continues with what is missing"
    return ExecplanError("github-unavailable", message, exit=ENVIRONMENT, hint=hint)


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
