"""Notification command from the user's settings, run when a run ends or waits: an email, a bell, a chat message."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from execplan.execution import states

if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_state import Question
    from execplan.execution.policy import Policy
    from execplan.execution.run_record import Record

SECONDS: Final = 10.0
"""Time limit of the command in seconds. After that it is killed, with everything that it started in its session."""
_MAX_ERROR_LENGTH = 200


def notify(
    policy: Policy, run_paths: RunPaths, record: Record, question: Question | None, redaction: Redactor
) -> tuple[str, ...]:
    """Run the policy's notification command with a run's result or question; return failures as warnings.

    The command gets the summary as JSON on standard input, and the main values in environment variables. No shell
    parses it and no sandbox restricts it: it comes from the user's own settings.
    """
    if not policy.notify.strip():
        return ()
    redacted_summary = redaction.redact_value(build_summary(run_paths, record, question))
    try:
        problem = _run_command(
            shlex.split(policy.notify),
            run_paths.project.root,
            json.dumps(redacted_summary, ensure_ascii=False),
            _environment_variables(run_paths, record),
        )
    except ValueError as error:
        problem = f"it can't be parsed: {error}"
    except OSError as error:
        problem = os.strerror(error.errno or 0).lower()
    return (redaction.redact_text(f"the `notify` command in your settings failed: {problem}"),) if problem else ()


def build_summary(run_paths: RunPaths, record: Record, question: Question | None) -> dict[str, Any]:
    """Build the summary of a run that the notification command gets."""
    by_status: dict[str, list[str]] = {}
    for step in record.steps:
        by_status.setdefault(step.status, []).append(step.id)
    return {
        "schema": "execplan/1",
        "kind": "notice",
        "run": record.run_id,
        "plan": record.plan_id,
        "status": record.status,
        "question": {"why": question.why, "step": question.step or None, "words": question.words} if question else None,
        "started": record.started,
        "ended": record.ended,
        "duration_s": record.duration_s,
        "steps": by_status,
        "reasons": {step.id: step.reason for step in record.steps if step.status == states.FAILED and step.reason},
        "resources": record.resources.model_dump(),
        "record": run_paths.project.display_path(run_paths.record),
    }


def _environment_variables(run_paths: RunPaths, record: Record) -> dict[str, str]:
    """Return the variables that are added to the user's environment for the notification command."""
    return {
        "EXECPLAN_RUN_ID": record.run_id,
        "EXECPLAN_RUN_PLAN": record.plan_id,
        "EXECPLAN_RUN_STATUS": record.status,
        "EXECPLAN_RUN_FOLDER": run_paths.folder,
    }


def _run_command(argv: list[str], cwd: str, input_text: str, variables: dict[str, str]) -> str:
    """Run a command to its end and return why it failed, or an empty string. Raises OSError if it cannot be started."""
    with (
        TemporaryFile() as error_file,
        subprocess.Popen(  # noqa: S603 - the user's own settings name it, and no shell reads it
            argv,
            cwd=cwd,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=error_file,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.communicate(input_text.encode("utf-8", "backslashreplace"), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _kill(process)
            return f"it took more than {SECONDS:g} seconds"
        except BaseException:
            _kill(process)
            raise
        if process.returncode == 0:
            return ""
        error_file.seek(0)
        error_line = error_file.read(1 << 16).decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"exit {process.returncode}" + (f": {error_line[:_MAX_ERROR_LENGTH]}" if error_line else "")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
