"""Addresses of executors, and which of them are on this machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import USAGE, ExecplanError
from execplan.execution.engine.executors.executor_address import (
    ExecutorAddress,
    is_exposed,
    is_loopback,
    parse_executor,
    worker_name,
)


def test_addresses() -> None:
    assert parse_executor("dask").is_local
    assert parse_executor("dask://node:8786") == ExecutorAddress("dask://node:8786", "node", 8786)
    assert parse_executor("dask://[::1]:8786").host == "::1"


@pytest.mark.parametrize(
    "text",
    [
        "", "Dask", "tcp://node:8786", "dask://", "dask://node", "dask://node:", "dask://node:0", "dask://node:65536",
        "dask://node:99999999999", "dask://:8786", "dask://me@node:8786", "dask://node/x:8786", "dask://node:87 86",
    ],
)  # fmt: skip
def test_other_texts(text: str) -> None:
    with pytest.raises(ExecplanError) as raised:
        parse_executor(text)
    assert (raised.value.code, raised.value.exit) == ("bad-executor", USAGE)


@given(st.text())
def test_any_text_is_an_address_or_an_error(text: str) -> None:
    try:
        address = parse_executor(f"dask://{text}")
    except ExecplanError:
        return
    assert address.host
    assert 0 < address.port < 65536
    assert not set(address.host) & set("@/ ")


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("localhost", True), ("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("10.0.0.1", False),
        ("0.0.0.0", False), ("localhost.example", False), ("node", False), ("", False),
    ],
)  # fmt: skip
def test_loopback(host: str, is_here: bool) -> None:
    assert is_loopback(host) is is_here


@pytest.mark.parametrize(
    ("address", "is_readable"),
    [
        ("tcp://127.0.0.1:4000", False), ("tcp://[::1]:4000", False), ("tls://10.0.0.1:4000", False),
        ("tcp://10.0.0.1:4000", True), ("ws://127.0.0.1:4000", True), ("tcp://node:4000", True), ("node", True),
    ],
)  # fmt: skip
def test_exposed_addresses(address: str, is_readable: bool) -> None:
    assert is_exposed(address) is is_readable


def test_the_name_of_a_worker_has_no_control_characters() -> None:
    assert worker_name("no\x1b[31mde\n", "tcp://127.0.0.1:4000") == "no31mde 127.0.0.1:4000"
