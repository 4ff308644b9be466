"""The supervisor's start of a program in its own session, within limits that the kernel enforces."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

LINUX: Final = sys.platform == "linux"
HANGUP, INTERRUPT, QUIT, KILL, PIPE, TERM, FILE_SIZE = 1, 2, 3, 9, 13, 15, 25
"""Signal numbers that Linux and macOS share; importing their names takes 5 ms."""
_DEFAULT, _IGNORE = 0, 1
_SUBREAPER, _DEATH_SIGNAL, _DUMPABLE = 36, 1, 4
"""Option numbers for calls of prctl(2)."""
_MISSING, _NOT_A_PROGRAM = 127, 126
"""Exit statuses of a program that could not be started, as in a shell."""
_FOLDER_ERROR_OFFSET = 1000
"""Offset added to the number of an error that concerns the working directory."""
_THREADS_PER_PROCESS = 8
"""Threads allowed for each process of a step: the kernel's process limit applies to a user and counts threads."""
_libc = ctypes.CDLL(None, use_errno=True)
_libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)


def ignore_stop_signals() -> None:
    """Ignore SIGHUP, SIGINT and SIGTERM, so that only execplan stops this process."""
    for signal in (HANGUP, INTERRUPT, TERM):
        _libc.signal(signal, _IGNORE)


def become_subreaper() -> None:
    """Make this process the parent of its orphaned descendants."""
    if LINUX:
        _libc.prctl(_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent_pid: int) -> None:
    """Have this process killed as soon as its parent ends."""
    if LINUX:
        _libc.prctl(_DEATH_SIGNAL, KILL, 0, 0, 0)
        if os.getppid() != parent_pid:
            os._exit(1)


def deny_inspection() -> None:
    """Prevent descendants from inspecting or tracing this process, its memory and its open files."""
    if LINUX:
        _libc.prctl(_DUMPABLE, 0, 0, 0, 0)


def start_program(spec: dict[str, Any]) -> tuple[int, int]:
    """Start a program in its own session, within the limits in `spec` if it has any.

    Returns the process ID, and the error number for `start_failure_report` if the program could not be started.
    """
    read_end, write_end = os.pipe()
    parent_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _become_program(spec, parent_pid)
        except OSError as error:
            os.write(write_end, b"%d" % (error.errno or errno.EINVAL))
        finally:
            os._exit(_MISSING)
    os.close(write_end)
    error_number = int(os.read(read_end, 16) or 0)
    os.close(read_end)
    if error_number:
        os.waitpid(pid, 0)
    return pid, error_number


def _become_program(spec: dict[str, Any], parent_pid: int) -> None:
    """Turn this process into the program. Raises OSError."""
    os.setsid()
    join_namespaces(spec.get("network", ()))
    if LINUX:
        _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # otherwise the program would not own its /proc/self
    die_with_parent(parent_pid)
    for signal in (HANGUP, INTERRUPT, QUIT, PIPE, TERM, FILE_SIZE):
        _libc.signal(signal, _DEFAULT)
    stdin_handle = _open_stdin(spec)
    os.dup2(stdin_handle, 0)
    if stdin_handle:
        os.close(stdin_handle)
    if "file" in spec:
        _apply_limits(spec)
    try:
        os.chdir(spec["cwd"])
    except OSError as error:
        raise OSError(_FOLDER_ERROR_OFFSET + (error.errno or 0), "") from None
    _execute(spec["argv"], spec["env"])


def join_namespaces(handles: Sequence[int]) -> None:
    """Move this process into the namespaces with these handles, in order, and close the handles. Raises OSError."""
    for handle in handles:
        if _libc.setns(handle, 0):
            raise OSError(ctypes.get_errno() or errno.EPERM, "")
        os.close(handle)


def _open_stdin(spec: dict[str, Any]) -> int:
    """Open the standard input: empty, or an unnamed file so that no writer waits for a program that does not read.

    Raises OSError.
    """
    if not (data := memoryview(spec.get("given", b""))):
        return os.open(os.devnull, os.O_RDONLY)
    if LINUX:
        handle = os.memfd_create("given")
    else:
        path = f"{spec['marks']}.given"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.unlink(path)
    while data:
        data = data[os.write(handle, data) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _apply_limits(spec: dict[str, Any]) -> None:
    """Set the limits that the kernel enforces.

    There is no limit for memory: address space and data size include reserved memory, of which Node.js, Java, Go and
    all sanitizers take much more than they use. If memory runs out between two checks, the kernel kills this process
    first.
    """
    _lower_limit(resource.RLIMIT_CORE, 0)
    _lower_limit(resource.RLIMIT_FSIZE, spec["file"])
    try:
        with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(b"500")
        with open("/proc/loadavg", "rb", buffering=0) as file:
            threads = int(file.read(100).split()[3].partition(b"/")[2])
        _lower_limit(resource.RLIMIT_NPROC, threads + _THREADS_PER_PROCESS * spec["processes"])
    except (OSError, ValueError, IndexError):
        pass  # no /proc: only the supervisor's checks enforce the limits


def _lower_limit(limit: int, maximum: int) -> None:
    hard_limit = resource.getrlimit(limit)[1]
    maximum = maximum if hard_limit == resource.RLIM_INFINITY else min(maximum, hard_limit)
    resource.setrlimit(limit, (maximum, maximum))


def _execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Execute a program given by path or found in PATH. Raises OSError."""
    program = argv[0]
    if b"/" in program:
        os.execve(program, argv, env)  # noqa: S606 - without a shell is how it is meant
    last_error: OSError = FileNotFoundError(errno.ENOENT, "")
    for folder in env.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve(os.path.join(folder or b".", program), argv, env)  # noqa: S606 - as above
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            last_error = error
    raise last_error


def start_failure_report(spec: dict[str, Any], error_number: int) -> dict[str, Any]:
    """Return the report for a program that could not be started."""
    if error_number > _FOLDER_ERROR_OFFSET:
        folder, why = os.fsdecode(spec["cwd"]), os.strerror(error_number - _FOLDER_ERROR_OFFSET).lower()
        return failure_report(_NOT_A_PROGRAM, f"it can't run in {folder}: {why}")
    name = os.fsdecode(spec["argv"][0])
    is_missing = error_number in (errno.ENOENT, errno.ENOTDIR)
    if is_missing and "/" in name and os.path.isfile(os.path.join(os.fsdecode(spec["cwd"]), name)):
        return failure_report(_MISSING, f"{name} can't be started: the interpreter on its first line is not found")
    if is_missing:
        return failure_report(_MISSING, f"program not found: {name}")
    return failure_report(_NOT_A_PROGRAM, f"{name} can't be started: {os.strerror(error_number).lower()}")


def failure_report(exit_code: int | None, reason: str) -> dict[str, Any]:
    """Return the report for a command that could not run."""
    return {"exit": exit_code, "signal": None, "cause": "error", "reason": reason}
