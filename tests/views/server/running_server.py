"""A server in a process of its own, and requests to it over real sockets."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from tests import processes
from tests.conftest import Folder, copy_from_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PLAN_PAGE = "/plans/2026-01-01_parser.html"
LIMIT = 30.0
"""Seconds after which an answer, an event or the end of the process is missing."""


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    text: str

    def field(self, name: str) -> str:
        """The value of the first form field with a name."""
        for tag in re.findall(r"<input[^>]*>", self.text):
            if f'name="{name}"' in tag:
                return str(re.findall(r'value="([^"]*)"', tag)[0])
        raise AssertionError(f"no field {name} in {self.text}")


class RunningServer:
    """`execplan serve`, started in a folder."""

    def __init__(self, folder: Folder, *arguments: str) -> None:
        self.folder = folder
        self.process = folder.start(*(arguments or ("serve", "--port", "0")), "--json")
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode() if self.process.stderr else ""
        self.document: dict[str, Any] = json.loads(line)
        self.data: dict[str, Any] = self.document["data"]
        self.url: str = self.data["url"]
        self.port: int = self.data["port"]
        self.host = f"127.0.0.1:{self.port}"

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Reply:
        """Send one request; `headers` replace the usual ones."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            fields = {
                "Host": self.host,
                **({} if body is None else {"Content-Length": str(len(body))}),
                **(headers or {}),
            }
            for name, value in fields.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            text = response.read().decode()
            return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, text)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """Get a page."""
        return self.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, fields: dict[str, str], headers: dict[str, str] | None = None) -> Reply:
        """Send a form as a browser does from a page of the server."""
        usual = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": f"http://{self.host}",
            "Sec-Fetch-Site": "same-origin",
            "Sec-Fetch-Mode": "navigate",
        }
        return self.request("POST", path, urlencode(fields).encode(), {**usual, **(headers or {})})

    def edit(self, action: str, page: str = PLAN_PAGE, **fields: str) -> Reply:
        """Send a form of a plan's page, with the token and the digest that the page has now."""
        shown = self.get(page)
        form = {"token": shown.field("token"), "digest": shown.field("digest"), "action": action}
        return self.post(page, {**form, **fields})

    def events(self) -> EventReader:
        """Open the stream of events."""
        return EventReader(self)

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str, float]:
        """Send a signal: the exit status, what was printed to standard error, and the seconds until the end."""
        begun = time.monotonic()
        self.process.send_signal(number)
        _, trouble = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, trouble.decode(), time.monotonic() - begun

    def threads(self) -> int:
        """The number of threads of the process."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.findall(r"^Threads:\s*(\d+)", file.read(), re.MULTILINE)[0])


class EventReader:
    """An open page that waits for events."""

    def __init__(self, server: RunningServer) -> None:
        self._socket = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
        self._socket.sendall(f"GET /events HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        self._file = self._socket.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        while self._file.readline().strip():
            pass

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name and the data of each event until the stream ends."""
        name = ""
        for line in self._file:
            text = line.decode().strip()
            if text.startswith("event: "):
                name = text.removeprefix("event: ")
            elif text.startswith("data: "):
                yield name, json.loads(text.removeprefix("data: "))

    def close(self) -> None:
        """Close the page."""
        self._file.close()
        self._socket.close()


def settle(events: Iterator[tuple[str, dict[str, Any]]]) -> str:
    """Read the events that a page gets when it connects, and return the ID of the server's start."""
    assert next(events)[0] == "start"
    name, data = next(events)  # files are read only while a page is open, so anything may have changed before
    assert (name, data["pages"]) == ("change", None)
    start: str = data["start"]
    return start


def serve_repository(create: Callable[[Folder], None], path: Path) -> Iterator[RunningServer]:
    """Yield a server of the repository that a function creates; it ends afterward."""
    copy_from_template(create, path)
    server = RunningServer(Folder(path))
    processes.keep(server.process)
    yield server
    processes.end(server.process)
