"""Git: commits that hold our paths and nothing else. The only importer of GitPython."""

from __future__ import annotations

import os
from time import monotonic, sleep

from execplan import trace
from execplan.errors import BUSY, ENVIRONMENT, NO, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import ask
from execplan.repo.home import common
from execplan.text import disk
from execplan.text.disk import trouble
from execplan.text.lock import timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.repo.home import Home

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
}
_MENDS = {
    "tell me who you are": "say who you are: git config user.name NAME, git config user.email ADDRESS",
    "empty ident name": "say who you are: git config user.name NAME, git config user.email ADDRESS",
    "dubious ownership": "trust the repository: git config --global --add safe.directory PATH",
    "gpg failed to sign": "make the signing key usable, or sign nothing here: git config commit.gpgSign false",
}
"""Words of git where it makes no commit, and what helps."""

_STATUS = (
    *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all"),
    *("--ignored=traditional", "--"),
)
_DISK = {
    "No space left on device": ("the disk is full", "free some space"),
    "Out of diskspace": ("the disk is full", "free some space"),
    "Disk quota exceeded": ("the disk quota is exceeded", "free some space"),
    "Read-only file system": ("the file system is read-only", "make it writable"),
}
"""Words of git where it can't write, what they mean, and what helps."""
KEPT = "what was written is on disk, uncommitted"
_FATAL = "fatal: "
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
"""The hooks that can stop a commit."""
_MOST = 200
"""Lines of a hook that are shown, the last ones."""


class Committed(NamedTuple):
    """A commit that was made."""

    digest: str | None
    """Its id, or None when there was nothing to commit."""
    paths: tuple[str, ...]
    """The files in it, from the root of the repository."""
    rewritten: tuple[str, ...]
    """Those that a hook has changed."""
    warnings: tuple[str, ...]


class _Entry(NamedTuple):
    staged: str
    """What the index holds against HEAD, as `git status` writes it."""
    path: str


def commit(home: Home, paths: Sequence[str], message: str, before: Mapping[str, bytes]) -> Committed:
    """Commit the paths, files or folders, as they are on disk; raises ExecplanError and leaves them as they are.

    `before` holds what each file held before our edit: a file of which something else was staged is not committed,
    because the commit would sweep the rest of it along.
    """
    folder = _folder(home)
    _stop_under_way(folder)
    run = _Runner(home)
    entries = _entries(run.checked(*_STATUS, *paths))  # with filters: the commit runs them, too
    ignored = [entry.path for entry in entries if entry.staged == "!"]
    if ignored and len(ignored) == len(entries):
        raise _no(f"git ignores {ignored[0]}", f"see which line does: git check-ignore -v {ignored[0]}")
    entries = [entry for entry in entries if entry.staged != "!"]
    if not entries:
        return Committed(None, (), (), ())
    for entry in entries:
        if entry.staged not in " ?":
            _check_staged(run, home, entry, before)
    ours = tuple([entry.path for entry in entries])
    new = [entry.path for entry in entries if entry.staged == "?"]
    if new:
        run.checked("add", "-N", "--", *new)
    looks = {path: _look(home, path) for path in ours}
    try:
        run.checked("commit", "-q", "-m", message, "--only", "--", *ours)
    except BaseException:
        if new:
            _unstage(run, new)
        raise
    rewritten = tuple([path for path, look in looks.items() if _look(home, path) != look])
    if rewritten:
        _unstage(run, rewritten)  # what a hook stages of them goes into the commit, and not into the index that stays
    warnings = [f"a git hook, or another program, has changed {path}: look at it" for path in rewritten]
    if not _branch(folder):
        warnings.append("HEAD is detached: the commit is on no branch")
    return Committed(head(home) or run.checked("rev-parse", "HEAD").strip(), ours, rewritten, tuple(warnings))


def _look(home: Home, path: str) -> tuple[int, ...]:
    """What tells that a file was written to."""
    try:
        status = os.lstat(os.path.join(home.root, path))
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _unstage(run: _Runner, paths: Sequence[str]) -> None:
    """Take back what was announced to the index, also when another process holds it for a while."""
    try:
        run.checked("reset", "-q", "--", *paths)
    except ExecplanError as error:
        trace.tell(f"could not take {', '.join(paths)} out of the index: {error.message}")


def pending(home: Home, paths: Sequence[str]) -> list[str]:
    """The files under the paths that differ from HEAD, from the root of the repository; raises ExecplanError."""
    _folder(home)
    try:
        out = ask.output(home, "--literal-pathspecs", *_STATUS, *paths)
    except ExecplanError as error:
        raise _no(error.message, f"{error.hint}; then: execplan commit") from None
    return [entry.path for entry in _entries(os.fsdecode(out)) if entry.staged != "!"]


def head(home: Home) -> str | None:
    """The commit that is checked out, read from the git folder; None before the first."""
    if home.git is None:
        return None
    branch = _branch(home.git)
    if branch is None:
        return _line(os.path.join(home.git, "HEAD"))
    main = common(home.git)
    for folder in (home.git, main):
        found = _line(os.path.join(folder, branch))
        if found:
            return found
    try:
        with open(
            disk.open_regular(os.path.join(main, "packed-refs")), encoding="utf-8", errors="surrogateescape"
        ) as file:
            for line in file:
                digest, _, name = line.strip().partition(" ")
                if name == branch:
                    return digest
    except OSError:
        pass
    return None


def load() -> None:
    """Import what a commit needs, which takes longer than the commit: before a lock is held, not while others wait."""
    from importlib import import_module

    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import_module("git")


class _Runner:
    """Runs git in the root of the repository, waiting for its index lock."""

    def __init__(self, home: Home) -> None:
        from execplan.repo import ask

        ask.require_regular_files(home)
        load()
        import git

        self.home = home
        try:
            self.git = git.Repo(home.root).git
        except git.exc.GitError as error:
            raise _no(str(error).strip() or "git can't read the repository", "try: git status") from None
        self._missing = git.exc.GitCommandNotFound

    def plain(self, *arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        """Exit status, output and trouble of a git command with literal paths."""
        import tempfile

        trace.tell(f"run git {' '.join(arguments)}")
        with tempfile.TemporaryFile() as given:
            given.write(stdin or b"")
            given.seek(0)
            try:
                status, out, trouble = self.git.execute(
                    ["git", "--literal-pathspecs", *arguments],
                    istream=given,
                    with_extended_output=True,
                    with_exceptions=False,
                    strip_newline_in_stdout=False,
                )
            except self._missing:
                raise _no("git is not installed", "install git") from None
        return int(status), str(out), str(trouble)

    def checked(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Output of a git command; waits while another process holds the index, raises ExecplanError when it fails."""
        until = monotonic() + timeout()
        held = os.path.join(_folder(self.home), "index.lock")
        while True:
            status, out, trouble = self.plain(*arguments, stdin=stdin)
            if not status:
                return out
            if "index.lock" not in trouble or "File exists" not in trouble:
                break
            if monotonic() >= until:
                raise ExecplanError(
                    "git-busy",
                    f"another git process holds {held}; waited {timeout():g} s; {KEPT}",
                    exit=BUSY,
                    hint="when no git process is left, remove that file; then: execplan commit",
                )
            sleep(0.05)
        raise self._failed(arguments[0], status, (trouble + "\n" + out).splitlines())

    def _failed(self, command: str, status: int, output: list[str]) -> ExecplanError:
        """The error for a git command that failed, with every line that git, or a hook that it ran, printed."""
        lines = [line.rstrip() for line in output]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        if (error := _by_disk(command, lines)) is not None:
            return error
        known = next((hint for words, hint in _MENDS.items() if any([words in line for line in lines])), "")
        by_git = any([line.startswith(_FATAL) for line in lines])
        if command == "commit" and not known and not by_git and self._has_hook():
            what = f"a git hook stopped the commit (exit status {status})"
            mend = "fix what the hook reports" if lines else "the hook printed nothing: fix what it checks"
        else:
            what, mend = f"git {command} failed", known or "fix what git reports"
            if len(lines) == 1:
                what, lines = f"{what}: {lines[0]}", []
            elif not lines:
                what += f" (exit status {status})"
        if len(lines) > _MOST:
            lines = [f"({len(lines) - _MOST} earlier lines are not shown)", *lines[-_MOST:]]
        error = _no(what, f"{mend}, then: execplan commit")
        error.candidates = tuple(lines)
        return error

    def _has_hook(self) -> bool:
        """Whether git runs a hook that can stop a commit."""
        status, out, _ = self.plain("rev-parse", "--git-path", "hooks")
        folder = os.path.join(self.home.root, out.rstrip("\n"))
        return not status and any([os.access(os.path.join(folder, name), os.X_OK) for name in _HOOKS])


def _by_disk(command: str, lines: list[str]) -> ExecplanError | None:
    """The error for a git command that the disk stopped, or None."""
    for words, (what, mend) in _DISK.items():
        about = [line.removeprefix(_FATAL) for line in lines if words in line]
        if about:
            message = f"{what}: git {command} failed: {about[0]}; {KEPT}"
            return ExecplanError("io-error", message, exit=ENVIRONMENT, hint=f"{mend}, then: execplan commit")
    return None


def _folder(home: Home) -> str:
    """The git folder; raises ExecplanError where there is none."""
    if home.git is None:
        raise _no(f"{home.root} is no git repository", "make one, or work without --commit: git init")
    return home.git


def under_way(folder: str) -> str | None:
    """The merge, rebase or the like that waits to be finished in a git folder."""
    return next((what for name, what in _UNDER_WAY.items() if os.path.exists(os.path.join(folder, name))), None)


def _stop_under_way(folder: str) -> None:
    """Refuse while something waits to be finished: git makes no commit of some paths then."""
    what = under_way(folder)
    if what is not None:
        hint = "finish it, then commit the plan: execplan commit"
        raise ExecplanError("under-way", f"{what} is under way; {KEPT}", exit=BUSY, hint=hint)


def _entries(status: str) -> list[_Entry]:
    """What differs from HEAD, file by file, ignored files too."""
    return [_Entry(line[0], line[3:]) for line in status.split("\0") if line]


def _check_staged(run: _Runner, home: Home, entry: _Entry, before: Mapping[str, bytes]) -> None:
    """Refuse when what is staged of a file is not what it held before our edit."""
    staged = run.checked("ls-files", "-s", "-z", "--", entry.path).split("\0")[0].split(" ")
    path = os.path.join(home.root, entry.path)
    held = before.get(path)
    if held is None and entry.staged == "D":
        return
    if (held is not None or os.path.isfile(path)) and len(staged) > 1 and _blob(run, entry.path, held) == staged[1]:
        return
    raise ExecplanError(
        "partly-staged",
        f"{entry.path} has staged changes that differ from the file; {KEPT}",
        exit=NO,
        hint=f"commit or unstage them first: git restore --staged {entry.path}",
    )


def _blob(run: _Runner, path: str, data: bytes | None) -> str:
    """The id that a file has as content of the repository, filters applied; that of other bytes in its place if given."""
    return run.checked(
        "hash-object", *(("--", path) if data is None else ("--stdin", "--path", path)), stdin=data
    ).strip()


def _branch(folder: str) -> str | None:
    """The full name of the branch that is checked out, or None for a detached HEAD."""
    line = _line(os.path.join(folder, "HEAD")) or ""
    return line[5:].strip() if line.startswith("ref:") else None


def _line(path: str) -> str | None:
    try:
        with open(disk.open_regular(path), encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(5000).strip() or None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise trouble(error, path, "read") from None


def _no(message: str, hint: str) -> ExecplanError:
    return ExecplanError("not-committed", f"{message}; {KEPT}", exit=ENVIRONMENT, hint=hint)
