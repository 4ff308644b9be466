"""Problems of annotated steps that stop a compile; each kind is the code of the lint rule that reports it."""

from __future__ import annotations

from os.path import normpath

from execplan.core import features
from execplan.execution import rare_features
from execplan.execution.annotations.annotated_fences import AnnotatedFence, find_annotated_fences
from execplan.execution.annotations.annotated_steps import fence_problem, last_step_ids
from execplan.execution.annotations.attribute_values import AttributeValueError, parse_step_attribute
from execplan.execution.annotations.plan_settings import read_plan_settings
from execplan.execution.annotations.step_fields import build_all_step_fields, build_step_fields, parse_tool_parameters
from execplan.execution.attributes import (
    ALTERNATIVE,
    ATTRIBUTES_BY_NAME,
    COMMAND_TYPES,
    EXECUTE,
    FOUND_FILE_TYPES,
    MANUAL,
    REPLACE,
    SHELLS,
    STEP_OUTCOMES,
    TOOL,
    TRANSFERS,
    TYPES,
    types_with_target,
)
from execplan.execution.documents.order_rules import check_conditions, check_dependencies, check_recoveries
from execplan.execution.documents.step_rules import check_shared_paths, types_with_field
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.parsed_steps import ANNOTATED, ParsedSteps, StepDraft, StepProblem
from execplan.execution.shell.endless_commands import describe_endless, find_endless_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.annotations.info_string import FenceAttribute


_TARGETED_TYPES = types_with_target()
ATTRIBUTE_TYPES: dict[str, tuple[str, ...]] = {
    **{
        attribute.name: types
        for attribute in ATTRIBUTES_BY_NAME.values()
        if (types := types_with_field(attribute.field))
    },
    "syntax-check": ("create_file", "modify_file", "refactor_code", REPLACE),
    "tool": (TOOL,),
}
"""Step types that accept an attribute, for attributes that not all types accept."""
_COMMAND_LANGUAGES = ("", *SHELLS, "shell", "ksh", "console", "terminal", "shell-session", "shellsession")
"""Languages of a code block that contains commands, if no type is given."""
PATCH_LANGUAGES = ("diff", "patch")
"""Languages of a code block that contains a patch."""


def find_fence_problems(
    fence: AnnotatedFence, drafts: list[StepDraft], *, suggest: bool = True
) -> Iterator[StepProblem]:
    """Yield the problems of one code block on its own: unknown attributes, invalid values, missing or unused parts.

    `suggest` is whether to suggest a known attribute for an unknown one.
    """
    info = fence.info
    if info.id is not None:
        yield from _value_problems(fence, info.id, "id", info.id.value)
    kind = drafts[0].attributes.get("type", EXECUTE)
    for attribute in info.attributes:
        if attribute.name not in ATTRIBUTES_BY_NAME or attribute.name == "id":
            yield fence_problem(
                fence,
                "EP602",
                _unknown_attribute_message(attribute.name, suggest=suggest),
                attribute.start,
                attribute.end,
            )
            continue
        yield from _value_problems(fence, attribute, attribute.name, attribute.value)
        if kind in TYPES and kind not in ATTRIBUTE_TYPES.get(attribute.name, TYPES):
            yield fence_problem(
                fence, "EP603", f"{kind} doesn't accept {attribute.name}", attribute.start, attribute.end
            )
    if kind in TYPES and not info.flaws:
        for message in _missing_parts(fence, drafts, kind):
            yield fence_problem(fence, "EP603", message)
        target = info.get("target")
        if (
            target is not None
            and kind in _TARGETED_TYPES
            and kind not in TRANSFERS
            and (target.value.endswith("/") or normpath(target.value) == ".")
        ):
            code = "EP612" if kind == "delete_file" else "EP603"
            message = f"{target.value} is a directory, but {kind} requires a file"
            yield fence_problem(fence, code, message, target.start, target.end)


def _value_problems(fence: AnnotatedFence, attribute: FenceAttribute, name: str, text: str) -> Iterator[StepProblem]:
    try:
        parse_step_attribute(name, text)
    except AttributeValueError as error:
        yield fence_problem(fence, "EP603", str(error), attribute.start, attribute.end)


def _unknown_attribute_message(name: str, *, suggest: bool) -> str:
    """Return the message for an unknown attribute, with the attribute meant by a field name or a misspelling."""
    from execplan.core.text.suggestions import closest_names

    names_by_spelling = {
        attribute.field.rpartition(".")[2]: attribute.name for attribute in ATTRIBUTES_BY_NAME.values()
    }
    names_by_spelling |= {known_name: known_name for known_name in ATTRIBUTES_BY_NAME}
    matches = closest_names(name, names_by_spelling) if suggest else []
    suggestion = names_by_spelling.get(name) or (names_by_spelling[matches[0]] if matches else "")
    hint = f"; did you mean {suggestion}?" if suggestion else ""
    return f"unknown attribute {name}" + ("; an ID is written as #NAME" if suggestion == "id" else hint)


def _missing_parts(fence: AnnotatedFence, drafts: list[StepDraft], kind: str) -> Iterator[str]:
    """Yield what a step of a type lacks, and which of its parts conflict."""
    attributes = drafts[-1].attributes
    if kind in _TARGETED_TYPES and "target" not in attributes:
        yield f"{kind} needs a target: target=PATH"
    if "type" not in attributes and fence.info.language.lower() not in _COMMAND_LANGUAGES:
        yield f"{fence.info.language} is not a language of commands: set the type with type=, or write sh"
    elif kind in COMMAND_TYPES:
        if not any([draft.command.strip() for draft in drafts]):
            yield f"{kind} contains no command"
    elif kind == MANUAL and not any([line.strip() for line in fence.body]):
        yield "manual needs a text that says what to do"
    elif kind == TOOL:
        yield from _tool_problems(attributes.get("tool", ""), drafts[-1])
    elif fence.expect is not None:
        yield f"{kind} has no output to expect"
    if fence.expect is not None and "expect" in attributes:
        yield "the expected output is given twice: with expect, and in the code block below"
    for name, message in _service_problems(drafts[-1]):
        yield f"{name}: {message}"
    yield from _change_problems(fence, kind, attributes)


def _service_problems(draft: StepDraft) -> Iterable[tuple[str, str]]:
    """Return the fields that a service can't have, each with the reason; none for another step."""
    if "service" not in draft.attributes:
        return ()
    problems: Iterable[tuple[str, str]] = features.load(rare_features.SERVICE_RULES)(build_step_fields(draft, {}))
    return problems


def _change_problems(fence: AnnotatedFence, kind: str, attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield problems with the form of a file change."""
    is_patch = fence.info.language in PATCH_LANGUAGES
    if kind in FOUND_FILE_TYPES:
        yield from features.load(rare_features.FOUND_FILE_PROBLEMS)(fence.body, kind, attributes)
    if kind == "modify_file" and is_patch == ("lines" in attributes):
        yield "modify_file must be a code block in the language diff, or have lines=A-B and contain the new lines" + (
            ", not both" if is_patch else ""
        )
    if kind == "refactor_code" and not is_patch:
        yield "refactor_code must be a code block in the language diff: a patch of all its files"
    if is_patch and (kind == "refactor_code" or (kind == "modify_file" and "lines" not in attributes)):
        yield from _patch_problems(fence, kind, attributes.get("target", ""))


def _tool_problems(tool: str, draft: StepDraft) -> Iterator[str]:
    """Yield problems with a tool call that can be found without knowing the tool."""
    from execplan.execution.documents.step_rules import is_own_tool

    if not tool:
        yield f"{TOOL} needs a tool: tool=domain.tool"
    elif tool.count(".") != 1 or not all([part.replace("-", "_").isidentifier() for part in tool.split(".")]):
        yield f"{tool} is not a tool name: domain.tool, with one dot"
    elif is_own_tool(tool):
        yield f"{tool} is in one of execplan's own domains, which no installed tool can use"
    if parse_tool_parameters(draft.body) is None:
        yield 'its parameters must be a JSON object, such as {"city": "Bern"}, or empty'


def _patch_problems(fence: AnnotatedFence, kind: str, target: str) -> Iterator[str]:
    """Yield problems with a patch that can be found without the files."""
    files = diff_paths("\n".join(fence.body))
    if not any([line.startswith("@@ ") for line in fence.body]):
        yield "the patch contains no hunk: lines below a line such as `@@ -1,3 +1,4 @@`"
    elif kind == "refactor_code" and not files:
        yield "the patch specifies no file: `--- a/PATH` and `+++ b/PATH` above its hunks"
    elif kind == "modify_file" and target and [file for file in files if normpath(file) != normpath(target)]:
        yield f"the patch is for {', '.join(files)}, but the target is {target}"


_FIELD_CODES = {"depends_on": "EP606", "when": "EP606", "on_failure": "EP606", "parallel": "EP612"}
"""Problem code for a violation of a rule between steps, by its field."""
MAX_STEPS = 1000
"""Maximum number of steps of an execution plan."""
_MAX_SUGGESTIONS = 100
"""Limit on suggestions, and on the IDs they are searched in: each search takes time."""


def find_step_problems(plan: ParsedPlan, parsed: ParsedSteps) -> tuple[StepProblem, ...]:
    """Return all problems that stop the annotated steps from compiling, by line.

    Without annotated code blocks, only the problems of the parse and of the plan settings are returned.
    """
    drafts_by_line: dict[int, list[StepDraft]] = {}
    for draft in parsed.drafts:
        if draft.origin == ANNOTATED:
            drafts_by_line.setdefault(draft.start, []).append(draft)
    step_problems = [*parsed.problems, *read_plan_settings(plan).problems]
    if not drafts_by_line:
        return tuple(step_problems)
    fences_by_line = {fence.line: fence for fence in find_annotated_fences(plan).steps}
    for line, drafts in drafts_by_line.items():
        step_problems += find_fence_problems(
            fences_by_line[line], drafts, suggest=len(step_problems) < _MAX_SUGGESTIONS
        )
    drafts = [draft for draft in parsed.drafts if draft.origin == ANNOTATED]
    step_problems += _id_problems(fences_by_line, drafts)
    step_problems += _cross_step_problems(fences_by_line, drafts)
    step_problems += _endless_steps(fences_by_line, drafts)
    return tuple(sorted(dict.fromkeys(step_problems), key=lambda problem: (problem.line, problem.column, problem.kind)))


def attribute_problem(fence: AnnotatedFence, kind: str, message: str, name: str) -> StepProblem:
    """Return a problem with one attribute of a code block, or with all its attributes if it lacks that one."""
    attribute = fence.info.id if name == "id" else fence.info.get(name)
    return fence_problem(fence, kind, message, *((attribute.start, attribute.end) if attribute is not None else ()))


def _id_problems(fences_by_line: dict[int, AnnotatedFence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """Yield problems for duplicate IDs and for references to unknown steps."""
    id_lines: dict[str, int] = {}
    for draft in drafts:
        if "id" in draft.attributes and id_lines.setdefault(draft.id, draft.start) != draft.start:
            message = f"{draft.id} is also the ID of the code block on line {id_lines[draft.id] + 1}"
            yield attribute_problem(fences_by_line[draft.start], "EP604", message, "id")
    last_steps = last_step_ids(drafts)
    known_ids = list(dict.fromkeys([*id_lines, *last_steps]))
    problem_count = 0
    for number, (draft, step) in enumerate(zip(drafts, build_all_step_fields(drafts), strict=True)):
        is_first = not number or drafts[number - 1].start != draft.start
        for attribute, name in _find_references(draft, step, is_first=is_first):
            fence = fences_by_line[draft.start]
            if name not in id_lines and name not in last_steps:
                problem_count += 1
                hint = _suggest_id(name, known_ids if max(problem_count, len(known_ids)) <= _MAX_SUGGESTIONS else [])
                yield attribute_problem(fence, "EP605", f"unknown step {name}{hint}", attribute)
            elif attribute == "on-failure" and name + ".2" in id_lines:
                yield attribute_problem(
                    fence, "EP603", f"{name} is several steps, but an alternative must be one step", attribute
                )


def _endless_steps(fences_by_line: dict[int, AnnotatedFence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """Yield a problem for each command that would run until its time limit, because it never ends."""
    for draft in drafts:
        is_command = draft.attributes.get("type", EXECUTE) in COMMAND_TYPES
        if is_command and "service" not in draft.attributes and (command := find_endless_command(draft.command)):
            yield fence_problem(fences_by_line[draft.start], "EP613", describe_endless(command))


def _find_references(draft: StepDraft, step: dict[str, Any], *, is_first: bool) -> Iterator[tuple[str, str]]:
    """Yield the IDs that a code block refers to, each with the name of the attribute."""
    if not is_first:
        return
    for name in step["depends_on"]:
        yield "needs", name
    if step.get("when", {}).get("kind") in STEP_OUTCOMES:
        yield "when", step["when"]["of"]
    if "strategy" in step.get("on_failure", {}) and draft.attributes["on-failure"].startswith(ALTERNATIVE):
        yield "on-failure", draft.attributes["on-failure"].removeprefix(ALTERNATIVE)


def _suggest_id(name: str, known_ids: list[str]) -> str:
    from execplan.core.text.suggestions import did_you_mean

    return f"; {did_you_mean(name, known_ids) or 'a step that others refer to needs a written ID, #NAME'}"


def _cross_step_problems(fences_by_line: dict[int, AnnotatedFence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """Yield violations of the rules between steps, except references to unknown steps, which are already reported."""
    if len(drafts) > MAX_STEPS:
        return
    steps = build_all_step_fields(drafts)
    known_ids = {draft.id for draft in drafts}
    for step in steps:
        step["depends_on"] = [name for name in step["depends_on"] if name in known_ids]
        if step.get("when", {}).get("kind") in STEP_OUTCOMES and step["when"]["of"] not in known_ids:
            del step["when"]
        recovery = step.get("on_failure", {})
        strategy = recovery.get("strategy", "")
        if strategy.startswith(ALTERNATIVE) and strategy.removeprefix(ALTERNATIVE) not in known_ids:
            del recovery["strategy"]
    attribute_names = {
        attribute.field.partition(".")[0]: attribute.name for attribute in ATTRIBUTES_BY_NAME.values()
    } | {"on_failure": "on-failure"}
    for rule in (check_dependencies, check_conditions, check_recoveries, check_shared_paths):
        for violation in rule(steps):
            _, _, number, field, *inner = violation.pointer.split("/")
            kind = "EP603" if inner[:1] == ["max_retries"] else _FIELD_CODES[field]
            yield attribute_problem(
                fences_by_line[drafts[int(number)].start], kind, violation.message, attribute_names[field]
            )
