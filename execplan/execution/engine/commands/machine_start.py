"""Which start of the machine this is: files that were not synced may be lost when it stops, but not before."""

from __future__ import annotations

import sys

_LINUX_PATH = "/proc/sys/kernel/random/boot_id"
_MACOS_NAME = b"kern.bootsessionuuid"


def machine_start() -> bytes:
    """Return an ID that the machine has until it stops; empty if the system has none."""
    if sys.platform == "darwin":
        return _read_sysctl(_MACOS_NAME)
    try:
        with open(_LINUX_PATH, "rb") as file:
            return file.read(64).strip()
    except OSError:
        return b""


def _read_sysctl(name: bytes) -> bytes:
    import ctypes

    value, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    failure = ctypes.CDLL(None).sysctlbyname(name, value, ctypes.byref(size), None, 0)
    return b"" if failure else value.value
