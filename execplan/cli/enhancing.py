"""What `compile --enhance` says: the compile as ever, what was or would be sent, and the proposal for a person to take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.agents.enhancer import enhance
from execplan.cli import compiling
from execplan.cli.answer import Answer, typed
from execplan.cli.door import shown
from execplan.errors import ExecplanError
from execplan.repo.execution.current import current
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from execplan.agents.enhancer.enhance import EnhancementResult, PreparedRequest
    from execplan.cli.compiling import Made
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


_CLOSED = "enhancer.share names no field, so only the structure of the plan is sent: execplan explain enhancer lists the fields"


def enhanced(home: Home, ref: Ref, make: Callable[[], Made], options: Options) -> Answer:
    """Compile and store as ever, then ask the program; raises ExecplanError where none is named."""
    from execplan.agents.enhancer.command import load_settings, load_shared_fields
    from execplan.repo import own

    command = load_settings(home) if own.enhancer() or not options.dry_run else None
    share = load_shared_fields()
    program = command.program if command is not None else None
    answer = _compiled(home, ref, make, options)
    try:
        sending = enhance.prepare_request(home, ref, current(home, ref).document, share)
    except ExecplanError as error:
        why = {"program": program, "ended": enhance.NOT_SENT, "reason": error.message}
        return _with(answer, why, [], (_warning(error.message),))
    told: dict[str, Any] = {"program": program, "sent": _sent(sending, share)}
    closed = () if share else (_CLOSED,)
    if command is None or options.dry_run:
        to = shown(program) if program is not None else "nobody yet, for your settings name no enhancer"
        text = [f"would send {_size(sending)}, to {to}:", "", sending.payload.decode().rstrip("\n")]
        told |= {"ended": enhance.NOT_SENT, "reason": "", "request": sending.payload.decode()}
        return _with(answer, told, text, closed)
    found = enhance.request_enhancement(home, ref, sending, command, options)
    data = {**told, **_data(found)}
    warnings = (*closed, *found.warnings)
    if found.outcome in (enhance.NOT_SENT, enhance.FAILED, enhance.REJECTED):
        warnings = (_warning(found.reason, *found.violations[:1]), *warnings)
    sent = [f"sent {_size(sending)}, to {shown(command.program)}"] if found.outcome != enhance.NOT_SENT else []
    follow: tuple[str, ...] = ()
    if found.outcome == enhance.PROPOSED:
        path = os.path.relpath(os.path.join(home.root, found.path))
        follow = (f"execplan compile {typed(ref.id, home.shown(ref.path))} --from {typed(path)}",)
    return _with(answer, data, [*sent, *_lines(found)], warnings, follow)


def _compiled(home: Home, ref: Ref, make: Callable[[], Made], options: Options) -> Answer:
    """The plan compiled and stored; one whose execution plan comes from elsewhere keeps that."""
    from execplan.repo.amend import stop_archived
    from execplan.repo.homes import existing

    existing(home)
    stop_archived(home, ref)
    found = current(home, ref)
    if found.document.source is not None and found.document.revision == 1:
        return compiling.stored(home, ref, make, options, "compile")
    return compiling.kept(home, ref, found)


def _with(
    answer: Answer, data: Mapping[str, Any], lines: list[str], warnings: tuple[str, ...], follow: tuple[str, ...] = ()
) -> Answer:
    """The answer of a compile, with what came of the program."""
    text = "\n".join([answer.text, *(["", *lines] if lines else [])])
    return answer._replace(
        data={**answer.data, "enhanced": data},
        text=text,
        warnings=(*answer.warnings, *warnings),
        next=(*follow, *answer.next),
        wanted=answer.wanted or bool(lines),
    )


def _sent(sending: PreparedRequest, share: Sequence[str]) -> dict[str, Any]:
    told = {"sha256": digest(sending.payload), "bytes": len(sending.payload), "redactions": sending.redactions}
    return {**told, "shared": list(share)}


def _data(found: EnhancementResult) -> dict[str, Any]:
    return {
        "ended": found.outcome,
        "reason": found.reason,
        "violations": list(found.violations),
        "received": {"sha256": digest(found.received) if found.received else None, "bytes": len(found.received)},
        "differences": list(found.differences),
        "looser": list(found.relaxations),
        "diff": found.diff,
        "path": found.path or None,
        "commit": found.commit,
    }


def _lines(found: EnhancementResult) -> Iterator[str]:
    """What came back, for a person."""
    if found.outcome != enhance.PROPOSED:
        yield from [found.reason] if found.outcome == enhance.NO_CHANGE else found.violations
        return
    yield "it proposes:"
    yield from [f"  {each}" for each in found.differences]
    if found.relaxations:
        yield "of this it checks less, forbids less or may do more:"
        yield from [f"  ! {each}" for each in found.relaxations]
    yield ""
    yield found.diff
    yield ""
    yield f"wrote {found.path}: nothing of it is used before somebody takes it"


def _warning(*why: str) -> str:
    return f"the enhancer gave nothing: {': '.join(why)}; the execution plan is what it would be without it"


def _size(sending: PreparedRequest) -> str:
    """How much is sent, and what was taken out of it."""
    told = ", ".join([f"{count} {kind}" for kind, count in sending.redactions.items() if count])
    return f"{len(sending.payload):,} bytes (taken out: {told or 'nothing'})"
