"""Runs of execplan commands for tools: each in a process of its own, with its document as the result.

A process has its own working directory and variables, so that calls for several projects can run at the same time, and
it can be stopped if a call is canceled.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar, cast

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.implied_plan import IGNORE_VARIABLE
from execplan.core.secrets.redaction import Redactor

Value = TypeVar("Value")

Document = dict[str, Any]
"""An `execplan/1` document: `ok`, `data`, `error`, `warnings` and `next`, as a command prints it with `--json`."""


async def run_command(
    root: str, arguments: Sequence[str], *, stdin: str = "", agent: str | None = None, as_text: bool = False
) -> Document:
    """Run a command for the project at `root` and return its document, of success or of an error.

    With `as_text`, the data is the text for people, if there is no error. Secrets are redacted. Canceling the call ends
    the process.
    """
    status, output, messages = await _run_process(
        [arguments[0], "-C", root, *(() if as_text else ("--json",)), *arguments[1:]], stdin, agent
    )
    if as_text and status:
        return await run_command(root, arguments, stdin=stdin, agent=agent)
    if as_text:
        return redact(make_document(arguments[0], {"text": output}, warnings=messages.splitlines()))
    try:
        document: Document = redact(json.loads(output))
    except ValueError:
        message = f"execplan {arguments[0]} ended with status {status} and printed no document"
        return error_document(arguments[0], ExecplanError("bug", message, hint=messages[-2000:] or "try it again"))
    return document


def redact(value: Value) -> Value:
    """Return a document or a text for an agent without secrets."""
    return cast("Value", _redactor().redact_value(value))


@cache
def _redactor() -> Redactor:
    from execplan.core.secrets.redaction import Redactor

    return Redactor(os.environ, os.environ)  # of variables, only those whose names mark secrets


async def _run_process(arguments: Sequence[str], stdin: str, agent: str | None) -> tuple[int, str, str]:
    """Run execplan, and return its exit status, output and messages."""
    environment = {name: value for name, value in os.environ.items() if name != "EXECPLAN_PLAN"}
    environment[IGNORE_VARIABLE] = "1"
    if agent:
        environment["EXECPLAN_AGENT"] = agent
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "execplan", *arguments, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    )  # -P: modules in the working directory are not imported
    try:
        output, messages = await process.communicate(stdin.encode("utf-8", "surrogatepass"))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    return process.returncode or 0, output.decode(errors="replace"), messages.decode(errors="replace")


def make_document(kind: str, data: Document | None, warnings: Sequence[str] = ()) -> Document:
    """Return the document of a success, as a command prints it."""
    fields = {"schema": "execplan/1", "kind": kind, "ok": True, "data": data}
    return {**fields, "error": None, "warnings": list(warnings), "next": []}


def error_document(kind: str, error: ExecplanError) -> Document:
    """Return the document of an error, as a command prints it."""
    fields = {"code": error.code, "exit": error.exit, "message": error.message, "hint": error.hint}
    return {**make_document(kind, None), "ok": False, "error": {**fields, "candidates": list(error.candidates)}}
