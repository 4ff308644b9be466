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
    from collections.abc import Callable, Iterator, Mapping

    from execplan.agents.enhancer.enhance import Enhanced, Sending
    from execplan.cli.compiling import Made
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

NOT_SENT = "not_sent"


def enhanced(home: Home, ref: Ref, make: Callable[[], Made], options: Options) -> Answer:
    """Compile and store as ever, then ask the program; raises ExecplanError where none is named."""
    from execplan.agents.enhancer.command import configured

    command = configured(home)
    answer = _compiled(home, ref, make, options)
    try:
        sending = enhance.prepare(home, ref, current(home, ref).document)
    except ExecplanError as error:
        return _with(
            answer, {"ended": NOT_SENT, "reason": error.message}, [], (_warning(command.program, error.message),)
        )
    told = {"program": command.program, "sent": _sent(sending)}
    if options.dry_run:
        lines = [f"would send {_size(sending.data)} to {shown(command.program)}{_taken_out(sending.redactions)}:", ""]
        text = [*lines, sending.data.decode().rstrip("\n")]
        return _with(answer, {**told, "ended": NOT_SENT, "reason": "", "request": sending.data.decode()}, text, ())
    found = enhance.enhance(home, ref, sending, command, options)
    data = {**told, **_data(found)}
    warnings = found.warnings
    if found.ended in (enhance.FAILED, enhance.REFUSED):
        warnings = (_warning(command.program, found.reason, *found.violations[:1]), *warnings)
    sent = f"sent {_size(sending.data)} to {shown(command.program)}{_taken_out(sending.redactions)}"
    follow = ()
    if found.ended == enhance.PROPOSED:
        path = os.path.relpath(os.path.join(home.root, found.path))
        follow = (f"execplan compile {typed(ref.id, home.shown(ref.path))} --from {typed(path)}",)
    return _with(answer, data, [sent, *_lines(found)], warnings, follow)


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


def _sent(sending: Sending) -> dict[str, Any]:
    return {"sha256": digest(sending.data), "bytes": len(sending.data), "redactions": sending.redactions}


def _data(found: Enhanced) -> dict[str, Any]:
    return {
        "ended": found.ended,
        "reason": found.reason,
        "violations": list(found.violations),
        "received": {"sha256": digest(found.received) if found.received else None, "bytes": len(found.received)},
        "differences": list(found.differences),
        "looser": list(found.looser),
        "diff": found.diff,
        "path": found.path or None,
        "commit": found.commit,
    }


def _lines(found: Enhanced) -> Iterator[str]:
    """What came back, for a person."""
    if found.ended != enhance.PROPOSED:
        yield found.reason
        yield from [f"  {each}" for each in found.violations]
        return
    yield "it proposes:"
    yield from [f"  {each}" for each in found.differences]
    if found.looser:
        yield "of this it checks less, forbids less or may do more:"
        yield from [f"  ! {each}" for each in found.looser]
    yield ""
    yield found.diff
    yield ""
    yield f"wrote {found.path}: nothing of it is used before somebody takes it"


def _warning(program: str, reason: str, *more: str) -> str:
    why = ": ".join([reason, *more])
    return f"the enhancer {program} gave nothing: {why}; the execution plan is what it would be without it"


def _size(data: bytes) -> str:
    return f"{len(data):,} bytes"


def _taken_out(redactions: Mapping[str, int]) -> str:
    """What was taken out, in words."""
    words = {"secret": "secret", "withheld": "value or content that is not sent", "path": "path", "name": "name"}
    told = [f"{count} × {words[kind]}" for kind, count in redactions.items() if count]
    return f", without {', '.join(told)}" if told else ""
