"""`lint --fix` where the disk fails for a moment."""

from __future__ import annotations

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
from execplan.linter.checking.plan_fix import fix_plan
from tests.conftest import Folder
from tests.plans import CLEAN


def test_a_plan_that_can_not_be_read_is_not_passed_over(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is judged it may be readable again, and nobody would hear that it was not mended."""
    path = repo.plan(CLEAN.replace("- [x]", "- [X]"))
    project, ref = plan_selection.select_plan(str(repo.path), "parser")

    def broken(*arguments: object) -> bytes:
        raise ExecplanError("io-error", "a broken disk")

    with monkeypatch.context() as once:
        once.setattr(plan_store, "read_bytes", broken)
        with pytest.raises(ExecplanError, match="a broken disk"):
            fix_plan(CheckTarget(project, ref, "parser"), CheckOptions(), WriteOptions(), include_unsafe=False)
    assert (
        fix_plan(CheckTarget(project, ref, "parser"), CheckOptions(), WriteOptions(), include_unsafe=False) is not None
    )
    assert path.read_text() == CLEAN
