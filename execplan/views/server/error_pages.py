"""Pages about errors and delays: what happened, why, and what to do next; never a traceback."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from execplan.core import errors
from execplan.views.server import page_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.errors import ExecplanError
    from execplan.views.server.live_pages import LivePages
    from execplan.views.server.live_project import LivePlan
    from execplan.views.server.page_edits import PageEdit
    from execplan.views.server.request_guard import Rejection

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
_STATUS_BY_CODE = {"no-such-plan": 404, "form-too-large": 413}
"""HTTP status of an error by its code, where its exit status does not tell."""
_HINTS = {"bad-character": "go back to the plan and remove the character"}
"""Hints for people in a browser, in place of those for the terminal, by the code of the error."""
_STATUS_TEXTS = {
    404: (
        "There is no such page",
        "The plan may have been renamed, archived or removed. Look for it on the board or in the archive.",
    ),
    405: ("This page can't be used like this", "Open a page, or submit a form of a plan's page."),
}


class ErrorPages:
    """The pages about errors and delays, in the layout of the other pages."""

    def __init__(self, pages: LivePages) -> None:
        self._pages = pages

    def error_page(self, error: ExecplanError) -> HTMLResponse:
        """Return the page about an error of an edit or of the project."""
        return self._page(_error_status(error), "Error", _error_paragraphs(error))

    def edit_error_page(self, error: ExecplanError, fields: Mapping[str, str], page: str) -> HTMLResponse:
        """Return the page about an edit that was not accepted, with what was entered and a link to the plan's page."""
        html = self._pages.render_error("Not written", _error_paragraphs(error), page_edits.entered_texts(fields), page)
        return HTMLResponse(html, _error_status(error))

    def missing_plan_page(self, fields: Mapping[str, str]) -> HTMLResponse:
        """Return the page about an edit of a plan that has no page anymore, with what was entered."""
        texts = page_edits.entered_texts(fields)
        return HTMLResponse(self._pages.render_error("Not written", [_STATUS_TEXTS[404][1]], texts), 404)

    def conflict_page(self, error: ExecplanError, plan: LivePlan, edit: PageEdit, page: str) -> HTMLResponse:
        """Return the page about an edit of a plan that has changed; it shows the changes and offers the edit again."""
        return HTMLResponse(self._pages.render_conflict(plan, edit, page, error), 409)

    def rejection_page(self, rejection: Rejection) -> HTMLResponse:
        """Return the page about a rejected request; it contains no token, because another site may read it."""
        return self._page(
            rejection.status, "Request rejected", (_sentence(rejection.message), _sentence(rejection.hint))
        )

    def status_page(self, status: int) -> HTMLResponse:
        """Return the page about an HTTP status."""
        title, text = _STATUS_TEXTS.get(status, (HTTPStatus(status).phrase, HTTPStatus(status).description))
        return self._page(status, title, (text,))

    def loading_page(self, plan_count: int) -> HTMLResponse:
        """Return the page that a browser shows while another one is made; the browser asks again every second."""
        response = self._page(200, "Loading", (f"Reading {plan_count:,} plans. This page appears when that is done.",))
        response.headers["Refresh"] = "1"
        return response

    def bug_page(self, report: str | None) -> HTMLResponse:
        """Return the page about a bug in execplan; `report` is the path of its report."""
        text = f"Please send the report in {report}." if report else "The report could not be written."
        return self._page(500, "Internal error", ("This is a bug in execplan.", text))

    def _page(self, status: int, title: str, paragraphs: Sequence[str]) -> HTMLResponse:
        return HTMLResponse(self._pages.render_error(title, [text for text in paragraphs if text]), status)


def _error_status(error: ExecplanError) -> int:
    return _STATUS_BY_CODE.get(error.code) or _STATUS_BY_EXIT.get(error.exit, 500)


def _error_paragraphs(error: ExecplanError) -> list[str]:
    """Return an error's message, details and hint as paragraphs of a page."""
    hint = _HINTS.get(error.code, error.hint)
    return [text for text in (_sentence(error.message), *error.candidates, _sentence(hint)) if text]


def _sentence(text: str) -> str:
    """Return a message of the terminal as a sentence; a command at its end gets no full stop."""
    if not text:
        return ""
    is_complete = text[-1] in ".!?:" or ": execplan " in text
    return text[0].upper() + text[1:] + ("" if is_complete else ".")
