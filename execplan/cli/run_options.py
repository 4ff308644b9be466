"""The options of commands that run steps: how many at the same time, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from execplan.execution.engine.executors.executor_choice import MAX_PARALLEL_STEPS


def jobs_option(description: str, *, default: int | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--jobs N`, with this description in the help."""
    number = click.IntRange(1, MAX_PARALLEL_STEPS)
    return click.option("--jobs", type=number, default=default, metavar="N", help=description)


def _check_executor(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    if text is None:
        return ""
    from execplan.execution.engine.executors.executor_address import parse_executor

    return parse_executor(text).text


executor_option = click.option(
    "--executor",
    metavar="EXECUTOR",
    callback=_check_executor,
    help="Run commands with declared inputs and outputs on workers: dask for this machine, dask://HOST:PORT for a cluster.",
)
"""Adds `--executor`, the text of an address for `open_executor`."""
