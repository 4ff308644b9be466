"""Opening of the executor that a person has chosen for a run; the libraries of clusters are imported only here."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from execplan.engine.executors.executor_address import parse_executor
from execplan.errors import ENVIRONMENT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.executors.executor import Executor


MAX_JOBS = 64
"""Maximum number of steps that run in parallel."""


def default_jobs(executor: Executor | None) -> int:
    """Return how many steps run at the same time unless a person says it: as many as the workers take."""
    return 1 if executor is None else min(max(executor.slots, 1), MAX_JOBS)


def executor_field(text: str) -> dict[str, str]:
    """Return the field of a journal entry that names the executor; none if all steps run here."""
    return {"executor": text} if text else {}


@contextmanager
def open_executor(text: str) -> Iterator[Executor | None]:
    """Open the executor in a value of `--executor`; None for an empty value. Raises ExecplanError."""
    if not text:
        yield None
        return
    address = parse_executor(text)
    if find_spec("distributed") is None:
        hint = "install it: pip install 'execplan[dask]'"
        raise ExecplanError("no-dask", "Dask is not installed", exit=ENVIRONMENT, hint=hint)
    from execplan.engine.executors.dask_executor import DaskExecutor

    executor = DaskExecutor(address)
    try:
        yield executor
    finally:
        executor.close()
