"""Addresses to listen on, and what others can reach."""

from __future__ import annotations

import socket

import pytest

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.views.server import server_process


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_loopback_addresses(host: str) -> None:
    assert server_process.is_loopback(host)
    assert host in server_process.own_host_names(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "203.0.113.1", "10.0.0.1", "no such name"])
def test_addresses_that_others_may_reach(host: str) -> None:
    assert not server_process.is_loopback(host)


def test_urls_that_a_browser_can_open() -> None:
    assert server_process.format_url("127.0.0.1", 8017) == "http://127.0.0.1:8017/"
    assert server_process.format_url("::1", 8017) == "http://[::1]:8017/"
    assert server_process.format_url("0.0.0.0", 8017) == "http://127.0.0.1:8017/"


def test_the_url_for_other_machines_has_the_name_of_this_one() -> None:
    name = socket.gethostname().lower()
    assert server_process.format_network_url("0.0.0.0", 8017) == f"http://{name}:8017/"
    assert name in server_process.own_host_names("0.0.0.0")
    assert server_process.format_network_url("127.0.0.1", 8017) == ""


def test_a_port_in_use_names_the_next_free_one() -> None:
    with server_process.open_listening_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ExecplanError) as caught:
            server_process.open_listening_socket("127.0.0.1", port)
        assert (caught.value.code, caught.value.exit) == ("port-in-use", ENVIRONMENT)
        free_port = int(caught.value.hint.rpartition(" ")[2])
        with server_process.open_listening_socket("127.0.0.1", free_port) as second:
            assert second.getsockname()[1] == free_port > port


def test_no_port_above_the_last_one_is_suggested() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        with pytest.raises(ExecplanError) as caught:
            server_process.open_listening_socket("127.0.0.1", 65535)
    assert caught.value.hint == "execplan serve --port 0"
