"""The `execplan triage` command."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import exclusive, option_rules
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.git import git_query
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from execplan.context.triage.change_summary import ChangedFile, ChangeSummary
    from execplan.context.triage.triage_evaluation import Thresholds, TriageResult
    from execplan.core.project.project import Project

_MAX_TITLE_LENGTH = 80
"""Maximum length of a request that can be the title of its plan."""
_ANY_TITLE = "'Title'"
"""Title in the suggested command if the request is too long for one."""


@define_command(
    reads="the request; with --staged, git's index; with --since, the changed files; the settings, for the thresholds.",
    writes="nothing.",
    examples=(
        'execplan triage "Fix a typo in the README"',
        'execplan triage "Move all sessions to the new database" --json',
        "execplan triage --staged",
        'execplan triage "Split the reader" --since HEAD',
    ),
)
@click.argument("request", required=False)
@click.option("--staged", is_flag=True, help="Check the changes of the next commit.")
@click.option("--since", metavar="REV", help="Check the changes since this branch left REV.")
@option_rules(exclusive("--staged", "--since"))
def triage(call: Call, request: str | None, *, staged: bool, since: str | None) -> Answer:
    """Check whether a request or a change needs a plan.

    The answer is none, plan or unclear, with reasons, and with questions that would settle an unclear case. REQUEST can
    be @FILE, or - for standard input.
    """
    from execplan.context.gathering import triage_changes
    from execplan.context.triage import triage_evaluation
    from execplan.context.triage.triage_evaluation import parse_thresholds

    if request is None and not staged and since is None:
        message = "nothing to check: specify a request, --staged or --since REV"
        raise usage_error(message, 'execplan triage "What to do"')
    request_text = _read_request(request) if request is not None else None
    project = project_discovery.find(os.getcwd())
    changed: list[ChangedFile] | None = None
    if staged or since is not None:
        git_query.require_repository(project)
        if since is None:
            changed = triage_changes.staged_changes(project)
        else:
            changed = triage_changes.changes_since(project, since)
    repository_parts, warnings = _repository_parts(project) if request_text is not None else ({}, ())
    limits = parse_thresholds(project.settings.triage)
    assessment = triage_evaluation.evaluate_triage(request_text, changed, repository_parts, limits)
    next_commands = _follow(project, request_text) if assessment.verdict == triage_evaluation.PLAN else ()
    return Answer(
        _triage_json(assessment, limits),
        _triage_text(assessment, limits),
        warnings=warnings,
        next_commands=next_commands,
    )


def _repository_parts(project: Project) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the parts of the repository, and a warning if git can't list them."""
    from execplan.context.gathering import triage_changes

    try:
        return triage_changes.repository_parts(project), ()
    except ExecplanError as error:
        if error.code not in git_query.GIT_UNUSABLE_CODES:
            raise
        message = "the parts of the repository are unknown, so the request is checked without them"
        return {}, (f"{message}: {error.message}; {error.hint}",)


def _read_request(request: str) -> str:
    """Return the text of a request with at least one word; raises ExecplanError."""
    from execplan.cli.text_input import read_lines

    text = "\n".join(read_lines(request, "the request"))
    if not any([char.isalnum() for char in text]):
        hint = "describe what to do"
        raise ExecplanError("no-words", f"the request contains no words: {request!r}", hint=hint)
    return text


def _follow(project: Project, request_text: str | None) -> tuple[str, ...]:
    if not project.exists:
        return ("execplan init",)
    title = " ".join((request_text or "").split())
    return (f"execplan new {shlex.quote(title) if 0 < len(title) <= _MAX_TITLE_LENGTH else _ANY_TITLE}",)


def _triage_json(assessment: TriageResult, limits: Thresholds) -> dict[str, Any]:
    request = assessment.request
    return {
        "verdict": assessment.verdict,
        "confidence": assessment.confidence,
        "thresholds": limits._asdict(),
        "reasons": list(assessment.reasons),
        "unclear": [open_question._asdict() for open_question in assessment.unclear],
        "criteria": [
            {
                **json_fields(criterion, "name strength weight"),
                "points": round(criterion.points, 4) + 0.0,
                "evidence": [evidence._asdict() for evidence in criterion.evidence],
            }
            for criterion in assessment.criteria
        ],
        "request": None if request is None else {"words": request.word_count, "is_english": request.is_english},
        "changes": None if assessment.changes is None else _changes_json(assessment.changes),
    }


def _changes_json(changes: ChangeSummary) -> dict[str, Any]:
    return {
        **json_fields(changes, "files added removed"),
        "source_files": len(changes.source_files),
        **json_fields(changes, "parts untested_lines"),
        "kinds": {kind.name: list(paths) for kind, paths in changes.kinds},
    }


def _triage_text(assessment: TriageResult, limits: Thresholds) -> str:
    head = {
        "none": "no plan is needed",
        "plan": "a plan is needed",
        "unclear": "it is unclear whether a plan is needed",
    }
    enough = f"; {limits.none:.2f} would be enough" if assessment.verdict == "unclear" else ""
    confidence = f"confidence that none is needed: {assessment.confidence:.2f}{enough}"
    lines = [f"{assessment.verdict}: {head[assessment.verdict]} ({confidence})"]
    lines += [f"  {reason}" for reason in assessment.reasons]
    lines += [f"  unclear: {open_question.unclear}. {open_question.question}" for open_question in assessment.unclear]
    return "\n".join(lines)
