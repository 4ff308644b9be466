"""The stop gate: a program's hook input on standard input, and an answer if its session may not end yet.

A session may end when its claimed tasks are done, handed over, or explained.

A task that has a check is done after the check has passed. Every trouble of the gate's own lets the session end: a
gate that fails must not keep anybody from leaving.
"""

from __future__ import annotations

import os
import sys

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.task_checks import find_check
from execplan.core.plan.verified_tasks import is_verified
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.claims_file import claims_path
from execplan.core.project import project_discovery, project_state
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from execplan.core.plan_store.claims_file import Claim
    from execplan.core.project.project import Project

    _NamedClaims = list[tuple[Claim, str, str]]

_CLAUDE: Final = "claude"
_CODEX: Final = "codex"
_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
_ENTRY_POINT: Final = "CLAUDE_CODE_ENTRYPOINT"
_INTERACTIVE_SOURCES: Final = ("cli", "vscode")
"""Sources of sessions of Codex that a person has started in a terminal or an editor."""
_MAX_LINE_BYTES: Final = 1 << 20
"""Maximum size of the first line of a session log of Codex, which has the instructions, too."""
TIMEOUT_SECONDS: Final = 5.0
"""Seconds after which the session ends anyway."""
_MAX_INPUT_BYTES: Final = 4 << 20
"""Maximum size of a hook's input; it may contain the model's last message."""
_SWITCH: Final = "EXECPLAN_STOP_GATE"
"""Variable that turns the gate off if it is `off`."""


DIRECTORY: Final = "stop-gate"
"""Name of the state directory with the number of times that each session was kept going."""

MAX_BLOCKS: Final = 2
"""How often in a row a session is kept going for the same claims."""

_EVENT: Final = "Stop"
_MAX_TASKS: Final = 3
_MAX_TEXT_CHARS: Final = 100
_MAX_FILES: Final = 50
"""Number of sessions after which the oldest counts are removed."""


def is_attended(program: str, payload: Mapping[str, Any]) -> bool:
    """Check whether a person is known to be at the session that called a hook; false if nobody can tell."""
    if program == _CLAUDE:
        return _is_claude_attended()
    return program == _CODEX and _is_codex_attended(payload.get("transcript_path"))


def _is_claude_attended() -> bool:
    """Check the variables of Claude Code; older versions have only the entry point, which is `sdk-…` in `claude -p`."""
    attended = os.environ.get(_ATTENDED)
    return attended != "0" if attended is not None else os.environ.get(_ENTRY_POINT) == "cli"


def _is_codex_attended(log_path: object) -> bool:
    """Check the first line of a session log of Codex, which says what has started the session."""
    if not isinstance(log_path, str):
        return False
    try:
        handle = file_access.open_regular(log_path)
    except (OSError, ValueError):
        return False
    try:
        line, newline, _ = file_access.read_at(handle, _MAX_LINE_BYTES, 0).partition(b"\n")
    finally:
        os.close(handle)
    if not newline:
        return False
    entry = fast_json.loads(line)
    header = entry.get("payload") if isinstance(entry, dict) and entry.get("type") == "session_meta" else None
    return isinstance(header, dict) and header.get("source") in _INTERACTIVE_SOURCES


def continue_reason(program: str, payload: Mapping[str, Any]) -> str:
    """Return why a session should go on, as an instruction for its agent; empty if it may end.

    `payload` is the input of the program's hook. Raises ExecplanError if the claims can't be read.
    """
    session, directory = payload.get("session_id"), payload.get("cwd")
    if payload.get("hook_event_name") != _EVENT or not isinstance(session, str) or not session:
        return ""
    if payload.get("agent_id") or not is_attended(program, payload):
        return ""
    project = project_discovery.find(directory if isinstance(directory, str) and directory else os.getcwd())
    if not project.exists or not os.path.exists(claims_path(project)):
        return ""
    open_claims, unverified_claims = _unfinished_claims(project, session)
    claims_to_name = open_claims or unverified_claims
    if not claims_to_name:
        return ""
    key = " ".join(sorted([f"{claim.plan} {claim.task} {claim.until}" for claim, _, _ in claims_to_name]))
    if not _count_block(project, session, key, is_repeated=payload.get("stop_hook_active") is True):
        return ""
    return _instruction(project, open_claims) if open_claims else _verify_instruction(project, unverified_claims)


def _unfinished_claims(project: Project, session: str) -> tuple[_NamedClaims, _NamedClaims]:
    """Return the session's claims on open tasks since which the plan's log is the same, and those on unverified tasks.

    An unverified task is done and has a check, but no transcript of it. Each claim comes with plan path and task text.
    """
    unexplained: _NamedClaims = []
    unverified: _NamedClaims = []
    for claim, path in claims.session_claims(project, session):
        try:
            plan = plan_store.parse(project, plan_store.read_bytes(project, path))
        except ExecplanError:
            continue
        tasks_by_id = dict(zip(task_ids(plan.tasks), plan.tasks, strict=True))
        task = tasks_by_id.get(claim.task)
        if task is None:
            continue
        if task.is_unfinished and claims.log_state(project, path, plan) == claim.baseline:
            unexplained.append((claim, path, task.text))
        elif task.state == DONE and find_check(plan, task) is not None and not is_verified(plan, task):
            unverified.append((claim, path, task.text))
    return unexplained, unverified


def _count_block(project: Project, session: str, key: str, *, is_repeated: bool) -> bool:
    """Count that a session is kept going for these claims; return False if that must not happen once more.

    `is_repeated` says that the program has just kept it going. If no count is known then, something loses the counts,
    or another hook keeps the session going; it may end, because nothing else would bound their number.
    """
    project_state.make_state_dir(project, DIRECTORY)
    directory = os.path.join(project.state, DIRECTORY)
    path = os.path.join(directory, digest(session.encode("utf-8", "backslashreplace"))[:32])
    stored = file_access.read_if_exists(path, 1 << 10)
    known_key, _, number = (stored or b"").decode("ascii", "replace").partition(" ")
    claims_key = digest(key.encode("utf-8", "backslashreplace"))
    count = int(number) if known_key == claims_key and number.strip().isdecimal() else 0
    if count >= MAX_BLOCKS or (is_repeated and stored is None):
        return False
    if stored is None:
        _remove_oldest(directory)
    atomic_files.replace(path, f"{claims_key} {count + 1}\n".encode(), mode=0o600, durable=False, is_locked=False)
    return True


def _remove_oldest(directory: str) -> None:
    paths = [os.path.join(directory, name) for name in os.listdir(directory)]
    for path in sorted(paths, key=os.path.getmtime)[: max(0, len(paths) - _MAX_FILES + 1)]:
        os.unlink(path)


def _instruction(project: Project, open_claims: _NamedClaims) -> str:
    """Return what the agent should do; texts of the plan are quoted and shortened."""
    from shlex import quote

    lines = ["execplan: you have claimed tasks that are neither done nor explained:"]
    lines += _task_lines(project, open_claims)
    claim, path, _ = open_claims[0]
    name = plan_store.ref_for_path(project, path).shell_name
    lines += [
        "Before you end, do one of these for each:",
        f"- finish it, then: execplan done {claim.task} -p {name}",
        f"- say in the plan what stops you: execplan discover 'What you found' -p {name}",
        f"- give it back: execplan next {name} --release {quote(claim.name)}",
        "If you can't, or the user wants you to stop, just end again.",
    ]
    return "\n".join(lines)


def _verify_instruction(project: Project, unverified_claims: _NamedClaims) -> str:
    """Return what the agent should do about tasks that it checked off without their checks."""
    claim, path, _ = unverified_claims[0]
    name = plan_store.ref_for_path(project, path).shell_name
    return "\n".join(
        [
            "execplan: you have checked off tasks, but their checks have not passed:",
            *_task_lines(project, unverified_claims),
            "Before you end, do one of these for each:",
            f"- run the check: execplan done {claim.task} --verify -p {name}",
            f"- if it fails and you can't fix it: execplan reopen {claim.task} -p {name}",
            "If you can't, or the user wants you to stop, just end again.",
        ]
    )


def _task_lines(project: Project, named_claims: _NamedClaims) -> list[str]:
    """Return a line for each of the first tasks."""
    lines = []
    for claim, path, text in named_claims[:_MAX_TASKS]:
        ref = plan_store.ref_for_path(project, path)
        lines.append(f"- {claim.task} of {ref.shell_name}: {_shorten(text)}")
    if len(named_claims) > _MAX_TASKS:
        lines.append(f"- and {len(named_claims) - _MAX_TASKS} more")
    return lines


def _shorten(text: str) -> str:
    """Return a task's text on one line, without secrets and unprintable characters."""
    from execplan.core.secrets.certain_secrets import mask_secrets

    line = "".join([char if char.isprintable() else " " for char in mask_secrets(text)])
    return line if len(line) <= _MAX_TEXT_CHARS else f"{line[:_MAX_TEXT_CHARS]}…"


def stop_gate(arguments: Sequence[str]) -> int:
    """Answer the hook of a program; always return 0, the status that lets a session end if nothing is printed."""
    try:
        if os.environ.get(_SWITCH) == "off" or list(arguments[1:]) or os.isatty(0):
            return 0
        _set_time_limit()
        answer = _answer(arguments[0])
        if answer:
            os.write(1, answer)
    except BaseException:  # noqa: BLE001 - whatever it is, the session ends
        return 0
    return 0


def _set_time_limit() -> None:
    if sys.platform == "win32":
        return
    if TYPE_CHECKING:
        import signal as signals
    else:
        import _signal as signals  # `signal` imports enum, which imports re

    signals.signal(signals.SIGALRM, lambda number, frame: os._exit(0))
    signals.setitimer(signals.ITIMER_REAL, TIMEOUT_SECONDS)


def _answer(program: str) -> bytes:
    """Return the document that keeps a session going; empty if it may end."""
    from execplan.core.text import fast_json

    chunks, size = [], 0
    while size <= _MAX_INPUT_BYTES and (chunk := os.read(0, 1 << 20)):
        chunks.append(chunk)
        size += len(chunk)
    payload = fast_json.loads(b"".join(chunks))
    reason = continue_reason(program, payload) if isinstance(payload, dict) else ""
    if not reason:
        return b""
    return fast_json.write({"decision": "block", "reason": reason}).encode("utf-8", "backslashreplace") + b"\n"
