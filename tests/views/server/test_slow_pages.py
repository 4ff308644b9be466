"""Pages for which many plans are read: a browser shows that it waits, and then the page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from execplan.core.edits.plan_writer import WriteOptions
from execplan.views.server import plan_server
from execplan.views.server.plan_server import PlanServer
from tests.in_process_repository import LOW, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def _get(application: Any, path: str) -> tuple[dict[str, str], str]:
    """Return the headers and the text of a page."""
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
    await application({**scope, "root_path": "", "scheme": "http", "server": ("localhost", 80)}, receive, send)
    names = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return names, b"".join([message.get("body", b"") for message in messages]).decode()


def test_a_slow_page_is_preceded_by_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(LOW)
    monkeypatch.setattr(plan_server, "_MANY_PLANS", 1)
    monkeypatch.setattr(plan_server, "_PATIENCE_SECONDS", 0.0)
    server = PlanServer(str(desk.path), WriteOptions(), lambda error: None)
    server.prepare(lambda count, total: None)
    application = server.application({"localhost"}, any_address=False)

    async def load() -> list[tuple[dict[str, str], str]]:
        replies = [await _get(application, "/decisions.html")]
        while "refresh" in replies[-1][0]:
            await asyncio.sleep(0.01)
            replies.append(await _get(application, "/decisions.html"))
        return [*replies, await _get(application, "/")]

    first, *_, last, board = asyncio.run(load())
    assert first[0]["refresh"] == "1"
    assert "Reading 1 plans." in first[1]
    assert "etag" in last[0]
    assert "<h1>Decisions</h1>" in last[1]
    assert "<h1>Plans</h1>" in board[1]
