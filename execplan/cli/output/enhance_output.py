"""Output of `compile --enhance`: the normal compile, the request, and the proposal for a person to accept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from execplan.agents.enhancer import enhancement
from execplan.agents.enhancer.enhancement import EnhancementResult, PreparedRequest
from execplan.cli.answer import Answer, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output import compile_output
from execplan.cli.output.compile_output import CompileResult
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef, quote_plan_name
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution.approvals.current_plan import load_current_plan

_NOTHING_SHARED = "enhancer.share names no field, so only the structure of the plan is sent; list the fields: execplan explain enhancer"


def enhance_answer(project: Project, ref: PlanRef, make: Callable[[], CompileResult], options: WriteOptions) -> Answer:
    """Compile and store as usual, then call the enhancer; raises ExecplanError if none is configured."""
    from execplan.agents.enhancer.enhancement_request import load_settings, load_shared_fields
    from execplan.core.project import user_settings

    command = load_settings(project) if user_settings.load_table("enhancer") or not options.dry_run else None
    share = load_shared_fields()
    program = command.program if command is not None else None
    answer = _compile_and_store(project, ref, make, options)
    try:
        sending = enhancement.prepare_request(project, ref, load_current_plan(project, ref).document, share)
    except ExecplanError as error:
        why = {"program": program, "ended": enhancement.NOT_SENT, "failure": enhancement.ERROR, "reason": error.message}
        return _add_enhancement(answer, why, [], (_warning(error.message),))
    request_data: dict[str, Any] = {"program": program, "sent": _request_json(sending, share)}
    closed = () if share else (_NOTHING_SHARED,)
    if command is None or options.dry_run:
        if program is not None:
            recipient = printable_line(program)
        else:
            recipient = "nobody yet, because your settings name no enhancer"
        text = [f"would send {_size_text(sending)} to {recipient}:", "", sending.payload.decode().rstrip("\n")]
        request_data |= {
            "ended": enhancement.NOT_SENT,
            "failure": None,
            "reason": "",
            "request": sending.payload.decode(),
        }
        return _add_enhancement(answer, request_data, text, closed)
    result = enhancement.request_enhancement(project, ref, sending, command, options)
    data = {**request_data, **_enhancement_json(result)}
    warnings = (*closed, *result.warnings)
    if result.outcome in (enhancement.NOT_SENT, enhancement.FAILED, enhancement.REJECTED):
        warnings = (_warning(result.reason, *result.violations[:1]), *warnings)
    if result.outcome != enhancement.NOT_SENT:
        sent_lines = [f"sent {_size_text(sending)} to {printable_line(command.program)}"]
    else:
        sent_lines = []
    next_commands: tuple[str, ...] = ()
    if result.outcome == enhancement.PROPOSED:
        path = os.path.relpath(os.path.join(project.root, result.path))
        next_commands = (
            f"execplan compile {quote_plan_name(ref.id, project.display_path(ref.path))} --from {quote_plan_name(path)}",
        )
    return _add_enhancement(answer, data, [*sent_lines, *_enhancement_lines(result)], warnings, next_commands)


def _compile_and_store(
    project: Project, ref: PlanRef, make: Callable[[], CompileResult], options: WriteOptions
) -> Answer:
    """Compile and store the plan, unless its execution plan was imported; then keep that."""
    from execplan.core.edits.plan_preconditions import ensure_not_archived
    from execplan.core.project.project_discovery import require_existing

    require_existing(project)
    ensure_not_archived(project, ref)
    current_plan = load_current_plan(project, ref)
    if current_plan.document.source is not None and current_plan.document.revision == 1:
        return compile_output.store_result(project, ref, make, options, "compile")
    return compile_output.imported_answer(project, ref, current_plan)


def _add_enhancement(
    answer: Answer,
    data: Mapping[str, Any],
    lines: list[str],
    warnings: tuple[str, ...],
    next_commands: tuple[str, ...] = (),
) -> Answer:
    """Add the enhancer's result to the answer of a compile."""
    text = "\n".join([answer.text, *(["", *lines] if lines else [])])
    return answer._replace(
        data={**answer.data, "enhanced": data},
        text=text,
        warnings=(*answer.warnings, *warnings),
        next_commands=(*next_commands, *answer.next_commands),
        is_requested=answer.is_requested or bool(lines),
    )


def _request_json(sending: PreparedRequest, share: Sequence[str]) -> dict[str, Any]:
    payload = sending.payload
    return {
        "sha256": digest(payload),
        "bytes": len(payload),
        "redactions": sending.redactions,
        "shared": list(share),
    }


def _enhancement_json(result: EnhancementResult) -> dict[str, Any]:
    return {
        "ended": result.outcome,
        **json_fields(result, "reason failure? violations"),
        "received": {
            "sha256": digest(result.received) if result.received else None,
            "bytes": len(result.received),
        },
        "differences": list(result.differences),
        "looser": list(result.relaxations),
        **json_fields(result, "diff path? commit"),
    }


def _enhancement_lines(result: EnhancementResult) -> Iterator[str]:
    """Yield the lines about an enhancer's result for people."""
    if result.outcome != enhancement.PROPOSED:
        yield from [result.reason] if result.outcome == enhancement.NO_CHANGE else result.violations
        return
    yield "proposed changes:"
    yield from [f"  {difference}" for difference in result.differences]
    if result.relaxations:
        yield "these check less, forbid less or allow more:"
        yield from [f"  ! {relaxation}" for relaxation in result.relaxations]
    yield ""
    yield result.diff
    yield ""
    yield f"wrote {result.path}: it is not used until you accept it"


def _warning(*why: str) -> str:
    return f"no proposal from the enhancer: {': '.join(why)}; the execution plan is the same without it"


def _size_text(sending: PreparedRequest) -> str:
    """Format the size of a request and the number of its redactions."""
    redactions = ", ".join([f"{count} {kind}" for kind, count in sending.redactions.items() if count])
    return f"{len(sending.payload):,} bytes (redacted: {redactions or 'nothing'})"
