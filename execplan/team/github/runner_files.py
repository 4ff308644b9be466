"""The files of GitHub's runner that a step appends to: its outputs and its summary."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from execplan.core.files import file_access

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

OUTPUT: Final = "GITHUB_OUTPUT"
"""Variable that names the file of the step's outputs."""
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""Variable that names the file of the step's summary."""
WORKSPACE: Final = "GITHUB_WORKSPACE"
"""Variable that names the directory in which the job has its files."""
MAX_SUMMARY_BYTES: Final = 1 << 20
"""GitHub discards the summary of a step if it has more bytes."""


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, object]) -> None:
    """Append outputs as JSON, one on each line; nothing if the runner has no file for them. Raises ExecplanError.

    JSON in ASCII has no line end, so that no value can set another output.
    """
    _append(environ.get(OUTPUT, ""), "".join([f"{name}={json.dumps(value)}\n" for name, value in outputs.items()]))


def free_summary_bytes(environ: Mapping[str, str]) -> int:
    """Return how many bytes the step's summary can still have."""
    try:
        return MAX_SUMMARY_BYTES - os.stat(environ.get(SUMMARY, "")).st_size
    except OSError:
        return MAX_SUMMARY_BYTES


def write_summary(environ: Mapping[str, str], summary: str) -> None:
    """Append to the step's summary; nothing if the runner has no file for it. Raises ExecplanError."""
    _append(environ.get(SUMMARY, ""), summary)


def _append(path: str, text: str) -> None:
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise file_access.file_error(error, path, "write") from None
