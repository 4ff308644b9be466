"""What other sites, other machines and damaged clients can't do, over real sockets."""

from __future__ import annotations

import re
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.responses import Response

from execplan.views.server.page_edits import MAX_BODY_BYTES
from execplan.views.server.request_guard import RequestGuard
from tests.views.server.running_server import LIMIT, PLAN_PAGE, RunningServer

NAMES = ("localhost", "127.0.0.1", "::1")


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "[::1]:{port}", "localhost:9000"]
)
def test_its_own_names_are_answered(shared_server: RunningServer, host: str) -> None:
    assert shared_server.get("/", Host=host.format(port=shared_server.port)).status == 200


@pytest.mark.parametrize(
    "host",
    ["attacker.example:{port}", "127.0.0.1.attacker.example", "localhost.", "10.0.0.7", "localhost:x", "[::1", ""],
)
def test_a_rebound_name_is_rejected(shared_server: RunningServer, host: str) -> None:
    """A site whose name resolves to this machine could otherwise read the pages and their token."""
    for path in ("/", PLAN_PAGE, "/events", "/assets/site.css", "/none"):
        reply = shared_server.get(path, Host=host.format(port=shared_server.port))
        assert reply.status == 403
        assert "token" not in reply.text
        assert "Build the parser" not in reply.text


@given(st.text(st.characters(codec="ascii", exclude_characters="\0\r\n")))
def test_no_other_host_passes(host: str) -> None:
    guard = RequestGuard(_no_app, NAMES, lambda rejection: Response(), any_address=False)
    name = re.sub(r":\d*$", "", host.lower())
    expected = name in ("localhost", "127.0.0.1", "[::1]")
    assert (guard.check("GET", Headers({"host": host})) is None) == expected


def test_an_address_passes_where_every_machine_may_connect() -> None:
    guard = RequestGuard(_no_app, NAMES, lambda rejection: Response(), any_address=True)
    assert guard.check("GET", Headers({"host": "192.168.1.7:8017"})) is None
    assert guard.check("GET", Headers({"host": "attacker.example:8017"})) is not None


async def _no_app(*_: object) -> None:
    """An application that is never called."""


@pytest.mark.parametrize(
    "origin", ["https://attacker.example", "null", "http://localhost:3000", "http://127.0.0.1:1", ""]
)
def test_a_form_of_another_site_is_rejected(shared_server: RunningServer, origin: str) -> None:
    before = shared_server.folder.path.joinpath(".agent/execplans/2026-01-01_parser.md").read_bytes()
    page = shared_server.get(PLAN_PAGE)
    fields = {"token": page.field("token"), "digest": page.field("digest"), "action": "done", "task": "2"}
    assert shared_server.post(PLAN_PAGE, fields, {"Origin": origin}).status == 403
    assert shared_server.folder.path.joinpath(".agent/execplans/2026-01-01_parser.md").read_bytes() == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_gets_no_part_of_a_page(shared_server: RunningServer, site: str) -> None:
    for mode in ("no-cors", "cors", "websocket"):
        assert shared_server.get(PLAN_PAGE, Sec_Fetch_Site=site, Sec_Fetch_Mode=mode).status == 403
    assert (
        shared_server.get(PLAN_PAGE, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200
    )  # a link is no attack
    assert shared_server.post(PLAN_PAGE, {}, {"Sec-Fetch-Site": site}).status == 403


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "é"])
def test_a_wrong_token_writes_nothing(shared_server: RunningServer, token: str) -> None:
    reply = shared_server.edit("done", task="2", token=token)
    assert reply.status == 403
    assert "nothing was written" in reply.text
    assert "[x] Build" not in shared_server.folder.path.joinpath(".agent/execplans/2026-01-01_parser.md").read_text()


def test_each_start_has_a_token_of_its_own(server: RunningServer) -> None:
    other = RunningServer(server.folder)
    tokens = [each.get(PLAN_PAGE).field("token") for each in (server, other)]
    assert len(set(tokens)) == 2
    assert all(len(token) >= 32 for token in tokens)
    assert other.edit("done", task="2", token=tokens[0]).status == 403
    assert other.edit("done", task="2").status == 303


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_rejected(shared_server: RunningServer, method: str) -> None:
    for path in ("/", PLAN_PAGE, "/events"):
        reply = shared_server.request(method, path)
        assert reply.status == 405
        assert reply.headers["allow"] == "GET, HEAD, POST"


def test_only_plans_take_forms(shared_server: RunningServer) -> None:
    for path in ("/", "/index.html", "/events", "/decisions.html", "/assets/site.css"):
        assert shared_server.post(path, {}).status in (404, 405)


def test_head_sends_no_body(shared_server: RunningServer) -> None:
    for path in ("/", PLAN_PAGE, "/events"):
        reply = shared_server.request("HEAD", path)
        assert (reply.status, reply.text) == (200, "")


@pytest.mark.parametrize("path", ["/", PLAN_PAGE, "/none", "/plans/none.html", "/events?x"])
def test_every_response_has_the_security_headers(shared_server: RunningServer, path: str) -> None:
    for reply in (
        shared_server.request("HEAD", path),
        shared_server.request("PUT", path),
        shared_server.get(path, Host="x"),
    ):
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"
        assert reply.headers["referrer-policy"] == "same-origin"
        assert "server" not in reply.headers


def test_a_large_form_is_rejected(shared_server: RunningServer) -> None:
    reply = shared_server.edit("add", text="x" * MAX_BODY_BYTES)
    assert reply.status == 413
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-type"].startswith("text/html")
    assert "The text is too large: a form can send 128 KiB; nothing was written." in reply.text
    assert f'<a href="{PLAN_PAGE}" data-plan-page>Back to the plan</a>' in reply.text


def test_a_large_form_of_unknown_length_is_rejected(shared_server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", shared_server.port), timeout=LIMIT) as client:
        head = f"POST {PLAN_PAGE} HTTP/1.1\r\nHost: {shared_server.host}\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
        client.sendall(head.encode())
        answer = b""
        try:
            for _ in range(64):
                client.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        except OSError:
            pass
        try:
            answer = client.recv(4096)
        except OSError:
            return  # closed: nothing more is read
    assert answer.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"&&&",
        b"token=a&token=b",
        b"%ff=%ff",
        b"a" * 1000,
        "&".join(f"f{number}=" for number in range(50)).encode(),
        b"\xff\xfe",
    ],
)
def test_a_damaged_form_is_an_error(shared_server: RunningServer, body: bytes) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{shared_server.host}"}
    assert shared_server.request("POST", PLAN_PAGE, body, headers).status in (400, 403)
    headers["Content-Type"] = "multipart/form-data; boundary=x"
    assert shared_server.request("POST", PLAN_PAGE, body, headers).status == 400


@pytest.mark.parametrize(
    "path",
    [
        "/../README.md",
        "/..%2fREADME.md",
        "/%2e%2e/README.md",
        "/plans/../../../README.md",
        "/plans/..%2f..%2f..%2fREADME.md",
        "/plans/%2e%2e%2f%2e%2e%2f2026-01-01_parser.md",
        "/files/../README.md",
        "/files/%2fetc%2fpasswd",
        "/files//etc/passwd",
        "/files/2026-01-01_parser/..%2f..%2f2026-01-01_parser.md",
        "/assets/../base.html",
        "/assets/..%2f..%2fPLANS.md",
        "//etc/passwd",
        "/plans/2026-01-01_parser.html%00",
        "/plans/2026-01-01_parser",
        "/" + "a" * 8000,
        "/%ff%fe",
    ],
)
def test_no_path_leads_to_another_file(shared_server: RunningServer, path: str) -> None:
    reply = shared_server.get(path)
    assert reply.status == 404
    assert "root:" not in reply.text
    assert "A project" not in reply.text


def test_headers_that_are_too_long_are_rejected(shared_server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", shared_server.port), timeout=LIMIT) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {shared_server.host}\r\n".encode())
        try:
            for _ in range(1000):
                client.sendall(b"x" * 1000)
        except OSError:
            pass  # closed: nothing more is read
        else:
            assert client.recv(100).startswith(b"HTTP/1.1 400")
    assert shared_server.get("/").status == 200
