"""Starting and stopping the server."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS, DENIED_COMMANDS
from execplan.views.server.change_feed import MAX_SUBSCRIBERS
from tests.views.server.running_server import LIMIT, PLAN_PAGE, RunningServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Folder


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_open_pages(server: RunningServer, number: int, status: int) -> None:
    readers = [server.events() for _ in range(5)]
    for reader in readers:
        next(iter(reader))
    half = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
    half.sendall(f"POST {PLAN_PAGE} HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: 10\r\n\r\n".encode())
    exit_status, trouble, _ = server.stop(number)
    assert exit_status == status
    assert "Traceback" not in trouble
    for reader in readers:
        assert [name for name, _ in reader if name != "change"] == []
        reader.close()
    half.close()


def test_a_page_that_opens_while_it_stops_gets_no_answer_and_no_delay(server: RunningServer) -> None:
    """A connection can be accepted after those that the server knows have been told to end."""
    for _ in range(4):
        each = RunningServer(server.folder)
        opener = _PageOpener(each)
        opener.start()
        opener.has_opened.wait(LIMIT)
        each.stop()
        opener.join(LIMIT)
        assert set(opener.read_statuses()) <= {b"200", b""}


class _PageOpener(threading.Thread):
    """A thread that opens streams of events, about one in each millisecond, until the server doesn't listen any more."""

    def __init__(self, server: RunningServer) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._connections: list[socket.socket] = []
        self.has_opened = threading.Event()

    def run(self) -> None:
        request = f"GET /events HTTP/1.1\r\nHost: {self._server.host}\r\n\r\n".encode()
        with contextlib.suppress(ConnectionError):
            while len(self._connections) < MAX_SUBSCRIBERS:
                connection = socket.create_connection(("127.0.0.1", self._server.port), timeout=LIMIT)
                self._connections.append(connection)
                connection.sendall(request)
                self.has_opened.set()
                time.sleep(0.001)

    def read_statuses(self) -> Iterator[bytes]:
        """Close the connections, and yield the status of each; empty if it was closed without an answer."""
        for connection in self._connections:
            with connection, contextlib.suppress(ConnectionError):
                yield connection.recv(12)[9:]


def test_the_port_can_be_used_again_at_once(server: RunningServer) -> None:
    reader = server.events()
    next(iter(reader))
    server.stop()
    again = RunningServer(server.folder, "serve", "--port", str(server.port))
    assert again.get("/").status == 200
    reader.close()


def test_a_port_in_use_is_an_error_with_a_free_one(server: RunningServer) -> None:
    result = server.folder.run("serve", "--port", str(server.port))
    assert result.exit == 6
    assert "Traceback" not in result.err
    hint = result.err.partition("hint: use another port: ")[2].split()
    assert hint[:3] == ["execplan", "serve", "--port"]
    assert int(hint[3]) > server.port
    assert server.folder.run(*hint[1:], "--dry-run").exit == 0


def test_two_servers_serve_one_project(server: RunningServer) -> None:
    other = RunningServer(server.folder)
    assert other.port != server.port
    assert server.edit("done", task="2").status == 303
    assert other.edit("done", task="3").status == 303
    assert server.folder.ok("show")["counts"]["open"] == 0


def test_it_listens_on_this_machine_only(server: RunningServer) -> None:
    assert server.data == {
        "url": f"http://127.0.0.1:{server.port}/",
        "host": "127.0.0.1",
        "port": server.port,
        "loopback": True,
        "root": str(server.folder.path),
    }
    assert server.document["warnings"] == []
    with open("/proc/net/tcp", encoding="ascii") as file:
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    assert f"0100007F:{server.port:04X}" in listening
    assert f"00000000:{server.port:04X}" not in listening


def test_another_address_is_a_warning(repo: Folder) -> None:
    repo.plan()
    server = RunningServer(repo, "serve", "--port", "0", "--host", "0.0.0.0")
    (warning,) = server.document["warnings"]
    assert "every machine" in warning
    assert "edit plans in your name" in warning
    assert server.get("/").status == 200
    assert server.get("/", Host="attacker.example").status == 403


@pytest.mark.parametrize("host", ["no-such-name.invalid", "203.0.113.1", "a b", "x" * 300])
def test_an_address_of_another_machine_is_an_error(repo: Folder, host: str) -> None:
    repo.plan()
    result = repo.run("serve", "--port", "0", "--host", host, "--dry-run")
    assert result.exit == 3
    assert "--host" in result.err


@pytest.mark.exhaustive
def test_connections_without_a_request_are_closed(server: RunningServer) -> None:
    """More of them than the server takes; a page that waits for changes stays open."""
    reader = server.events()
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) for _ in range(260)]
    silent[0].sendall(b"GET / HTTP/1.1\r\nHost:")
    for connection in silent:
        while connection.recv(1024):
            pass
        connection.close()
    assert server.get("/").status == 200
    server.folder.ok("done", "2")
    assert next(iter(reader))[0] == "start"
    reader.close()


def test_bugs_are_reported_without_a_traceback_in_the_page(repo: Folder) -> None:
    """A page whose rendering raises an unexpected exception, in a server whose code a test has changed."""
    repo.plan()
    code = (
        "import sys; from execplan.views.server.live_pages import LivePages; from execplan.cli.main import main\n"
        "def render(self, page): raise ZeroDivisionError('canary')\n"
        "LivePages.render = render; sys.argv = ['execplan', 'serve', '--port', '0', '--json']; sys.exit(main())"
    )
    folder = _CodeFolder(repo, code)
    server = RunningServer(folder)
    reply = server.get("/")
    assert reply.status == 500
    assert "canary" not in reply.text
    assert "Traceback" not in reply.text
    assert reply.headers["x-content-type-options"] == "nosniff"
    (report,) = (repo.path.parent / "state-home/execplan/reports").iterdir()
    assert "canary" in report.read_text()
    assert str(report) in reply.text
    assert server.stop()[0] == 0


def _CodeFolder(repo: Folder, code: str) -> Folder:  # noqa: N802
    """A folder whose `start` runs other code."""
    from tests import processes
    from tests.conftest import Folder as FolderClass

    class CodeFolder(FolderClass):
        """Starts Python with the code."""

        def start(self, *arguments: str) -> subprocess.Popen[bytes]:
            return processes.start(
                [sys.executable, "-c", code],
                cwd=self.path,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    return CodeFolder(repo.path)


def test_a_missing_package_is_named(repo: Folder) -> None:
    repo.plan()
    code = (
        "import sys, importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'uvicorn' else find(name, *rest)\n"
        "from execplan.cli.main import main; sys.argv = ['execplan', 'serve', '--json']; sys.exit(main())"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=LIMIT
    )
    error = json.loads(completed.stdout)["error"]
    assert (completed.returncode, error["code"]) == (6, "no-web")
    assert "[web]" in error["hint"]


def test_an_agent_under_guard_may_not_start_it() -> None:
    assert "serve" in DENIED_COMMANDS
    assert "serve" not in ALLOWED_COMMANDS
