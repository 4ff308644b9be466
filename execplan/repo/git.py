"""Git: commits that hold our paths and nothing else. The only importer of GitPython."""

from __future__ import annotations

import os
from time import monotonic, sleep

from execplan import trace
from execplan.errors import BUSY, ENVIRONMENT, NO, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.home import common
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

_KEPT = "what was written is on disk, uncommitted"


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
    entries = _status(run, paths)
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
    return [entry.path for entry in _status(_Runner(home), paths) if entry.staged != "!"]


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
        with open(os.path.join(main, "packed-refs"), encoding="utf-8", errors="surrogateescape") as file:
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
            if "index.lock" not in trouble:
                break
            if monotonic() >= until:
                raise ExecplanError(
                    "git-busy",
                    f"another git process holds {held}; waited {timeout():g} s; {_KEPT}",
                    exit=BUSY,
                    hint="when no git process is left, remove that file; then: execplan commit",
                )
            sleep(0.05)
        lines = [line for line in (trouble + "\n" + out).splitlines() if line.strip()]
        shown = "; ".join(lines[:6]) or f"exit status {status}"
        mend = next((hint for words, hint in _MENDS.items() if words in trouble), "mend that")
        raise _no(f"git {arguments[0]} failed: {shown}", f"{mend}, then: execplan commit")


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
        raise ExecplanError("under-way", f"{what} is under way; {_KEPT}", exit=BUSY, hint=hint)


def _status(run: _Runner, paths: Sequence[str]) -> list[_Entry]:
    """What differs from HEAD under the paths, file by file, ignored files too."""
    asked = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional", "--")
    out = run.checked(*asked, *paths)
    return [_Entry(line[0], line[3:]) for line in out.split("\0") if line]


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
        f"{entry.path} has staged changes that differ from the file; {_KEPT}",
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
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(5000).strip() or None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise trouble(error, path, "read") from None


def _no(message: str, hint: str) -> ExecplanError:
    return ExecplanError("not-committed", f"{message}; {_KEPT}", exit=ENVIRONMENT, hint=hint)
