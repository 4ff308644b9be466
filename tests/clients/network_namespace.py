"""A process in a network namespace of its own, in which only the loopback interface is up: nothing that it starts reaches a network."""

from __future__ import annotations

import ctypes
import fcntl
import os
import pickle
import socket
import struct
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def run_isolated(function: Callable[[], Any]) -> Any:
    """Call a function in a forked process with its own network, and return what it returns, which must be picklable.

    Raises RuntimeError with the traceback if the function raises.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        try:
            _enter_namespace()
            outcome = ("returned", function())
        except BaseException:  # noqa: BLE001 - the parent reports it
            outcome = ("raised", traceback.format_exc())
        try:
            with os.fdopen(writes, "wb") as pipe:
                pickle.dump(outcome, pipe)
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    kind, value = pickle.loads(data)
    if kind == "raised":
        raise RuntimeError(value)
    return value


def _enter_namespace() -> None:
    """Enter a new network namespace, as root or in a user namespace in which this user keeps its number."""
    user, group, libc = os.getuid(), os.getgid(), ctypes.CDLL(None, use_errno=True)
    is_root = user == 0
    if libc.unshare(_CLONE_NEWNET | (0 if is_root else _CLONE_NEWUSER)):
        raise OSError(ctypes.get_errno(), "unshare")
    if not is_root:
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(content)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", name, flags | _IFF_UP))
