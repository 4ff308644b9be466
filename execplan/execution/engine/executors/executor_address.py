"""Addresses of executors on the command line: `dask` for workers of this machine, `dask://HOST:PORT` for a cluster."""

from __future__ import annotations

from typing import Final

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

LOCAL: Final = "dask"
_SCHEME: Final = "dask://"


class ExecutorAddress(NamedTuple):
    """The address of an executor."""

    text: str
    """As on the command line."""
    host: str = ""
    """Host of the scheduler; empty for workers that are started on this machine."""
    port: int = 0

    @property
    def is_local(self) -> bool:
        """Whether workers are started on this machine for the run."""
        return not self.host


def parse_executor(text: str) -> ExecutorAddress:
    """Return the address in a value of `--executor`. Raises ExecplanError."""
    if text == LOCAL:
        return ExecutorAddress(text)
    host, _, port = text.removeprefix(_SCHEME).rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    is_port = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536
    if not text.startswith(_SCHEME) or not is_port or not host or set(host) & set("/@[] \t?#"):
        raise ExecplanError(
            "bad-executor",
            f"{text!r} is not an executor",
            hint="use dask for workers on this machine, or dask://HOST:PORT for the scheduler of a cluster",
        )
    return ExecutorAddress(text, host, int(port))


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its name or address alone; other names are not resolved."""
    if host == "localhost":
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def worker_name(host: str, address: str) -> str:
    """Return the name of a worker for people and records, from what it calls its host and its address in Dask."""
    shown_host = "".join([char for char in host[:64] if char.isalnum() or char in "-._"])
    return f"{shown_host} {address.partition('://')[2] or address}".strip()


def is_exposed(address: str) -> bool:
    """Return whether data for a worker's address, such as `tcp://HOST:PORT`, leaves this machine unencrypted."""
    scheme, _, rest = address.partition("://")
    return scheme != "tls" and not (scheme == "tcp" and is_loopback(rest.rpartition(":")[0]))
