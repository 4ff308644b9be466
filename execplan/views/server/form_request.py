"""Forms that pages send: their fields, within limits, and the token that proves that this server made the page."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from execplan.core.errors import INPUT, POLICY, ExecplanError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request

MAX_BODY_BYTES = 128 * 1024
"""Maximum size of a form: 9 bytes for each character that the fields of a plan's page accept, and the other fields."""
_MAX_DISCARDED_BYTES = 8 * 1024 * 1024
"""How much of a form that is too large is read: a browser shows an answer only after it has sent the form."""
_DISCARD_SECONDS = 2.0
"""Time for which a form that is too large is read."""
_MAX_FIELDS = 20
_READ_SECONDS = 10.0
"""Time within which a browser must send a form."""
_FORM_TYPE = "application/x-www-form-urlencoded"
TOKEN_FIELD = "token"  # noqa: S105 - the name of a field, no secret


async def read_form(request: Request) -> dict[str, str]:
    """Read the fields of a form.

    Raises ExecplanError if it is not a form, or too large. The caller checks its token.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        message = f"a form of the type {_FORM_TYPE} is required"
        raise ExecplanError("bad-form", message, exit=INPUT, hint="submit a form of the plan's page")
    try:
        async with asyncio.timeout(_READ_SECONDS):
            body = await _read_body(request)
    except TimeoutError:
        message = "the form did not arrive in time; nothing was written"
        raise ExecplanError("bad-form", message, exit=INPUT, hint="submit it again") from None
    return _parse_fields(body)


async def _read_body(request: Request) -> bytes:
    """Read the body of a request; raises ExecplanError if it is too large."""
    body = b""
    chunks = request.stream()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            await _discard(chunks)
            message = f"the text is too large: a form can send {MAX_BODY_BYTES >> 10} KiB; nothing was written"
            raise ExecplanError("form-too-large", message, exit=INPUT, hint="write it in an editor: execplan edit")
    return body


async def _discard(chunks: AsyncIterator[bytes]) -> None:
    """Read what a browser still sends, within limits."""
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for chunk in chunks:
                size += len(chunk)
                if size > _MAX_DISCARDED_BYTES:
                    return


def ensure_token_matches(fields: Mapping[str, str], token: str) -> None:
    """Raise ExecplanError unless the form has the token, which takes the same time for each wrong one."""
    if not hmac.compare_digest(fields.get(TOKEN_FIELD, "").encode(), token.encode()):
        raise ExecplanError(
            "stale-page",
            "this page was made by an earlier start of the server, or by another site; nothing was written",
            exit=POLICY,
            hint="open the plan again, then repeat the edit",
        )


def _parse_fields(body: bytes) -> dict[str, str]:
    """Parse a form; raises ExecplanError if it is malformed or has a field twice."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:  # also UnicodeDecodeError
        pairs = []
    fields = dict(pairs)
    if not pairs or len(fields) != len(pairs):
        message = "this is not a form of a plan's page; nothing was written"
        raise ExecplanError("bad-form", message, exit=INPUT, hint="submit a form of the plan's page")
    return fields
