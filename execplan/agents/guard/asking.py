"""From the bytes of a call to the bytes of an answer: in which program's form it is asked, and by which plan it is judged."""

from __future__ import annotations

from execplan.agents.guard import current_warrant, keep
from execplan.agents.guard.basis import of_run
from execplan.agents.guard.call import Decision
from execplan.agents.guard.taking import NotUnderstoodError
from execplan.engine.agent import warrant as warrants
from execplan.errors import ExecplanError
from execplan.execution.permission import ASK, DENY
from execplan.record import NamedTuple
from execplan.text import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.agents.guard.basis import Basis
    from execplan.agents.guard.call import Call
    from execplan.agents.guard.decide import Judged
    from execplan.engine.agent.warrant import GuardGrant
    from execplan.engine.journal import Entry


def answer(data: bytes, named: str | None, program: str, longest: int) -> tuple[bytes, int, Callable[[], None]]:
    """What is printed, the exit status, and what is done then; anything that is raised is for the door to deny."""
    try:
        said = _read(data)
    except NotUnderstoodError as error:
        if not program:
            raise
        return *_form(program).answer(_denied(f"the call can't be read: {error}", longest)), _nothing
    form = _form(program or _program(said))
    try:
        call: Call = form.read(said)
        call = call._replace(session=keep.shown(call.session, 200))
        found, known, hidden = _judged(call, named, asks=form.ASKS)
    except NotUnderstoodError as error:
        return *form.answer(_denied(f"the call is not understood: {error}", longest)), _nothing
    except ExecplanError as error:
        about = f": {', '.join(error.candidates[:5])}" if error.candidates else ""
        hint = f"; {error.hint}" if error.hint else ""
        return *form.answer(_denied(f"{error.message}{about}{hint}", longest)), _nothing
    if found.kind == ASK and not form.ASKS:
        found = found._replace(kind=DENY, why=f"{found.why}; somebody is to be asked, and this program can't")
    why = keep.shown(warrants.redact_secrets(f"execplan: {found.why}", hidden), longest)
    told = form.answer(Decision(found.kind, why, found.step, call.tool))
    if found.kind != DENY or known is None:
        return *told, _nothing
    return *told, lambda: keep.denied(call, *known, found)


def _nothing() -> None:
    """What is done where nothing is to be told of a call."""


def _denied(why: str, longest: int) -> Decision:
    return Decision(DENY, keep.shown(f"execplan: {why}", longest))


def _form(program: str) -> Any:
    return getattr(__import__("execplan.agents.guard", fromlist=[program]), program)


def _program(said: dict[str, Any]) -> str:
    """The program that sends such a call: Codex names the turn and the model, Claude Code does not."""
    if "hook_event_name" not in said:
        return "neutral"
    return "codex" if "turn_id" in said else "claude"


def _read(data: bytes) -> dict[str, Any]:
    try:
        said = plain_json.read(data.decode())
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError(f"{type(error).__name__}: {error}") from None
    if not isinstance(said, dict):
        raise NotUnderstoodError("it is no object")
    return said


class _Known(NamedTuple):
    """What a call was judged by."""

    warrant: GuardGrant
    entries: Sequence[Entry]
    basis: Basis


def _judged(call: Call, named: str | None, *, asks: bool) -> tuple[Judged, _Known | None, tuple[str, ...]]:
    """What becomes of the call, by which warrant, and what no reason tells; raises ExecplanError."""
    warrant = current_warrant.warrant(named)
    if warrant is not None:
        entries = keep.entries_of(warrant)
        basis = of_run(warrant, entries)
        if not keep.is_over(basis):
            found = keep.by_warrant(call, warrant, entries, basis, asks=asks)
            return found, _Known(warrant, entries, basis), warrant.hidden
    from execplan.agents.guard import quick_check

    found, hidden = quick_check.judged(call, named, asks=asks)
    return found, None, hidden
