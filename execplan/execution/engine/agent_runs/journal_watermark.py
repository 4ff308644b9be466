"""The watermark of an agent's journal: its signed length and digest at the last write, to detect removed entries.

A journal only grows. The audit log has its entries too, but learns of an agent's calls only with the next report.
"""

from __future__ import annotations

import os

from execplan.core.files import file_access
from execplan.core.text.hmac_signature import sign, signatures_match
from execplan.core.text.text_lines import digest
from execplan.execution.engine.journal.journal import altered_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.engine.run_records.run_directories import RunPaths

_SIGNATURE_CONTEXT: Final = b"execplan-mark-1\n"
_LIMIT: Final = 1 << 10


def write(run_paths: RunPaths, data: bytes, key: bytes) -> None:
    """Record the length and digest of a journal. Raises ExecplanError."""
    from execplan.core.files import atomic_files

    body = f"{len(data)} {digest(data)}".encode()
    data = sign(key, _SIGNATURE_CONTEXT + body) + b" " + body
    atomic_files.replace(_watermark_path(run_paths), data, mode=0o600, durable=False)


def check(run_paths: RunPaths, data: bytes, key: bytes) -> None:
    """Raise ExecplanError unless a journal begins with the recorded data."""
    path = _watermark_path(run_paths)
    if not os.path.lexists(path):
        return
    content, length = file_access.read(path, _LIMIT)
    if not length:
        return  # interrupted by a crash of the machine while written: treated as absent
    mac, _, body = content.partition(b" ")
    size, _, expected_digest = body.partition(b" ")
    if (
        not signatures_match(mac, sign(key, _SIGNATURE_CONTEXT + body))
        or not size.isdigit()
        or digest(data[: int(size)]).encode() != expected_digest
    ):
        raise altered_error(
            run_paths.journal, data.count(b"\n"), "lines of it were removed or changed after a call was allowed"
        )


def _watermark_path(run_paths: RunPaths) -> str:
    return os.path.join(run_paths.state, "journal.mark")
