"""Git commits that contain the given paths and nothing else; the only module that imports GitPython."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import BinaryIO, cast

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import timeout
from execplan.core.git import git_query
from execplan.core.git.git_directory import current_branch, head_commit, operation_in_progress
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text.message_parts import join_first

_FIXES = {
    "tell me who you are": "set your identity: git config user.name NAME, git config user.email ADDRESS",
    "empty ident name": "set your identity: git config user.name NAME, git config user.email ADDRESS",
    "dubious ownership": "trust the repository: git config --global --add safe.directory PATH",
    "gpg failed to sign": "make the signing key usable, or disable signing here: git config commit.gpgSign false",
}
"""Phrases in git's output when it can't commit, and a hint for each."""

_STATUS_ARGS = (
    *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all"),
    *("--ignored=traditional", "--"),
)
_DISK_ERRORS = {
    "No space left on device": ("the disk is full", "free some space"),
    "Out of diskspace": ("the disk is full", "free some space"),
    "Disk quota exceeded": ("the disk quota is exceeded", "free some space"),
    "Read-only file system": ("the file system is read-only", "make it writable"),
}
"""Phrases in git's output when it can't write, with their meaning and a hint."""
UNCOMMITTED_NOTE = "the changes are on disk but not committed"
_FATAL_PREFIX = "fatal: "
_COMMIT_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
"""Hooks that can stop a commit."""
_HOOK_ADVICE = "execplan: nothing was committed; "
"""The beginning of what execplan's own hook advises to a user of `git commit`."""
_MAX_HOOK_LINES = 200
"""Maximum number of hook output lines to show; the last ones are kept."""


class CommitResult(NamedTuple):
    """Result of a commit."""

    digest: str | None
    """ID of the commit, or None if there was nothing to commit."""
    paths: tuple[str, ...]
    """Committed files, relative to the repository root."""
    rewritten: tuple[str, ...]
    """Committed files that a hook changed."""
    warnings: tuple[str, ...]


NO_COMMIT = CommitResult(None, (), (), ())


class _StatusEntry(NamedTuple):
    staged: str
    """Status of the index relative to HEAD, in the letters of `git status`."""
    path: str
    is_unmerged: bool = False


def commit(project: Project, paths: Sequence[str], message: str, old_contents: Mapping[str, bytes]) -> CommitResult:
    """Commit the paths, files or directories, as they are on disk.

    `old_contents` is the content of each file before the edit. A file with other staged changes is not committed,
    because the commit would include all of it. Raises ExecplanError and leaves the files unchanged if the commit fails.
    """
    folder = _require_git_dir(project)
    _ensure_no_operation_in_progress(folder)
    runner = _GitRunner(project)
    entries = _parse_status(runner.run_checked(*_STATUS_ARGS, *paths))  # with filters: the commit runs them, too
    if unmerged := [entry.path for entry in entries if entry.is_unmerged]:
        message = f"git lists conflicts in {join_first(unmerged, 3)}; {UNCOMMITTED_NOTE}"
        raise ExecplanError("merge-conflicts", message, hint="resolve them, as git status explains")
    ignored = [entry.path for entry in entries if entry.staged == "!"]
    if ignored and len(ignored) == len(entries):
        raise _commit_error(f"git ignores {ignored[0]}", f"see which pattern matches: git check-ignore -v {ignored[0]}")
    entries = [entry for entry in entries if entry.staged != "!"]
    staged = [entry for entry in entries if entry.staged not in " ?"]
    partly_staged = [entry.path for entry in staged if _is_partly_staged(runner, entry, old_contents)]
    if partly_staged:
        unstage_command = f"git restore --staged {shlex.join([entry.path for entry in staged])}"
        raise ExecplanError(
            "partly-staged",
            f"staged changes differ from the file: {join_first(partly_staged, 3)}; {UNCOMMITTED_NOTE}",
            hint=f"commit or unstage the staged files first: {unstage_command}, then: execplan commit",
        )
    if not (entries := _unstage_reverted(runner, entries)):
        return NO_COMMIT
    changed_paths = tuple([entry.path for entry in entries])
    if new_paths := [entry.path for entry in entries if entry.staged == "?"]:
        runner.run_checked("add", "-N", "--", *new_paths)
    file_stats = {path: _file_stat(project, path) for path in changed_paths}
    try:
        runner.run_checked("commit", "-q", "-m", message, "--only", "--", *changed_paths)
    except BaseException:
        if new_paths:
            _unstage(runner, new_paths)
        raise
    rewritten = tuple([path for path, file_stat in file_stats.items() if _file_stat(project, path) != file_stat])
    if rewritten:
        _unstage(
            runner, rewritten
        )  # changes that a hook stages go into the commit, but not into the index that remains
    warnings = [f"a git hook or another program has changed {path}: review it" for path in rewritten]
    if not current_branch(folder):
        warnings.append("HEAD is detached: the commit is on no branch")
    return CommitResult(
        head_commit(project) or runner.run_checked("rev-parse", "HEAD").strip(),
        changed_paths,
        rewritten,
        tuple(warnings),
    )


def _file_stat(project: Project, path: str) -> tuple[int, ...]:
    """Return values that change when a file is written to."""
    try:
        status = os.lstat(os.path.join(project.root, path))
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _unstage(runner: _GitRunner, paths: Sequence[str]) -> None:
    """Remove the paths from the index again, even if another process locks it for a while."""
    try:
        runner.run_checked("reset", "-q", "--", *paths)
    except ExecplanError as error:
        trace.log(f"couldn't remove {', '.join(paths)} from the index: {error.message}")


def _unstage_reverted(runner: _GitRunner, entries: list[_StatusEntry]) -> list[_StatusEntry]:
    """Unstage files that are as in HEAD, because an edit was staged and then undone; return the others."""
    staged = [entry.path for entry in entries if entry.staged not in " ?"]
    if not staged or not head_commit(runner.project):
        return entries
    changed = runner.run_checked("diff", "--name-only", "-z", "HEAD", "--", *staged).split("\0")
    if reverted := [path for path in staged if path not in changed]:
        runner.run_checked("reset", "-q", "--", *reverted)
    return [entry for entry in entries if entry.path not in reverted]


def stage_file(project: Project, path: str) -> None:
    """Add a file, as it is on disk, to the next commit, also from a hook of it. Raises ExecplanError if git fails."""
    _GitRunner(project).run_checked("add", "--", path)


def uncommitted_files(project: Project, paths: Sequence[str]) -> list[str]:
    """Return the files under the paths that differ from HEAD, relative to the root.

    Raises ExecplanError if git fails.
    """
    _require_git_dir(project)
    try:
        out = git_query.output(project, "--literal-pathspecs", *_STATUS_ARGS, *paths)
    except ExecplanError as error:
        raise _commit_error(error.message, f"{error.hint}; then: execplan commit") from None
    return [entry.path for entry in _parse_status(os.fsdecode(out)) if entry.staged != "!"]


def load_gitpython() -> None:
    """Import GitPython before a lock is acquired, because the import takes longer than the commit itself."""
    from importlib import import_module

    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import_module("git")


class _GitRunner:
    """Runner of git commands in the repository root, which waits for the index lock."""

    def __init__(self, project: Project) -> None:
        from execplan.core.git import git_query

        git_query.require_regular_files(project)
        load_gitpython()
        import git

        self.project = project
        try:
            self.git = git.Repo(project.root, expand_vars=False).git
        except git.exc.GitError as error:
            raise _commit_error(str(error).strip() or "git can't read the repository", "try: git status") from None
        self._command_not_found = git.exc.GitCommandNotFound

    def run(self, *arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        """Run a git command with literal paths, and return its exit status, output and error output."""
        import tempfile

        trace.log(f"run git {' '.join(arguments)}")
        with tempfile.TemporaryFile() as stdin_file:
            stdin_file.write(stdin or b"")
            stdin_file.seek(0)
            try:
                status, stdout, stderr = self.git.execute(
                    ["git", "--literal-pathspecs", *arguments],
                    istream=cast("BinaryIO", stdin_file),
                    with_extended_output=True,
                    with_exceptions=False,
                    strip_newline_in_stdout=False,
                )
            except self._command_not_found:
                raise _commit_error("git is not installed", "install git") from None
        return int(status), str(stdout), str(stderr)

    def run_checked(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run a git command and return its output, waiting while another process locks the index.

        Raises ExecplanError if the command fails or the wait times out.
        """
        deadline = monotonic() + timeout()
        lock_path = os.path.join(_require_git_dir(self.project), "index.lock")
        while True:
            status, stdout, stderr = self.run(*arguments, stdin=stdin)
            if not status:
                return stdout
            if "index.lock" not in stderr or "File exists" not in stderr:
                break
            if monotonic() >= deadline:
                raise ExecplanError(
                    "git-busy",
                    f"another git process holds {lock_path}; waited {timeout():g} s; {UNCOMMITTED_NOTE}",
                    hint="if no git process is running, remove that file, then: execplan commit",
                )
            sleep(0.05)
        raise self._failed(arguments[0], status, (stderr + "\n" + stdout).splitlines())

    def _failed(self, command: str, status: int, output: list[str]) -> ExecplanError:
        """Return the error for a failed git command, with every line that git or a hook printed."""
        lines = [line.rstrip() for line in output if not line.startswith(_HOOK_ADVICE)]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        if (error := _disk_error(command, lines)) is not None:
            return error
        known_fix = next((hint for phrase, hint in _FIXES.items() if any([phrase in line for line in lines])), "")
        by_git = any([line.startswith(_FATAL_PREFIX) for line in lines])
        if command == "commit" and not known_fix and not by_git and self._has_hook():
            message = f"a git hook stopped the commit (exit status {status})"
            fix = "fix what the hook reports" if lines else "the hook printed nothing: fix what it checks"
        else:
            message, fix = f"git {command} failed", known_fix or "fix what git reports"
            if len(lines) == 1:
                message, lines = f"{message}: {lines[0]}", []
            elif not lines:
                message += f" (exit status {status})"
        if len(lines) > _MAX_HOOK_LINES:
            lines = [f"({len(lines) - _MAX_HOOK_LINES} earlier lines are not shown)", *lines[-_MAX_HOOK_LINES:]]
        error = _commit_error(message, f"{fix}, then: execplan commit")
        error.candidates = tuple(lines)
        return error

    def _has_hook(self) -> bool:
        """Return whether git runs a hook that can stop a commit."""
        status, out, _ = self.run("rev-parse", "--git-path", "hooks")
        folder = os.path.join(self.project.root, out.rstrip("\n"))
        return not status and any([os.access(os.path.join(folder, name), os.X_OK) for name in _COMMIT_HOOKS])


def _disk_error(command: str, lines: list[str]) -> ExecplanError | None:
    """Return the error for a git command that failed because of the disk, or None."""
    for phrase, (problem, fix) in _DISK_ERRORS.items():
        if matching_lines := [line.removeprefix(_FATAL_PREFIX) for line in lines if phrase in line]:
            message = f"{problem}: git {command} failed: {matching_lines[0]}; {UNCOMMITTED_NOTE}"
            return ExecplanError("io-error", message, hint=f"{fix}, then: execplan commit")
    return None


def _require_git_dir(project: Project) -> str:
    """Return the git directory. Raises ExecplanError if there is none."""
    if project.git is None:
        raise _commit_error(f"{project.root} is not a git repository", "create one: git init, then: execplan commit")
    return project.git


def _ensure_no_operation_in_progress(folder: str) -> None:
    """Raise an error if an operation is unfinished, because git then can't commit only some paths."""
    operation = operation_in_progress(folder)
    if operation is not None:
        hint = "finish or abort it, as git status explains"
        raise ExecplanError("under-way", f"{operation} is in progress; {UNCOMMITTED_NOTE}", hint=hint)


def _parse_status(status: str) -> list[_StatusEntry]:
    """Parse the status of each file that differs from HEAD, including ignored files."""
    return [
        _StatusEntry(line[0], line[3:], "U" in line[:2] or line[:2] in ("AA", "DD"))
        for line in status.split("\0")
        if line
    ]


def _is_partly_staged(runner: _GitRunner, entry: _StatusEntry, old_contents: Mapping[str, bytes]) -> bool:
    """Return whether the staged content of a file is not its content before the edit."""
    staged = runner.run_checked("ls-files", "-s", "-z", "--", entry.path).split("\0")[0].split(" ")
    path = os.path.join(runner.project.root, entry.path)
    old_content = old_contents.get(path)
    if old_content is None and (entry.staged == "D" or not os.path.isfile(path)):
        return entry.staged != "D"
    return len(staged) < 2 or _blob_id(runner, entry.path, old_content) != staged[1]


def _blob_id(runner: _GitRunner, path: str, data: bytes | None) -> str:
    """Return the blob ID of a file after filters, or of `data` in its place."""
    return runner.run_checked(
        "hash-object", *(("--", path) if data is None else ("--stdin", "--path", path)), stdin=data
    ).strip()


def _commit_error(message: str, hint: str) -> ExecplanError:
    return ExecplanError("not-committed", f"{message}; {UNCOMMITTED_NOTE}", hint=hint)
