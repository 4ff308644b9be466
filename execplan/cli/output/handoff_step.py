"""A step as instructions for an agent, for `handoff` and `report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core.text.message_parts import format_count
from execplan.execution.attributes import MANUAL, MOVE
from execplan.execution.evaluation.evaluation_page import code_block, code_span
from execplan.execution.evaluation.evaluation_text import describe_commands
from execplan.execution.execution_plan import Validation
from execplan.execution.permission import allowed_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.engine.agent_runs.agent_handoff import Handoff
    from execplan.execution.execution_plan import Step


def next_step_text(agent_handoff: Handoff) -> str:
    """Return the text of the next step; empty if there is none, or if it may not run."""
    handoff_json = agent_handoff.payload
    if not (handoff_json["next_steps"] and handoff_json["approved"] and agent_handoff.document is not None):
        return ""
    step_id = handoff_json["next_steps"][0]
    step_json = next(step for step in handoff_json["steps"] if step["id"] == step_id)
    step = next(step for step in agent_handoff.document.steps if step.id == step_id)
    blocks = step_blocks(step_json, step, handoff_json["plan"]["path"], redacted=step_id in agent_handoff.redacted)
    return "\n\n".join(blocks)


def step_blocks(step_json: dict[str, Any], step: Step, path: str, *, redacted: bool) -> Iterator[str]:
    """Yield the text of a step: its facts, its exact action and the expected output."""
    yield f"### {step_json['number']}. {code_span(step_json['id'])}: {step_json['status'].replace('_', ' ')}"
    yield "\n".join([f"- {line}" for line in _step_facts(step_json)])
    yield from _action_blocks(step_json, step)
    if step_json["expect"] is not None:
        yield "Expected output (`…` is any text):"
        yield code_block(step_json["expect"], "text")
    if redacted:
        source_range = f", lines {step.source.line_start} to {step.source.line_end}" if step.source is not None else ""
        yield f"A secret is redacted here; see {code_span(path)}{source_range}."


def _step_facts(step_json: dict[str, Any]) -> Iterator[str]:
    """Yield the facts about a step, one per line."""
    yield code_span(step_json["description"]) + (", inferred from prose" if step_json["inferred"] else "")
    yield f"tool {code_span(step_json['tool'])}, type {code_span(step_json['type'])}"
    yield f"risk {step_json['risk']['level']}: {', '.join([code_span(reason) for reason in step_json['risk']['reasons']]) or 'no reason given'}"
    yield (
        {"policy": "approved by the policy", None: "not approved: don't run it"}.get(
            step_json["approved_by"], "approved"
        )
    )
    if step_json["why"]:
        yield f"reason: {code_span(step_json['why'])}"
    if step_json["recovery"]:
        yield step_json["recovery"]["words"]
        yield from [code_span(recovery_command) for recovery_command in step_json["recovery"]["commands"]]
    if step_json["depends_on"]:
        yield f"after {', '.join([code_span(step_id) for step_id in step_json['depends_on']])}"
    if step_json["when"]:
        yield f"only if {code_span(step_json['when']['of'])} {step_json['when']['kind']}"
    for name in ("inputs", "outputs", "allow", "deny"):
        if step_json[name]:
            yield f"{name}: {', '.join([code_span(entry) for entry in step_json[name]])}"
    max_calls = allowed_calls(step_json)
    per_place = ", once for each place that it changes" if max_calls > step_json["max_invocations"] == 1 else ""
    yield "call it once" if max_calls == 1 else f"call it at most {max_calls} times{per_place}"
    failure = step_json["on_failure"]
    tries = f", {1 + failure['max_retries']} attempts" if failure["max_retries"] else ""
    yield f"if it fails: {code_span(failure['strategy'])}{tries}"
    if step_json["confirm"]:
        yield "a person must confirm it first"
    if step_json["exit"]:
        yield f"expected exit status: {step_json['exit']}"
    if step_json["task"]:
        yield f"task: {code_span(step_json['task'])}"


def _found_files_blocks(step_json: dict[str, Any]) -> Iterator[str]:
    """Yield what is replaced in the files that the step has found, or where they are copied or moved to."""
    replacement, files = step_json["replacement"], step_json["files"]
    if step_json["from"] is not None:
        verb = "Move" if step_json["type"] == MOVE else "Copy"
        yield f"{verb} {code_span(step_json['from'])} to {code_span(step_json['target'])}, with exactly these files:"
        yield "\n".join([f"- {code_span(path)}" for path in files])
    if replacement is None:
        return
    kind = "the regular expression of Python" if replacement["regex"] else "this text"
    yield f"Find {kind}, {format_count(replacement['count'], 'time')} in {', '.join([code_span(path) for path in files])}:"
    yield code_block(replacement["find"], "text")
    yield "Replace it with:" if replacement["with"] else "Remove it."
    yield from [code_block(replacement["with"], "text")] if replacement["with"] else []


def _action_blocks(step_json: dict[str, Any], step: Step) -> Iterator[str]:
    """Yield the exact action of a step."""
    yield from _found_files_blocks(step_json)
    target = code_span(step_json["target"]) if step_json["target"] is not None else ""
    content = step_json["content"]
    if step_json["patch"] is not None:
        yield "Change the files exactly as in this diff:"
        yield code_block(step_json["patch"], "diff")
    elif content is not None:
        if step_json["lines"]:
            lines = f"lines {step_json['lines'][0]} to {step_json['lines'][1]} of {target}"
        else:
            lines = f"the file {target}"
        end = "" if not content or content.endswith("\n") else ", without a newline at the end"
        yield f"Write {lines} with exactly this content{end}:" if content else f"Write {lines} with no content."
        if content:
            yield code_block(content, "text")
    elif step_json["type"] == MANUAL:
        yield f"Do this, or ask a person to do it, then report the step: {step_json['description'].partition(': ')[2]}"
    elif step_json["type"] == "delete_file":
        yield f"Delete the file {target}."
    clean = step.model_copy(
        update={name: step_json[name] for name in ("command", "parameters")}
        | {"argv": tuple(step_json["argv"]) if step_json["argv"] else None, "env": step_json["env"]}
        | {"validation": Validation(**step_json["validation"])}
    )
    for label, command_text in describe_commands(clean, code_span):
        if label == "tests afterwards":
            yield "When you report the step as completed, `report` runs this test:"
        else:
            yield _call_instruction(label, step_json)
        yield code_block(command_text, "sh" if not label.startswith("calls") else "json")


def _call_instruction(label: str, step_json: dict[str, Any]) -> str:
    if label.startswith("calls"):
        return f"Call the tool {code_span(step_json['tool'])} with:"
    if step_json["cwd"] != ".":
        location = f" in the directory {code_span(step_json['cwd'])}"
    else:
        location = " in the repository root"
    script = f" as one script for {step_json['shell']}" if step_json["shell"] else ""
    return f"Run this{script}{location}:"
