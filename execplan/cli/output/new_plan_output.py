"""Output of `new`: the created plan, templates, drafts of a program (`--draft-with`), and plans in a hook's input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.agents.capture import captured_plan, hook_input
from execplan.agents.drafting.plan_drafting import describe_calls, draft_json, shorten
from execplan.cli.answer import Answer, json_fields
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.text_input import read_source
from execplan.core import features
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.plan import reader
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery
from execplan.core.scaffold import plan_templates
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.agents.drafting.drafting_settings import DraftingSettings
    from execplan.agents.drafting.plan_drafting import Draft
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project
    from execplan.core.scaffold.plan_creation import CreatedPlan
    from execplan.team.advice.advice import Advice


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


def created_answer(created_plan: CreatedPlan, options: WriteOptions) -> Answer:
    """Return the answer for a plan that was created, or would be in a dry run."""
    data = {
        **json_fields(created_plan, "id path"),
        "artifacts": created_plan.paths[1].rstrip("/"),
        "changed": True,
        "digest": digest(created_plan.data),
        "commit": created_plan.commit,
    }
    if options.dry_run:
        text = printable_lines([f"would create {path}" for path in created_plan.paths], created_plan.diff)
        return Answer({**data, "diff": created_plan.diff}, text, warnings=created_plan.warnings)
    lines = [created_plan.path, *[f"attached the original as {path}" for path in created_plan.paths[2:]]]
    lines += [f"committed {created_plan.commit[:12]}"] if created_plan.commit else []
    name = quote_plan_name(created_plan.id, created_plan.path)
    advice: Advice = features.load(features.NEW_PLAN_ADVICE)(
        reader.read(created_plan.data), name, is_copy=created_plan.is_copy
    )
    next_commands = (*advice.commands, f"execplan lint {name}")
    return Answer(
        data, printable_lines(lines), warnings=created_plan.warnings, next_commands=next_commands, work=advice.work
    )


def templates_answer(project: Project) -> Answer:
    """List all templates and their origin."""
    all_templates = plan_templates.list_templates(project)
    names = [escape_unprintable(template.name) for template in all_templates]
    width = max(map(len, names))
    lines = []
    for name, template in zip(names, all_templates, strict=True):
        if template.overrides:
            origin = "replaces the built-in"
        elif template.own:
            origin = "own"
        else:
            origin = "built in"
        lines.append(
            f"{name:{width}}  {template.about}  ({origin})" if template.about else f"{name:{width}}  ({origin})"
        )
    data = {"templates": [template._asdict() for template in all_templates]}
    return Answer(data, printable_lines(lines), next_commands=("execplan new 'Title' --template bugfix",))
