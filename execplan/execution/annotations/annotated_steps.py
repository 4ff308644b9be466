"""Step drafts from code blocks with attributes."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.annotations.annotated_fences import AnnotatedFence, find_annotated_fences, find_unopened_fences
from execplan.execution.annotations.attribute_values import AttributeValueError, split_list
from execplan.execution.attributes import COMMAND_TYPES, EXECUTE, EXPECT, SHELLS
from execplan.execution.parsed_steps import ANNOTATED, INFERRED, ParsedSteps, StepDraft, StepProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan


_UNOPENED_MESSAGE = (
    "an attribute of a code block that starts with ``` can't contain a backtick: start and end the code block with ~~~"
)
PROMPT = "$ "
_CONTINUATION_PROMPT = "> "
"""Prompt that a shell prints before a continuation line."""


class TranscriptCommand(NamedTuple):
    """A command and its output in a transcript."""

    command: str
    output: str | None = None


def split_commands(body: Sequence[str]) -> tuple[TranscriptCommand, ...]:
    """Return the commands in order, without blank lines and comments; a trailing backslash continues a command.

    If the first command has a prompt, lines without a prompt are the output of the command above.
    """
    entries: list[TranscriptCommand] = []
    output_lines: list[str] = []
    is_transcript = next((line for line in body if not _is_blank_or_comment(line)), "").lstrip().startswith(PROMPT)
    at = 0
    while at < len(body):
        line = body[at].strip(" \t")
        at += 1
        is_prompted = line.startswith(PROMPT)
        if is_transcript and not is_prompted and entries:
            output_lines.append(body[at - 1])
            continue
        line = line.removeprefix(PROMPT).strip(" \t")
        if _is_blank_or_comment(line):
            continue
        command_lines = [line]
        while _is_continued(command_lines[-1]) and at < len(body):
            next_line = body[at].lstrip(" \t").removeprefix(_CONTINUATION_PROMPT) if is_prompted else body[at]
            command_lines.append(next_line.rstrip(" \t"))
            at += 1
        _attach_output(entries, output_lines)
        entries.append(TranscriptCommand(_join_continued_lines(command_lines)))
    _attach_output(entries, output_lines)
    return tuple(entries)


def _attach_output(entries: list[TranscriptCommand], output_lines: list[str]) -> None:
    """Attach the collected output lines to the last command."""
    text = "\n".join(output_lines).strip("\n")
    if text.strip():
        entries[-1] = entries[-1]._replace(output=text)
    output_lines.clear()


def _is_blank_or_comment(line: str) -> bool:
    line = line.strip(" \t")
    return not line or line[0] == "#"


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _join_continued_lines(lines: list[str]) -> str:
    """Join continued lines into one command; line breaks within quotes are kept."""
    joined = [lines[0]]
    quote = ""
    for line in lines[1:]:
        head = joined[-1][:-1]
        quote = _open_quote_after(head, quote)
        if quote:
            joined += ["\n", line]
            continue
        stripped, rest = head.rstrip(" \t"), line.lstrip(" \t")
        joined[-1] = stripped
        joined += [" " if stripped != head or rest != line else "", rest]
    return "".join(joined)


def _open_quote_after(text: str, quote: str) -> str:
    """Return the quote that is open at the end of a text, or an empty string; `quote` is the one open at its start."""
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        at += 1
    return quote


LAST_STEP_ATTRIBUTES = ("expect", "exit", "outputs", "test-after", "task", "checkpoint", "service")
"""Attributes that apply once all commands of a code block have run, and so go to its last step."""


def find_annotated_steps(plan: ParsedPlan) -> ParsedSteps:
    """Return the steps of annotated code blocks by line; a block with errors is read as far as possible."""
    annotated_fences = find_annotated_fences(plan)
    drafts = [draft for fence in annotated_fences.steps for draft in _fence_drafts(fence)]
    problems = [StepProblem("EP601", *unopened, _UNOPENED_MESSAGE) for unopened in find_unopened_fences(plan)]
    for fence in annotated_fences.steps:
        problems += _syntax_problems(fence)
        if fence.expect is not None:
            problems += [*_syntax_problems(fence.expect), *_expectation_problems(fence.expect)]
    for fence in annotated_fences.orphan_expectations:
        message = (
            f"a code block marked {{{EXPECT}}} belongs below the step that prints it; there is no step above this one"
        )
        problems += [*_syntax_problems(fence), fence_problem(fence, "EP603", message)]
    return ParsedSteps(assign_step_ids(drafts), annotated_fences.skipped, tuple(problems))


def fence_problem(
    fence: AnnotatedFence, kind: str, message: str, start: int | None = None, end: int | None = None
) -> StepProblem:
    """Return a problem at the given columns of a code block's info string, or at all of its attributes."""
    attributes = [*fence.info.attributes, *([fence.info.id] if fence.info.id else [])]
    if start is None or end is None:
        start, end = (
            min([attribute.start for attribute in attributes], default=0),
            max([attribute.end for attribute in attributes], default=1),
        )
    return StepProblem(kind, fence.line, fence.column + start, fence.column + end, message)


def assign_step_ids(drafts: Iterable[StepDraft]) -> tuple[StepDraft, ...]:
    """Return the drafts by line; an annotated step without an ID is named by its number, `step-3`.

    Inferred steps keep their names. A dependency on the ID of a code block with several commands becomes one on its
    last step.
    """
    ordered = sorted(drafts, key=lambda draft: draft.start)
    used_ids = {draft.id for draft in ordered if "id" in draft.attributes or draft.origin == INFERRED}
    new_ids: dict[tuple[str, str], str] = {}
    for number, draft in enumerate(ordered, 1):
        if "id" not in draft.attributes and draft.origin != INFERRED:
            name = f"step-{number}"
            while name in used_ids:
                name += "-x"
            new_ids[draft.origin, draft.id] = name
    last_steps = last_step_ids(ordered)
    return tuple(
        [
            draft._replace(
                id=new_ids.get((draft.origin, draft.id), draft.id),
                needs=tuple([last_steps.get(need, new_ids.get((draft.origin, need), need)) for need in draft.needs]),
            )
            for draft in ordered
        ]
    )


def last_step_ids(drafts: Sequence[StepDraft]) -> dict[str, str]:
    """Return the ID of the last step for each ID of a code block."""
    return {draft.attributes["id"]: draft.id for draft in drafts if "id" in draft.attributes}


def _fence_drafts(fence: AnnotatedFence) -> Iterator[StepDraft]:
    """Yield the step drafts of one code block."""
    info = fence.info
    attributes = {attribute.name: attribute.value for attribute in info.attributes}
    if info.id is not None:
        attributes["id"] = info.id.value
    if attributes.get("shell") == "true" and info.language in SHELLS:
        attributes["shell"] = info.language
    runs_command = attributes.get("type", EXECUTE) in COMMAND_TYPES
    transcript = split_commands(fence.body) if runs_command and "shell" not in attributes else ()
    transcript = transcript or (
        TranscriptCommand("\n".join(fence.body) if runs_command and "shell" in attributes else ""),
    )
    base_id = info.id.value if info.id is not None else f"@{fence.line}"
    expected_output = "\n".join(fence.expect.body).rstrip("\n") if fence.expect is not None else None
    end = fence.expect.end if fence.expect is not None else fence.end
    cwd = attributes.get("cwd", ".")
    needs = _parse_needs(attributes)
    for number, entry in enumerate(transcript, 1):
        is_last = number == len(transcript)
        if is_last:
            step_attributes = attributes
        else:
            step_attributes = {name: value for name, value in attributes.items() if name not in LAST_STEP_ATTRIBUTES}
        name = base_id if len(transcript) == 1 else f"{base_id}.{number}"
        expect = step_attributes.get("expect", expected_output) if is_last else None
        expect = entry.output if expect is None else expect
        location = (ANNOTATED, fence.phase, fence.line, end)
        yield StepDraft(*location, name, step_attributes, fence.body, entry.command, needs, cwd, expect)
        needs = (name,)


def _parse_needs(attributes: dict[str, str]) -> tuple[str, ...]:
    try:
        return tuple(split_list(attributes.get("needs", "")))
    except AttributeValueError:
        return ()


def _syntax_problems(fence: AnnotatedFence) -> Iterator[StepProblem]:
    """Yield the syntax errors of a code block's info string, and a missing closing line."""
    for flaw in fence.info.flaws:
        yield fence_problem(fence, "EP601", flaw.message, flaw.start, flaw.end)
    if not fence.closed:
        yield fence_problem(fence, "EP601", "this code block is never closed")


def _expectation_problems(fence: AnnotatedFence) -> Iterator[StepProblem]:
    """Yield a problem for each attribute of an `{expect}` code block, which may have none of its own."""
    for attribute in (*fence.info.attributes, *([fence.info.id] if fence.info.id else [])):
        yield fence_problem(
            fence, "EP603", f"a code block marked {{{EXPECT}}} can't have attributes", attribute.start, attribute.end
        )
