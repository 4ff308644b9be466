"""Questions to git that one process answers, without GitPython, whose import takes longer than the answer."""

from __future__ import annotations

import os
import subprocess

from execplan import trace
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.plan.reader import MAX_BYTES
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from execplan.repo.home import Home

REGULAR = ("100644", "100755")
"""The modes of files that are neither links nor submodules."""
_PART = 1 << 20
_QUIETLY = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
"""Who only asks, or moves a ref of our own, starts no program that the repository may hold."""
_PLAIN = ("rev-parse", "config", "--version")
"""What starts nothing, and tells of these settings."""


class Staged(NamedTuple):
    """A file as the next commit will hold it."""

    path: str
    """From the root of the repository."""
    blob: str


def staged(home: Home, suffix: str) -> list[Staged]:
    """The regular files with this suffix that the next commit adds or changes; raises ExecplanError."""
    diff = ("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--diff-filter=d")
    parts = output(home, "-c", "diff.relative=false", *diff).split(b"\0")
    found = []
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, _, blob, _ = about.decode("ascii").split(" ")
        if mode in REGULAR and path.endswith(suffix.encode()):
            found.append(Staged(os.fsdecode(path), blob))
    return found


def staged_paths(home: Home) -> list[str]:
    """Every file that the next commit adds, changes or removes; raises ExecplanError."""
    diff = ("diff", "--cached", "--name-only", "-z", "--no-renames")
    return [os.fsdecode(path) for path in output(home, "-c", "diff.relative=false", *diff).split(b"\0") if path]


def indexed(home: Home, folders: list[str]) -> list[Staged]:
    """The regular files below some folders as git's index holds them; raises ExecplanError."""
    found = []
    for line in output(home, "--literal-pathspecs", "ls-files", "-sz", "--", *folders).split(b"\0"):
        about, tab, path = line.partition(b"\t")
        if tab and about[:6].decode() in REGULAR:
            found.append(Staged(os.fsdecode(path), about.split(b" ")[1].decode()))
    return found


def tracked(home: Home) -> list[str]:
    """The files that git tracks, links and submodules too, from the root of the repository; raises ExecplanError."""
    paths = output(home, "ls-files", "-z").split(b"\0")
    return list(dict.fromkeys([os.fsdecode(path) for path in paths if path]))


def known(home: Home) -> list[str]:
    """The files that git tracks, and those that it would add, from the root of the repository; raises ExecplanError."""
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return list(dict.fromkeys([os.fsdecode(path) for path in output(home, *asked).split(b"\0") if path]))


def ignored(home: Home) -> list[str]:
    """The files and folders that git ignores by what its patterns say of them, from the root; raises ExecplanError."""
    asked = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=normal")
    lines = output(home, "--no-optional-locks", *asked, "--ignored=matching").split(b"\0")
    return [os.fsdecode(line[3:].rstrip(b"/")) for line in lines if line.startswith(b"!! ")]


def contents(home: Home, files: list[Staged]) -> Iterator[tuple[bytes, int]]:
    """What each of the staged files holds, and its size; of more than a plan may have, the beginning."""
    if not files:
        return
    command = ["git", "cat-file", "--batch"]
    with subprocess.Popen(command, cwd=home.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for each in files:
            process.stdin.write(each.blob.encode() + b"\n")
            process.stdin.flush()
            about = process.stdout.readline().split()
            if len(about) != 3:
                raise _failed(f"git can't read what is staged of {each.path}")
            yield _read(process.stdout, int(about[2])), int(about[2])


def _read(stream: IO[bytes], size: int) -> bytes:
    """The beginning of an object of this size; the stream stands behind it then."""
    data = stream.read(min(size, MAX_BYTES))
    left = size - len(data) + 1
    while left and (part := stream.read(min(left, _PART))):
        left -= len(part)
    return data


def hooks_folder(home: Home) -> tuple[str, str]:
    """The folder of the hooks, as `core.hooksPath` or the default says, and the git folder that all worktrees share."""
    out = os.fsdecode(output(home, "rev-parse", "--git-common-dir", "--git-path", "hooks")).removesuffix("\n")
    common, _, hooks = out.partition("\n")
    return os.path.join(home.root, hooks), os.path.normpath(os.path.join(home.root, common))


def user_name(folder: str) -> str | None:
    """Git's user.name, also outside a repository; None where it has none, or where there is no git."""
    try:
        found = subprocess.run(["git", "config", "user.name"], cwd=folder, capture_output=True, check=False)
    except OSError:
        return None
    return found.stdout.decode("utf-8", "replace").strip() or None


def setting(file: str, name: str) -> str | None:
    """The value of a setting in a file of git's settings, the last one; raises ExecplanError."""
    done = _config(file, "--get", name)
    return os.fsdecode(done.stdout).removesuffix("\n") if not done.returncode else None


def put_setting(file: str, name: str, value: bytes | None) -> None:
    """Give a setting a value, or take it out; git locks the file and writes it. Raises ExecplanError."""
    done = _config(file, "--unset-all", name) if value is None else _config(file, "--replace-all", name, value)
    if done.returncode:
        raise _failed(done.stderr.decode("utf-8", "backslashreplace").strip() or f"git can't write {name} to {file}")


def _config(file: str, *arguments: str | bytes) -> subprocess.CompletedProcess[bytes]:
    trace.tell(f"run git config --file {file} {' '.join([os.fsdecode(each) for each in arguments])}")
    try:
        return subprocess.run(["git", "config", "--file", file, *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise _no_git() from None


def require(home: Home) -> None:
    """Refuse where there is no repository; raises ExecplanError."""
    if home.git is None:
        what = f"{home.root} is no git repository"
        raise ExecplanError("no-repository", what, exit=ENVIRONMENT, hint="make one: git init")


def output(home: Home, *arguments: str, stdin: bytes = b"") -> bytes:
    """What git prints; raises ExecplanError when it fails."""
    return answer(home, *arguments, stdin=stdin) or b""


def answer(home: Home, *arguments: str, no: int = 0, stdin: bytes = b"") -> bytes | None:
    """What git prints, or None when it ends with the status `no`, silently; raises ExecplanError when it fails."""
    command = _command(home, arguments)
    try:
        done = subprocess.run(command, cwd=home.root, input=stdin, capture_output=True, check=False)
    except FileNotFoundError:
        raise _no_git() from None
    if done.returncode and done.returncode == no and not done.stderr.strip():
        return None
    return _checked(done.returncode, done.stdout, done.stderr, arguments)


class Ahead:
    """Questions that git answers while something else is done; raises ExecplanError where it can't be asked."""

    def __init__(self, home: Home, questions: Sequence[Sequence[str]]) -> None:
        self._questions = questions
        self._processes: list[subprocess.Popen[bytes]] = []
        pipe = subprocess.PIPE
        try:
            for each in questions:
                command = _command(home, each)
                process = subprocess.Popen(command, cwd=home.root, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
                self._processes.append(process)
        except FileNotFoundError:
            raise _no_git() from None

    def told(self) -> list[bytes]:
        """What git has printed for each; raises ExecplanError where it failed."""
        done = [(each, *process.communicate()) for each, process in zip(self._questions, self._processes, strict=True)]
        statuses = [process.returncode for process in self._processes]
        return [
            _checked(status, out, trouble, each) for (each, out, trouble), status in zip(done, statuses, strict=True)
        ]

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        """End those that nobody waits for any more."""
        for process in self._processes:
            with process:
                process.kill()


def _command(home: Home, arguments: Sequence[str]) -> list[str]:
    require(home)
    trace.tell(f"run git {' '.join(arguments)}")
    return ["git", *(() if arguments[0] in _PLAIN else _QUIETLY), *arguments]


def _checked(status: int, out: bytes, trouble: bytes, arguments: Sequence[str]) -> bytes:
    """What git printed; raises ExecplanError where it failed."""
    if status:
        lines = [line for line in trouble.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
        raise _failed("; ".join(lines[:6]) or f"git {arguments[0]} failed")
    return out


def _no_git() -> ExecplanError:
    return ExecplanError("no-git", "git is not installed", exit=ENVIRONMENT, hint="install git")


def _failed(message: str) -> ExecplanError:
    return ExecplanError("git-failed", message, exit=ENVIRONMENT, hint="try: git status")
