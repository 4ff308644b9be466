"""Output of `new` for drafts of a program (`--draft-with`), and for plans in a hook's input (`--from - --hook`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.agents.capture import captured_plan, hook_input
from execplan.agents.drafting.plan_drafting import describe_calls, draft_json, shorten
from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.text_input import read_source
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.agents.drafting.drafting_settings import DraftingSettings
    from execplan.agents.drafting.plan_drafting import Draft
    from execplan.core.edits.plan_writer import WriteOptions


def capture_answer(program: str, options: WriteOptions) -> Answer:
    """Capture the plan in a hook's input; whatever is wrong is a warning, because the session goes on."""
    empty = {"id": None, "path": None, "action": None, "changed": False}
    try:
        hook_plan = hook_input.read_hook_plan(program, read_source("-"))
        if hook_plan is None:
            return Answer(empty, "")
        project = project_discovery.find(hook_plan.cwd if os.path.isdir(hook_plan.cwd) else os.getcwd())
        if not project.exists:
            return Answer(empty, "")
        captured = captured_plan.capture_plan(
            project, hook_input.PROGRAM_NAMES[program], hook_plan.session, hook_plan.text, options
        )
    except ExecplanError as error:
        return Answer(empty, "", warnings=(f"the plan was not captured: {error.message}",))
    changed = captured.action != captured_plan.UNCHANGED
    data = {"id": captured.id, "path": captured.path, "action": captured.action, "changed": changed}
    return Answer(data, "", warnings=captured.warnings)


def add_draft(answer: Answer, draft: Draft, settings: DraftingSettings, *, dry_run: bool) -> Answer:
    """Add which program wrote a plan, and what was sent; in a dry run with --json, also the requests themselves."""
    line = printable_lines([describe_calls(draft.calls, settings.name)])
    data = {**draft_json(draft, settings), **(_requests(draft) if dry_run else {})}
    return answer._replace(data={**answer.data, "draft": data}, text=f"{answer.text}\n{line}")


def broken_draft_answer(draft: Draft, settings: DraftingSettings) -> Answer:
    """Return the answer of a dry run whose draft has errors: the draft and its errors; nothing is written."""
    text = draft.data.decode("utf-8", "replace")
    again = f", and {settings.name} gave no better one: {draft.failure}" if draft.failure else ""
    lines = [f"the draft has {format_count(len(draft.problems), 'error')}{again}:", *shorten(draft.problems)]
    findings = [finding.to_json("draft.md") for finding in draft.findings]
    data = {
        "changed": False,
        "findings": findings,
        "text": text,
        "draft": {**draft_json(draft, settings), **_requests(draft)},
    }
    output = printable_lines([text.rstrip("\n"), "", *lines, describe_calls(draft.calls, settings.name)])
    return Answer(data, output, CHECK_FAILED)


def _requests(draft: Draft) -> dict[str, list[str]]:
    return {"requests": [call.prompt.data.decode("utf-8", "replace") for call in draft.calls]}
