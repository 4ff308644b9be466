"""A repository whose plan is approved, and the guard as the process that an agent's program starts: forked from the test's own."""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents.guard import guard_entry
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = ("claude", "codex", "json")


class Answer(NamedTuple):
    """What a program is told, and takes of it."""

    status: int
    out: bytes
    err: bytes
    program: str

    @property
    def kind(self) -> str:
        """allow, ask or deny, as the program understands it."""
        if self.status == 2:
            return "deny" if self.err.strip() else "allow"
        assert self.status == 0, self
        if self.program == "json":
            return str(self.response_fields["decision"])
        decision = self.response_fields.get("permissionDecision", "allow")
        return "allow" if self.program == "codex" and decision != "deny" else str(decision)

    @property
    def response_fields(self) -> dict[str, Any]:
        """What stands in its document."""
        document = json.loads(self.out)
        return dict(document["data"] if self.program == "json" else document.get("hookSpecificOutput", {}))

    @property
    def why(self) -> str:
        """The reason, which is the same in its document and on standard error."""
        reason = (
            self.response_fields.get("why" if self.program == "json" else "permissionDecisionReason", "")
            if self.out
            else ""
        )
        if self.status and self.out:
            assert self.err.decode() == f"{reason}\n", self
        return str(reason) if self.out else self.err.decode()


def hook(tool: str, cwd: str, session: str = "s-1", **tool_input: object) -> dict[str, Any]:
    """A call as Claude Code sends it."""
    return {
        "session_id": session,
        "cwd": cwd,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": tool_input,
    }


def transcript(*items: dict[str, Any], version: str = "0.169.0") -> str:
    """The path of a transcript of Codex with these items, which the next one replaces."""
    path = os.path.join(tempfile.gettempdir(), f"execplan-codex-{os.getpid()}.jsonl")
    atexit.unregister(_remove_transcript)
    atexit.register(_remove_transcript, path)
    lines = [{"type": "session_meta", "payload": {"cli_version": version}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    Path(path).write_text("".join([f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines]))
    return path


def _remove_transcript(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def claude_transcript(version: str = "2.1.330") -> str:
    """The path of a transcript of Claude Code, which the next one replaces."""
    path = os.path.join(tempfile.gettempdir(), f"execplan-claude-{os.getpid()}.jsonl")
    atexit.unregister(_remove_claude_transcript)
    atexit.register(_remove_claude_transcript, path)
    Path(path).write_text(f'{{"type":"user","version":"{version}","message":{{}}}}\n')
    return path


def _remove_claude_transcript(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def codex_command(call_id: str, **arguments: object) -> dict[str, Any]:
    """A command in a transcript of Codex."""
    return {"type": "function_call", "name": "exec_command", "arguments": json.dumps(arguments), "call_id": call_id}


def as_sent(program: str, command: str, cwd: str) -> bytes:
    """A command as a program asks about it."""
    if program == "json":
        return json.dumps({"tool": "command", "command": command, "cwd": cwd, "session": "s-1", "id": "u"}).encode()
    call = {**hook("Bash", cwd, command=command), "tool_use_id": "u", "transcript_path": claude_transcript()}
    codex_fields = {
        "turn_id": "t",
        "model": "m",
        "permission_mode": "default",
        "transcript_path": transcript(codex_command("u", cmd=command)) if program == "codex" else None,
    }
    return json.dumps(call | codex_fields if program == "codex" else call).encode()


def guard(
    data: bytes | None, *arguments: str, program: str = "claude", before: Callable[[], object] | None = None
) -> Answer:
    """Ask the guard in a process of its own; None: with standard input closed."""
    pipes = [os.pipe() for _ in range(3)]
    child = os.fork()
    if not child:
        try:
            _run_guard_child(pipes, data is None, arguments, before)
        finally:
            os._exit(99)
    for handle in (pipes[0][0], pipes[1][1], pipes[2][1]):
        os.close(handle)
    with suppress(BrokenPipeError), os.fdopen(pipes[0][1], "wb") as stdin:
        stdin.write(data or b"")
    out, err = [_read_all(handle) for handle, _ in pipes[1:]]
    _, status = os.waitpid(child, 0)
    return Answer(os.waitstatus_to_exitcode(status), out, err, program)


def _read_all(handle: int) -> bytes:
    with os.fdopen(handle, "rb") as file:
        return file.read()


def _run_guard_child(
    pipes: list[tuple[int, int]], closed: bool, arguments: tuple[str, ...], before: Callable[[], object] | None
) -> None:
    for at, (reads, writes) in enumerate(pipes):
        os.dup2(reads if at == 0 else writes, at)
    for pair in pipes:
        for handle in pair:
            os.close(handle)
    if closed:
        os.close(0)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    if before is not None:
        before()
    os._exit(guard_entry.guard(arguments))


class GuardRepository(InProcessRepository):
    """The repository, and calls that are asked about in it."""

    def ask(
        self, command: str, *arguments: str, program: str = "claude", before: Callable[[], object] | None = None
    ) -> Answer:
        """Ask about a command."""
        data = as_sent(program, command, str(self.path))
        return guard(data, "--program", program, *arguments, program=program, before=before)

    def entries(self) -> list[dict[str, Any]]:
        """The journal of the only run of the plan, empty where there is none."""
        paths = list(self.path.glob(".agent/execplans/artifacts/*/runs/*/journal.jsonl"))
        paths = [path for path in paths if NAME in str(path)]
        return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]

    def calls(self) -> list[str]:
        """The steps that calls were allowed of, in order."""
        return [entry["step"] for entry in self.entries() if entry["kind"] == "called"]

    def bytes(self) -> dict[str, bytes]:
        """Every file of the repository, git's own apart, and of the state what is no lock."""
        files = [path for path in self.path.rglob("*") if path.is_file() and not path.is_symlink()]
        compared = [path for path in files if "/.git/" not in str(path) or "/.git/execplan/" in str(path)]
        return {str(path): path.read_bytes() for path in compared if "/locks/" not in str(path)}
