"""Processing of a guard request, from input bytes to output bytes: detects the format, and decides on the call."""

from __future__ import annotations

from execplan.agents.guard import grant_lookup
from execplan.agents.guard.guard_context import context_from_grant
from execplan.agents.guard.tool_call import HookOutput, HookResponse, NotUnderstoodError
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text import fast_json
from execplan.core.text.message_parts import printable_line
from execplan.execution.engine.agent_runs import guard_grant
from execplan.execution.permission import ASK, DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final

    from execplan.agents.guard.guard_context import GuardContext
    from execplan.agents.guard.guard_decision import GuardDecision
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.execution.engine.agent_runs.guard_grant import GuardGrant
    from execplan.execution.engine.journal.journal import RunEntry

_PROGRAMS_BY_EVENT: Final = {"BeforeTool": "gemini", "tool.execute.before": "opencode"}
"""Programs with an event of their own before a call."""


def handle_request(
    data: bytes, plan_name: str | None, program: str, max_length: int
) -> tuple[HookOutput, Callable[[], None]]:
    """Handle a request; return the output, and an action to run afterwards.

    The caller denies the call if anything is raised.
    """
    try:
        payload = _parse_payload(data)
    except NotUnderstoodError as error:
        if not program:
            raise
        return _load_format(program).answer(_denial(f"the call can't be read: {error}", max_length)), _do_nothing
    hook_format = _load_format(program or _detect_program(payload))
    try:
        if (call_id := hook_format.made_call(payload)) is not None:
            from execplan.agents.guard import asked_calls

            asked_calls.record_made_call(call_id, plan_name)
            return HookOutput(b"{}\n"), _do_nothing
        call: ToolCall = hook_format.read(payload)
        asks: bool = hook_format.can_ask(payload)
        call = call._replace(session=printable_line(call.session, 200))
        decision, snapshot, hidden = _decide(call, plan_name, asks=asks)
    except NotUnderstoodError as error:
        return hook_format.answer(_denial(f"the call can't be interpreted: {error}", max_length)), _do_nothing
    except ExecplanError as error:
        candidates = f": {', '.join(error.candidates[:5])}" if error.candidates else ""
        hint = f"; {error.hint}" if error.hint else ""
        return hook_format.answer(_denial(f"{error.message}{candidates}{hint}", max_length)), _do_nothing
    if decision.kind == ASK and not asks:
        decision = decision._replace(
            kind=DENY, reason=f"{decision.reason}; a person must be asked, and this session can't ask"
        )
    reason = printable_line(guard_grant.redact_secrets(f"execplan: {decision.reason}", hidden), max_length)
    output = hook_format.answer(HookResponse(decision.kind, reason, decision.step, call.tool))
    if decision.kind != DENY or snapshot is None:
        return output, _do_nothing
    from execplan.agents.guard import call_recording

    return output, lambda: call_recording.record_denial(call, *snapshot, decision)


def _do_nothing() -> None:
    """Do nothing, for a call that needs no record."""


def _denial(reason: str, max_length: int) -> HookResponse:
    return HookResponse(DENY, printable_line(f"execplan: {reason}", max_length))


def _load_format(program: str) -> Any:
    return getattr(__import__("execplan.agents.guard", fromlist=[program]), program)


def _detect_program(payload: dict[str, Any]) -> str:
    """Detect the program that sent a call by its event; unlike Claude Code, Codex includes the turn and the model."""
    if "hook_event_name" not in payload:
        return "any_program"
    if program := _PROGRAMS_BY_EVENT.get(str(payload["hook_event_name"])):
        return program
    return "codex" if "turn_id" in payload else "claude"


def _parse_payload(data: bytes) -> dict[str, Any]:
    try:
        payload = fast_json.read(data.decode())
    except RecursionError:
        raise NotUnderstoodError("it is nested too deeply") from None
    except ValueError as error:
        raise NotUnderstoodError(f"it is not valid JSON: {error}") from None
    if not isinstance(payload, dict):
        raise NotUnderstoodError("it is not an object")
    return payload


class _RunSnapshot(NamedTuple):
    """The data on which a decision was based."""

    grant: GuardGrant
    entries: Sequence[RunEntry]
    context: GuardContext


def _decide(
    call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[GuardDecision, _RunSnapshot | None, tuple[str, ...]]:
    """Decide on a call; return the decision, its grant and run if any, and the secrets that no reason may contain.

    Raises ExecplanError.
    """
    grant = grant_lookup.find_grant(plan_name)
    if grant is not None:
        from execplan.agents.guard import call_recording

        entries = call_recording.read_entries(grant)
        context = context_from_grant(grant, entries)
        if not call_recording.is_run_over(context):
            decision = call_recording.decide_by_grant(call, grant, entries, context, asks=asks)
            return decision, _RunSnapshot(grant, entries, context), grant.hidden
    from execplan.agents.guard import quick_check

    decision, hidden = quick_check.decide_without_grant(call, plan_name, asks=asks)
    return decision, None, hidden
