"""Requests for a draft of a plan to a program of the user, at most two, and the evaluation of its answers.

The result is only a draft: it is added to the plans like a plan that somebody has written elsewhere. Nothing in it is
run, and nothing is approved.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.core.errors import ExecplanError, interrupted_error
from execplan.core.plan import reader
from execplan.core.plan.item_format import escape_heading
from execplan.core.plan.model import DONE
from execplan.core.project.slug import slug
from execplan.core.scaffold import plan_creation, plan_draft, plan_templates
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.core.trace import log
from execplan.linter.runner import draft_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.drafting.draft_prompt import Prompt
    from execplan.agents.drafting.drafting_settings import DraftingSettings
    from execplan.agents.user_program.program_call import CallResult
    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_PLAN_LANGUAGES: Final = frozenset(("", "md", "markdown", "execplan"))
"""Languages of a code block that may contain the whole plan."""
_MAX_PROBLEMS: Final = 20
DIRECTORY: Final = "drafts"
"""Name of the state directory with drafts that have errors."""


def extract_plan(answer: bytes, title: str) -> bytes:
    """Return the plan in an answer, under the requested title.

    An introduction before the title and a code block around the plan are removed. If nothing looks like a plan, the
    result is the whole answer, whose problems are found later.
    """
    text = answer.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = _plan_lines(text.split("\n"))
    at = next((index for index, line in enumerate(lines) if line.startswith("# ")), None)
    if at is not None:
        lines[at] = f"# {escape_heading(title)}"
    return ("\n".join(lines).strip("\n") + "\n").encode("utf-8")


def _plan_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines from the plan's title to its end."""
    for index, line in enumerate(lines):
        if line.startswith("# "):
            return list(lines[index:])
        fence = _FENCE.match(line)
        if fence is None or fence[2].lower() not in _PLAN_LANGUAGES:
            continue
        inner = index + 1
        while inner < len(lines) and not lines[inner].strip():
            inner += 1
        if inner < len(lines) and lines[inner].startswith("# "):
            return list(lines[inner : _closing_fence(lines, inner, fence[1])])
    return list(lines)


def _closing_fence(lines: Sequence[str], start: int, opening: str) -> int:
    """Return the index of the line that closes a code block around a whole plan: the last one that can.

    The plan has code blocks of its own, often with fences that are not shorter than the one around them.
    """
    for index in range(len(lines) - 1, start, -1):
        fence = _FENCE.match(lines[index])
        if fence is not None and not fence[2] and fence[1][0] == opening[0] and len(fence[1]) >= len(opening):
            return index
    return len(lines)


def find_errors(data: bytes) -> tuple[list[Finding], list[str]]:
    """Return the lint errors of a draft, and a line for each problem, with the number of its line in the draft."""
    try:
        plan = reader.read(data)
    except ExecplanError as error:
        return [], [f"{error.line or 1}: {error.message}"]
    findings = draft_errors(plan)
    lines = [f"{finding.line}:{finding.column} {finding.code} {finding.message}" for finding in findings]
    lines += [
        f"{task.box_line + 1}: task {task.number} is checked off, but nothing has been done yet"
        for task in plan.tasks
        if task.state == DONE
    ]
    return findings, lines


def shorten(problems: Sequence[str]) -> list[str]:
    """Return the first problems, and a line that counts the others."""
    excess = len(problems) - _MAX_PROBLEMS
    return [*problems[:_MAX_PROBLEMS], *([f"and {excess} more"] if excess > 0 else [])]


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
    from execplan.agents.drafting.draft_prompt import DraftPrompts, gather_context

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
    prompt = prompts.retry(draft.data, shorten(draft.problems))
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
        raise interrupted_error(result.signal, hint="the program was ended; nothing was written")
    return result


def _make_draft(name: str, title: str, calls: tuple[DraftCall, ...]) -> Draft:
    data = extract_plan(calls[-1].answer, title)
    findings, problems = find_errors(data)
    return Draft(name, data, tuple(findings), tuple(problems), calls)


def _failed_error(settings: DraftingSettings, result: CallResult) -> ExecplanError:
    name = settings.name
    was_sent = "" if result.started else "; nothing was sent"
    return ExecplanError(
        "drafting-failed",
        f"{name} gave no draft: {result.reason}{was_sent}; nothing was written",
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
        hint=f"fix them there, then create the plan from it: execplan new --from {shlex.quote(os.path.relpath(path))}",
        candidates=[f"{display_path}:{problem}" for problem in shorten(draft.problems)],
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
