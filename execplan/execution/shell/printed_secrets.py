"""Files for secrets whose content a reading command prints without naming them: searches, and git's diffs and searches.

Git is asked for the names of the files, with the revisions and paths of the command. What selects files by their
content, or only some of the differences, is left out, so that neither the output nor a denial shows what is in a file.
"""

from __future__ import annotations

import os

from execplan.core.git.git_command import prepare_git_command
from execplan.core.secrets.secret_files import CODE_TYPES, is_secret_file
from execplan.core.text.pure_paths import matches_glob
from execplan.execution.shell.reading_commands import GIT, READ_ONLY_COMMANDS
from execplan.execution.shell.simple_command import ParsedArgs, parse_args

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

_TIMEOUT: Final = 2
"""Timeout of a query in seconds."""
_MAX_ENTRIES: Final = 20_000
"""Maximum number of directory entries that are compared, about 50 ms."""
_SKIPPED_DIRECTORIES: Final = frozenset(".git node_modules .venv venv __pycache__ .tox target .mypy_cache".split())
_MAX_COLONS: Final = 4
"""Maximum number of colons in a value of `-L`; git is asked about each file that it may name."""
_SEARCHES: Final = ("grep", "egrep", "fgrep", "diff", "rg")
_RECURSIVE: Final = frozenset(("-r", "--recursive"))
_SUMMARIES: Final = frozenset(
    "--stat --numstat --shortstat --name-only --name-status --summary --raw -s --no-patch".split()
)
_CONTENT: Final = frozenset("-p --patch -U --unified --check -S -G".split())
"""Options with which git prints lines of files, or selects by them."""
_WITH_OBJECTS: Final = ("show", "cat-file", "diff", "grep")
"""Commands of git that print an object, which may be a file's content, by its hash."""
_SELECTING: Final = frozenset(
    """--cached --staged --merge-base -r --root --all --branches --tags --merges --no-merges --first-parent --follow --left-right
    --cherry-pick --since --until --after --before --author --committer --grep -m -o -d -u --others --modified --deleted --unmerged
    --exclude-standard""".split()
)
"""Options that select commits or files, neither by content nor by number."""
_COUNTS: Final = frozenset("-n --max-count --skip".split())
_NO_REVISION: Final = (
    b"bad revision",
    b"unknown revision",
    b"invalid object name",
    b"not have any commits",
    b"exists on disk, but not in",
    b"does not exist in",
    b"fatal: log for ",
)
"""What git prints if a revision doesn't exist, so that the command itself prints nothing either."""


class UnknownOutputError(Exception):
    """Git can't tell which files it would print."""


def secrets_below(directory: str, root: str) -> Iterator[str]:
    """Yield the absolute paths of the files for secrets in a directory, and of links to some."""
    from execplan.core.files.tree_walk import walk_tree

    remaining = _MAX_ENTRIES
    for folder, subdirectories, files in walk_tree(directory):
        remaining -= len(subdirectories) + len(files)
        if remaining <= 0:
            return
        subdirectories[:] = [name for name in subdirectories if name not in _SKIPPED_DIRECTORIES]
        for name in files:
            path = os.path.join(folder, name)
            if is_secret_file(os.path.relpath(path, root)) or (
                os.path.islink(path) and is_secret_file(os.path.realpath(path))
            ):
                yield path


def printed_secret_reason(argv: Sequence[str], folder: str, root: str) -> str:
    """Return why the output of a reading command would contain a file for secrets, and how to exclude it; or nothing."""
    if argv[0] == GIT:
        return git_reason(argv, folder, root)
    parsed_args = _parse(argv[0], argv[1:]) if argv[0] in _SEARCHES else None
    if parsed_args is None or (argv[0] not in ("rg", "diff") and parsed_args.flags.isdisjoint(_RECURSIVE)):
        return ""
    command = READ_ONLY_COMMANDS[argv[0]]
    is_pattern_first = parsed_args.flags.isdisjoint(command.replacing_flags.split())
    operands = parsed_args.operands[command.leading_texts if is_pattern_first else 0 :]
    for operand in operands or ((".",) if argv[0] != "diff" and "--files" not in parsed_args.flags else ()):
        directory = os.path.realpath(os.path.join(folder, operand))
        if os.path.isdir(directory) and (secret := _find_searched(argv[0], parsed_args, directory, root)):
            name = os.path.basename(secret)
            option = {"rg": f"-g '!{name}'", "diff": "name files"}.get(argv[0], f"--exclude='{name}'")
            return exclusion_reason(os.path.relpath(secret, root), option)
    return ""


def searched_secrets(directory: str, root: str, *, hidden: bool) -> list[str]:
    """Return the files for secrets that a search by ripgrep finds below a directory.

    It skips links, what git ignores and, unless `hidden`, names with a leading dot.
    """
    secrets = [path for path in secrets_below(directory, root) if not os.path.islink(path)]
    if not hidden:
        secrets = [path for path in secrets if "/." not in f"/{os.path.relpath(path, directory)}"]
    try:
        ignored = _ask_git(root, ["check-ignore", "-z", "--stdin"], "\0".join(secrets), no_status=1) if secrets else []
    except UnknownOutputError:
        ignored = []
    return [path for path in secrets if path not in ignored]


def exclusion_reason(secret: str, exclusion: str) -> str:
    """Return why a command that prints a file for secrets is denied, and how to exclude the file."""
    return f"it would print {secret}, which contains credentials; exclude it: {exclusion}"


def _parse(name: str, args: Sequence[str]) -> ParsedArgs | None:
    command = READ_ONLY_COMMANDS[name]
    return parse_args(args, command.flags.split(), command.value_flags.split(), allows_numbers=command.allows_numbers)


def _find_searched(program: str, parsed_args: ParsedArgs, directory: str, root: str) -> str:
    """Return a file for secrets below a directory that a search reads, or an empty string.

    Files that a pattern includes are found by the pattern, as arguments are.
    """
    if program == "diff":
        return next(secrets_below(directory, root), "")
    if program == "rg":
        globs = [glob for flag, glob in parsed_args.values if flag in ("-g", "--glob")]
        types = [name for flag, name in parsed_args.values if flag in ("-t", "--type")]
        if not all([glob.startswith("!") for glob in globs]) or (types and CODE_TYPES.issuperset(types)):
            return ""
        secrets = searched_secrets(directory, root, hidden=False)
        excluded = [path for path in secrets for glob in globs if matches_glob(os.path.basename(path), glob[1:])]
        return next((path for path in secrets if path not in excluded), "")
    selections = [(flag, glob) for flag, glob in parsed_args.values if flag in ("--include", "--exclude")]
    if selections[:1] and selections[0][0] == "--include":  # grep then skips what no pattern matches
        return ""
    excluded_directories = [glob for flag, glob in parsed_args.values if flag == "--exclude-dir"]
    for path in secrets_below(directory, root):
        *parents, name = os.path.relpath(path, directory).split("/")
        if not os.path.islink(path) and not (
            any([matches_glob(name, glob) for flag, glob in selections if flag == "--exclude"])
            or any([matches_glob(parent, glob) for parent in parents for glob in excluded_directories])
        ):
            return path
    return ""


def git_reason(argv: Sequence[str], folder: str, root: str, *, lists: bool = False) -> str:
    """Return why a command of git would print a file for secrets, or with `lists` its name; empty if it does not."""
    words = list(argv[2:] if argv[1:2] == ("--no-pager",) else argv[1:])
    name = " ".join(words[:2] if words[:1] == ["stash"] else words[:1])
    args = words[len(name.split()) :]
    parsed_args = _parse(f"{GIT} {name}", args) if f"{GIT} {name}" in READ_ONLY_COMMANDS else None
    if parsed_args is None or not (lists or name in _WITH_OBJECTS or _prints_content(name, parsed_args)):
        return ""
    if name == "cat-file" and not parsed_args.flags.isdisjoint(("-t", "-s", "-e")):
        return ""
    try:
        if not lists and _prints_content(name, parsed_args) and (setting := _submodule_setting(name, folder, root)):
            return f"it would print files of submodules, because git's setting {setting} says so"
        for path in _printed_paths(name, parsed_args, args, folder, lists=lists):
            if is_secret_file(path):
                exclusion = f"-- ':!/{path}'"
                if "-L" in parsed_args.flags:
                    exclusion = "COMMIT..HEAD, with commits after its renaming"
                return exclusion_reason(path, "name files" if name == "stash show" else exclusion)
    except UnknownOutputError as error:
        return f"git can't tell which files it would print: {error}"
    return ""


def _submodule_setting(name: str, folder: str, root: str) -> str:
    """Return the setting of the user with which a command of git prints files of submodules, or an empty string."""
    if name == "cat-file" or not os.path.lexists(os.path.join(root, ".gitmodules")):
        return ""
    setting, value = ("submodule.recurse", "true") if name == "grep" else ("diff.submodule", "diff")
    query = ["config", "-z", *(["--type=bool"] if name == "grep" else []), "--get", setting]
    return setting if value in _ask_git(folder, query, no_status=1) else ""


def _prints_content(name: str, parsed_args: ParsedArgs) -> bool:
    """Return whether a command of git prints lines of files, or depends on them."""
    flags = parsed_args.flags
    if name == "stash show":  # without an option, the user's settings may add a patch
        return not flags or "-p" in flags
    if name in ("diff", "show"):
        return flags.isdisjoint(_SUMMARIES) or not flags.isdisjoint(_CONTENT)
    if name in ("log", "diff-tree"):
        return "-L" in flags or not flags.isdisjoint(_CONTENT)
    return name == "grep"


def _printed_paths(
    name: str, parsed_args: ParsedArgs, args: Sequence[str], folder: str, *, lists: bool
) -> Iterator[str]:
    """Yield the paths of all files that a command of git may print, or list. Raises UnknownOutputError."""
    pathspecs = args[args.index("--") :] if "--" in args else ()
    operands = parsed_args.operands[: len(parsed_args.operands) - len(pathspecs[1:])]
    if name == "grep" and "-e" not in parsed_args.flags:  # without the pattern
        operands, pathspecs = operands[1:], pathspecs if operands else (*pathspecs[:1], *pathspecs[2:])
    types = _object_types(operands, folder) if name in _WITH_OBJECTS else []
    if any([kind == "blob" and ":" not in operand for kind, operand in zip(types, operands, strict=False)]):
        raise UnknownOutputError("an object is named by its hash; name it as REVISION:PATH")
    if name == "cat-file" or not (lists or _prints_content(name, parsed_args)):
        return
    if name == "show" and types:  # a file is named by its path
        operands = tuple([operand for kind, operand in zip(types, operands, strict=False) if kind != "blob"])
        if not operands and parsed_args.flags.isdisjoint(("--all", "--branches", "--tags")):
            return
    query = _names_query(name, parsed_args, args)
    if name == "grep" and not any(types):  # no revisions
        query, pathspecs, operands = ["ls-files", "-z"], ("--", *operands, *pathspecs[1:]), ()
    prefixes = [operand.partition(":")[2] for operand in operands if ":" in operand]
    selections = [(*operands, *pathspecs)]
    if "-L" in parsed_args.flags:  # git follows the file to its earlier names
        selections = [
            ("--follow", *operands, "--", f":(literal){path}")
            for flag, value in parsed_args.values
            if flag == "-L"
            for path in _line_log_files(value)
        ]
    for path in [
        path for selection in selections for path in _ask_git(folder, [*query, *selection], no_status=name == "grep")
    ]:
        yield path
        yield path.partition(":")[2]
        yield from [f"{prefix}/{path}" for prefix in prefixes]


def _line_log_files(value: str) -> list[str]:
    """Return the file of a range of lines, as in `1,9:FILE`; with more colons, what may be the file."""
    parts = value.split(":")
    if len(parts) > _MAX_COLONS + 1:
        raise UnknownOutputError(f"{value} has too many colons")
    return [path for at in range(1, len(parts)) if (path := ":".join(parts[at:]))]


def _names_query(name: str, parsed_args: ParsedArgs, args: Sequence[str]) -> list[str]:
    """Return a command of git, without operands, that prints the names of the files whose lines another one prints."""
    values = dict(parsed_args.values)
    selection = [flag for flag in sorted(parsed_args.flags & _SELECTING) if flag not in values]
    selection += [f"{flag}={value}" for flag, value in parsed_args.values if flag in _SELECTING]
    if parsed_args.flags.isdisjoint(("-S", "-G", "--follow", "-L")):
        selection += [arg for arg in args if arg[:1] == "-" and arg[1:].isdecimal()]
        selection += [word for flag, value in parsed_args.values if flag in _COUNTS for word in (flag, value)]
    if name == "ls-files":
        return ["ls-files", "-z", *selection]
    if name == "grep":
        return ["grep", "-l", "-z", "-e", "", *selection]
    options = ["--name-only", "-z", *(["--no-renames"] if name != "stash show" else [])]
    options += {"log": ["--format="], "show": ["--format="], "diff-tree": ["-r"]}.get(name, [])
    return ["-c", "diff.relative=false", *name.split(), *options, *selection]


def _object_types(names: Sequence[str], folder: str) -> list[str]:
    """Return the type of each object of git; empty for a name of none. Raises UnknownOutputError."""
    text = "".join([f"{name}\n" if ":" in name else f"{name}^{{}}\n" for name in names])
    lines = "".join(_ask_git(folder, ["cat-file", "--batch-check=%(objecttype)"], text)) if names else ""
    return ["" if line.endswith((" missing", " ambiguous")) else line for line in lines.splitlines()]


def _ask_git(folder: str, arguments: Sequence[str], text: str = "", *, no_status: int = 0) -> list[str]:
    """Return the parts of git's output, which end with NUL. Raises UnknownOutputError."""
    import subprocess

    command, environment = prepare_git_command(folder, arguments)
    try:
        process = subprocess.run(  # noqa: S603 - git
            command,
            cwd=folder,
            env=environment | {"LC_ALL": "C.UTF-8"},
            input=os.fsencode(text),
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise UnknownOutputError(f"it takes more than {_TIMEOUT} seconds; name fewer files or revisions") from None
    except (OSError, ValueError) as error:
        raise UnknownOutputError(str(error)) from None
    if process.returncode not in (0, no_status):
        if any([text in process.stderr for text in _NO_REVISION]):
            return []
        lines = process.stderr.decode("utf-8", "replace").splitlines() or [f"exit status {process.returncode}"]
        raise UnknownOutputError(lines[0].removeprefix("fatal: "))
    return os.fsdecode(process.stdout).split("\0")
