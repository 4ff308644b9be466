"""Edits that add the attribute `shell` to annotated code blocks which need it."""

from __future__ import annotations

from execplan.core.plan.model import ParsedPlan
from execplan.core.text.text_lines import Edit
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.attributes import COMMAND_TYPES, EXECUTE
from execplan.execution.parsed_steps import StepDraft
from execplan.execution.shell.shell_vocabulary import PROMPTS
from execplan.execution.shell_declaration import BASH, PIPEFAIL, hides_failure, needs_bash, shell_use


def declare_shells(plan: ParsedPlan) -> list[Edit]:
    """Return edits that add `shell` to annotated code blocks of one command that needs it."""
    drafts_by_line: dict[int, list[StepDraft]] = {}
    for draft in find_annotated_steps(plan).drafts:
        drafts_by_line.setdefault(draft.start, []).append(draft)
    edits: list[Edit] = []
    for fence in find_annotated_fences(plan).steps:
        drafts = drafts_by_line[fence.line]
        opening_line = plan.text.lines[fence.line]
        is_command = drafts[0].attributes.get("type", EXECUTE) in COMMAND_TYPES
        is_transcript = any([line.lstrip().startswith(PROMPTS) for line in fence.body])
        if len(drafts) > 1 or not is_command or is_transcript or "shell" in drafts[0].attributes or fence.info.flaws:
            continue
        if shell_use(drafts[0].command):
            shell = f"shell={BASH}" if needs_bash(drafts[0].command) else "shell"
            at = opening_line.rindex("}")
            first_line = plan.text.lines[fence.line + 1]
            indent = first_line[: len(first_line) - len(first_line.lstrip())]
            lines = [f"{opening_line[:at].rstrip()} {shell}{opening_line[at:]}"]
            lines += [f"{indent}{PIPEFAIL}"] if hides_failure(drafts[0].command) else []
            edits.append(Edit(fence.line, fence.line + 1, tuple(lines)))
    return edits
