"""An execution plan handed to the program that the user has named, and what comes back judged: a proposal, never more.

Whatever goes wrong here is told and changes nothing: the execution plan is the one that the plan compiles to.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.agents.enhancer import kept, personal
from execplan.agents.enhancer.looser import looser
from execplan.agents.enhancer.proposal import bare, propose
from execplan.agents.enhancer.request import request
from execplan.agents.enhancer.veil import Veil, texts
from execplan.document import canonical
from execplan.engine.ledger import file
from execplan.errors import INTERRUPTED, POLICY, TERMINATED, ExecplanError
from execplan.execution.documents import strict
from execplan.execution.documents.violation import Violation
from execplan.text import disk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from execplan.agents.enhancer.call import Called
    from execplan.agents.enhancer.command import Command
    from execplan.execution.model import ExecutionPlan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

PROPOSED: Final = "proposed"
NOTHING: Final = "nothing"
"""The program would change nothing."""
REFUSED: Final = "refused"
"""What it answered can't stand."""
FAILED: Final = "failed"
"""It gave no answer."""
NOT_SENT: Final = "not_sent"
_MARKS = 8
"""Hexadecimal digits that make the words for what was taken out unlike all that a plan holds."""
_MOST = 20


class Sending(NamedTuple):
    """What would be sent, and what was taken out of it."""

    document: ExecutionPlan
    veil: Veil
    plan: dict[str, Any]
    data: bytes
    redactions: dict[str, int]


class Enhanced(NamedTuple):
    """What came of a call."""

    ended: str
    reason: str
    """Why there is no proposal."""
    violations: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    """Of the proposal, in words, without secrets, as all that follows."""
    looser: tuple[str, ...] = ()
    diff: str = ""
    path: str = ""
    """Where the proposal lies, from the root."""
    received: bytes = b""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def prepare(home: Home, ref: Ref, document: ExecutionPlan, share: Collection[str] = ()) -> Sending:
    """What would be sent of an execution plan; raises ExecplanError where git can't tell what it ignores.

    `share` are the fields whose texts may leave; of all others a word is sent.
    """
    plan = bare(document)
    mark = secrets.token_hex(_MARKS // 2)
    while any([mark in text for text in texts(plan)]):
        mark = secrets.token_hex(_MARKS // 2)
    veil = Veil(mark, personal.known(home), lambda paths: _ignored(home, paths), share)
    if _ignored(home, [os.path.relpath(ref.real, os.path.realpath(home.root))]):
        what = f"git ignores {home.shown(ref.path)}, and what it ignores is not sent"
        raise ExecplanError("plan-ignored", what, exit=POLICY, hint="let git know the plan: execplan commit")
    sent = veil.over(plan)
    return Sending(document, veil, sent, request(sent), veil.counts(sent))


def enhance(home: Home, ref: Ref, sending: Sending, command: Command, options: Options) -> Enhanced:
    """Call the program, judge its answer, keep the proposal; raises ExecplanError where its end can't be put on record.

    An interruption is recorded as well, and raised then.
    """
    from execplan.agents.enhancer.call import Called, call
    from execplan.agents.enhancer.recorded import Recorded
    from execplan.engine.ledger.ledger import AuditLog

    ledger = AuditLog(home, ref)
    before = {path: _held(path) for path in (ledger.path, kept.path_of(home, ref))}
    try:
        recorded = Recorded(ledger, command.program, sending.data, sending.redactions)
    except ExecplanError as error:
        return Enhanced(NOT_SENT, f"what can't be put on record is not sent: {error.message}")
    called = Called(b"", "", "", 0.0)
    try:
        called = call(home, command, sending.data)
        made = _outcome(home, ref, sending, command.program, called)
    except ExecplanError as error:
        made = Enhanced(FAILED, sending.veil.text(error.message))
    except BaseException as error:
        recorded.end(FAILED, type(error).__name__, called.answer, called.seconds)
        raise
    reason = made.reason + (f": {made.violations[0]}" if made.violations else "")
    warnings = recorded.end(made.ended, reason, called.answer, called.seconds)
    if called.signal:
        raise _interrupted(called.signal)
    commit, more = _committed(home, ref, before) if options.commits(home) else (None, ())
    return made._replace(received=called.answer, commit=commit, warnings=(*warnings, *more))


def _outcome(home: Home, ref: Ref, sending: Sending, program: str, called: Called) -> Enhanced:
    """What came of a call that has ended; raises ExecplanError."""
    if called.signal:
        return Enhanced(FAILED, f"interrupted by {called.signal}")
    if called.why:
        return Enhanced(FAILED if called.started else NOT_SENT, sending.veil.text(called.why))
    return _judged(home, ref, sending, program, called.answer)


def _judged(home: Home, ref: Ref, sending: Sending, program: str, data: bytes) -> Enhanced:
    """What an answer is worth; raises ExecplanError."""
    veil, found = sending.veil, strict.read(data)
    if veil.leaked(data.decode("utf-8", "replace")) or any([veil.leaked(text) for text in texts(found.value)]):
        return Enhanced(REFUSED, "its answer holds a secret, or what was taken out before it was sent")
    wrong = list(found.violations)
    document = None
    if found.is_complete:
        document, more = propose(home, sending.document, sending.plan, found.value, veil.mark)
        told = {each.pointer for each in wrong}
        wrong += [each for each in more if each.pointer not in told]
    if wrong or document is None:
        return Enhanced(REFUSED, "its answer can't stand", _told(veil, wrong, found.omitted))
    from execplan.execution.documents.differing import diff_documents
    from execplan.repo import state
    from execplan.repo.amend import diff
    from execplan.repo.execution import store
    from execplan.text import files

    new = veil.again(bare(document))
    before, after = canonical(sending.plan), canonical(new)
    if before == after:
        return Enhanced(NOTHING, "it would change nothing")
    path = kept.path_of(home, ref)
    proposal = kept.to_keep(sending.document, program, veil.mark, sending.plan, found.value)
    with state.lock(home, ref.real, f"compile of {ref.id}"):
        files.again(lambda: store.put(home, path, proposal), home.shown(path))
    return Enhanced(
        PROPOSED,
        "",
        differences=diff_documents(sending.plan, new),
        looser=looser(sending.plan, new),
        diff=diff(before, after, "execution-plan.json"),
        path=home.shown(path),
    )


def _held(path: str) -> bytes | None:
    return disk.read(path, file.LIMIT)[0] if os.path.lexists(path) else None


def _committed(home: Home, ref: Ref, before: dict[str, bytes | None]) -> tuple[str | None, tuple[str, ...]]:
    """Commit what was kept and recorded; raises ExecplanError."""
    from execplan.repo.commit import commit_paths

    changed = [path for path, old in before.items() if _held(path) != old]
    known = {path: old for path, old in before.items() if old is not None}
    made = commit_paths(home, ref.id, changed, "compile", "ask for a better execution plan", known, None)
    return made.digest, made.warnings


def _ignored(home: Home, paths: Iterable[str]) -> set[str]:
    """Which of some paths git ignores; those that lead out of the repository too. Raises ExecplanError."""
    from execplan.execution.world import normalize_path
    from execplan.repo import ask

    inside = {path: normalize_path(path) for path in paths}
    asked = sorted({each for each in inside.values() if each is not None})
    if home.git is None or not asked:
        return {path for path, each in inside.items() if each is None}
    stdin = b"".join([os.fsencode(each) + b"\0" for each in asked])
    found = ask.answer(home, "check-ignore", "-z", "--stdin", no=1, stdin=stdin) or b""
    ignored = {os.fsdecode(each) for each in found.split(b"\0") if each}
    return {path for path, each in inside.items() if each is None or each in ignored}


def _told(veil: Veil, violations: Iterable[Violation], more: int) -> tuple[str, ...]:
    """What is wrong with an answer, a line each, without secrets."""
    lines = [veil.text(str(each)) for each in violations]
    over = len(lines) - _MOST + more
    return (*lines[:_MOST], f"and {over} more") if over > 0 else tuple(lines)


def _interrupted(signal: str) -> ExecplanError:
    hint = "the execution plan is stored; the program was ended, and what it was sent is on record"
    if signal == "SIGINT":
        return ExecplanError("interrupted", "interrupted", exit=INTERRUPTED, hint=hint)
    return ExecplanError("terminated", "terminated", exit=TERMINATED, hint=hint)
