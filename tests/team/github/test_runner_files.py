"""Outputs and summaries are appended to the runner's files, and no value can set another output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execplan.core.errors import ExecplanError
from execplan.team.github import workflow_run


def test_outputs_are_lines_of_json(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier=1\n")
    hostile = "a.md\nerrors=0\r\x85\u2028é\udcff"
    workflow_run.write_outputs({workflow_run.OUTPUT: str(file)}, {"errors": 2, "plans": [hostile]})
    earlier, errors, plans = file.read_text().split("\n")[:-1]
    assert (earlier, errors) == ("earlier=1", "errors=2")
    assert plans.isascii()
    assert json.loads(plans.removeprefix("plans=")) == [hostile]


def test_a_summary_is_appended(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    environ = {workflow_run.SUMMARY: str(file)}
    assert workflow_run.free_summary_bytes(environ) == workflow_run.MAX_SUMMARY_BYTES
    workflow_run.write_summary(environ, "é\n")
    workflow_run.write_summary(environ, "b\n")
    assert file.read_text("utf-8") == "é\nb\n"
    assert workflow_run.free_summary_bytes(environ) == workflow_run.MAX_SUMMARY_BYTES - 5


def test_outside_of_a_workflow_nothing_is_written(tmp_path: Path) -> None:
    workflow_run.write_outputs({}, {"errors": 1})
    workflow_run.write_summary({workflow_run.SUMMARY: ""}, "a")


def test_a_file_that_cant_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExecplanError) as caught:
        workflow_run.write_summary({workflow_run.SUMMARY: str(tmp_path / "none" / "summary")}, "a")
    assert caught.value.hint
