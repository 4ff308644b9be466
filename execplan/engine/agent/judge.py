"""What an agent says of a step, checked where there is something to check it with: whatever it says, the checks decide."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.clock import now
from execplan.engine.agent import changes
from execplan.engine.commands.ended import Ended
from execplan.engine.entries import Checks, Performed
from execplan.engine.steps.acted import ERROR, Acted
from execplan.engine.steps.checks import EXPECTATION, Checked, check
from execplan.engine.steps.named import declared, is_command
from execplan.engine.steps.perform import Opened, outside
from execplan.engine.steps.write import planned
from execplan.execution.evaluation.outcome import ImpossibleError
from execplan.execution.model import Type
from execplan.execution.world import ABSENT, FILE, normalize_path
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.engine.agent.changes import Seen
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.course import Attempt, Course
    from execplan.engine.steps.bench import Bench
    from execplan.execution.model import Step
    from execplan.execution.world import State

COMPLETED = "completed"
FAILED = "failed"
_ELSEWHERE = "in files that it does not declare"
_EXECUTABLE = 0o100


class Said(NamedTuple):
    """What an agent says of a step."""

    status: str
    """COMPLETED or FAILED."""
    result: str
    """In words."""
    evidence: bytes | None = None
    """The output that it saw."""
    session: str = ""


def judge(bench: Bench, step: Step, attempt: Attempt, course: Course, said: Said) -> Performed:
    """How an attempt ended: as it was said where it failed, else as the checks find it; raises ExecplanError."""
    opened = Opened(bench, step, attempt.number)
    with opened as transcript:
        transcript.note(f"reported as {said.status}: {said.result}")
        if said.evidence is not None:
            transcript.out(said.evidence)
        checked, seen = judged(bench, step, attempt, course, said, transcript)
        if checked.cause:
            transcript.note(f"failed: {checked.reason}")
    ended = checked.test
    return Performed(
        not checked.cause,
        checked.cause,
        checked.reason or said.result,
        seconds=_took(attempt),
        cpu_s=ended.cpu_s if ended is not None else 0.0,
        peak_memory_bytes=ended.peak_memory_bytes if ended is not None else 0,
        changes=seen.changes,
        folders=seen.folders,
        checks=checked.checks if said.status == COMPLETED else Checks(),
        transcript=opened.shown,
        stdout=sha256(said.evidence).hexdigest() if said.evidence is not None else "",
        outside=beyond(bench, step, seen),
    )


def judged(
    bench: Bench, step: Step, attempt: Attempt, course: Course, said: Said, transcript: Transcript | None
) -> tuple[Checked, Seen]:
    """What the checks come to, and what was seen; without a transcript nothing is run and nothing is kept."""
    keep = transcript is not None
    seen = changes.look(bench, step, attempt.before, course, keep=keep)
    if said.status == FAILED:
        return Checked("exit" if is_command(step) and step.type is not Type.TOOL else ERROR, said.result), seen
    wrong = _unplanned(bench, step, _first(step, attempt, course))
    acted = Acted(ended=_ended(said), changes=seen.changes, folders=seen.folders)
    if wrong:
        return Checked(EXPECTATION, wrong), seen
    checked = check(bench, step, attempt.number, acted, transcript)
    again = checked.test is not None  # its test may have changed what it wrote
    return checked, changes.look(bench, step, attempt.before, course, keep=keep) if again else seen


def beyond(bench: Bench, step: Step, seen: Seen) -> str:
    """What of its effects nobody here can take back, in words."""
    unknown = f"what was at {', '.join(seen.unknown[:3])} before" if seen.unknown else ""
    if step.type is Type.TOOL:
        return "; ".join(filter(None, [f"what {step.tool} did besides", unknown]))
    if is_command(step):
        return "; ".join(filter(None, [outside(bench._replace(sandbox=None), step, _ELSEWHERE), unknown]))
    tested = outside(bench, step, _ELSEWHERE) if step.validation.test_after is not None else ""
    return "; ".join(filter(None, [tested, unknown]))


def _first(step: Step, attempt: Attempt, course: Course) -> dict[str, State]:
    """How the paths of a step were before its first attempt: what failed before this one has left them as it did."""
    every = [*[each for each in course.attempts.get(step.id, ()) if not each.retaken], attempt]
    first = {**attempt.before, **every[0].before}
    return {**course.expected, **first}


def _unplanned(bench: Bench, step: Step, before: Mapping[str, State]) -> str:
    """How what is there differs from what the plan says to the byte, or nothing where it says nothing so exact."""
    if step.type is Type.CREATE:
        return _other(bench, normalize_path(step.target or "..") or "", (step.content or "").encode(), None)
    if step.type is Type.DELETE:
        path = normalize_path(step.target or "..") or ""
        return f"{path} is there still" if bench.ground.state(path).kind != ABSENT else ""
    if step.type not in (Type.MODIFY, Type.REFACTOR):
        return ""
    if lost(bench, step, before):
        return ""
    try:
        made = planned(bench, step, before)
    except ImpossibleError as why:
        return f"it can't have been done as planned: {why}"
    return next(filter(None, [_other(bench, each.path, each.after, each.mode) for each, _ in made]), "")


def lost(bench: Bench, step: Step, before: Mapping[str, State]) -> list[str]:
    """The files that a step changes and whose bytes before are not kept: it was done before anybody looked."""
    found = [(path, before.get(path)) for path in declared(step)]
    return [path for path, at in found if at is not None and at.kind == FILE and not bench.store.has(at.sha256)]


def _other(bench: Bench, path: str, wanted: bytes | None, mode: int | None) -> str:
    """How a path is not as planned, or nothing."""
    found = bench.ground.state(path)
    if wanted is None:
        return f"{path} is there still" if found.kind != ABSENT else ""
    if found.kind != FILE:
        return f"{path} is no file" if found.kind != ABSENT else f"{path} is not there"
    if found.sha256 != sha256(wanted).hexdigest():
        return f"{path} is not as planned: {_where(wanted, bench.ground.read(path))}"
    if mode is not None and (mode ^ found.mode) & _EXECUTABLE:
        return f"{path} is {'not ' if mode & _EXECUTABLE else ''}executable, unlike planned"
    return ""


def _where(wanted: bytes, found: bytes) -> str:
    """The first line that differs."""
    if found == wanted.removesuffix(b"\n") or wanted == found.removesuffix(b"\n"):
        return (
            "it ends with a newline that is not planned"
            if len(found) > len(wanted)
            else "the newline at its end is missing"
        )
    one, two = wanted.split(b"\n"), found.split(b"\n")
    same = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return f"it differs in line {same + 1}"


def _ended(said: Said) -> Ended | None:
    """The output that an agent saw, as that of a command whose end nobody here has seen."""
    if said.evidence is None:
        return None
    return Ended(None, None, "", "", 0.0, 0.0, 0, said.evidence, sha256(said.evidence).hexdigest(), whole=True)


def _took(attempt: Attempt) -> float:
    """Seconds since the attempt was begun, by the clock."""
    if not attempt.began:
        return 0.0
    began = datetime.strptime(attempt.began, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return max(0.0, (now() - began).total_seconds())
