"""Every failure is a denial, in the form of each program, and no call of a step is allowed that the journal does not have."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.guard import call_recording, grant_lookup, guard_decision, guard_entry, request_handler
from execplan.execution.engine.journal.journal import Journal
from tests.agents.guard.guard_repository import PROGRAMS, Answer, GuardRepository, as_sent, guard, hook
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALL = "make parser"
"""The step was called once and may be twice more."""


def assert_denied(answer: Answer) -> None:
    assert answer.kind == "deny", answer
    assert answer.why.strip(), answer
    assert len(answer.why) < 600
    assert "Traceback" not in answer.why


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_call_is_allowed_where_nothing_fails(begun: GuardRepository, program: str) -> None:
    assert begun.ask(CALL, program=program).kind == "allow"
    assert begun.calls() == ["build", "build"]


def _run(desk: GuardRepository) -> Path:
    (run_folder,) = desk.path.glob(".agent/execplans/artifacts/*/runs/*")
    return run_folder


def _alter(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def _cut(desk: GuardRepository) -> None:
    journal = _run(desk) / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))


def _second(desk: GuardRepository) -> None:
    """A second plan that is approved, and a warrant for each."""
    other_plan = "2026-01-02_other"
    desk.plan(
        "# Other\n\n## Progress\n\n- [ ] Do it.\n\n## Concrete Steps\n\n```sh\nmake parser\n```\n".replace(
            "sh\n", "sh {#x}\n"
        ),
        other_plan,
    )
    digest = desk.data("evaluate", other_plan)["digest"]
    desk.data("approve", other_plan, "--digest", digest[:8])
    assert desk.ask(CALL, "-p", other_plan).kind == "allow"


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_bytes(b"")


def _key(desk: GuardRepository) -> Path:
    return desk.path.parent / ".config/execplan/key"


def _typed(*lines: str) -> Callable[[GuardRepository], None]:
    def change(desk: GuardRepository) -> None:
        for line in lines:
            assert desk.type(*line.split()).exit in (0, 8), line

    return change


STATES: dict[str, Callable[[GuardRepository], Any]] = {
    "expired": lambda desk: desk.later(10**8),
    "the clock set back": lambda desk: desk.later(-(10**6)),
    "revoked": _typed("approve --revoke"),
    "the approval altered": lambda desk: _alter(desk.file(), b'"how": "digest"', b'"how": "policy"'),
    "the approval gone": lambda desk: desk.file().unlink(),
    "the document altered": lambda desk: _alter(_run(desk) / "execution-plan.json", b"make ship", b"make SHIP"),
    "the plan altered": lambda desk: desk.plan(
        (desk.path / f".agent/execplans/{NAME}.md").read_text().replace("make ship", "make SHIP")
    ),
    "the plan gone": lambda desk: (desk.path / f".agent/execplans/{NAME}.md").unlink(),
    "the journal cut": _cut,
    "the journal altered": lambda desk: _alter(
        _run(desk) / "journal.jsonl", b'"what":"make parser"', b'"what":"make nothing"'
    ),
    "the journal is garbage": lambda desk: (_run(desk) / "journal.jsonl").write_bytes(b"\xff\n"),
    "the journal gone": lambda desk: (_run(desk) / "journal.jsonl").unlink(),
    "the journal is a folder": lambda desk: _folder(_run(desk) / "journal.jsonl"),
    "the run gone": lambda desk: shutil.rmtree(_run(desk)),
    "the key gone": lambda desk: _key(desk).unlink(),
    "another key": lambda desk: _key(desk).write_bytes(os.urandom(32)),
    "others may read the key": lambda desk: _key(desk).chmod(0o644),
    "the key is a folder": lambda desk: _folder(_key(desk)),
    "no folder for locks": lambda desk: _file(desk.path / ".git/execplan/locks"),
    "settings broken": lambda desk: desk.write(".agent/execplan.toml", "[execution\n"),
    "settings tightened": lambda desk: desk.write(".agent/execplan.toml", '[execution]\nsandbox = "required"\n'),
    "settings of the user broken": lambda desk: desk.write("../.config/execplan/config.toml", "x = \n"),
    "two plans": _second,
    "replanned": _typed("report build --status completed --result Built.", "replan --reason Failed."),
    "run by the engine": lambda desk: _alter(_run(desk) / "journal.jsonl", b',"mode":"agent"', b""),
    "rolled back": _typed("rollback"),
    "the folder of the call is elsewhere": lambda desk: desk.patch.chdir("/"),
    "a conflict of two branches": lambda desk: _alter(_run(desk) / "journal.jsonl", b'{"n":2', b'<<<<<<< ours\n{"n":2'),
}


@pytest.mark.parametrize("state", STATES)
def test_a_state_that_is_not_right(begun: GuardRepository, state: str) -> None:
    STATES[state](begun)
    journals = _journals(begun)
    for program in PROGRAMS:
        answer = begun.ask(CALL, program=program)
        assert_denied(answer)
        assert answer.status == (0 if program == "json" else 2), answer
    assert journals == _journals(begun)


def _journals(desk: GuardRepository) -> dict[Path, list[bytes]]:
    """All that the journals say, apart from calls that were denied."""
    found_paths = [*desk.path.rglob("journal.jsonl"), *desk.path.glob(".git/execplan/runs/*.jsonl")]
    paths = [path for path in found_paths if path.is_file()]
    return {path: [line for line in path.read_bytes().splitlines() if b'"kind":"denied"' not in line] for path in paths}


def _hold(desk: GuardRepository) -> int:
    handle = os.open(desk.path / ".git/execplan/locks/run.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_somebody_is_at_work(begun: GuardRepository) -> None:
    handle = _hold(begun)
    for program in PROGRAMS:
        answer = begun.ask(CALL, program=program, before=lambda: setattr(call_recording, "LOCK_TIMEOUT", 0.05))
        assert_denied(answer)
        assert "another execplan process is running" in answer.why
    os.close(handle)
    assert begun.calls() == ["build"]


def _small(desk: GuardRepository) -> None:
    size = (_run(desk) / "journal.jsonl").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, size + 20))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_journal_that_can_not_be_written(begun: GuardRepository, program: str) -> None:
    before = (_run(begun) / "journal.jsonl").read_bytes()
    assert_denied(begun.ask(CALL, program=program, before=lambda: _small(begun)))
    assert (_run(begun) / "journal.jsonl").read_bytes() == before


def _raising(error: BaseException) -> Callable[..., Any]:
    def fail(*args: object, **kwargs: object) -> Any:
        raise error

    return fail


BUGS: dict[str, tuple[object, str]] = {
    "reading": (guard_entry, "_read_call"),
    "arming": (guard_entry, "_install_signal_handlers"),
    "the form": (request_handler, "_load_format"),
    "the warrant": (grant_lookup, "find_grant"),
    "judging": (call_recording, "decide"),
    "the lock": (call_recording, "lock_runs"),
    "writing": (Journal, "write"),
    "the mark": (call_recording, "update_mark"),
    "matching": (guard_decision, "match_call"),
    "the reason": (request_handler, "printable_line"),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("place", BUGS)
def test_a_bug_anywhere(begun: GuardRepository, place: str, program: str) -> None:
    module, name = BUGS[place]
    answer = begun.ask(CALL, program=program, before=lambda: setattr(module, name, _raising(RuntimeError("boom"))))
    assert_denied(answer)
    assert answer.status == 2
    assert b"RuntimeError" in answer.err


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RecursionError(), KeyboardInterrupt(), SystemExit(0), GeneratorExit(), OSError(5, "x")],
    ids=repr,
)
def test_whatever_is_raised(begun: GuardRepository, error: BaseException) -> None:
    assert_denied(begun.ask(CALL, before=lambda: setattr(call_recording, "decide", _raising(error))))
    assert_denied(begun.ask(CALL, before=lambda: setattr(guard_entry, "_answer_call", _raising(error))))


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGXCPU],
    ids=lambda signal_number: signal_number.name,
)
def test_a_signal_denies_also_behind_the_answer(begun: GuardRepository, number: signal.Signals) -> None:
    def kill(*args: object) -> Any:
        os.kill(os.getpid(), number)
        time.sleep(5)

    assert_denied(begun.ask(CALL, before=lambda: setattr(call_recording, "decide", kill)))
    original_write = os.write

    def write(handle: int, data: bytes) -> int:
        size = original_write(handle, data)
        if handle == 1:
            kill()
        return size

    answer = begun.ask(CALL, before=lambda: setattr(os, "write", write))
    assert (answer.status, answer.kind) == (2, "deny")


def test_the_time_limit(begun: GuardRepository) -> None:
    def slow(*args: object) -> Any:
        time.sleep(5)

    def hasten() -> None:
        guard_entry.TIMEOUT_SECONDS = 0.05  # type: ignore[misc] # it is for this process only
        setattr(call_recording, "decide", slow)  # noqa: B010 - it is another module's

    answer = begun.ask(CALL, before=hasten)
    assert_denied(answer)
    assert b"TimeoutError" in answer.err


def test_the_time_limit_while_nothing_comes(begun: GuardRepository) -> None:
    reads, writes = os.pipe()

    def wait() -> None:
        guard_entry.TIMEOUT_SECONDS = 0.05  # type: ignore[misc] # as above
        os.dup2(reads, 0)

    assert_denied(guard(b"", before=wait))
    os.close(reads)
    os.close(writes)


def test_streams_that_are_closed_or_full(begun: GuardRepository) -> None:
    data = as_sent("claude", CALL, str(begun.path))
    assert_denied(guard(None))
    assert guard(data, before=lambda: os.close(1)).status == 2
    full = guard(data, before=lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1))
    assert full.status == 2
    assert_denied(full)
    silent = guard(data, before=lambda: os.close(2))
    assert (silent.status, silent.kind) == (0, "deny")
    for program in PROGRAMS:
        broken = guard(data, "--program", program, before=_broken)
        assert broken.status == 2


def _broken() -> None:
    """Nobody reads the answer."""
    reads, writes = os.pipe()
    os.dup2(writes, 1)
    os.close(reads)
    os.close(writes)


def _request(**changed: object) -> bytes:
    return json.dumps({**hook("Bash", "/", command=CALL), **changed}).encode()


WRONG = {
    "nothing": b"",
    "no JSON": b"make parser",
    "a list": b"[]",
    "cut": _request()[:-1],
    "trailing": _request() + b"{}",
    "a key twice": b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","cwd":"/","tool_input":{"command":"ls"}}',
    "NaN": _request(x=0).replace(b'"x": 0', b'"x": NaN'),
    "deep": b'{"x":' + b"[" * 70 + b"]" * 70 + b"}",
    "very deep": b"[" * 200_000,
    "half a character": _request(x=0).replace(b'"x": 0', b'"x": "\\ud800"'),
    "no UTF-8": _request() + b"\xff",
    "too long": b'{"x":"' + b"x" * (9 << 20) + b'"}',
    "another event": _request(hook_event_name="UserPromptSubmit"),
    "no event": _request(hook_event_name=None),
    "no tool": _request(tool_name=None),
    "a tool that is a number": _request(tool_name=7),
    "no input": _request(tool_input=None),
    "no folder": _request(cwd=None),
    "a relative folder": _request(cwd="src"),
    "no command": _request(tool_input={}),
    "a command that is a list": _request(tool_input={"command": ["make", "parser"]}),
    "what is not known": _request(tool_input={"command": CALL, "elevated": True}),
    "out of the sandbox": _request(tool_input={"command": CALL, "dangerouslyDisableSandbox": True}),
    "an unknown tool": _request(tool_name="Deploy"),
}


@pytest.mark.parametrize("what", WRONG)
def test_calls_that_are_none(begun: GuardRepository, what: str) -> None:
    data = WRONG[what].replace(b'"cwd": "/"', b'"cwd": ' + json.dumps(str(begun.path)).encode())
    program_arguments: dict[str, tuple[str, ...]] = {name: ("--program", name) for name in PROGRAMS}
    for program, arguments in {"": (), **program_arguments}.items():
        answer = guard(data, *arguments, program=program or "claude")
        if not program and b"schema" in answer.out:
            answer = answer._replace(program="json")
        assert_denied(answer)
    assert begun.calls() == ["build"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--what"],
        ["-p"],
        ["--program", "other"],
        ["--program"],
        ["parser", "other"],
        ["parser", "-p", "other"],
        ["-p=x", "y"],
    ],
    ids=str,
)
def test_arguments_that_are_none(begun: GuardRepository, arguments: list[str]) -> None:
    answer = guard(as_sent("claude", CALL, str(begun.path)), *arguments)
    assert answer.status == 2
    assert b"execplan guard" in answer.err
