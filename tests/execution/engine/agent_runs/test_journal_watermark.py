"""How far a journal had come is told by its mark, or nobody goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.agent_runs import journal_watermark
from tests.execution.engine.fakes import run_paths_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("more", [b"x", b"\0" * 5000], ids=["a byte", "more than is read"])
def test_a_mark_that_has_grown_is_no_mark(tmp_path: Path, more: bytes) -> None:
    run_paths, key = run_paths_in(str(tmp_path)), b"k" * 32
    journal_watermark.write(run_paths, b"{}\n", key)
    journal_watermark.check(run_paths, b"{}\n", key)
    (tmp_path / "journal.mark").write_bytes((tmp_path / "journal.mark").read_bytes() + more)
    with pytest.raises(ExecplanError, match="after a call was allowed"):
        journal_watermark.check(run_paths, b"{}\n", key)
