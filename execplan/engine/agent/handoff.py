"""A plan as an agent gets it that is to carry it out: why, what exactly, in which order, how it stands, and how to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.engine.agent import begin, current, open_tasks
from execplan.engine.agent.asked import question_of
from execplan.engine.agent.follow import up_next
from execplan.engine.agent.recovery import recovery
from execplan.engine.agent.reported import schedule_of
from execplan.engine.course import Course
from execplan.engine.entries import REVISED
from execplan.engine.opened import redaction
from execplan.engine.runs import last_begun, summary
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.execution.evaluate import effective_risk
from execplan.execution.permission import find_approver
from execplan.plan import reader
from execplan.plan.outline import PURPOSE
from execplan.repo import shelf
from execplan.repo.execution.current import current as compiled
from execplan.repo.execution.policy import effective
from execplan.text.hidden import visible
from execplan.text.lines import digest

if TYPE_CHECKING:
    from execplan.engine.agent.current import Current
    from execplan.engine.agent.open_tasks import Prose
    from execplan.engine.place import Place
    from execplan.execution.approval import Approval
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Handoff(NamedTuple):
    """What an agent is told."""

    told: dict[str, Any]
    """As `--json` prints it, without secrets."""
    document: ExecutionPlan | None
    """None of a plan that compiles to no step."""
    redacted: frozenset[str]
    """The steps of which a secret was left out."""
    next: tuple[str, ...]
    """Commands that make sense now."""


class _Stands(NamedTuple):
    """How things stand."""

    approval: Approval | None
    """The one that lets its steps be done now."""
    why: tuple[str, ...]
    """Why none does."""


def handoff(home: Home, ref: Ref) -> Handoff:
    """What an agent needs to carry out a plan: its steps; of a plan without written steps its open tasks.

    Writes nothing; raises ExecplanError.
    """
    found = open_tasks.prose(home, ref)
    return _by_tasks(home, ref, found) if found is not None else _by_steps(home, ref)


def _by_tasks(home: Home, ref: Ref, found: Prose) -> Handoff:
    """The open tasks of a plan that nobody has compiled, and that has no step that somebody wrote."""
    data = shelf.open_bytes(home, ref.path)
    plan, document, clean = reader.read(data), found.document, redaction()
    steps = document.steps if document is not None else ()
    tasks = open_tasks.tasks(home, ref, plan, ())
    policy = effective(home)
    course = Course(document) if document is not None else None
    told: dict[str, Any] = {
        "plan": _plan(home, ref, plan, data),
        "mode": "tasks",
        "revision": None,
        "approved": False,
        "approval": _approval(_Stands(None, ())),
        "run": None,
        "reasoning": _reasoning(document, plan),
        "constraints": None,
        "tasks": tasks,
        "sections": open_tasks.sections(plan),
        "steps": [_step(home, ref, None, course, step, policy, None) for step in steps if course is not None],
        "next_steps": [],
        "report": open_tasks.commands(ref),
    }
    if tasks:
        follow: tuple[str, ...] = (f"execplan next {ref.typed}",)
    else:
        follow = (f"execplan show {ref.typed}",)
    return Handoff(seen(clean.value(told)), document, frozenset(), follow)


def _plan(home: Home, ref: Ref, plan: Plan, data: bytes) -> dict[str, Any]:
    return {"id": ref.id, "path": home.shown(ref.path), "title": plan.title, "digest": digest(data)}


def _by_steps(home: Home, ref: Ref) -> Handoff:
    """The steps of a plan, with the run of the agent."""
    policy, known = effective(home), current.last(home, ref)
    stands = _stands(home, ref, known)
    if known is not None and not known.goes_on and stands.approval is not None:
        known = None  # another run is about to begin
    course = known.course if known is not None else Course(compiled(home, ref).document)
    data = shelf.open_bytes(home, ref.path)
    plan = reader.read(data)
    document, schedule = course.document, schedule_of(home, course)
    steps = [_step(home, ref, known, course, step, policy, stands.approval) for step in document.steps]
    clean = redaction()
    shown: Any = clean.value(steps)
    over = course.status in states.ENDED_RUN_STATES
    told = {
        "plan": {**_plan(home, ref, plan, data), "title": seen(clean.value(plan.title))},
        "mode": "steps",
        "revision": document.revision,
        "approved": stands.approval is not None,
        "approval": clean.value(_approval(stands)),
        "run": clean.value(_run(home, ref, known)),
        "reasoning": seen(clean.value(_reasoning(document, plan))),
        "constraints": clean.value(document.constraints.model_dump(mode="json")),
        "tasks": seen(clean.value(open_tasks.tasks(home, ref, plan, document.steps))),
        "sections": [],
        "steps": shown,
        "next_steps": [] if over else [step.id for step in up_next(course, schedule)],
        "report": _how(ref),
    }
    redacted = frozenset([step["id"] for step, seen in zip(steps, shown, strict=True) if step != seen])
    return Handoff(told, document, redacted, _next(ref, stands, known))


def seen(value: Any) -> Any:
    """Plain data in which no text hides a character."""
    if isinstance(value, dict):
        return {name: seen(each) for name, each in value.items()}
    if isinstance(value, list):
        return [seen(each) for each in value]
    return "\n".join([visible(line) for line in value.split("\n")]) if isinstance(value, str) else value


def _stands(home: Home, ref: Ref, known: Current | None) -> _Stands:
    """Whether its steps may be done now, and why not."""
    try:
        place, _ = last_begun(home, ref)
        if place is not None and (known is None or known.place != place):
            found = summary(home, ref, place)
            if found.status in (states.IN_PROGRESS, states.REPLANNING):
                return _Stands(None, (f"the run {place.id} is under way, and no agent's",))
        run = known.place.id if known is not None and known.goes_on else ""
        return _Stands(begin.required(home, ref, run, "").approval, ())
    except ExecplanError as error:
        return _Stands(None, (error.message, *error.candidates))


def _approval(stands: _Stands) -> dict[str, Any]:
    given = stands.approval
    told = {name: getattr(given, name) if given is not None else None for name in ("digest", "approver")}
    how = given.effective_how if given is not None else None
    return {**told, "how": how, "expires": given.expires_at if given is not None else None, "why": list(stands.why)}


def _run(home: Home, ref: Ref, known: Current | None) -> dict[str, Any] | None:
    if known is None:
        return None
    course = known.course
    question = course.question._asdict() if course.question is not None else None
    return {"id": known.place.id, "status": course.status, "session": course.begun["session"], "question": question}


def _reasoning(document: ExecutionPlan | None, plan: Plan) -> dict[str, Any]:
    """Why it is done: the purpose, the intent of the document, and the decisions that hold still."""
    lines: list[str] = []
    for section in plan.sections:
        if section.name == PURPOSE:
            lines = [plan.text.lines[at] for at in range(section.body, section.room) if at not in plan.guidance]
    gone = {each.supersedes for each in plan.decisions if each.supersedes}
    kept = [each for each in plan.decisions if each.text not in gone]
    fields = ("text", "rationale", "date", "author")
    return {
        "purpose": "\n".join(lines).strip() or None,
        "description": document.description if document is not None else plan.title,
        "intent": document.intent.model_dump(mode="json") if document is not None else None,
        "decisions": [{name: getattr(each, name) for name in fields} for each in kept],
    }


def _step(
    home: Home, ref: Ref, known: Current | None, course: Course, step: Step, policy: Policy, given: Approval | None
) -> dict[str, Any]:
    """A step with all that is known of it: the fields of the JSON step, then how it stands."""
    risk = effective_risk(step, policy)
    by = ""
    if given is not None:
        by = find_approver(given.terms(policy.person_from), step.id, risk.level, inferred=step.inferred)
    question = question_of(step, course, policy.checkpoint_interval) if step.confirm else None
    return {
        **step.model_dump(mode="json", by_alias=True),
        "risk": {"level": risk.level, "reasons": list(risk.reasons)},
        "status": course.status_of[step.id],
        "why": course.why.get(step.id) or None,
        "attempts": len(course.attempts.get(step.id, ())),
        "approved_by": by or None,
        "question": question.words if question is not None else None,
        "recovery": _recovery(ref, known.place, course, step) if known is not None else None,
    }


def _recovery(ref: Ref, place: Place, course: Course, step: Step) -> dict[str, Any] | None:
    """What follows from the failure of a step, while nothing has."""
    last = course.attempts.get(step.id, [])[-1:]
    if course.status_of[step.id] != states.FAILED or not last or last[0].performed is None:
        return None
    found = recovery(ref, place, step, last[0].performed, course.tries(step.id))
    return {**found._asdict(), "step": found.step or None, "commands": list(found.commands)}


def _how(ref: Ref) -> dict[str, str]:
    """The commands by which an agent says what it did."""
    said = f"execplan report STEP -p {ref.typed} --status"
    return {
        "completed": f"{said} completed --result 'What came of it.'",
        "failed": f"{said} failed --result 'What went wrong.'",
        "replan": f"execplan replan -p {ref.typed} --reason 'What was found out.'",
        "handoff": f"execplan handoff {ref.typed}",
    }


def _next(ref: Ref, stands: _Stands, known: Current | None) -> tuple[str, ...]:
    if known is not None and known.course.question is not None and known.course.question.why not in REVISED:
        return (f"execplan resume {known.place.number} -p {ref.typed}",)
    if known is not None and not known.goes_on:
        return (f"execplan show {ref.typed} --run {known.place.id}",)
    if stands.approval is None:
        return f"execplan evaluate {ref.typed}", f"execplan approve {ref.typed}"
    return ()
