"""The command that is told when a run ends: its words, what it gets, and that its failure fails nothing."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from pathlib import Path

import pytest

from execplan.core.project import project_discovery
from execplan.core.secrets.redaction import Redactor
from execplan.execution.engine import notification
from execplan.execution.engine.run_records import record_builder
from execplan.execution.engine.run_state import Question
from execplan.execution.policy import Policy
from tests.conftest import Folder
from tests.execution.engine.fakes import run_paths_in
from tests.execution.engine.run_records.test_record_builder import DOCUMENT
from tests.execution.engine.scripted_run import ScriptedRun

SECRET = "tr0ub4dor-and-three"


@pytest.fixture
def recording_program(repo: Folder) -> Path:
    """A program in the repository that writes down what it is told."""
    return repo.write(
        "bell.py",
        "import json, os, sys\n"
        "told = {'argv': sys.argv[1:], 'in': json.load(sys.stdin), 'cwd': os.getcwd(),\n"
        "        'env': {name: value for name, value in os.environ.items() if name.startswith('EXECPLAN_RUN')}}\n"
        "json.dump(told, open('told.json', 'w'))\n",
    )


def rung(repo: Folder, command: str, question: Question | None = None) -> tuple[str, ...]:
    """Tell a command of a run that has failed with a secret in its reason; the warnings."""
    scripted_run = ScriptedRun(DOCUMENT)
    scripted_run.begin()
    scripted_run.intent("make")
    scripted_run.result("make", ok=False, cause="exit", reason=f"it said {SECRET}", exit=1)
    if question is None:
        scripted_run.end("failed")
    run_paths = run_paths_in(str(repo.path / "runs"), scripted_run.run, project_discovery.find(str(repo.path)))
    record = record_builder.build_record(run_paths, DOCUMENT, scripted_run.run_state)
    redaction = Redactor({"MY_TOKEN": SECRET}, ())
    return notification.notify(Policy(notify=command), run_paths, record, question, redaction)


def test_it_is_told_in_words_without_a_shell(repo: Folder, recording_program: Path) -> None:
    assert rung(repo, f"{sys.executable} {recording_program} 'two words' $HOME *") == ()
    received = json.loads((repo.path / "told.json").read_text())
    assert received["argv"] == ["two words", "$HOME", "*"]
    assert received["cwd"] == str(repo.path)
    assert (received["in"]["run"], received["in"]["status"], received["in"]["question"]) == (
        "0001-00000000",
        "failed",
        None,
    )
    assert received["in"]["steps"] == {"failed": ["make"], "pending": ["build", "test", "plain"]}
    assert received["in"]["reasons"] == {"make": "it said [redacted]"}
    assert received["env"] == {
        "EXECPLAN_RUN_ID": "0001-00000000",
        "EXECPLAN_RUN_PLAN": DOCUMENT.plan_id,
        "EXECPLAN_RUN_STATUS": "failed",
        "EXECPLAN_RUN_FOLDER": str(repo.path / "runs"),
    }
    assert SECRET not in json.dumps(received)


def test_it_is_told_what_a_run_waits_for(repo: Folder, recording_program: Path) -> None:
    assert rung(repo, f"{sys.executable} {recording_program}", Question("checkpoint", "", "Go on?")) == ()
    received = json.loads((repo.path / "told.json").read_text())["in"]
    assert (received["status"], received["question"]["why"], received["question"]["step"]) == (
        "in_progress",
        "checkpoint",
        None,
    )


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-program", "no such file or directory"),
        ("'", "it can't be parsed: No closing quotation"),
        (f"{sys.executable} -c 'import sys; sys.exit(\"one\\ntwo {SECRET}\")'", "exit 1: two [redacted]"),
        ("false", "exit 1"),
        ("true", ""),
        ("  ", ""),
    ],
)
def test_its_failure_is_a_warning(repo: Folder, command: str, why: str) -> None:
    messages = rung(repo, command)
    assert [message.partition("failed: ")[2] for message in messages] == ([why] if why else [])


def test_one_that_hangs_is_killed_with_what_it_has_started(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notification.SECONDS == 10
    monkeypatch.setattr(notification, "SECONDS", 0.5)
    script = repo.write("hang.sh", "sleep 60 & echo $! > child\nwait\n")
    (warning,) = rung(repo, f"sh {script}")
    assert "took more than 0.5 seconds" in warning
    child = int((repo.path / "child").read_text())
    for _ in range(100):
        if _is_gone(child):
            return
        time.sleep(0.01)
    assert _is_gone(child)


def test_one_that_reads_nothing_leaves_no_pipe_open(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification, "SECONDS", 0.5)
    monkeypatch.setattr(notification, "build_summary", lambda *_: {"words": "x" * (1 << 20)})
    gc.collect()  # what other tests have left
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (warning,) = rung(repo, "sleep 60")
        gc.collect()
    assert "took more than 0.5 seconds" in warning
    assert [caught_warning.message for caught_warning in caught] == []


def _is_gone(process: int) -> bool:
    """Whether a process has ended, waited for by its parent or not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_one_that_leaves_a_child_behind_is_not_waited_for(repo: Folder) -> None:
    script = repo.write("leave.sh", "sleep 20 >/dev/null & echo $! > child\n")
    assert rung(repo, f"sh {script}") == ()
    os.kill(int((repo.path / "child").read_text()), 9)
