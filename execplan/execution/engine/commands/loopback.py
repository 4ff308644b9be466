"""A network of its own for the commands of a run in the sandbox: only a loopback, on which they reach its services.

Each command in the sandbox has a network namespace of its own, so that it reaches nothing. A service and the steps after
it share one instead. `main` creates it in a process that then ends: the namespace exists as long as a file descriptor
refers to it.
"""

from __future__ import annotations

import ctypes
import os

from execplan.execution.engine.commands.command_spec import python_argv

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2). An unprivileged user can own a network only in a user namespace of its own."""
_SET_FLAGS = 0x8914
"""SIOCSIFFLAGS: sets the flags of a network interface."""
_UP = 0x41
"""IFF_UP and IFF_RUNNING."""


class Loopback:
    """A network namespace whose loopback is up."""

    def __init__(self) -> None:
        """Create the namespace and its loopback. Raises OSError if the system does not allow it."""
        import subprocess

        process = subprocess.Popen(  # noqa: S603 - our own
            python_argv("loopback"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
        )
        self.handles: tuple[int, ...] = ()
        """File descriptors of the user namespace and of the network namespace, in the order in which they are joined."""
        with process:
            assert process.stdout is not None
            error = int(process.stdout.readline() or b"1")
            if error:
                raise OSError(error, os.strerror(error))
            self.handles = tuple([os.open(f"/proc/{process.pid}/ns/{name}", os.O_RDONLY) for name in ("user", "net")])

    def __del__(self) -> None:
        for handle in self.handles:
            os.close(handle)


def main() -> None:
    """Create the namespaces, print 0 or the number of an error, and keep them until standard input is closed."""
    try:
        _create()
    except OSError as error:
        os.write(1, b"%d\n" % (error.errno or 1))
        return
    os.write(1, b"0\n")
    os.read(0, 1)


def _create() -> None:
    import fcntl
    import socket
    import struct

    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
        fcntl.ioctl(interface, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
