"""A stored denial says what the full check says, is gone as soon as anything changes, and never allows a call."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import execplan
from execplan.agents.guard import full_check, stored_denial
from execplan.core.text.hmac_signature import sign
from execplan.execution.approvals import approval_key, file_watch
from execplan.execution.engine.agent_runs import guard_grant
from tests.agents.guard.guard_repository import PROGRAMS, Answer, GuardRepository, as_sent, guard, hook
from tests.in_process_repository import NAME
from tests.needs import need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```sh {#build inputs=Makefile}
make parser
```
"""
CALL = "make parser"
_CHECKOUT = os.path.dirname(os.path.dirname(execplan.__file__))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GuardRepository, Path]]:
    """A repository, and copies of all around it: with an approved plan, and after its run."""
    with pytest.MonkeyPatch.context() as patch:
        scratch = tmp_path_factory.mktemp("denials")
        repository = GuardRepository(scratch / "work" / "repository", patch)
        repository.plan(PLAN)
        repository.commit()
        repository.approve()
        shutil.copytree(scratch / "work", scratch / "approved", symlinks=True)
        _finish(repository)
        shutil.copytree(scratch / "work", scratch / "ended", symlinks=True)
        yield repository, scratch


@contextmanager
def _restored(worlds: tuple[GuardRepository, Path], name: str) -> Iterator[GuardRepository]:
    repository, scratch = worlds
    os.chdir(scratch)
    shutil.rmtree(scratch / "work")
    shutil.copytree(scratch / name, scratch / "work", symlinks=True)
    outer = repository.patch
    with pytest.MonkeyPatch.context() as repository.patch:
        repository.patch.chdir(repository.path)
        repository.patch.setattr(file_watch, "_MTIME_MARGIN_NS", -(10**18))
        yield repository
    repository.patch = outer


@pytest.fixture
def desk(worlds: tuple[GuardRepository, Path]) -> Iterator[GuardRepository]:
    """The repository with an approved plan, whose files count as old enough."""
    with _restored(worlds, "approved") as repository:
        yield repository


def _finish(desk: GuardRepository) -> None:
    assert desk.ask(CALL).kind == "allow"
    assert desk.type("report", "build", "--status", "completed", "--result", "Done.").exit == 0


@pytest.fixture
def ended(worlds: tuple[GuardRepository, Path]) -> Iterator[GuardRepository]:
    """The repository after the run, whose denial is stored."""
    with _restored(worlds, "ended") as repository:
        answer = repository.ask(CALL)
        assert answer.kind == "deny"
        assert _ask_stored(repository) == answer
        yield repository


def _ask_stored(desk: GuardRepository, call: str = CALL, *arguments: str, program: str = "claude") -> Answer:
    """The answer without a full check: nothing is printed if one is needed."""
    return desk.ask(call, *arguments, program=program, before=_forbid_full_check)


def _forbid_full_check() -> None:
    full_check.decide_by_plan = None  # type: ignore[assignment]


def _is_stored(desk: GuardRepository, *arguments: str) -> bool:
    return bool(_ask_stored(desk, CALL, *arguments).out)


def _file(desk: GuardRepository) -> Path:
    (path,) = (desk.path / ".git/execplan/denials").glob("*.json")
    return path


def _body(desk: GuardRepository) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(_file(desk).read_bytes().partition(b"\n")[2])
    return body


def _write_signed(desk: GuardRepository, body: object) -> None:
    key = approval_key.read(desk.project()[0])
    assert key is not None
    data = json.dumps(body).encode()
    _file(desk).write_bytes(sign(key, b"execplan-denial-1\n" + data) + b"\n" + data)


DENIED: dict[str, Callable[[GuardRepository], object]] = {
    "the run ended": _finish,
    "revoked": lambda desk: desk.data("approve", "--revoke", "all"),
    "stale: the plan": lambda desk: desk.plan(PLAN.replace(CALL, "make all")),
    "stale: a file": lambda desk: desk.write("Makefile", "all:\n"),
    "stale: an absent file": lambda desk: (desk.path / "Makefile").unlink(),
    "altered": lambda desk: desk.file().write_bytes(
        desk.file().read_bytes().replace(b'"approver": "', b'"approver": "x')
    ),
    "unreadable": lambda desk: desk.file().write_bytes(b"{"),
    "expired": lambda desk: desk.later(90_000),
    "of the future": lambda desk: desk.later(-90_000),
    "another key": lambda desk: desk.patch.setenv("XDG_CONFIG_HOME", str(desk.path.parent / "other")),
    "no steps": lambda desk: desk.plan(PLAN[: PLAN.index("```sh")]),
}


@pytest.mark.parametrize("kind", DENIED)
@pytest.mark.parametrize("arguments", [(), ("-p", NAME)])
def test_it_says_what_the_full_check_says(desk: GuardRepository, kind: str, arguments: tuple[str, ...]) -> None:
    DENIED[kind](desk)
    for program in PROGRAMS:
        shutil.rmtree(desk.path / ".git/execplan/denials", ignore_errors=True)
        assert _ask_stored(desk, CALL, *arguments, program=program).out == b""
        answer = desk.ask(CALL, *arguments, program=program)
        assert answer.kind == "deny"
        assert _ask_stored(desk, CALL, *arguments, program=program) == answer
        other = _ask_stored(desk, "make other", *arguments, program=program)
        assert (other.why, other.kind) == (answer.why.replace(CALL, "make other"), "deny")
        assert f"execplan: `{CALL}` may do more than read; " in answer.why


def test_without_an_approval_there_is_no_full_check(desk: GuardRepository) -> None:
    shutil.rmtree(desk.path / f".agent/execplans/artifacts/{NAME}/approvals")
    answer = _ask_stored(desk)
    part = f"execplan: `{CALL}` may do more than read; "
    assert (
        answer.why
        == f"{part}no plan is approved here; a person must approve one that has steps: execplan approve; see how to write them: execplan explain steps"
    )
    assert desk.ask(CALL, "-p", NAME).why.startswith(f"{part}{NAME} is not approved; see what would run")
    assert _ask_stored(desk, "cat .env").why == "execplan: agents can't read .env: it contains credentials"
    assert _ask_stored(desk, "git status > out").why.startswith(
        "execplan: the guard doesn't understand `>` to out; no plan"
    )
    assert _ask_stored(desk, CALL, "-p", NAME) == desk.ask(CALL, "-p", NAME)
    desk.approve()
    assert desk.ask(CALL).kind == "allow"


def test_without_a_key_it_is_stored_too(desk: GuardRepository) -> None:
    desk.patch.setenv("XDG_CONFIG_HOME", str(desk.path.parent / "elsewhere"))
    desk.patch.setenv("XDG_STATE_HOME", str(desk.path.parent / "elsewhere"))
    shutil.rmtree(desk.path / f".agent/execplans/artifacts/{NAME}/approvals")
    assert approval_key.read(desk.project()[0]) is None
    answer = desk.ask(CALL, "-p", NAME)
    assert _ask_stored(desk, CALL, "-p", NAME) == answer
    assert answer.kind == "deny"
    desk.approve()
    assert desk.ask(CALL, "-p", NAME).kind == "allow"


@pytest.mark.parametrize("kind", ["the run ended", "revoked", "stale: the plan", "stale: a file"])
def test_an_approval_ends_it_at_once(desk: GuardRepository, kind: str) -> None:
    DENIED[kind](desk)
    assert desk.ask(CALL).kind == "deny"
    assert _is_stored(desk)
    desk.approve()
    call = "make all" if kind == "stale: the plan" else CALL
    assert not _is_stored(desk)
    assert desk.ask(call).kind == "allow"


def _same_size_and_time(path: Path, old: bytes, new: bytes) -> None:
    status, data = path.stat(), path.read_bytes()
    assert data.count(old)
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _run(desk: GuardRepository) -> Path:
    (run_folder,) = desk.path.glob(".agent/execplans/artifacts/*/runs/*")
    return run_folder


def _state(desk: GuardRepository, suffix: str) -> Path:
    (path,) = desk.path.glob(f".git/execplan/runs/*{suffix}")
    return path


def _new_key(desk: GuardRepository) -> None:
    path = approval_key.path(desk.project()[0])
    os.unlink(path)
    approval_key.get_or_create(desk.project()[0])


CHANGES: dict[str, Callable[[GuardRepository], object]] = {
    "the plan": lambda desk: desk.plan(PLAN + "\n"),
    "the plan, at the same size and time": lambda desk: _same_size_and_time(
        desk.path / f".agent/execplans/{NAME}.md", b"# Build", b"# BUILD"
    ),
    "the stored execution plan": lambda desk: (
        desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json"
    ).unlink(),
    "the approval": lambda desk: desk.file().unlink(),
    "another approval": lambda desk: desk.file().with_name(f"{'0' * 64}.json").write_bytes(desk.file().read_bytes()),
    "a bound file": lambda desk: desk.write("Makefile", "parser: all\n"),
    "the mode of a bound file": lambda desk: (desk.path / "Makefile").chmod(0o755),
    "settings of the repository": lambda desk: desk.write(".agent/execplan.toml", '[execution]\nperson_from = "LOW"\n'),
    "pyproject.toml": lambda desk: desk.write("pyproject.toml", "[project]\n"),
    "settings of the user": lambda desk: desk.write(
        f"{os.path.dirname(approval_key.path(desk.project()[0]))}/config.toml", "[execution]\nsteps = 99\n"
    ),
    "the key": _new_key,
    "the registry": lambda desk: desk.data("approve", "--revoke", "all"),
    "the journal": lambda desk: (_run(desk) / "journal.jsonl").unlink(),
    "the journal in the state directory": lambda desk: _state(desk, ".jsonl").unlink(),
    "what the run keeps": lambda desk: _state(desk, ".kept").chmod(0o640),
    "the audit log": lambda desk: (desk.path / f".agent/execplans/artifacts/{NAME}/ledger.jsonl").unlink(),
    "the run": lambda desk: shutil.rmtree(_run(desk)),
    "a newer run": lambda desk: _run(desk).with_name("0002-00000000").mkdir(),
    "a run of another worktree": lambda desk: (
        next(desk.path.glob(".git/execplan/plans/*/path")).with_name("0002-00000000").write_bytes(b"")
    ),
    "the grant": lambda desk: desk.write(guard_grant.path_of(desk.project()[0], NAME), "x"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_whatever_it_depends_on_is_noticed(ended: GuardRepository, kind: str) -> None:
    project, ref = ended.project()
    assert stored_denial.load(project, ref) is not None
    CHANGES[kind](ended)
    assert stored_denial.load(project, ref) is None
    answer = ended.ask(CALL)
    assert answer.kind == "deny"
    shutil.rmtree(ended.path / ".git/execplan/denials")
    assert ended.ask(CALL) == answer


def test_another_release_user_plan_or_directory_is_another_check(ended: GuardRepository) -> None:
    origin = _body(ended)["origin"]
    for name, value in (("__version__", "0"), ("_SIGNATURE_CONTEXT", b"execplan-warrant-1\n")):
        before = getattr(stored_denial, name)
        ended.patch.setattr(stored_denial, name, value)
        assert not _is_stored(ended), name
        ended.patch.setattr(stored_denial, name, before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        assert stored_denial._origin(*ended.project()) != origin
    assert stored_denial._origin(*ended.project()) == origin


def test_a_copy_in_another_project_or_for_another_plan_counts_for_nothing(
    ended: GuardRepository, tmp_path: Path
) -> None:
    data, name = _file(ended).read_bytes(), _file(ended).name
    other = tmp_path / "other" / "repository"
    shutil.copytree(ended.path, other, symlinks=True)
    ended.patch.chdir(other)
    assert guard(as_sent("claude", CALL, str(other)), before=_forbid_full_check).out == b""
    ended.patch.chdir(ended.path)
    second = "2026-01-02_other"
    project, _ = ended.project()
    ended.plan(PLAN.replace("make parser", "make other"), second)
    digest = ended.data("evaluate", second)["digest"]
    ended.data("approve", second, "--digest", digest[:8])
    ref = stored_denial.find_approved(project)[1]
    assert ref.id == second
    (ended.path / stored_denial._path_of(project, ref)).write_bytes(data)
    assert stored_denial.load(project, ref) is None
    assert ended.ask("make other").kind == "allow"
    assert name != os.path.basename(stored_denial._path_of(project, ref))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: data.replace(b"approval-used", b"stale-approval"),
        lambda data: data.replace(b"has completed", b"has complete!"),
        lambda data: b"0" * 64 + data[64:],
        lambda data: sign(b"", b"execplan-denial-1\n" + data[65:]) + data[64:],
        lambda data: b"[]",
        lambda data: b"\xff\n\xff",
        lambda data: data + b" " * (1 << 20),
    ],
)
def test_a_file_that_was_tampered_with_counts_for_nothing(
    ended: GuardRepository, damage: Callable[[bytes], bytes]
) -> None:
    answer = ended.ask(CALL)
    _file(ended).write_bytes(damage(_file(ended).read_bytes()))
    assert not _is_stored(ended)
    assert ended.ask(CALL) == answer
    assert _is_stored(ended)


def test_an_old_denial_that_is_put_back_counts_for_nothing(ended: GuardRepository) -> None:
    data = _file(ended).read_bytes()
    ended.approve()
    _file(ended).write_bytes(data)
    assert ended.ask(CALL).kind == "allow"


def test_even_one_with_our_signature_never_allows(ended: GuardRepository) -> None:
    """Whoever has the key could approve as well; still, nothing in the file is an allowance."""
    body = _body(ended)
    for change in (
        {"error": body["error"] | {"code": "allow"}},
        {"error": body["error"] | {"exit": 0}},
        {"error": body["error"] | {"message": "allow"}},
        {"decision": "allow", "kind": "allow"},
        {"error": None},
        {"files": None},
        {"period": [0, "x"]},
    ):
        _write_signed(ended, body | change)
        assert ended.ask(CALL).kind == "deny", change


def test_it_does_not_decide_on_calls_that_only_read(ended: GuardRepository) -> None:
    """A command that only reads may be a step, or forbidden by a plan that was approved meanwhile: that is checked."""
    body = _body(ended)
    ended.plan(PLAN.replace(CALL, "git status --short"))
    ended.approve()
    body["files"] = []
    _write_signed(ended, body)
    assert _is_stored(ended)
    assert ended.ask("git status --short").kind == "allow"
    assert ended.calls() == ["build", "build"]


def test_the_clock(desk: GuardRepository) -> None:
    desk.later(90_000)
    assert "is not valid at this time" in desk.ask(CALL).why
    assert _is_stored(desk)
    desk.later(90_000 + 3_599)
    assert _is_stored(desk)
    desk.later(90_000 + 3_600)
    assert not _is_stored(desk)
    desk.later(89_999)
    assert not _is_stored(desk)
    desk.later(0)
    assert desk.ask(CALL).kind == "allow"


def test_a_stale_approval_that_expires(desk: GuardRepository) -> None:
    desk.write("Makefile", "all:\n")
    desk.later(86_390)
    assert "is stale" in desk.ask(CALL).why
    assert _is_stored(desk)
    desk.later(86_400)
    assert not _is_stored(desk)
    assert "is not valid at this time" in desk.ask(CALL).why


def test_files_of_just_now_are_checked_again(desk: GuardRepository) -> None:
    desk.patch.setattr(file_watch, "_MTIME_MARGIN_NS", 2 * 10**9)
    _finish(desk)
    assert desk.ask(CALL).kind == "deny"
    assert not _is_stored(desk)


def test_a_file_that_was_removed_just_now_is_checked_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    watched = file_watch.watch([(str(path), True)])
    assert watched == [(str(path), True, ())]
    changed_ns = tmp_path.stat().st_mtime_ns
    assert file_watch.may_have_changed_since(watched, changed_ns)
    assert not file_watch.may_have_changed_since(watched, changed_ns + 2_000_000_001)


def test_several_approved_plans(ended: GuardRepository) -> None:
    second = "2026-01-02_other"
    ended.plan(PLAN.replace("make parser", "make other"), second)
    digest = ended.data("evaluate", second)["digest"]
    ended.data("approve", second, "--digest", digest[:8])
    assert ended.ask("make nothing").why.startswith("execplan: no step of 2026-01-02_other includes this call")
    assert not _is_stored(ended)
    ended.data("approve", second, "--revoke", "all")
    answer = ended.ask("make nothing")
    assert answer.why.startswith("execplan: `make nothing` may do more than read; 2 plans are approved here: ")
    assert _ask_stored(ended, "make nothing") == answer
    assert _is_stored(ended, "-p", second)


def test_the_agent_cannot_write_it(ended: GuardRepository) -> None:
    path, before = _file(ended), _file(ended).read_bytes()
    project_path = str(ended.path)
    for call in (
        hook("Write", project_path, file_path=str(path), content="x"),
        hook("Edit", project_path, file_path=str(path), old_string="approval-used", new_string="x"),
        hook("Read", project_path, file_path=str(path)),
        *[
            hook("Bash", project_path, command=command)
            for command in (f"rm {path}", f"touch {path}", f"cp Makefile {path}", f"cat {path}")
        ],
    ):
        assert guard(json.dumps(call).encode()).kind == "deny", call
    assert path.read_bytes() == before


def test_a_state_directory_that_cannot_be_written(ended: GuardRepository) -> None:
    answer = ended.ask(CALL)
    shutil.rmtree(ended.path / ".git/execplan/denials")
    (ended.path / ".git/execplan/denials").write_bytes(b"")
    assert ended.ask(CALL) == answer
    assert not _is_stored(ended)


def test_nothing_is_stored_under_a_policy_that_looks_at_commits(desk: GuardRepository) -> None:
    desk.write("pyproject.toml", '[tool.execplan.execution]\npin = "tree"\n')
    assert desk.ask(CALL).kind == "deny"
    assert not _is_stored(desk)


@pytest.mark.parametrize("kind", ["the run ended", "revoked", "stale: a file"])
def test_every_file_that_only_the_full_check_looks_at_is_watched(desk: GuardRepository, kind: str) -> None:
    need("strace")
    DENIED[kind](desk)
    shutil.rmtree(desk.path / ".git/execplan/denials", ignore_errors=True)
    checked_paths = _traced_paths(desk)
    watched_paths = {path for path, _, _ in _body(desk)["files"]}
    assert watched_paths & checked_paths
    stored_paths = _traced_paths(desk)
    assert len(stored_paths) < len(checked_paths)
    git, state = f"{desk.path}/.git/", f"{desk.path}/.git/execplan"
    unwatched_paths = {
        path
        for path in checked_paths - watched_paths - stored_paths
        if not path.startswith((f"{state}/locks", f"{state}/format", f"{state}/denials"))
    }
    # git reads the main branch, on which no denial depends that is stored: see `Policy.depends_on_commits`
    assert [path for path in unwatched_paths if path.startswith(state) or not f"{path}/".startswith(git)] == []


def _traced_paths(desk: GuardRepository) -> set[str]:
    """The paths around the repository that the guard's system calls name."""
    scratch, log = desk.path.parent, desk.path.parent.parent / "strace.log"
    code = (
        f"import sys; sys.path.insert(0, {_CHECKOUT!r}); from execplan.execution.approvals import file_watch; "
        "file_watch._MTIME_MARGIN_NS = -(10**18); sys.argv = ['execplan', 'guard']; "
        "from execplan.cli.main import main; sys.exit(main())"
    )
    completed = subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=%file", "-o", str(log), sys.executable, "-I", "-c", code],
        input=as_sent("claude", CALL, str(desk.path)),
        cwd=desk.path,
        capture_output=True,
        check=False,
    )
    assert completed.returncode == 2, completed
    calls = re.findall(r"\w+\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?\"([^\"]+)\"", log.read_text())
    paths = {os.path.normpath(os.path.join(folder or "/", name)) for folder, name in calls}
    return {path for path in paths if path.startswith(f"{scratch}/")}
