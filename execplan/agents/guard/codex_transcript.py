"""What Codex's transcript has about a command and its hook's input lacks: directory, terminal, shell and sandbox.

Versions before 0.166 don't even give the hook the directory in which the command runs. The transcript has the call with
all of its arguments before the hook runs, in every version from 0.130 on.
"""

from __future__ import annotations

import os
import time

from execplan.agents.guard import tool_call
from execplan.agents.guard.tool_call import NotUnderstoodError
from execplan.core.files import file_access
from execplan.core.text import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final


_FIRST_BYTES: Final = 1 << 20
"""Maximum size of the transcript's first line, which has the version, in bytes."""
_TAIL_BYTES: Final = (1 << 18, 1 << 24)
"""Sizes, in bytes, of the end of a transcript that is searched for a call."""
_SCRIPT_BYTES: Final = 64 << 20
"""Size, in bytes, of the end of a transcript that is searched for scripts."""
_WAIT_SECONDS: Final = 2.0
"""Maximum time that the program gets to write the call."""
_CWD_VERSION: Final = (0, 166)
"""First version whose hook input has the command's own directory."""
_TEXT_FIELDS: Final = {"exec_command": "cmd", "shell_command": "command"}
_KNOWN_FIELDS: Final = (
    "cmd command workdir working_directory timeout timeout_ms yield_time_ms max_output_tokens justification login "
    "tty shell sandbox_permissions with_escalated_permissions"
)
_SHELLS: Final = frozenset(("bash", "sh", "zsh"))
_SHELL_DIRECTORIES: Final = ("", "/bin", "/usr/bin")
SCRIPT_CALL: Final = "exec-"
"""Beginning of the ID of a call that a script makes: such a call is not in the transcript, but the script is."""


def command_directory(payload: Mapping[str, Any], command: str, cwd: str) -> str:
    """Return the directory of a command. Raises NotUnderstoodError if it is unknown, or for a terminal or odd shell."""
    path = tool_call.optional_text(payload, "transcript_path")
    call_id = tool_call.optional_text(payload, "tool_use_id")
    if not path:
        raise NotUnderstoodError("Codex keeps no transcript, so the command's directory and terminal are unknown")
    if not call_id or not call_id.isascii() or not call_id.replace("-", "").replace("_", "").isalnum():
        raise NotUnderstoodError("the call has no ID")
    try:
        handle = file_access.open_regular(path)
    except (OSError, ValueError):
        raise NotUnderstoodError("Codex's transcript can't be read") from None
    try:
        if call_id.startswith(SCRIPT_CALL):
            from execplan.agents.guard import codex_script

            _require_version(handle, "the directory of a script's command is unknown before Codex 0.166")
            codex_script.require_plain_scripts(items_with(handle, _SCRIPT_BYTES, codex_script.SCRIPT_TEXT))
            return cwd
        name, arguments = _wait_for_call(handle, call_id)
        _check_arguments(name, arguments, command)
        workdir = "".join(tool_call.optional_paths(arguments, "workdir", "working_directory")[:1])
        if ".." in workdir.split("/"):
            raise NotUnderstoodError("workdir contains `..`: use an absolute path")
        if workdir and not workdir.startswith("/"):
            _require_version(handle, "workdir is relative, which is unclear before Codex 0.166: use an absolute path")
            return cwd
        return workdir or cwd
    finally:
        os.close(handle)


def _check_arguments(name: str, arguments: Mapping[str, Any], command: str) -> None:
    """Raise NotUnderstoodError unless a command runs as its text says, in a usual shell and without a terminal."""
    tool_call.ensure_known_fields(arguments, _KNOWN_FIELDS, name)
    field = _TEXT_FIELDS.get(name)
    if field is not None and arguments.get(field) != command:
        raise NotUnderstoodError("Codex's transcript has another command")
    if tool_call.optional_flag(arguments, "tty"):
        raise NotUnderstoodError("a terminal would let you type into the command without a check: call it without tty")
    if tool_call.optional_flag(arguments, "with_escalated_permissions") or arguments.get(
        "sandbox_permissions", "use_default"
    ) not in (None, "use_default"):
        raise NotUnderstoodError("a command is not allowed to leave the program's sandbox")
    directory, _, shell = tool_call.optional_text(arguments, "shell").rpartition("/")
    if arguments.get("shell") is not None and (shell not in _SHELLS or directory not in _SHELL_DIRECTORIES):
        raise NotUnderstoodError("the call names a shell of its own")


def _require_version(handle: int, problem: str) -> None:
    """Raise NotUnderstoodError unless the program's version gives its hooks the directory of a command."""
    line = file_access.read_at(handle, _FIRST_BYTES, 0).partition(b"\n")[0]
    version = str(_parse_line(line).get("cli_version", ""))
    numbers = [int(part) for part in version.partition("-")[0].split(".") if part.isascii() and part.isdigit()]
    if tuple(numbers[:2]) < _CWD_VERSION:
        raise NotUnderstoodError(problem)


def _wait_for_call(handle: int, call_id: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of a call, which may be written while this is read."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        for size in _TAIL_BYTES:
            for item in items_with(handle, size, f'"call_id":"{call_id}"'.encode()):
                if item.get("call_id") == call_id and (call := _parse_call(item)) is not None:
                    return call
        if time.monotonic() > deadline:
            raise NotUnderstoodError("Codex's transcript doesn't have the call, so its directory is unknown")
        time.sleep(0.02)


def items_with(handle: int, size: int, text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the items in the last bytes of a transcript whose lines contain a text, the last one first."""
    total = os.fstat(handle).st_size
    data = file_access.read_at(handle, size, max(0, total - size))
    end = len(data)
    while (at := data.rfind(text, 0, end)) >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        line_end = data.find(b"\n", at)
        yield _parse_line(data[begin : line_end if line_end >= 0 else len(data)])
        end = begin


def _parse_call(item: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments in an item; None if it is not the call of a command."""
    if item.get("type") == "local_shell_call":
        return "local_shell", tool_call.required_object(item, "action")
    if item.get("type") != "function_call":
        return None
    try:
        arguments = fast_json.read(tool_call.required_text(item, "arguments"))
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise NotUnderstoodError("Codex's transcript has arguments that can't be read")
    return tool_call.required_text(item, "name"), arguments


def _parse_line(line: bytes) -> dict[str, Any]:
    """Return the item in a line of a transcript; empty if it can't be read."""
    try:
        item = fast_json.read(line.decode()).get("payload")
    except (ValueError, RecursionError, AttributeError):
        return {}
    return item if isinstance(item, dict) else {}
