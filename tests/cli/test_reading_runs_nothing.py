"""Nothing in a repository is run by being read: hostile settings of git, and every command that only reads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.cli.commands import COMMANDS
from tests.in_process_repository import InProcessRepository
from tests.needs import need
from tests.plans import with_sections

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = with_sections(
    """\
## Progress

- [x] (2025-12-30 09:15Z) Read lines.
- [ ] Mend the crash in `src/other.py` when a line is empty.

## Concrete Steps

```python {#api type=create_file target=src/made.py}
X = 1
```
"""
)
READING = [
    *(
        "changes --since HEAD",
        "sync github --offline",
        "prime",
        "prime --hook claude",
        "context --estimate",
        "context --estimate --file src --explain",
        "context --compare",
    ),
    *(
        "context --item file:src/other.py",
        "checkpoint --dry-run",
        "triage Fix",
        "triage --staged",
        "triage --since HEAD",
    ),
    *("lint", "lint --since HEAD", "lint --staged", "lint --statistics", "doctor", "doctor --fix --dry-run"),
    *(
        "status",
        "list --all",
        "worktree",
        "graph",
        "overlaps",
        "index",
        "review",
        "changes --since HEAD",
        "sync github --offline",
        "show",
        "show --steps",
        "next",
        "log",
        "log parser --decisions",
        "diff",
        "diff parser HEAD --text",
        "board --all",
        "search lines",
        "stats",
        "runs",
        "audit --verify",
        "summarize",
        "handoff",
    ),
    *(
        "evaluate",
        "compile --check",
        "commit --dry-run",
        "explain context",
        "schema context-decision",
        "self check",
        "approve --list",
    ),
    *(
        "approve --dry-run",
        "run --dry-run",
        "done 2 --dry-run",
        "archive --force --reason Old --dry-run",
        "undo --dry-run",
        "redo --dry-run",
    ),
    *("init --check", "install agents --dry-run", "new Another --dry-run", "merge parser --dry-run"),
]
"""Commands that write nothing, and those that write with `--dry-run`."""
WRITERS = {
    "new",
    "add",
    "reopen",
    "split",
    "reword",
    "convert",
    "decide",
    "discover",
    "outcome",
    "note",
    "revise",
    "set",
    "attach",
    "edit",
    "use",
}
WRITERS |= {
    "restore",
    "rename",
    "resume",
    "rollback",
    "export",
    "import",
    "job",
    "comment",
    "reply",
    "resolve",
    "replan",
    "drop",
    "report",
    "guard",
    "mcp",
    "lsp",
    "serve",
    "site",
    "uninstall",
}
"""Those that are not tried: they write, and ask git nothing before that."""
ASKING = [
    command
    for command in READING
    if command.split()[0]
    in ("prime", "context", "checkpoint", "triage", "lint", "doctor", "commit", "log", "diff", "board", "changes")
]
"""Those that ask git about the working tree."""


class Trap:
    """A repository whose settings name programs, each of which leaves its name behind."""

    def __init__(self, desk: InProcessRepository, outside: Path) -> None:
        self.desk, self.ran, self.programs = desk, outside / "ran", outside / "programs"
        for folder in (self.ran, self.programs):
            folder.mkdir(exist_ok=True)

    def program(self, name: str) -> str:
        """A program that leaves its name."""
        path = self.programs / name
        answer = "cat" if name.startswith("filter-") else "exit 1"
        path.write_text(f"#!/bin/sh\n: > '{self.ran}/{name}'\n{answer}\n")
        path.chmod(0o755)
        return str(path)

    def set(self, name: str, value: str) -> None:
        """A setting of the repository."""
        self.desk.git("config", name, value)

    def attribute(self, line: str, file: str = ".gitattributes") -> None:
        """A line of attributes."""
        path = self.desk.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() if path.exists() else "") + line + "\n")

    def stale(self) -> None:
        """Let git look into every file again, one of which differs."""
        for path in self.desk.path.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, (1_000_000_000, 1_000_000_000))

    def collect_run_programs(self) -> list[str]:
        """The programs that were run; they are forgotten."""
        names = sorted([path.name for path in self.ran.iterdir()])
        for name in names:
            (self.ran / name).unlink()
        return names


def _filter(key: str, driver: str = "evil", file: str = ".gitattributes") -> Callable[[Trap], None]:
    def hostile(trap: Trap) -> None:
        trap.set(f"filter.{driver}.{key}", trap.program(f"filter-{key}"))
        trap.attribute(f"* filter={driver}", file)

    return hostile


def _required_filter(trap: Trap) -> None:
    trap.set("filter.lfs.clean", "git-lfs-that-is-missing clean -- %f")
    trap.set("filter.lfs.smudge", "git-lfs-that-is-missing smudge -- %f")
    trap.set("filter.lfs.process", "git-lfs-that-is-missing filter-process")
    trap.set("filter.lfs.required", "true")
    trap.attribute("* filter=lfs")


def _included_config(trap: Trap) -> None:
    config_path = trap.programs / "more.config"
    config_path.write_text(f'[filter "evil"]\n\tclean = {trap.program("included")}\n')
    trap.set("include.path", str(config_path))
    trap.set(f"includeIf.gitdir:{trap.desk.path}/.path", str(config_path))
    trap.attribute("* filter=evil")


def _worktree_config(trap: Trap) -> None:
    trap.set("extensions.worktreeConfig", "true")
    trap.desk.git("config", "--worktree", "filter.evil.clean", trap.program("worktree"))
    trap.attribute("* filter=evil")


def _setting(name: str, value: str = "", other_settings: dict[str, str] | None = None) -> Callable[[Trap], None]:
    def hostile(trap: Trap) -> None:
        trap.set(name, value.format(trap.program("setting")) or trap.program("setting"))
        for other_name, other_value in (other_settings or {}).items():
            trap.set(other_name, other_value)

    return hostile


def _hooks(trap: Trap) -> None:
    hook_names = (
        "post-index-change reference-transaction pre-commit commit-msg post-checkout pre-auto-gc fsmonitor-watchman"
    )
    for name in hook_names.split():
        path = trap.desk.path / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((trap.programs / trap.program(f"hook-{name}")).read_bytes())
        path.chmod(0o755)


def _hooks_path(trap: Trap) -> None:
    _hooks(trap)
    (trap.desk.path / ".git" / "hooks").rename(trap.desk.path / "hooks")
    trap.set("core.hooksPath", str(trap.desk.path / "hooks"))


def _driver(key: str) -> Callable[[Trap], None]:
    def hostile(trap: Trap) -> None:
        trap.set(f"diff.evil.{key}", trap.program(f"diff-{key}"))
        trap.set("diff.evil.cachetextconv", "true")
        trap.attribute("* diff=evil")

    return hostile


def _merge_driver(trap: Trap) -> None:
    trap.set("merge.evil.driver", f"{trap.program('merge')} %O %A %B")
    trap.attribute("* merge=evil")


def _signed_commit(trap: Trap) -> None:
    trap.set("log.showSignature", "true")
    trap.set("gpg.program", trap.program("gpg"))
    commit = subprocess.run(
        ["git", "cat-file", "commit", "HEAD"], cwd=trap.desk.path, capture_output=True, check=True
    ).stdout
    head, _, message = commit.partition(b"\n\n")
    signed = head + b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + message
    completed = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=trap.desk.path,
        input=signed,
        capture_output=True,
        check=True,
    )
    trap.desk.git("update-ref", "HEAD", completed.stdout.decode().strip())


def _promisor(trap: Trap) -> None:
    """A blob is missing, and a remote promises it."""
    completed = subprocess.run(
        ["git", "rev-parse", "HEAD:src/other.py"], cwd=trap.desk.path, capture_output=True, text=True, check=True
    )
    blob = completed.stdout.strip()
    (trap.desk.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    trap.set("core.repositoryFormatVersion", "1")
    trap.set("extensions.partialClone", "origin")
    trap.set("remote.origin.url", str(trap.desk.path / ".git"))
    trap.set("remote.origin.promisor", "true")
    trap.set("remote.origin.uploadpack", trap.program("uploadpack"))


def _promisor_by(url: str, name: str) -> Callable[[Trap], None]:
    def hostile(trap: Trap) -> None:
        _promisor(trap)
        trap.set("remote.origin.url", url.format(trap.program("transport")))
        trap.set(name, trap.program("transport"))
        trap.set("protocol.ext.allow", "always")
        trap.set("protocol.allow", "always")

    return hostile


def _submodule(trap: Trap) -> None:
    inner = trap.desk.path / "inner"
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "One"]):
        subprocess.run(
            ["git", "-C", str(inner), *command] if command[0] != "init" else ["git", "init", "-q", str(inner)],
            check=True,
        )
    (inner / "f").write_text("x\n")
    subprocess.run(["git", "-C", str(inner), "add", "f"], check=True)
    subprocess.run(["git", "-C", str(inner), "commit", "-q", "-m", "Two"], check=True)
    (trap.desk.path / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    trap.desk.git("add", ".gitmodules", "inner")
    trap.desk.git("commit", "-q", "-m", "A submodule")
    for name in ("core.fsmonitor", "filter.evil.clean", "diff.external"):
        subprocess.run(["git", "-C", str(inner), "config", name, trap.program("submodule")], check=True)
    (inner / ".gitattributes").write_text("* filter=evil\n")
    os.utime(inner / "f", (1, 1))
    for name, value in (("status.submoduleSummary", "true"), ("diff.submodule", "diff"), ("submodule.recurse", "true")):
        trap.set(name, value)


HOSTILE: dict[str, Callable[[Trap], None]] = {
    "clean": _filter("clean"),
    "smudge": _filter("smudge"),
    "process": _filter("process"),
    "clean with = in its name": _filter("clean", "a=b.c"),
    "clean by .git/info/attributes": _filter("clean", file=".git/info/attributes"),
    "required": _required_filter,
    "included": _included_config,
    "of a worktree": _worktree_config,
    "fsmonitor": _setting("core.fsmonitor"),
    "fsmonitor, second version": _setting("core.fsmonitor", "", {"core.fsmonitorHookVersion": "2"}),
    "hooks": _hooks,
    "hooks path": _hooks_path,
    "pager": _setting("core.pager"),
    "pager of status": _setting("pager.status"),
    "pager of diff": _setting("pager.diff"),
    "external diff": _setting("diff.external"),
    "command of a diff driver": _driver("command"),
    "text converter": _driver("textconv"),
    "merge driver": _merge_driver,
    "signatures": _signed_commit,
    "gpg over ssh": _setting("gpg.ssh.program", "", {"gpg.format": "ssh", "log.showSignature": "true"}),
    "missing blob": _promisor,
    "missing blob over ssh": _promisor_by("ssh://example.invalid/x", "core.sshCommand"),
    "missing blob over ext": _promisor_by("ext::{}", "core.gitProxy"),
    "editor": _setting("core.editor", "", {"sequence.editor": "false"}),
    "password prompt": _setting("core.askPass"),
    "credentials": _setting("credential.helper", "!{}"),
    "alias": _setting("alias.status", "!{}", {"alias.diff": "!false", "alias.ls-files": "!false"}),
    "alternate references": _setting("core.alternateRefsCommand"),
    "trailer": _setting("trailer.evil.command"),
    "pack objects": _setting("uploadpack.packObjectsHook"),
    "diff filter": _setting("interactive.diffFilter"),
    "submodule": _submodule,
    "garbage collection": _setting("core.pager", "", {"gc.auto": "1", "maintenance.auto": "true"}),
}
FIRING = {
    "clean": ["status"],
    "process": ["status"],
    "clean with = in its name": ["status"],
    "included": ["status"],
    "of a worktree": ["status"],
    "fsmonitor": ["status"],
    "hooks": ["status"],
    "external diff": ["diff", "HEAD"],
    "text converter": ["diff", "HEAD"],
    "signatures": ["log", "-1"],
    "missing blob": ["diff", "HEAD"],
    "submodule": ["status"],
}
"""Those of them that a plain git command runs, so that the traps are known to work."""
SEPARATE = ("missing", "required", "hooks", "included", "submodule", "signatures")
TOGETHER = ["submodule", "signatures", *[name for name in HOSTILE if not name.startswith(SEPARATE)], "hooks"]
"""Those that go together, in an order in which each can be set."""


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A repository with a plan, before anything hostile is in it."""
    desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    desk.plan(PLAN)
    desk.commit()
    outside = tmp_path / "outside"
    outside.mkdir()
    return Trap(desk, outside)


def test_every_command_that_reads_is_tried() -> None:
    assert {command.split()[0] for command in READING} | WRITERS == set(COMMANDS)


@pytest.mark.parametrize("name", FIRING)
def test_the_traps_work(trap: Trap, name: str) -> None:
    HOSTILE[name](trap)
    trap.desk.write("src/other.py", "z = 2\n")
    trap.stale()
    subprocess.run(["git", *FIRING[name]], cwd=trap.desk.path, capture_output=True, check=False)
    assert trap.collect_run_programs()


@pytest.mark.parametrize("name", HOSTILE)
def test_no_setting_is_run(trap: Trap, name: str) -> None:
    HOSTILE[name](trap)
    trap.desk.write("src/other.py", "z = 2\n")
    trap.collect_run_programs()  # what setting the trap has run
    for command in ASKING:
        trap.stale()
        result = trap.desk.type(*command.split())
        assert trap.collect_run_programs() == [], (name, command)
        assert result.exit in (0, 1) or (name.startswith("missing") and result.exit == 6), (name, command, result)
        if command.startswith(("prime", "context")):
            assert result.exit == 0


def test_no_command_runs_any_of_them(trap: Trap) -> None:
    for name in TOGETHER:
        HOSTILE[name](trap)
    trap.desk.write("src/other.py", "z = 2\n")
    trap.collect_run_programs()
    for command in READING:
        trap.stale()
        result = trap.desk.type(*command.split())
        assert trap.collect_run_programs() == [], command
        assert result.exit in (0, 1, 3, 7, 8), (command, result)


SEVERAL = ("board --plain --all", "search lines", "stats --chart weekly", "next", "site --out ../site")
"""Commands that read several projects."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", HOSTILE)
def test_no_setting_of_another_project_is_run(
    trap: Trap, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HOSTILE[name](trap)
    trap.desk.write("src/other.py", "z = 2\n")
    desk = InProcessRepository(tmp_path / "neighbor", monkeypatch)
    trap.collect_run_programs()  # what setting the trap has run
    for command in SEVERAL:
        trap.stale()
        result = desk.type(*command.split(), "--project", "../repo", "--project", ".")
        assert trap.collect_run_programs() == [], (name, command)
        assert result.exit == 0 or (name.startswith("missing") and result.exit in (1, 6)), (name, command, result)


@pytest.mark.exhaustive
def test_no_process_is_started_but_git_and_ours(trap: Trap) -> None:
    need("strace")
    for name in TOGETHER:
        HOSTILE[name](trap)
    trap.desk.write("src/other.py", "z = 2\n")
    log = trap.programs / "log"
    allowed = re.compile(r"(git|git-[a-z-]+|python[\d.]*|strace)")
    for command in READING:
        trap.stale()
        traced = ["strace", "-f", "-qq", "-e", "trace=execve", "-s", "4096", "-o", str(log)]
        arguments = [*traced, sys.executable, "-m", "execplan", *command.split()]
        subprocess.run(arguments, cwd=trap.desk.path, capture_output=True, check=False, env=dict(os.environ))
        started = re.findall(r'execve\("([^"]*)".* = 0$', log.read_text(), re.MULTILINE)
        assert started
        unexpected = {path for path in started if not allowed.fullmatch(os.path.basename(path))}
        assert not unexpected, (command, unexpected)
