"""What `report` says: what became of the step, what follows, and which step is up next."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.door import shown
from execplan.cli.running.phrases import changed
from execplan.cli.words import given_bytes
from execplan.engine.entries import change_kind
from execplan.errors import NO, OK, POLICY, ExecplanError
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.agent.reported import ReportOutcome
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def evidence(home: Home, source: str | None) -> bytes | None:
    """The bytes of a file in the repository or in the folder for temporary files, or of standard input for `-`.

    What it says is copied into the evidence of the run, so that nothing else may be named. Raises ExecplanError.
    """
    if source is None or source == "-":
        return given_bytes(source) if source is not None else None
    from execplan.repo.execution import private
    from execplan.repo.execution.protected import protected

    real, root = os.path.realpath(source), os.path.realpath(home.root)
    ours = _within(real, root) and bool(protected(home, os.path.relpath(real, root)))
    ours = ours or any([_within(real, os.path.realpath(each(home))) for each in (private.config, private.state)])
    if ours or not (_within(real, root) or _within(real, os.path.realpath(tempfile.gettempdir()))):
        what = f"{source} is no file of the repository, and none of those that are temporary"
        hint = "name one of these, or give it on standard input: --evidence -"
        raise ExecplanError("evidence-outside", what, exit=POLICY, hint=hint)
    return given_bytes(real)


def _within(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def told(home: Home, ref: Ref, found: ReportOutcome, *, dry_run: bool) -> Answer:
    """The answer: 1 where the step has failed."""
    name = typed(ref.id, home.shown(ref.path))
    lines = list(_dry(found)) if dry_run and not found.already_recorded else list(_lines(found))
    lines += [f"up next: {', '.join([f'{each.number} {each.id}' for each in found.next_steps])}"] if found.next_steps else []
    text = "\n".join([shown(line) for line in lines])
    return Answer(_json(found), text, OK if found.ok else NO, found.warnings, _next(found, name))


def _lines(found: ReportOutcome) -> Iterator[str]:
    name = f"{found.step.number} {found.step.id}"
    if found.already_recorded:
        yield f"{name} is recorded already: {'completed' if found.ok else 'failed'}"
        return
    what = changed(found.changes)
    yield f"completed {name}" + (f": {what}" if what else "") if found.ok else f"failed {name}: {found.reason}"
    if found.task_text:
        yield f"ticked: {found.task_text}"
    if found.recovery is not None:
        yield found.recovery.words
        yield from [f"  {each}" for each in found.recovery.commands]
    if found.status == states.COMPLETED:
        yield f"the run {found.run} is completed"
    if found.finished is not None and found.finished.commit:
        yield f"committed {found.finished.commit[:12]}"


def _dry(found: ReportOutcome) -> Iterator[str]:
    name = f"{found.step.number} {found.step.id}"
    what = changed(found.changes)
    yield f"would record {name} as completed" if found.ok else f"would record {name} as failed: {found.reason}"
    if what:
        yield f"it has {what}"
    if found.untested:
        yield "its test is not run now: that may find more"


def _next(found: ReportOutcome, name: str) -> tuple[str, ...]:
    if found.recovery is not None and found.recovery.commands:
        return found.recovery.commands
    if found.status in states.ENDED_RUN_STATES:
        return f"execplan audit {name}", f"execplan show {name} --run"
    return (f"execplan handoff {name}",)


def _json(found: ReportOutcome) -> dict[str, Any]:
    recovery, performed = found.recovery, found.performed
    return {
        "run": found.run or None,
        "status": found.status,
        "step": {"number": found.step.number, "id": found.step.id, "status": "completed" if found.ok else "failed"},
        "recorded": performed is not None,
        "already": found.already_recorded,
        "reason": found.reason or None,
        "cause": performed.cause or None if performed is not None else None,
        "checks": performed.checks._asdict() if performed is not None else None,
        "tested": not found.untested,
        "changes": [{"path": each.path, "kind": change_kind(each)} for each in found.changes],
        "transcript": performed.transcript or None if performed is not None else None,
        "task": found.task_text or None,
        "recovery": {**recovery._asdict(), "step": recovery.step or None} if recovery is not None else None,
        "next_steps": [each.id for each in found.next_steps],
        "commit": found.finished.commit if found.finished is not None else None,
    }
