"""The plan of a governance engine: `planId`, `intent`, `operations`, `constraints`, `recoveryPaths`, `conditionals`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.command.pattern import COMMAND, split
from execplan.execution.making.shapes.tools import AGENT, fields_of, kind_of

if TYPE_CHECKING:
    from execplan.execution.making.shapes.form import Form

NAME: Final = "governance"
MODES: Final = {"engine": "engine", "governance_driven": "engine", "agent": "agent", "agent_guided": "agent"}
_LEVELS: Final = {"info": "LOW", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "critical": "CRITICAL"}
_STRATEGIES: Final = ("retry", "skip", "fail_fast", "replan", "ask")
_RETRIES: Final = 3
"""How often that system tries again where its document does not say."""
_RESULTS: Final = {
    "success": "succeeded",
    "succeeded": "succeeded",
    "failure": "failed",
    "failed": "failed",
    "skipped": "skipped",
}
_OPPOSITE: Final = {"succeeded": "failed", "failed": "succeeded", "exists": "missing", "missing": "exists"}
_TIMEOUT: Final = 300
"""Seconds that a step may take which says nothing of it."""


_PATHS: Final = {
    "create_file": "write",
    "modify_file": "write",
    "refactor_code": "write",
    "delete_file": "delete",
}
"""The types of steps that are about files, and the kind of call that each is."""


def fits(value: dict[str, Any]) -> bool:
    """Whether a document has this shape."""
    return "operations" in value or "planId" in value


def read(form: Form) -> dict[str, Any]:
    """Our document, as plain data without risks."""
    book = form.book
    book.origins |= {"/steps": form.place("operations"), "/intent/summary": f"{form.place('intent')}/userMessage"}
    intent, constraints = form.form("intent", needed=True), form.form("constraints")
    kept: dict[str, Any] = {"shape": NAME, "plan_id": form.take("plan_id", str, needed=True)}
    kept |= {"version": form.take("version", str), "session_id": form.take("session_id", str)}
    kept |= {"created_at": form.moment("created_at"), "metadata": form.take("metadata", dict)}
    summary = intent.take("user_message", str) or intent.take("summary", str) or form.take("description", str)
    level = intent.take("risk_level", str, "")
    if level and level.lower() not in _LEVELS:
        intent.note("risk_level", f"is none of {', '.join(_LEVELS)}")
    operations = form.forms("operations", needed=True)
    mode = _mode(form, constraints, operations)
    steps = [_step(operation, at, mode) for at, operation in enumerate(operations)]
    for step in steps:
        if level.lower() in _LEVELS:
            ours = _LEVELS[level.lower()]
            step["risk"] = {"level": ours, "reasons": [f"the imported document rates the whole plan {ours}"]}
    _recover(form, steps)
    _conditions(form, steps)
    limits = _limits(constraints)
    most = limits.get("max_duration_s")
    if most is not None and 0 < most < _TIMEOUT:
        for step in steps:
            step.setdefault("timeout_s", most)  # nothing in it may take longer than all of it
    made = {
        "description": form.take("description", str, summary),
        "mode": mode,
        "intent": {"summary": summary, "category": intent.take("category", str, "mixed")},
        "steps": steps,
        "constraints": limits,
    }
    if level:
        kept["risk_level"] = level
    form.nothing("expires_at", why="can't be carried: here an approval expires, and not the plan")
    for each in (form, intent, constraints, *operations):
        each.close()
    return {**made, "kept": kept}


def _mode(form: Form, constraints: Form, operations: list[Form]) -> str:
    """Engine or agent; where the document does not say, that in which all of its tools can be called."""
    said = {}
    for each in (form, constraints):
        mode = each.take("execution_mode", str)
        if mode is not None and mode not in MODES:
            each.note("execution_mode", f"is none of {', '.join(MODES)}")
        elif mode is not None:
            said[each.place("execution_mode")] = MODES[mode]
    if len(set(said.values())) > 1:
        form.note("execution_mode", "differs from that of the constraints")
    foreign = any([kind_of(str(each.value.get("tool"))) == AGENT for each in operations])
    return next(iter(said.values()), "agent" if foreign else "engine")


def _step(form: Form, at: int, mode: str) -> dict[str, Any]:
    book, ours = form.book, f"/steps/{at}"
    book.origins |= {ours: form.where, f"{ours}/depends_on": form.place("requires")}
    book.origins |= {f"{ours}/max_invocations": form.place("max_invocations"), f"{ours}/type": form.place("tool")}
    tool = form.take("tool", str, "", needed=True)
    if tool and kind_of(tool) == AGENT and mode == "engine":
        form.note("tool", f"{tool} is no tool of ours, so nothing here can call it; the mode agent_guided carries it")
    arguments = form.take("arguments", dict, {})
    called = fields_of(tool, arguments, form.place("arguments"), ours, book)
    what = called.get("target") or called.get("command") or ""
    step = {
        "number": at + 1,
        "id": form.take("id", str, "", needed=True),
        **called,
        "description": form.take("description", str, f"Call {tool} {what}".rstrip()),
        "depends_on": form.words("requires"),
        "parallel": form.take("parallel", bool, False),
        "max_invocations": form.take("max_invocations", int, 1),
        "confirm": form.take("requires_confirmation", bool, False),
        "allow": [_pattern(each, called) for each in form.words("allow")],
        "deny": [_pattern(each, called) for each in form.words("deny")],
    }
    timeout = _seconds(form, "timeout")
    return step if timeout is None else {**step, "timeout_s": timeout}


def _pattern(said: str, called: dict[str, Any]) -> str:
    """A pattern as it is written here: of an operation on files it is about their paths."""
    kind = _PATHS.get(called["type"], "")
    return f"{kind}:{said}" if kind and split(said)[0] == COMMAND else said


def _limits(form: Form) -> dict[str, Any]:
    origins = {"max_steps": "max_total_operations", "max_duration_s": "max_duration_ms"}
    for ours, theirs in origins.items():
        form.book.origins[f"/constraints/{ours}"] = form.place(theirs)
    made = {
        "max_steps": form.take("max_total_operations", int),
        "max_duration_s": _seconds(form, "max_duration_ms"),
        "require_sequential": form.take("require_sequential", bool),
        "allow_unplanned": form.take("allow_unplanned", bool),
        "forbidden_paths": form.words("forbidden_paths"),
        "forbidden_commands": form.words("forbidden_commands"),
    }
    return {name: value for name, value in made.items() if value is not None}


def _seconds(form: Form, name: str) -> int | None:
    """Whole seconds of a number of milliseconds."""
    value: int | None = form.take(name, int)
    if value is None:
        return None
    if value > 0 and value % 1000:
        form.note(name, f"is {value} ms; here limits are in whole seconds")
    return value // 1000


def _recover(form: Form, steps: list[dict[str, Any]]) -> None:
    """Recovery paths, which name the operation by its place, from 0."""
    for path in form.forms("recovery_paths"):
        strategy = path.take("strategy", str, "", needed=True)
        strategy = "fail_fast" if strategy == "fail-fast" else strategy
        retries = path.take("max_retries", int, _RETRIES if strategy == "retry" else 0)
        made = {
            "strategy": strategy,
            "max_retries": retries,
            "backoff_ms": path.take("backoff_ms", int, 1000),
            "triggers": path.words("trigger_errors"),
        }
        if strategy == "alternative":
            path.note("strategy", "names no operation to take instead; alternative:ID does")
        elif strategy and strategy not in _STRATEGIES and not strategy.startswith("alternative:"):
            path.note("strategy", f"is none of {', '.join(_STRATEGIES)}, alternative:ID")
        at = _operation(path, "trigger_step", path.take("trigger_step", int, needed=True), steps)
        if at is not None and "on_failure" in steps[at]:
            path.note("trigger_step", f"operation {at} has a recovery path already")
        elif at is not None:
            steps[at]["on_failure"] = made
            ours = f"/steps/{at}/on_failure"
            path.book.origins |= {ours: path.where, f"{ours}/triggers": path.place("trigger_errors")}
            path.book.origins |= {f"{ours}/max_retries": path.place("max_retries")}
            path.book.origins |= {f"{ours}/backoff_ms": path.place("backoff_ms")}
        path.close()


def _operation(form: Form, name: str, at: int | None, steps: list[dict[str, Any]]) -> int | None:
    """A place of an operation, if there is one there."""
    if at is not None and not 0 <= at < len(steps):
        form.note(name, f"is {at}: there is no such operation; they are counted from 0")
        return None
    return at


def _conditions(form: Form, steps: list[dict[str, Any]]) -> None:
    """Conditions, each with the operations that run where it is true, and where it is not."""
    for branch in form.forms("conditionals"):
        when = _when(branch, steps)
        for name in ("if_true", "if_false"):
            for place, at in enumerate(branch.take(name, list, [])):
                where = f"{branch.place(name)}/{place}"
                if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(steps):
                    branch.book.note(where, f"is {at}: there is no such operation; they are counted from 0")
                elif when is not None:
                    _bind(branch, where, steps, at, when if name == "if_true" else _opposite(when, steps))
        branch.close()


def _when(branch: Form, steps: list[dict[str, Any]]) -> dict[str, str] | None:
    """A condition: `step_0_success`, `ID.failed`, `exists:PATH`."""
    said: str | None = branch.take("condition", str, needed=True)
    if said is None:
        return None
    kind, colon, path = said.partition(":")
    if colon and kind in ("exists", "missing") and path:
        return {"kind": kind, "of": path}
    name, dot, state = said.rpartition(".")
    if dot and state in ("succeeded", "failed", "skipped"):
        return {"kind": state, "of": name}
    parts = said.split("_")
    if len(parts) == 3 and parts[0] == "step" and parts[1].isascii() and parts[1].isdigit() and parts[2] in _RESULTS:
        at = _operation(branch, "condition", int(parts[1][:9]), steps)
        return None if at is None else {"kind": _RESULTS[parts[2]], "of": steps[at]["id"]}
    told = (
        "step_N_success, step_N_failed, step_N_skipped, ID.succeeded, ID.failed, ID.skipped, exists:PATH, missing:PATH"
    )
    branch.note("condition", f"can't be carried: conditions are {told}")
    return None


def _opposite(when: dict[str, str], steps: list[dict[str, Any]]) -> dict[str, str] | None:
    """What holds where a condition does not; None where that is not one condition."""
    conditional = [step for step in steps if step["id"] == when["of"] and ("when" in step or _skips(step))]
    kind = None if conditional else _OPPOSITE.get(when["kind"])
    return None if kind is None else {**when, "kind": kind}


def _skips(step: dict[str, Any]) -> bool:
    return bool(step.get("on_failure", {}).get("strategy") == "skip")


def _bind(branch: Form, where: str, steps: list[dict[str, Any]], at: int, when: dict[str, str] | None) -> None:
    if when is None:
        branch.book.note(where, "the opposite of the condition is no condition: the step may be skipped, too")
    elif "when" in steps[at]:
        branch.book.note(where, f"operation {at} has a condition already")
    else:
        steps[at]["when"] = when
        branch.book.origins[f"/steps/{at}/when"] = branch.place("condition")
        branch.book.origins[f"/steps/{at}/when/of"] = branch.place("condition")
