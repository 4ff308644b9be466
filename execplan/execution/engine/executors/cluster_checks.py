"""Checks of a cluster before anything is sent to it: the same versions everywhere, and encryption off this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from execplan.core.errors import ExecplanError
from execplan.execution.engine.executors.executor_address import LOCAL, ExecutorAddress, is_exposed, is_loopback
from execplan.execution.engine.executors.worker_task import describe_process

_VERSIONS = {"execplan": "execplan", "schema": "the format of tickets", "python": "Python"}
"""What must be the same everywhere, with its name for messages."""
_ALLOWED_FAILURES = "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0"
_START_HINT = f"start them: {_ALLOWED_FAILURES} dask scheduler; dask worker HOST:PORT"


def check_processes(name: str, descriptions: Mapping[str, Any], *, is_worker: bool = False) -> None:
    """Check the scheduler, or workers by their addresses.

    Raises ExecplanError if one can't run execplan, has another version, or would get data unencrypted.
    """
    own = describe_process()
    for process, description in descriptions.items():
        if isinstance(description, Exception):
            raise _unusable_error(name, f"{process} can't run execplan: {description}")
        for key, label in _VERSIONS.items():
            if description.get(key) != own[key]:
                message = f"{process} has another version of {label}: {description.get(key)}, not {own[key]}"
                raise _unusable_error(name, message)
        if is_worker and is_exposed(process):
            raise _exposed_error(f"the worker {process} would get files unencrypted")
        if description.get("allowed_failures", 0):
            raise ExecplanError(
                "incompatible-executor",
                f"the scheduler of {name} runs a task again after its worker was lost, so a step could run twice",
                hint=f"start the scheduler with {_ALLOWED_FAILURES}",
            )


def scheduler_address(address: ExecutorAddress, *, has_certificates: bool, requires_tls: bool) -> str:
    """Return Dask's address of a scheduler: with TLS, or without it on this machine unless that is required.

    Raises ExecplanError if it is on another machine and Dask's settings have no certificates for TLS.
    """
    host = f"[{address.host}]" if ":" in address.host else address.host
    if is_loopback(address.host) and not requires_tls:
        return f"tcp://{host}:{address.port}"
    if not has_certificates:
        raise _exposed_error(f"{address.text} is not on this machine, and Dask's settings have no certificates for TLS")
    return f"tls://{host}:{address.port}"


def connection_error(name: str, error: Exception) -> ExecplanError:
    """Return the error for a scheduler that can't be reached."""
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    hint = "run the plan without --executor" if name == LOCAL else _START_HINT
    return ExecplanError("no-executor", f"no connection to {name}: {reason}", hint=hint)


def connection_lost_error(name: str) -> ExecplanError:
    """Return the error for a scheduler that has been reached and is not reached anymore."""
    message = f"the connection to {name} was lost: its scheduler has ended or does not answer"
    hint = "start a scheduler and workers there" if name != LOCAL else ""
    return ExecplanError("no-executor", message, hint=hint)


def absent_workers_error(name: str, seconds: float) -> ExecplanError:
    """Return the error for a scheduler that had no worker in a number of seconds."""
    message = f"{name} has no workers; none has registered in {seconds:g} seconds"
    hint = "run the plan without --executor" if name == LOCAL else "start workers: dask worker HOST:PORT"
    return ExecplanError("no-executor", message, hint=hint)


def no_workers_error(name: str, reasons: Mapping[str, str]) -> ExecplanError:
    """Return the error for a cluster without a worker that can take a step; `reasons` say why by the address."""
    return ExecplanError(
        "no-executor",
        f"{name} has no worker that can take the step",
        hint="start workers",
        candidates=[f"{address} {reason}" for address, reason in sorted(reasons.items())],
    )


def _unusable_error(name: str, message: str) -> ExecplanError:
    return ExecplanError(
        "incompatible-executor",
        f"{name} can't be used: {message}",
        hint="install the same versions of execplan and Python for the scheduler and all workers",
    )


def _exposed_error(message: str) -> ExecplanError:
    return ExecplanError(
        "executor-without-tls",
        f"{message}; files and commands must be encrypted on their way to other machines",
        hint="set distributed.comm.tls in Dask's settings, and start the scheduler and the workers with TLS",
    )
