"""Requests for a draft of a plan to a program of the user, at most two, and the evaluation of its answers.

The result is only a draft: it is added to the plans like a plan that somebody has written elsewhere. Nothing in it is
run, and nothing is approved.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.agents.drafting import draft_answer
from execplan.core.errors import CHECK_FAILED, ENVIRONMENT, INTERRUPTED, TERMINATED, ExecplanError
from execplan.core.plan import reader
from execplan.core.project.slug import slug
from execplan.core.scaffold import plan_creation, plan_draft, plan_templates
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.core.trace import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.drafting.draft_prompt import Prompt
    from execplan.agents.drafting.drafting_settings import DraftingSettings
    from execplan.agents.user_program.program_call import CallResult
    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding

DIRECTORY: Final = "drafts"
"""Name of the state directory with drafts that have errors."""


class DraftRequest(NamedTuple):
    """What the user asks for."""

    title: str
    purpose: str = ""
    tasks: tuple[str, ...] = ()
    template: str | None = None
    """Name of the template of the skeleton; default: that of the settings."""


class DraftCall(NamedTuple):
    """A call of the program: what was sent and what came back."""

    prompt: Prompt
    answer: bytes
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the sizes and digests of both."""
        return {
            "bytes": len(self.prompt.data),
            "sha256": self.prompt.sha256,
            "redactions": self.prompt.redactions,
            "received_bytes": len(self.answer),
            "received_sha256": digest(self.answer) if self.answer else None,
            "seconds": round(self.seconds, 3),
        }


class Draft(NamedTuple):
    """A draft of a plan, with its errors."""

    name: str
    """Name of the plan in the form of the settings, without a number that makes it unique."""
    data: bytes
    findings: tuple[Finding, ...]
    """Lint errors."""
    problems: tuple[str, ...]
    """All errors, one line each."""
    calls: tuple[DraftCall, ...]
    failure: str = ""
    """Why a second request gave no draft; empty if it did, or if there was none."""


def request_draft(project: Project, settings: DraftingSettings, request: DraftRequest) -> Draft:
    """Ask a program for a draft, and once more if the draft has errors.

    Raises ExecplanError if the title or template is invalid, and if the first request gives no draft.
    """
    from execplan.agents.drafting.draft_context import gather_context
    from execplan.agents.drafting.draft_prompt import DraftPrompts

    title = plan_creation.validate_title(request.title)
    project = project._replace(exists=True)
    template = plan_templates.find_template(project, request.template or plan_templates.execplan_template(project))
    name = plan_creation.plan_name(project, slug(title))
    skeleton, _ = plan_draft.render_plan(project, template.name, name, title, request.purpose, request.tasks)
    prompts = DraftPrompts(project, title, request.purpose, request.tasks, skeleton.decode("utf-8"))
    prompts.set_context(
        gather_context(
            project,
            reader.read(skeleton),
            project.plan_file(project.plans, name),
            "\n".join([title, request.purpose, *request.tasks]),
            settings.budget,
        )
    )
    prompt = prompts.first()
    result = _call(project, settings, prompt)
    if result.reason:
        raise _failed_error(settings, result)
    draft = _make_draft(name, title, (DraftCall(prompt, result.answer, result.seconds),))
    if not draft.problems:
        return draft
    log(f"the draft has {format_count(len(draft.problems), 'error')}; asking {settings.name} to correct them")
    prompt = prompts.retry(draft.data, draft_answer.shorten(draft.problems))
    result = _call(project, settings, prompt)
    calls = (*draft.calls, DraftCall(prompt, result.answer, result.seconds))
    if result.reason:
        return draft._replace(calls=calls, failure=result.reason)
    return _make_draft(name, title, calls)


def _call(project: Project, settings: DraftingSettings, prompt: Prompt) -> CallResult:
    """Send a prompt and return the result. Raises ExecplanError if the user interrupted it."""
    from execplan.agents.user_program.program_call import call_program

    log(f"sending {prompt.describe()}, SHA-256 {prompt.sha256}, to {settings.name}: {settings.program.program}")
    result = call_program(project, settings.program, prompt.data)
    log(f"{settings.name} answered with {len(result.answer):,} bytes after {result.seconds:.1f} s")
    if result.signal:
        hint = "the program was ended; nothing was written"
        if result.signal == "SIGINT":
            raise ExecplanError("interrupted", "interrupted", exit=INTERRUPTED, hint=hint)
        raise ExecplanError("terminated", "terminated", exit=TERMINATED, hint=hint)
    return result


def _make_draft(name: str, title: str, calls: tuple[DraftCall, ...]) -> Draft:
    data = draft_answer.extract_plan(calls[-1].answer, title)
    findings, problems = draft_answer.find_errors(data)
    return Draft(name, data, tuple(findings), tuple(problems), calls)


def _failed_error(settings: DraftingSettings, result: CallResult) -> ExecplanError:
    name = settings.name
    was_sent = "" if result.started else "; nothing was sent"
    return ExecplanError(
        "drafting-failed",
        f"{name} gave no draft: {result.reason}{was_sent}; nothing was written",
        exit=ENVIRONMENT,
        hint=f"try the command of drafting.programs.{name} on its own, with a prompt on standard input; limits: execplan explain drafting",
    )


def keep_draft(project: Project, draft: Draft, settings: DraftingSettings) -> ExecplanError:
    """Store a draft that has errors outside the plans, and return the error that says where.

    Raises ExecplanError if it can't be stored.
    """
    import shlex

    path = _store(project, draft)
    display_path = project.display_path(path)
    again = f", and {settings.name} gave no better one: {draft.failure}" if draft.failure else ""
    findings = [finding.to_json(display_path) for finding in draft.findings]
    return ExecplanError(
        "draft-errors",
        f"the draft has {format_count(len(draft.problems), 'error')}{again}; no plan was created, and the draft is kept in {display_path}",
        exit=CHECK_FAILED,
        hint=f"fix them there, then create the plan from it: execplan new --from {shlex.quote(os.path.relpath(path))}",
        candidates=[f"{display_path}:{problem}" for problem in draft_answer.shorten(draft.problems)],
        data={"findings": findings, "path": display_path, "draft": draft_json(draft, settings)},
    )


def draft_json(draft: Draft, settings: DraftingSettings) -> dict[str, Any]:
    """Return which program was asked, what was sent, and the errors of its draft."""
    calls = [call.to_json() for call in draft.calls]
    return {"program": settings.name, "calls": calls, "problems": list(draft.problems), "failure": draft.failure}


def _store(project: Project, draft: Draft) -> str:
    from execplan.core.files import atomic_files
    from execplan.core.plan_store import plan_store
    from execplan.core.project import plan_names, project_state

    project_state.make_state_dir(project, DIRECTORY)
    name = plan_names.assign_number(draft.name, plan_store.taken_ids(project))
    path, number = "", 1
    while not path or not atomic_files.create(path, draft.data):
        path = os.path.join(project.state, DIRECTORY, f"{name}{f'-{number}' if number > 1 else ''}.md")
        number += 1
    return path


def describe_calls(calls: Sequence[DraftCall], name: str) -> str:
    """Return one line with the sizes of what was sent and received."""
    received = sum([len(call.answer) for call in calls])
    sent_text = " and ".join([call.prompt.describe() for call in calls])
    return f"drafted by {name}: sent {sent_text}, received {received:,} bytes"
