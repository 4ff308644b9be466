"""A handoff as text for a model: what comes from the repository is fenced, and said to be data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.cli import handing_tasks
from execplan.cli.fitting import Part, fit
from execplan.cli.handing_parts import DATA, reasoning, task_line, title
from execplan.engine.entries import COVERED
from execplan.execution.evaluation.page import code_span, code_block
from execplan.execution.evaluation.told import describe_commands
from execplan.execution.model import Validation
from execplan.execution.permission import allowed_calls
from execplan.execution.states import FAILED, SUCCESS_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.agent.handoff import Handoff
    from execplan.execution.model import Step


BUDGET: Final = 4000
"""Tokens of the text where no budget is given."""
_DONE, _LATER, _READY = 5, 3, 1
"""Ranks of what is shortened, with those of handing_parts.py: steps that are done first, steps that are up next last."""


def text(found: Handoff, budget: int | None) -> str:
    """The text in markdown, within a budget of tokens; raises ExecplanError where a budget that was given is too small.

    The step that is up next is never shortened.
    """
    from execplan.context.tokens import estimate_tokens

    parts = handing_tasks.parts(found) if found.payload["mode"] == "tasks" else _steps_parts(found)
    return fit(parts, _shortened(found), budget or BUDGET, estimate_tokens, strict=budget is not None)


def _shortened(found: Handoff) -> str:
    """What to do where parts were shortened."""
    again = found.payload["report"]["handoff"]
    if found.payload["mode"] == "tasks":
        return f"This text is shortened to fit its budget: read the plan itself, or run `{again} --budget N`."
    return (
        f"This text is shortened to fit its budget. Run `{again}` again after each report: it shows in full the step that is "
        f"up next. To see more now: `{again} --budget N`."
    )


def _steps_parts(found: Handoff) -> list[Part]:
    """The text about a plan with steps."""
    told = found.payload
    assert found.document is not None  # it has steps
    steps = {step.id: step for step in found.document.steps}
    parts = [Part(each) for each in (title(told), *_stands(told), "## How to work", *_how(told), "## Why it is done")]
    parts += [*reasoning(told["reasoning"]), Part("## Steps"), Part(DATA)]
    ready = told["next_steps"]
    for each in told["steps"]:
        lines = list(_step(each, steps[each["id"]], told["plan"]["path"], redacted=each["id"] in found.redacted))
        if each["id"] in ready:
            rank = _READY if each["id"] != ready[0] else 0
        else:
            rank = _DONE if each["status"] in SUCCESS_STATES else _LATER
        after = f", after {', '.join([code_span(name) for name in each['depends_on']])}" if each["depends_on"] else ""
        short = lines[0] if rank == _DONE else f"{lines[0]}\n\n- {code_span(each['description'])}{after}"
        parts.append(Part("\n\n".join(lines), rank, short))
    left = [each for each in told["tasks"] if each["step"] is None]
    if left:
        parts += [Part("## Open tasks that no step does"), Part("A person does these, or plans steps for them.")]
        parts += [Part(task_line(each), _LATER) for each in left]
    return parts + [Part(each) for each in ("## Up next", *_up_next(told))]


def _stands(told: dict[str, Any]) -> Iterator[str]:
    """How things stand."""
    run, approval = told["run"], told["approval"]
    if run is not None:
        yield f"The run {code_span(run['id'])} is {run['status'].replace('_', ' ')}."
        if run["question"] is not None and run["question"]["why"] == COVERED:
            yield f"It has a new revision: {code_span(run['question']['words'])}"
        elif run["question"] is not None:
            yield f"It waits for a person: {code_span(run['question']['words'])} Nothing may be done until that is answered."
    if told["approved"]:
        by = "by the policy" if approval["how"] == "policy" else f"by {code_span(approval['approver'] or 'a person')}"
        yield f"It is approved {by} until {approval['expires']}."
    elif run is None or run["status"] in ("in_progress", "replanning"):
        yield "**It is not approved: nothing of it may be done yet.** A person looks at it and approves it."
        yield from [f"- {code_span(each)}" for each in approval["why"]]


def _how(told: dict[str, Any]) -> Iterator[str]:
    report = told["report"]
    yield (
        "Do what the steps below say, exactly as they say it, and nothing else. Where the guard is installed each of your "
        "calls is judged by them: one that is no step is denied. A step comes when all that it needs is done. Call a command by itself, word for word: "
        "no pipe, no redirection, no other command around it, not in the background. Only `cd FOLDER &&` may stand in front."
    )
    yield "Report each step as soon as it is done, before you begin another, and one that you can't do as failed:"
    yield code_block(f"{report['completed']}\n{report['failed']}", "sh")
    yield (
        "STEP is its id or its number. To show what a command printed name a file of the repository, or pipe it in: "
        "`printf '%s\\n' 'WHAT IT PRINTED' | execplan report STEP … --evidence -`. What you say is checked. When something does not fit do not change it by yourself: "
        "say what was found out; a person approves what is planned then, unless all its steps were approved before."
    )
    yield code_block(report["replan"], "sh")
    rest = {name: value for name, value in told["constraints"].items() if name.startswith("forbidden_") and value}
    for name, value in rest.items():
        yield f"{name.replace('_', ' ').capitalize()}: {', '.join([code_span(each) for each in value])}"


def _step(told: dict[str, Any], step: Step, path: str, *, redacted: bool) -> Iterator[str]:
    yield f"### {told['number']}. {code_span(told['id'])}: {told['status'].replace('_', ' ')}"
    yield "\n".join([f"- {line}" for line in _facts(told)])
    yield from _does(told, step)
    if told["expect"] is not None:
        yield "It should print, with `…` for any text:"
        yield code_block(told["expect"], "text")
    if redacted:
        where = f", lines {step.source.line_start} to {step.source.line_end}" if step.source is not None else ""
        yield f"A secret was left out of it here: it stands in {code_span(path)}{where}."


def _facts(told: dict[str, Any]) -> Iterator[str]:
    """What holds for a step, a line each."""
    yield code_span(told["description"]) + (", inferred from prose" if told["inferred"] else "")
    yield f"tool {code_span(told['tool'])}, type {code_span(told['type'])}"
    yield f"risk {told['risk']['level']}: {', '.join([code_span(each) for each in told['risk']['reasons']]) or 'no reason given'}"
    yield (
        f"approved by {'the policy' if told['approved_by'] == 'policy' else 'a person'}"
        if told["approved_by"]
        else ("approved by nobody: it may not be done")
    )
    if told["why"]:
        yield f"why: {code_span(told['why'])}"
    if told["recovery"]:
        yield told["recovery"]["words"]
        yield from [code_span(each) for each in told["recovery"]["commands"]]
    if told["depends_on"]:
        yield f"after {', '.join([code_span(each) for each in told['depends_on']])}"
    if told["when"]:
        yield f"only when {code_span(told['when']['of'])} {told['when']['kind']}"
    for name in ("inputs", "outputs", "allow", "deny"):
        if told[name]:
            yield f"{name}: {', '.join([code_span(each) for each in told[name]])}"
    most = allowed_calls(told["max_invocations"], told["patch"])
    each = ", once for each place of the diff" if most > told["max_invocations"] == 1 else ""
    yield "to be called once" if most == 1 else f"to be called {most} times at most{each}"
    failure = told["on_failure"]
    tries = f", {1 + failure['max_retries']} attempts" if failure["max_retries"] else ""
    yield f"when it fails: {code_span(failure['strategy'])}{tries}"
    if told["confirm"]:
        yield "a person is asked before it is done"
    if told["exit"]:
        yield f"it ends with exit status {told['exit']}"
    if told["task"]:
        yield f"task: {code_span(told['task'])}"


def _does(told: dict[str, Any], step: Step) -> Iterator[str]:
    """What exactly is to be done."""
    target = code_span(told["target"]) if told["target"] is not None else ""
    content = told["content"]
    if told["patch"] is not None:
        yield "Change the files just as this diff says:"
        yield code_block(told["patch"], "diff")
    elif content is not None:
        lines = f"lines {told['lines'][0]} to {told['lines'][1]} of {target}" if told["lines"] else f"the file {target}"
        end = "" if not content or content.endswith("\n") else ", without a newline at the end"
        yield f"Write {lines} with just this content{end}:" if content else f"Write {lines} without any content."
        if content:
            yield code_block(content, "text")
    elif told["type"] == "delete_file":
        yield f"Delete the file {target}."
    clean = step.model_copy(
        update={name: told[name] for name in ("command", "parameters")}
        | {"argv": tuple(told["argv"]) if told["argv"] else None, "env": told["env"]}
        | {"validation": Validation(**told["validation"])}
    )
    for what, command in describe_commands(clean, code_span):
        if what == "tests afterwards":
            yield "When you report it completed this test is run, by `report` itself:"
        else:
            yield _asked(what, told)
        yield code_block(command, "sh" if not what.startswith("calls") else "json")


def _asked(what: str, told: dict[str, Any]) -> str:
    if what.startswith("calls"):
        return f"Call the tool {code_span(told['tool'])} with:"
    where = f" in the folder {code_span(told['cwd'])}" if told["cwd"] != "." else " in the root of the repository"
    script = f" as one script for {told['shell']}" if told["shell"] else ""
    return f"Run this{script}{where}:"


def _up_next(told: dict[str, Any]) -> Iterator[str]:
    names = ", ".join([code_span(each) for each in told["next_steps"]])
    run = told["run"]
    if not names and run is not None and run["question"] is not None:
        yield "Nothing, until a person has answered."
    elif not names and run is not None and run["status"] == FAILED:
        yield "Nothing: the run has failed, and a person takes it up or takes it back."
    elif not names:
        yield "Nothing is left to be done now."
    elif told["approved"]:
        yield f"Do one of these now, then report it: {names}"
    else:
        yield f"Once it is approved: {names}"
