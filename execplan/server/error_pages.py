"""Pages about errors: what happened, why, and what to do next; never a traceback."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from execplan import errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.errors import ExecplanError
    from execplan.server.request_guard import Rejection

_STATUS_BY_EXIT = {
    errors.CHECK_FAILED: 409,
    errors.USAGE: 400,
    errors.INPUT: 400,
    errors.CONFLICT: 409,
    errors.BUSY: 503,
    errors.ENVIRONMENT: 503,
    errors.POLICY: 403,
}
"""HTTP status of an error by its exit status."""
_STATUS_HINTS = {
    404: ("This page does not exist.", "The plan may have been renamed, archived or removed. Look for it on the board."),
    405: ("This page can't be used like this.", "Open a page, or submit a form."),
    413: ("This text is too large.", "Write it in an editor: execplan edit"),
}


def error_page(error: ExecplanError) -> HTMLResponse:
    """Return the page about an error of an edit or of a plan."""
    status = 404 if error.code == "no-such-plan" else _STATUS_BY_EXIT.get(error.exit, 500)
    return _page(status, error.message, error.hint, error.candidates)


def rejection_page(rejection: Rejection) -> HTMLResponse:
    """Return the page about a rejected request."""
    return _page(rejection.status, rejection.message, rejection.hint)


def status_page(status: int) -> HTMLResponse:
    """Return the page about an HTTP status."""
    message, hint = _STATUS_HINTS.get(status, (HTTPStatus(status).description or HTTPStatus(status).phrase, ""))
    return _page(status, message, hint)


def bug_page(report: str | None) -> HTMLResponse:
    """Return the page about a bug in execplan; `report` is the path of its report."""
    hint = f"Please send the report in {report}." if report else "The report could not be written."
    return _page(500, "Internal error (a bug in execplan).", hint)


def _page(status: int, message: str, hint: str, details: Sequence[str] = ()) -> HTMLResponse:
    title = escape(f"{status} {HTTPStatus(status).phrase}")
    lines = "".join([f"<li>{escape(line)}</li>" for line in details])
    content = f"<h1>{title}</h1><p>{escape(message)}</p><ul>{lines}</ul><p>{escape(hint)}</p><p><a href='/'>Board</a></p>"
    return HTMLResponse(f'<!doctype html><html lang="en"><title>{title}</title><main>{content}</main></html>', status)
