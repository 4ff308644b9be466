"""Questions to git that one process answers, without GitPython, whose import takes longer than the answer."""

from __future__ import annotations

import os
import re
import stat
import subprocess

from execplan import trace
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.plan.reader import MAX_BYTES
from execplan.record import NamedTuple
from execplan.repo.git_read import prepared
from execplan.repo.home import common
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from execplan.repo.home import Home

REGULAR = ("100644", "100755")
"""The modes of files that are neither links nor submodules."""
_PART = 1 << 20
_PATIENCE = 10
"""Seconds for an answer that can be done without."""
UNUSABLE = ("no-git", "git-failed", "git-untrusted", "not-a-file")
"""The codes of errors for which git can't be asked; what needs no git can go on."""
_OUTSIDE = b"usage: git diff --no-index"
"""What `git diff` prints in a repository that it does not open."""
_WHERE = ("rev-parse", "--git-dir")
_UNTRUSTED = "dubious ownership"
_AT = re.compile(r"in repository at '(.+)'")


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
    command, environment = prepared(home.root, ("cat-file", "--batch"))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=home.root, env=environment, stdin=pipe, stdout=pipe) as process:
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
    command, environment = prepared(folder, ("config", "user.name"))
    try:
        found = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
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
    if os.path.lexists(file):
        os.close(disk.open_file(file)[0])  # git would wait for a pipe
    trace.tell(f"run git config --file {file} {' '.join([os.fsdecode(each) for each in arguments])}")
    command, environment = prepared("/", ("config", "--file", os.path.abspath(file)))  # in no repository
    try:
        return subprocess.run([*command, *arguments], cwd="/", env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise _no_git() from None


def require(home: Home) -> None:
    """Refuse where there is no repository; raises ExecplanError."""
    if home.git is None:
        what = f"{home.root} is no git repository"
        raise ExecplanError("no-repository", what, exit=ENVIRONMENT, hint="make one: git init")


_READ_BY_GIT = ("HEAD", "commondir", "config", "index", "packed-refs", "info/attributes", "info/exclude")
_READ_IN_TREE = (".gitattributes", ".gitignore", ".gitmodules")
"""Files of the git folder, and of any folder, that git opens without asking what they are."""


def require_regular_files(home: Home) -> None:
    """Refuse where git would wait forever for a file of its own that is a pipe; raises ExecplanError."""
    folder = home.git or ""
    paths = [os.path.join(each, name) for each in {folder, common(folder)} for name in _READ_BY_GIT if folder]
    above = home.plans
    while above.startswith(f"{home.root}/"):
        paths += [os.path.join(above, name) for name in _READ_IN_TREE]
        above = os.path.dirname(above)
    for path in (*paths, *[os.path.join(home.root, name) for name in _READ_IN_TREE]):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        is_device = stat.S_ISCHR(status.st_mode) and status.st_rdev != os.stat(os.devnull).st_rdev
        if is_device or stat.S_ISFIFO(status.st_mode):
            raise disk.trouble(disk.NotRegularError(path, "a pipe or a device"), home.shown(path), "let git read")


def output(home: Home, *arguments: str, stdin: bytes = b"") -> bytes:
    """What git prints; raises ExecplanError when it fails."""
    return answer(home, *arguments, stdin=stdin) or b""


def answer(home: Home, *arguments: str, no: int = 0, stdin: bytes = b"") -> bytes | None:
    """What git prints, or None when it ends with the status `no`, silently; raises ExecplanError when it fails."""
    command, environment = _command(home, arguments)
    try:
        done = subprocess.run(command, cwd=home.root, env=environment, input=stdin, capture_output=True, check=False)
    except FileNotFoundError:
        raise _no_git() from None
    if done.returncode and done.returncode == no and not done.stderr.strip():
        return None
    if done.returncode and _OUTSIDE in done.stderr and arguments != _WHERE:
        output(home, *_WHERE)  # why git takes the folder for no repository
    return _checked(done.returncode, done.stdout, done.stderr, arguments)


class Ahead:
    """Questions that git answers while something else is done; raises ExecplanError where it can't be asked."""

    def __init__(self, home: Home, questions: Sequence[Sequence[str]]) -> None:
        self._questions = questions
        self._processes: list[subprocess.Popen[bytes]] = []
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            for each in questions:
                command, environment = _command(home, each)
                process = subprocess.Popen(
                    command, cwd=home.root, env=environment, stdin=null, stdout=pipe, stderr=pipe
                )
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


def _command(home: Home, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    require(home)
    require_regular_files(home)
    trace.tell(f"run git {' '.join(arguments)}")
    return prepared(home.root, arguments)


def _checked(status: int, out: bytes, trouble: bytes, arguments: Sequence[str]) -> bytes:
    """What git printed; raises ExecplanError where it failed."""
    if status:
        lines = [line for line in trouble.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
        if untrusted := next((line for line in lines if _UNTRUSTED in line), ""):
            raise _not_trusted(untrusted)
        raise _failed("; ".join(lines[:6]) or f"git {arguments[0]} failed")
    return out


def _no_git() -> ExecplanError:
    return ExecplanError("no-git", "git is not installed", exit=ENVIRONMENT, hint="install git")


def _not_trusted(line: str) -> ExecplanError:
    """The error for a repository of another user, which git does not open before somebody trusts it."""
    from shlex import quote

    found = _AT.search(line)
    path = found[1] if found else os.getcwd()
    message = f"git does not open {path}, because it belongs to another user"
    hint = f"if you trust it: git config --global --add safe.directory {quote(path)}"
    return ExecplanError("git-untrusted", message, exit=ENVIRONMENT, hint=hint)


def _failed(message: str) -> ExecplanError:
    return ExecplanError("git-failed", message, exit=ENVIRONMENT, hint="try: git status")
