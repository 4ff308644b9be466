"""The interactive board in a test: started on a repository, with keys pressed and the screen read as text."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from textual.notifications import Notify

from execplan.cli.board_app.board_app import BoardApp
from execplan.cli.board_app.board_source import BoardSource
from execplan.core.project import project_discovery
from execplan.core.project.project_list import list_projects

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.message import Message
    from textual.pilot import Pilot

_LIMIT = 30
"""Seconds until which something has to come."""


class AppSession:
    """A running board."""

    def __init__(self, app: BoardApp, pilot: Pilot[int], notified: list[str]) -> None:
        self.app = app
        self.pilot = pilot
        self.notified = notified
        """All messages that were shown for some seconds."""

    async def press(self, *keys: str) -> None:
        """Press keys and wait until they are handled."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Press the keys of a text."""
        names = {" ": "space", "/": "slash", ".": "full_stop"}
        await self.press(*[names.get(char, char) for char in text])

    async def until(self, text: str) -> None:
        """Wait until a text is shown; an assertion fails if it never is."""
        await self.until_true(lambda: text in self.screen())

    async def until_true(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; an assertion fails if it never does."""
        begun = time.monotonic()
        while not condition():
            assert time.monotonic() - begun < _LIMIT, self.screen()
            await asyncio.sleep(0.05)
            await self.pilot.pause()

    def screen(self) -> str:
        """The characters on the screen, without colors; empty lines and spaces at the end of lines are left out."""
        lines = ["".join([segment.text for segment in strip]) for strip in self.app.screen._compositor.render_strips()]
        return "\n".join([line.rstrip() for line in lines if line.strip()])


def run_session(
    steps: Callable[[AppSession], Awaitable[Any]],
    size: tuple[int, int] = (120, 30),
    *,
    archived: bool = False,
    projects: Sequence[str] = (),
) -> BoardApp:
    """Start the board of the project in the current directory, or of several; do the steps, and return the application."""
    current = project_discovery.require(os.getcwd())
    source = BoardSource(current, list_projects(projects, current) if projects else None)
    snapshot = source.take_snapshot()
    app = BoardApp(source, source.load(everything=archived)[0], snapshot, everything=archived)

    notified: list[str] = []

    def note(message: Message) -> None:
        if isinstance(message, Notify):
            notified.append(message.notification.message)

    async def main() -> None:
        async with app.run_test(size=size, notifications=True, message_hook=note) as pilot:
            await pilot.pause()
            await steps(AppSession(app, pilot, notified))

    asyncio.run(main())
    return app
