"""The web application: which request gets which page, edit, file or stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import secrets
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from execplan.errors import ExecplanError
from execplan.server import error_pages, event_stream, form_request, page_edits
from execplan.server.change_feed import ChangeFeed
from execplan.server.file_watch import take_snapshot
from execplan.server.live_pages import LivePages
from execplan.server.page_cache import PageCache
from execplan.server.request_guard import RequestGuard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from starlette.types import ASGIApp

    from execplan.edits.plan_writer import WriteOptions

BOARD_PAGE = "index.html"
T = TypeVar("T")


class PlanServer:
    """The pages and edits of the plans of one project."""

    def __init__(
        self, directory: str, options: WriteOptions, report_bug: Callable[[Exception], str | None]
    ) -> None:
        """Create a server for the project that contains a directory.

        `options` say whether edits are committed. `report_bug` writes a bug report and returns its path, or None.
        """
        self._options = options
        self._report_bug = report_bug
        self._token = secrets.token_urlsafe(32)
        self._start_id = secrets.token_hex(8)
        self._pages = LivePages(directory, self._token)
        self.feed = ChangeFeed(partial(take_snapshot, directory), self._pages.changed_pages)
        self._cache: PageCache[HTMLResponse | None] = PageCache(self._in_thread)
        self._write_lock = asyncio.Lock()
        # Threads get the author that `--as` sets, which is not a global variable.
        self._context = contextvars.copy_context()

    def application(self, host_names: Collection[str], *, any_address: bool) -> ASGIApp:
        """Return the application, which answers requests for these names and addresses of this machine only."""
        application = Starlette(
            routes=[
                Route("/events", self._events, methods=["GET"]),
                Route("/plans/{name:path}", self._edit, methods=["POST"]),
                Route("/{path:path}", self._page, methods=["GET"]),
            ],
            exception_handlers={
                ExecplanError: self._error,
                HTTPException: self._http_error,
                ClientDisconnect: self._http_error,
                Exception: self._bug,
            },
            lifespan=self._watch_files,
            max_body_size=form_request.MAX_BODY_BYTES,
        )
        # Outermost, so that no response is sent without its headers.
        return RequestGuard(application, host_names, error_pages.rejection_page, any_address=any_address)

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
        response = await self._cache.get(path, partial(self._pages.version, path), partial(self._render, path))
        if response is None:
            raise HTTPException(404)
        return response

    def _render(self, path: str) -> HTMLResponse | None:
        html = self._pages.render(path)
        return HTMLResponse(html) if html is not None else None

    async def _edit(self, request: Request) -> Response:
        fields = await form_request.read_form(request, self._token)
        page = f"plans/{request.path_params['name']}"
        edit = page_edits.parse_edit(fields)
        plan = await self._in_thread(lambda: self._pages.find_plan(page))
        if plan is None:
            raise HTTPException(404)
        async with self._write_lock:
            await self._in_thread(lambda: page_edits.apply_edit(plan.project, plan.ref, edit, self._options))
        return RedirectResponse(request.url.path, 303)

    async def _events(self, request: Request) -> Response:
        return event_stream.event_response(request, self.feed, self._start_id)

    async def _error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ExecplanError)
        return error_pages.error_page(error)

    async def _http_error(self, request: Request, error: Exception) -> Response:
        return error_pages.status_page(error.status_code if isinstance(error, HTTPException) else 400)

    async def _bug(self, request: Request, error: Exception) -> Response:
        path = await asyncio.to_thread(self._report_bug, error)
        return error_pages.bug_page(path)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, self._context.copy().run, function)
