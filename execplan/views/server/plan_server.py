"""The web application: which request gets which page, edit, file or stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import secrets
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from execplan.core.errors import CONFLICT, ExecplanError
from execplan.core.text.text_lines import digest
from execplan.views.server import change_feed, page_edits
from execplan.views.server.change_feed import ChangeFeed
from execplan.views.server.error_pages import ErrorPages
from execplan.views.server.live_pages import EVENTS_URL, LivePages
from execplan.views.server.rendered_pages import RenderedPages
from execplan.views.server.request_guard import RequestGuard
from execplan.views.site.link_resolver import IMAGE_TYPES
from execplan.views.site.page_context import (
    ASSETS_DIRECTORY,
    BOARD_PAGE,
    CHARTS_DIRECTORY,
    CHARTS_PAGE,
    DECISIONS_PAGE,
    FILES_DIRECTORY,
    PLANS_DIRECTORY,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from execplan.core.edits.plan_writer import WriteOptions

_ASSET_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MAX_NOTICES = 100
"""Number of edits whose messages are kept; a browser that never shows the page leaves them."""


_NOTICE_PARAMETER = "notice"
_SLOW_PAGES = (CHARTS_PAGE, DECISIONS_PAGE)
"""Pages for which all plans are read."""

_MANY_PLANS = 200
"""Number of plans from which on a browser shows that it waits for a slow page; they take about two seconds."""

_PATIENCE_SECONDS = 1.0
"""Time after which it does."""

_KEPT_SECONDS = 5.0
"""Time for which a slow page is kept for the browser, which asks for it every second."""

T = TypeVar("T")


def asset_response(path: str, data: bytes | None) -> Response:
    """Return a style sheet, script or icon. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    return Response(data, media_type=_ASSET_TYPES.get(_suffix(path), "application/octet-stream"))


def chart_response(data: bytes | None) -> Response:
    """Return a chart, whose colors are styles inside it. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
    return Response(data, headers=headers, media_type=_ASSET_TYPES[".svg"])


def artifact_response(path: str, data: bytes | None) -> Response:
    """Return an artifact as a download; pages can show images. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    disposition = f"attachment; filename*=utf-8''{quote(os.path.basename(path), safe='', errors='replace')}"
    headers = {"Content-Disposition": disposition, "Content-Security-Policy": "sandbox; default-src 'none'"}
    return Response(data, headers=headers, media_type=IMAGE_TYPES.get(_suffix(path), "text/plain"))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


class Notices:
    """Messages by a random ID, which the address of the next page contains; each is shown once."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[str, ...]] = {}

    def add(self, messages: tuple[str, ...]) -> str:
        """Keep messages and return their ID."""
        notice_id = secrets.token_hex(8)
        self._messages[notice_id] = messages
        while len(self._messages) > _MAX_NOTICES:
            del self._messages[next(iter(self._messages))]
        return notice_id

    def take(self, notice_id: str) -> tuple[str, ...]:
        """Return and forget messages; none if the ID is unknown."""
        return self._messages.pop(notice_id, ())


class _VersionedPage(NamedTuple):
    """A page, and a digest of it that a browser sends to ask whether it has changed."""

    html: str
    version: str


class PlanServer:
    """The pages and edits of the plans of one project."""

    def __init__(self, directory: str, options: WriteOptions, report_bug: Callable[[Exception], str | None]) -> None:
        """Create a server for the project that contains a directory.

        `options` say whether edits are committed. `report_bug` writes a bug report and returns its path, or None.
        """
        self._options = options
        self._report_bug = report_bug
        self._token = secrets.token_urlsafe(32)
        self._start_id = secrets.token_hex(8)
        self._pages = LivePages(directory, self._token)
        self._errors = ErrorPages(self._pages)
        self._notices = Notices()
        self._rendered: RenderedPages[_VersionedPage | None] = RenderedPages(self._in_thread, _SLOW_PAGES)
        self._slow_tasks: dict[str, asyncio.Task[_VersionedPage | None]] = {}
        self._write_lock = asyncio.Lock()
        # Threads get the author that `--as` sets, which is not a global variable.
        self._context = contextvars.copy_context()
        project = self._pages.project
        self.feed = ChangeFeed(project.take_snapshot, project.changed_pages)
        """The changes that open pages wait for."""

    def prepare(self, tick: Callable[[int, int], None]) -> None:
        """Load the plans, so that the first page does not wait; call it before the server starts.

        If the project can't be read, its pages will show why.
        """
        with contextlib.suppress(ExecplanError):
            self._pages.project.prepare(tick)

    def application(self, host_names: Collection[str], *, any_address: bool) -> ASGIApp:
        """Return the application, which answers requests for these names and addresses of this machine only."""
        application = Starlette(
            routes=[
                Route(EVENTS_URL, self._events, methods=["GET"]),
                Route(f"/{ASSETS_DIRECTORY}/{{name:path}}", self._asset, methods=["GET"]),
                Route(f"/{CHARTS_DIRECTORY}/{{name:path}}", self._chart, methods=["GET"]),
                Route(f"/{FILES_DIRECTORY}/{{name:path}}", self._artifact, methods=["GET"]),
                Route(f"/{PLANS_DIRECTORY}/{{name:path}}", self._edit, methods=["POST"]),
                Route("/{path:path}", self._page, methods=["GET"]),
            ],
            exception_handlers={
                ExecplanError: self._error,
                HTTPException: self._http_error,
                ClientDisconnect: self._http_error,
                Exception: self._bug,
            },
            lifespan=self._watch_files,
        )
        # Outermost, so that no response is sent without its headers.
        return RequestGuard(application, host_names, self._errors.rejection_page, any_address=any_address)

    @contextlib.asynccontextmanager
    async def _watch_files(self, application: Starlette) -> AsyncIterator[None]:
        """Watch the project's files while the server runs."""
        task = asyncio.create_task(self.feed.watch())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _page(self, request: Request) -> Response:
        path = request.path_params["path"] or BOARD_PAGE
        notices = self._notices.take(request.query_params.get(_NOTICE_PARAMETER, ""))
        if notices:  # without an ETag, an open page asks for the page without the notices when something changes
            html = await self._rendered.render(partial(self._pages.render, path, notices))
            if html is None:
                raise HTTPException(404)
            return HTMLResponse(html)
        if path in _SLOW_PAGES and self._pages.project.plan_count >= _MANY_PLANS:
            task = self._start_slow_page(path)
            if not (await asyncio.wait({task}, timeout=_PATIENCE_SECONDS))[0]:
                return self._errors.loading_page(self._pages.project.plan_count)
            self._slow_tasks.pop(path, None)
            page = task.result()
        else:
            page = await self._find_page(path)
        if page is None:
            raise HTTPException(404)
        headers = {"ETag": f'"{page.version}"'}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return HTMLResponse(page.html, headers=headers)

    def _start_slow_page(self, path: str) -> asyncio.Task[_VersionedPage | None]:
        """Return the task that makes a page, which several requests wait for; it is kept until one gets the page."""
        task = self._slow_tasks.get(path)
        if task is None:
            task = self._slow_tasks[path] = asyncio.create_task(self._find_page(path))
            task.add_done_callback(lambda ended: self._forget_slow_page(path, ended))
        return task

    def _forget_slow_page(self, path: str, task: asyncio.Task[_VersionedPage | None]) -> None:
        """Forget a page that was made, if nobody asks for it again soon."""
        if not task.cancelled():
            task.exception()  # otherwise asyncio prints an error that nobody has seen
            asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._drop_slow_page, path, task)

    def _drop_slow_page(self, path: str, task: asyncio.Task[_VersionedPage | None]) -> None:
        if self._slow_tasks.get(path) is task:  # a browser may have asked for a newer page meanwhile
            del self._slow_tasks[path]

    async def _find_page(self, path: str) -> _VersionedPage | None:
        """Return a page as it is now; None if there is none."""
        return await self._rendered.get(
            path, partial(self._pages.project.version, path), partial(self._render_versioned, path)
        )

    def _render_versioned(self, path: str) -> _VersionedPage | None:
        html = self._pages.render(path)
        if html is None:
            return None
        version = digest(html.encode())[:32]
        # A script can't read the headers of its own page, and would replace a page that is up to date.
        return _VersionedPage(html.replace("<body ", f'<body data-version="{version}" ', 1), version)

    async def _edit(self, request: Request) -> Response:
        page = f"{PLANS_DIRECTORY}/{request.path_params['name']}"
        fields: dict[str, str] = {}
        try:
            fields = await page_edits.read_form(request)
            page_edits.ensure_token_matches(fields, self._token)
            return await self._make_edit(request, page_edits.parse_edit(fields), page)
        except ExecplanError as error:
            return self._errors.edit_error_page(error, fields, page)

    async def _make_edit(self, request: Request, edit: page_edits.PageEdit, page: str) -> Response:
        plan = await self._in_thread(lambda: self._pages.project.find_plan(page))
        if plan is None:
            return self._errors.missing_plan_page(edit.fields)
        try:
            async with self._write_lock:
                messages = await self._in_thread(
                    lambda: page_edits.apply_edit(plan.project, plan.ref, edit, self._options)
                )
        except ExecplanError as error:
            if error.exit != CONFLICT:
                raise
            return await self._in_thread(partial(self._errors.conflict_page, error, plan, edit, page))
        notice = self._notices.add(messages)
        return RedirectResponse(f"{request.url.path}?{_NOTICE_PARAMETER}={notice}", 303)

    async def _events(self, request: Request) -> Response:
        return change_feed.event_response(request, self.feed, self._start_id)

    async def _asset(self, request: Request) -> Response:
        path = f"{ASSETS_DIRECTORY}/{request.path_params['name']}"
        return asset_response(path, await self._in_thread(lambda: self._pages.read_asset(path)))

    async def _chart(self, request: Request) -> Response:
        return chart_response(self._pages.read_chart(f"{CHARTS_DIRECTORY}/{request.path_params['name']}"))

    async def _artifact(self, request: Request) -> Response:
        path = f"{FILES_DIRECTORY}/{request.path_params['name']}"
        return artifact_response(path, await self._in_thread(lambda: self._pages.read_artifact(path)))

    async def _error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ExecplanError)
        return self._errors.error_page(error)

    async def _http_error(self, request: Request, error: Exception) -> Response:
        return self._errors.status_page(error.status_code if isinstance(error, HTTPException) else 400)

    async def _bug(self, request: Request, error: Exception) -> Response:
        return self._errors.bug_page(await asyncio.to_thread(self._report_bug, error))

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, self._context.copy().run, function)
