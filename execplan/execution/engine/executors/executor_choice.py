"""Opening of the executor that a person has chosen for a run; the libraries of clusters are imported only here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.execution.engine.executors.executor import Executor

MAX_PARALLEL_STEPS = 64
"""Maximum number of steps that run in parallel."""
_DASK_EXECUTOR = "execplan.execution.engine.executors.dask_executor:DaskExecutor"
"""What runs commands on the workers of a cluster; few runs need it, and it imports Dask."""


def default_jobs(executor: Executor | None) -> int:
    """Return how many steps run at the same time unless a person says it: as many as the workers take."""
    return 1 if executor is None else min(max(executor.slots, 1), MAX_PARALLEL_STEPS)


def resumed_jobs(executor: Executor | None, begin_fields: Mapping[str, Any]) -> int:
    """Return how many steps a resumed run runs at the same time unless a person says it.

    It is the run's own number, from the entry of its beginning, unless that depended on workers or now does.
    """
    if executor is not None or begin_fields.get("executor"):
        return default_jobs(executor)
    jobs: int = begin_fields["jobs"]
    return jobs


def executor_field(text: str) -> dict[str, str]:
    """Return the field of a journal entry that names the executor; none if all steps run here."""
    return {"executor": text} if text else {}


@contextmanager
def open_executor(text: str) -> Iterator[Executor | None]:
    """Open the executor in a value of `--executor`; None for an empty value. Raises ExecplanError."""
    if not text:
        yield None
        return
    from importlib.util import find_spec

    from execplan.execution.engine.executors.executor_address import parse_executor

    address = parse_executor(text)
    if find_spec("distributed") is None:
        raise ExecplanError("no-dask", "Dask is not installed", hint=features.load(features.EXTRA_HINT)("dask"))
    executor: Executor = features.load(_DASK_EXECUTOR)(address)
    try:
        yield executor
    finally:
        executor.close()
