"""Open pages are told about changes: soon, all of them, and without leaks."""

from __future__ import annotations

import socket
import time

from execplan.views.server.change_feed import MAX_SUBSCRIBERS
from tests.plans import CLEAN
from tests.views.server.running_server import EventReader, RunningServer, settle


def test_a_page_hears_of_every_kind_of_change(server: RunningServer) -> None:
    folder = server.folder
    reader = server.events()
    events = iter(reader)
    start = settle(events)
    server.get("/")  # names the pages
    folder.ok("done", "2")
    assert next(events) == ("change", {"start": start, "pages": ["plans/2026-01-01_parser.html"]})
    folder.ok("next", "--claim", "agent-1")
    assert next(events)[1]["pages"] is None
    folder.plan(CLEAN.replace("Build the parser", "Write the docs"), "2026-01-02_docs")
    assert next(events)[1]["pages"] is None  # nobody has seen its page yet
    server.get("/")
    path = folder.path / ".agent/execplans/2026-01-02_docs.md"
    with path.open("a") as file:  # an editor that writes in place
        file.write("\nOne more line.\n")
    assert next(events)[1]["pages"] == ["plans/2026-01-02_docs.html"]
    path.unlink()
    assert next(events)[0] == "change"
    reader.close()


def test_pages_that_do_not_read_hold_nothing_up(server: RunningServer) -> None:
    stalled = [server.events() for _ in range(5)]
    reader = server.events()
    events = iter(reader)
    assert next(events)[0] == "start"
    for number in range(3):
        server.folder.ok("add", f"Task {number}")
        while next(events)[0] != "change":
            pass
    for each in (*stalled, reader):
        each.close()
    assert server.get("/").status == 200


def test_closed_pages_leave_nothing(server: RunningServer) -> None:
    first = server.events()
    next(iter(first))
    server.get("/")
    threads, files = server.threads(), open_files(server)
    for _ in range(3):
        readers = [server.events() for _ in range(30)]
        assert {reader.status for reader in readers} == {200}
        for reader in readers:
            reader.close()
    deadline = time.monotonic() + 20
    while open_files(server) > files + 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert open_files(server) <= files + 2
    assert server.threads() <= threads + 4  # the pool of the event loop, which grows to its size and no further
    first.close()


def open_files(server: RunningServer) -> int:
    """The number of open files of the process."""
    import os

    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_too_many_pages_are_rejected_and_others_still_work(server: RunningServer) -> None:
    readers = [server.events() for _ in range(MAX_SUBSCRIBERS)]
    for reader in readers:
        next(iter(reader))
    extra = server.events()
    assert extra.status == 503
    assert server.get("/").status == 200
    for reader in (*readers, extra):
        reader.close()


def test_connections_that_say_nothing_do_not_block_others(server: RunningServer) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
    for connection in silent:
        connection.sendall(b"GET / HTTP/1.1\r\n")
    assert server.get("/").status == 200
    for connection in silent:
        connection.close()


def test_events_survive_broken_settings(server: RunningServer) -> None:
    reader: EventReader = server.events()
    events = iter(reader)
    settle(events)
    settings = server.folder.write("pyproject.toml", "[tool.execplan]\nnonsense = 1\n")
    assert next(events)[1]["pages"] is None
    reply = server.get("/")
    assert reply.status in (400, 503)
    assert "nonsense" in reply.text
    settings.unlink()
    assert next(events)[1]["pages"] is None
    assert server.get("/").status == 200
    reader.close()


def test_a_page_that_has_not_changed_is_not_sent_again(server: RunningServer) -> None:
    page = server.get("/")
    version = page.headers["etag"]
    assert f"data-version={version}" in page.text
    unchanged = server.get("/", If_None_Match=version)
    assert (unchanged.status, unchanged.text) == (304, "")
    server.folder.ok("done", "2")
    changed = server.get("/", If_None_Match=version)
    assert changed.status == 200
    assert changed.headers["etag"] != version
