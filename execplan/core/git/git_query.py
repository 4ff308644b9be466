"""Git queries that a single process answers, without GitPython, whose import takes longer than the query."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Sequence

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git.git_command import prepare_git_command
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project, common_git_dir

REGULAR_MODES = ("100644", "100755")
"""Modes of regular files, as opposed to links and submodules."""
_TIMEOUT = 10
"""Timeout in seconds for an optional query."""
SCAN_TIMEOUT = 2
"""Timeout in seconds for a query that compares files with ignore patterns.

Git needs exponential time for some patterns, and whoever asks can continue without the answer.
"""
GIT_SLOW = "git-slow"
GIT_UNUSABLE_CODES = ("no-git", "git-failed", GIT_SLOW, "git-untrusted", "not-a-file")
"""Error codes that mean that git can't be used; work that does not need git can continue."""
_NO_INDEX_USAGE = b"usage: git diff --no-index"
"""Output of `git diff` in a repository that it does not open."""
_GIT_DIR_QUERY = ("rev-parse", "--git-dir")
_UNFETCHED_TEXT = "promisor remote"
FETCH_ALL_COMMAND = "git fetch --refetch --no-filter"
"""Fetches the objects that a partial clone lacks; without --no-filter, git applies the filter of the clone again."""
_UNTRUSTED_TEXT = "dubious ownership"


class GitFile(NamedTuple):
    """A file as the next commit will contain it."""

    path: str
    """Path from the repository root."""
    blob: str


def staged_files(project: Project, suffixes: tuple[str, ...]) -> list[GitFile]:
    """Return the regular files with one of the suffixes that the next commit adds or changes.

    Raises ExecplanError if git fails.
    """
    diff_args = ("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--diff-filter=d")
    fields = output(project, "-c", "diff.relative=false", *diff_args).split(b"\0")
    files = []
    for metadata, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, blob, _ = metadata.decode("ascii").split(" ")
        file = GitFile(os.fsdecode(path), blob)
        if mode in REGULAR_MODES and file.path.endswith(suffixes):
            files.append(file)
    return files


def staged_paths(project: Project, tree: str = "") -> list[str]:
    """Return every file that the next commit adds, changes or removes, or in which it differs from another tree.

    Raises ExecplanError if git fails.
    """
    diff_args = ("diff", "--cached", "--name-only", "-z", "--no-renames", *([tree, "--"] if tree else []))
    return [os.fsdecode(path) for path in output(project, "-c", "diff.relative=false", *diff_args).split(b"\0") if path]


def index_files(project: Project, folders: list[str]) -> list[GitFile]:
    """Return the regular files in git's index below some directories. Raises ExecplanError if git fails."""
    files = []
    for line in output(project, "--literal-pathspecs", "ls-files", "-sz", "--", *folders).split(b"\0"):
        metadata, tab, path = line.partition(b"\t")
        if tab and metadata[:6].decode() in REGULAR_MODES:
            files.append(GitFile(os.fsdecode(path), metadata.split(b" ")[1].decode()))
    return files


def tracked_files(project: Project) -> list[str]:
    """Return the files that git tracks, including links and submodules. Raises ExecplanError if git fails."""
    paths = output(project, "ls-files", "-z").split(b"\0")
    return list(dict.fromkeys([os.fsdecode(path) for path in paths if path]))


def unignored_files(project: Project) -> list[str]:
    """Return the files that git tracks or would add, relative to the root. Raises ExecplanError if git fails or is slow."""
    args = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = output(project, *args, limit=SCAN_TIMEOUT).split(b"\0")
    return list(dict.fromkeys([os.fsdecode(path) for path in paths if path]))


def ignored_paths(project: Project) -> dict[str, bool]:
    """Return the paths that match git's ignore patterns, and whether each is a directory; raises ExecplanError."""
    args = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=normal")
    lines = output(project, "--no-optional-locks", *args, "--ignored=matching").split(b"\0")
    paths = [line[3:] for line in lines if line.startswith(b"!! ")]
    return {os.fsdecode(path.rstrip(b"/")): path.endswith(b"/") for path in paths}


def ignore_rule_paths(project: Project) -> list[str]:
    """Return the paths outside of the working tree where Git looks for ignore patterns, settings and tracked files."""
    git_dir = project.git or ""
    user_dir = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "git")
    return [
        *[os.path.join(git_dir, name) for name in ("index", "config.worktree")],
        *[os.path.join(common_git_dir(git_dir), name) for name in ("config", "info/exclude")],
        *[os.path.join(user_dir, name) for name in ("config", "ignore")],
        os.path.expanduser("~/.gitconfig"),
    ]


def hooks_and_common_dir(project: Project) -> tuple[str, str]:
    """Return the hooks directory (`core.hooksPath` or the default) and the git directory that all worktrees share."""
    out = os.fsdecode(output(project, "rev-parse", "--git-common-dir", "--git-path", "hooks")).removesuffix("\n")
    common_dir, _, hooks = out.partition("\n")
    return os.path.join(project.root, hooks), os.path.normpath(os.path.join(project.root, common_dir))


def user_name(folder: str) -> str | None:
    """Return git's user.name, also outside a repository; None if it is not set or git is not available."""
    command, environment = prepare_git_command(folder, ("config", "user.name"))
    try:
        process = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.decode("utf-8", "replace").strip() or None


def get_config(file: str, name: str) -> str | None:
    """Return the last value of a setting in a git configuration file, or None. Raises ExecplanError on failure."""
    process = _run_config(file, "--get", name)
    return os.fsdecode(process.stdout).removesuffix("\n") if not process.returncode else None


def set_config(file: str, name: str, value: bytes | None) -> None:
    """Set or remove a setting; git locks and writes the file. Raises ExecplanError on failure."""
    process = (
        _run_config(file, "--unset-all", name) if value is None else _run_config(file, "--replace-all", name, value)
    )
    if process.returncode:
        raise git_failed_error(
            process.stderr.decode("utf-8", "backslashreplace").strip() or f"git can't write {name} to {file}"
        )


def _run_config(file: str, *arguments: str | bytes) -> subprocess.CompletedProcess[bytes]:
    if os.path.lexists(file):
        os.close(file_access.open_file(file)[0])  # git would wait for a pipe
    trace.log(f"run git config --file {file} {' '.join([os.fsdecode(argument) for argument in arguments])}")
    command, environment = prepare_git_command("/", ("config", "--file", os.path.abspath(file)))  # in no repository
    try:
        return subprocess.run([*command, *arguments], cwd="/", env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise _git_missing_error() from None


def require_repository(project: Project) -> None:
    """Raise ExecplanError if there is no repository."""
    if project.git is None:
        message = f"{project.root} is not a git repository"
        raise ExecplanError("no-repository", message, hint="create one: git init")


_READ_BY_GIT = ("HEAD", "commondir", "config", "index", "packed-refs", "info/attributes", "info/exclude")
_READ_IN_TREE = (".gitattributes", ".gitignore", ".gitmodules")
_READ_IN_ROOT = (*_READ_IN_TREE, ".mailmap")
"""Files in the git directory, in any directory, and in the root, that git opens without checking their type."""


def require_regular_files(project: Project) -> None:
    """Raise ExecplanError if a file that git reads is a pipe or a device, on which it would wait forever."""
    folder = project.git or ""
    paths = [
        os.path.join(git_dir, name) for git_dir in {folder, common_git_dir(folder)} for name in _READ_BY_GIT if folder
    ]
    directory = project.plans
    while directory.startswith(f"{project.root}/"):
        paths += [os.path.join(directory, name) for name in _READ_IN_TREE]
        directory = os.path.dirname(directory)
    for path in (*paths, *[os.path.join(project.root, name) for name in _READ_IN_ROOT]):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        is_device = (
            sys.platform != "win32" and stat.S_ISCHR(status.st_mode) and status.st_rdev != os.stat(os.devnull).st_rdev
        )
        if is_device or stat.S_ISFIFO(status.st_mode):
            raise file_access.file_error(
                file_access.NotRegularError(path, "a pipe or a device"), project.display_path(path), "let git read"
            )


def output(project: Project, *arguments: str, stdin: bytes = b"", limit: float | None = None) -> bytes:
    """Run git and return its output. Raises ExecplanError if it fails, or is not finished after `limit` seconds."""
    return output_or_none(project, *arguments, stdin=stdin, limit=limit) or b""


def output_or_none(
    project: Project, *arguments: str, no_status: int = 0, stdin: bytes = b"", limit: float | None = None
) -> bytes | None:
    """Run git and return its output, or None if it exits silently with `no_status`.

    Raises ExecplanError if it fails, or is not finished after `limit` seconds.
    """
    command, environment = _prepare_command(project, arguments)
    try:
        process = subprocess.run(
            command, cwd=project.root, env=environment, input=stdin, capture_output=True, check=False, timeout=limit
        )
    except FileNotFoundError:
        raise _git_missing_error() from None
    except subprocess.TimeoutExpired:
        raise _git_slow_error(arguments) from None
    if process.returncode and process.returncode == no_status and not process.stderr.strip():
        return None
    if process.returncode and _NO_INDEX_USAGE in process.stderr and arguments != _GIT_DIR_QUERY:
        output(project, *_GIT_DIR_QUERY)  # report why git does not accept the directory as a repository
    return _require_success(process.returncode, process.stdout, process.stderr, arguments)


class BackgroundQueries:
    """Git queries that run in the background. Raises ExecplanError if git can't be used."""

    def __init__(self, project: Project, questions: Sequence[Sequence[str]]) -> None:
        self._questions = questions
        self._processes: list[subprocess.Popen[bytes]] = []
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            for question in questions:
                command, environment = _prepare_command(project, question)
                process = subprocess.Popen(
                    command, cwd=project.root, env=environment, stdin=null, stdout=pipe, stderr=pipe
                )
                self._processes.append(process)
        except FileNotFoundError:
            raise _git_missing_error() from None

    def collect_outputs(self, limit: float | None = None) -> list[bytes]:
        """Return the output of each query.

        Raises ExecplanError if one failed, or is not finished after `limit` seconds.
        """
        answers = []
        for question, process in zip(self._questions, self._processes, strict=True):
            try:
                answers.append((question, *process.communicate(timeout=limit)))
            except subprocess.TimeoutExpired:
                raise _git_slow_error(question) from None
        statuses = [process.returncode for process in self._processes]
        return [
            _require_success(status, stdout, stderr, question)
            for (question, stdout, stderr), status in zip(answers, statuses, strict=True)
        ]

    def __enter__(self) -> BackgroundQueries:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the queries that are still running."""
        for process in self._processes:
            with process:
                process.kill()


def _prepare_command(project: Project, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    require_repository(project)
    require_regular_files(project)
    trace.log(f"run git {' '.join(arguments)}")
    return prepare_git_command(project.root, arguments)


def _require_success(status: int, stdout: bytes, stderr: bytes, arguments: Sequence[str]) -> bytes:
    """Return the output of a git process. Raises ExecplanError for a nonzero exit status."""
    if status:
        lines = [line for line in stderr.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
        if untrusted := next((line for line in lines if _UNTRUSTED_TEXT in line), ""):
            raise _untrusted_error(untrusted)
        if any([_UNFETCHED_TEXT in line for line in lines]):
            message = "the clone is partial, and git lacks objects that this command needs"
            raise ExecplanError("git-failed", message, hint=f"get them: {FETCH_ALL_COMMAND}")
        raise git_failed_error("; ".join(lines[:6]) or f"git {arguments[0]} failed")
    return stdout


def _git_slow_error(arguments: Sequence[str]) -> ExecplanError:
    command = next(argument for argument in arguments if not argument.startswith("-"))
    message = f"git {command} did not finish in time; a pattern in a .gitignore may take very long to match"
    return ExecplanError("git-slow", message, hint=f"see how long it takes: git {command}")


def _git_missing_error() -> ExecplanError:
    return ExecplanError("no-git", "git is not installed", hint="install git")


def _untrusted_error(line: str) -> ExecplanError:
    """Return the error for a repository of another user, which git does not open unless it is trusted."""
    from shlex import quote

    path = line.partition("in repository at '")[2].rpartition("'")[0] or os.getcwd()
    message = f"git does not open {path} because it belongs to another user"
    hint = f"if you trust it: git config --global --add safe.directory {quote(path)}"
    return ExecplanError("git-untrusted", message, hint=hint)


def git_failed_error(message: str) -> ExecplanError:
    """Return the error for a git command that failed."""
    return ExecplanError("git-failed", message, hint="try: git status")
