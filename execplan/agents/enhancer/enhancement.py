"""Requests to the configured enhancer program for a better execution plan, and the evaluation of its answers.

The content of files that git ignores is not sent.

The result is never more than a proposal. Errors are reported and change nothing: the execution plan stays as it was
compiled from the plan.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from execplan.agents.enhancer import stored_proposal
from execplan.agents.enhancer.enhancement_request import build_request
from execplan.agents.enhancer.mask import PlanMasker
from execplan.agents.enhancer.proposal import build_proposal, plan_content
from execplan.agents.enhancer.relaxations import find_relaxations
from execplan.agents.user_program.personal_data import collect_personal_data
from execplan.agents.user_program.program_call import CALL_FAILURES, INTERRUPTED, CallResult, UserProgram
from execplan.core.documents.document_io import to_json_bytes
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError, interrupted_error
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import strict_json
from execplan.core.text.fast_json import iter_texts
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.violation import Violation
from execplan.execution.engine.audit_log import log_file
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.world import normalize_path

PROPOSED: Final = "proposed"
NO_CHANGE: Final = "nothing"
"""Outcome of a call whose answer changes nothing."""
REJECTED: Final = "refused"
"""Outcome of a call whose answer is not acceptable."""
FAILED: Final = "failed"
"""Outcome of a call that returned no answer."""
NOT_SENT: Final = "not_sent"
LEAK: Final = "leak"
INVALID: Final = "invalid"
UNRECORDED: Final = "unrecorded"
ERROR: Final = "error"
FAILURES: Final = (*CALL_FAILURES, LEAK, INVALID, UNRECORDED, ERROR)
"""Why there is no proposal: how the call failed; or its answer has a secret or is invalid, it can't be recorded, or execplan failed."""
_MARK_DIGITS = 8
"""Number of hexadecimal digits in the mark that makes placeholders differ from all texts of a plan."""
_MAX_VIOLATIONS = 20


def find_ignored_paths(project: Project, paths: Iterable[str]) -> set[str]:
    """Return the paths that git ignores or that lead out of the repository. Raises ExecplanError if git fails."""
    root = os.path.realpath(project.root)
    relative_paths = {path: _resolve_path(root, path) for path in paths}
    repository_paths = sorted({relative_path for relative_path in relative_paths.values() if relative_path is not None})
    ignored: set[str | None] = {None}
    if project.git is not None and repository_paths:
        # without the prefix, git would take a path that begins with a colon for a pattern
        stdin = b"".join([b"./" + os.fsencode(relative_path) + b"\0" for relative_path in repository_paths])
        query = ("check-ignore", "-z", "--stdin")
        limit = git_query.SCAN_TIMEOUT
        output = git_query.output_or_none(project, *query, no_status=1, stdin=stdin, limit=limit) or b""
        ignored |= {os.fsdecode(raw_path).removeprefix("./") for raw_path in output.split(b"\0") if raw_path}
    return {path for path, relative_path in relative_paths.items() if relative_path in ignored}


def _resolve_path(root: str, path: str) -> str | None:
    """Return a path from the root, with the links in its directories resolved; None if it leads out of the repository."""
    relative_path = normalize_path(path)
    if relative_path is None:
        return None
    directory, name = os.path.split(os.path.join(root, relative_path))
    directory = os.path.realpath(directory)
    return os.path.relpath(os.path.join(directory, name), root) if is_inside(directory, root) else None


class PreparedRequest(NamedTuple):
    """A request to the enhancer, with the sent plan and its redactions."""

    document: ExecutionPlan
    masker: PlanMasker
    masked_plan: dict[str, Any]
    payload: bytes
    redactions: dict[str, int]


class EnhancementResult(NamedTuple):
    """The outcome of a call to the enhancer, with details."""

    outcome: str
    reason: str
    """Reason why no proposal exists."""
    failure: str = ""
    """One of FAILURES if the call gave no acceptable answer."""
    violations: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    """Differences of the proposal as text, without secrets, like all the following fields."""
    relaxations: tuple[str, ...] = ()
    diff: str = ""
    path: str = ""
    """Path of the proposal from the repository root."""
    received: bytes = b""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def prepare_request(
    project: Project, ref: PlanRef, document: ExecutionPlan, share: Collection[str] = ()
) -> PreparedRequest:
    """Build the request for an execution plan. Raises ExecplanError if git can't report which files it ignores.

    `share` lists the fields whose texts may be sent; placeholders replace all other texts. Raises ExecplanError also if
    git ignores the plan.
    """
    plan = plan_content(document)
    mark = secrets.token_hex(_MARK_DIGITS // 2)
    while any([mark in text for text in iter_texts(plan)]):
        mark = secrets.token_hex(_MARK_DIGITS // 2)
    masker = PlanMasker(mark, collect_personal_data(project), lambda paths: find_ignored_paths(project, paths), share)
    if find_ignored_paths(project, [os.path.relpath(ref.real_path, os.path.realpath(project.root))]):
        path = project.display_path(ref.path)
        message = f"git ignores {path}; ignored files are not sent"
        hint = f"if it may be sent, remove the pattern that matches: git check-ignore -v {shlex.quote(path)}"
        raise ExecplanError("plan-ignored", message, hint=hint)
    masked_plan = masker.mask_plan(plan)
    return PreparedRequest(
        document, masker, masked_plan, build_request(masked_plan), masker.count_redactions(masked_plan)
    )


def request_enhancement(
    project: Project, ref: PlanRef, prepared_request: PreparedRequest, command: UserProgram, options: WriteOptions
) -> EnhancementResult:
    """Call the enhancer, evaluate its answer and store the proposal.

    An interruption is recorded as well, and then raised. Raises ExecplanError if the end of the call can't be recorded.
    """
    from execplan.agents.enhancer.enhancement_request import EnhancementRecord
    from execplan.agents.user_program.program_call import call_program
    from execplan.execution.engine.audit_log.log_writer import AuditLog

    audit_log = AuditLog(project, ref)
    previous_contents = {
        path: file_access.read_if_exists(path, log_file.LIMIT)
        for path in (audit_log.path, stored_proposal.proposal_path(project, ref))
    }
    try:
        record = EnhancementRecord(audit_log, command.program, prepared_request.payload, prepared_request.redactions)
    except ExecplanError as error:
        return EnhancementResult(
            NOT_SENT, f"the call can't be recorded, so nothing was sent: {error.message}", UNRECORDED
        )
    call_result = CallResult(b"", "", "", "", 0.0)
    try:
        call_result = call_program(project, command, prepared_request.payload)
        result = _interpret_call(project, ref, prepared_request, command.program, call_result)
    except ExecplanError as error:
        result = EnhancementResult(FAILED, prepared_request.masker.mask_text(error.message), ERROR)
    except BaseException as error:
        record.record_end(FAILED, ERROR, type(error).__name__, call_result.answer, call_result.seconds)
        raise
    reason = result.reason + (f": {result.violations[0]}" if result.violations else "")
    warnings = record.record_end(result.outcome, result.failure, reason, call_result.answer, call_result.seconds)
    if call_result.signal:
        raise _interrupted_error(call_result.signal)
    commit, commit_warnings = (
        _commit_changes(project, ref, previous_contents) if options.should_commit(project) else (None, ())
    )
    return result._replace(received=call_result.answer, commit=commit, warnings=(*warnings, *commit_warnings))


def _interpret_call(
    project: Project, ref: PlanRef, prepared_request: PreparedRequest, program: str, call_result: CallResult
) -> EnhancementResult:
    """Return the result of a call that has ended. Raises ExecplanError."""
    if call_result.signal:
        return EnhancementResult(FAILED, f"interrupted by {call_result.signal}", INTERRUPTED)
    if call_result.reason:
        outcome = FAILED if call_result.started else NOT_SENT
        reason = prepared_request.masker.mask_text(call_result.reason)
        return EnhancementResult(outcome, reason, call_result.failure)
    return _evaluate_answer(project, ref, prepared_request, program, call_result.answer)


def _evaluate_answer(
    project: Project, ref: PlanRef, prepared_request: PreparedRequest, program: str, data: bytes
) -> EnhancementResult:
    """Evaluate an answer, and store it if it is an acceptable proposal. Raises ExecplanError."""
    masker, answer = prepared_request.masker, strict_json.read(data)
    if masker.has_leak(data.decode("utf-8", "replace")) or any(
        [masker.has_leak(text) for text in iter_texts(answer.value)]
    ):
        message = "its answer contains a secret, or text that was redacted before sending"
        return EnhancementResult(REJECTED, message, LEAK)
    violations = list(answer.violations)
    document = None
    if answer.is_complete:
        document, proposal_violations = build_proposal(
            project, prepared_request.document, prepared_request.masked_plan, answer.value, masker.mark
        )
        reported_pointers = {violation.pointer for violation in violations}
        violations += [violation for violation in proposal_violations if violation.pointer not in reported_pointers]
    if violations or document is None:
        violation_texts = _format_violations(masker, violations, answer.omitted)
        return EnhancementResult(REJECTED, "its answer is invalid", INVALID, violation_texts)
    from execplan.core.edits.plan_writer import format_diff
    from execplan.core.files import atomic_files
    from execplan.core.project import project_state
    from execplan.execution.approvals import artifact_store
    from execplan.execution.documents.document_diff import diff_documents

    new_plan = masker.mask_revised_plan(plan_content(document))
    old_json, new_json = to_json_bytes(prepared_request.masked_plan), to_json_bytes(new_plan)
    if old_json == new_json:
        return EnhancementResult(NO_CHANGE, "it proposes no changes")
    path = stored_proposal.proposal_path(project, ref)
    proposal = stored_proposal.serialize_proposal(
        prepared_request.document, program, masker.mark, prepared_request.masked_plan, answer.value
    )
    with project_state.lock(project, ref.real_path, f"compile of {ref.id}"):
        atomic_files.retry_on_change(
            lambda: artifact_store.write_artifact(project, path, proposal), project.display_path(path)
        )
    return EnhancementResult(
        PROPOSED,
        "",
        differences=diff_documents(prepared_request.masked_plan, new_plan),
        relaxations=find_relaxations(prepared_request.masked_plan, new_plan),
        diff=format_diff(old_json, new_json, "execution-plan.json"),
        path=project.display_path(path),
    )


def _commit_changes(
    project: Project, ref: PlanRef, previous_contents: dict[str, bytes | None]
) -> tuple[str | None, tuple[str, ...]]:
    """Commit the stored proposal and the audit log. Raises ExecplanError."""
    from execplan.core.edits.plan_commit import commit_paths

    changed = [
        path for path, old in previous_contents.items() if file_access.read_if_exists(path, log_file.LIMIT) != old
    ]
    known_contents = {path: old for path, old in previous_contents.items() if old is not None}
    commit = commit_paths(
        project, ref.id, changed, "compile", "request an enhanced execution plan", known_contents, None
    )
    return commit.digest, commit.warnings


def _format_violations(masker: PlanMasker, violations: Iterable[Violation], unlisted_count: int) -> tuple[str, ...]:
    """Describe the errors of an answer, one per line, without secrets."""
    lines = [masker.mask_text(str(violation)) for violation in violations]
    excess = len(lines) - _MAX_VIOLATIONS + unlisted_count
    return (*lines[:_MAX_VIOLATIONS], f"and {excess} more") if excess > 0 else tuple(lines)


def _interrupted_error(signal: str) -> ExecplanError:
    hint = "the execution plan is stored; the program was ended, and the request is recorded in the audit log"
    return interrupted_error(signal, hint=hint)
