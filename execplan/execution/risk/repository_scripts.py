"""Detection of commands that run a script of the repository, such as `python3 src/main.py` or `./scripts/test.sh`."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.risk.argument_predicates import split_name
from execplan.execution.shell.simple_command import is_outside_path, is_system_program, normalize_program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHELL_FLAGS = ("-e", "-u", "-x", "-eu", "-ex", "-ux", "-eux")
_INTERPRETERS: dict[str, tuple[str, ...]] = {
    "python": ("-u", "-B", "-O", "-OO", "-I", "-s", "-E"),
    "node": ("--enable-source-maps", "--no-warnings", "--trace-warnings"),
    "ruby": ("-w",),
    "perl": ("-w",),
    "julia": ("--project",),
    **dict.fromkeys(("php", "lua", "Rscript", "tsx", "ts-node"), ()),
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh"), _SHELL_FLAGS),
}
"""Programs that run a script, each with the flags that do not affect which code runs."""
_SCRIPT_DIRECTORIES = frozenset(("scripts", "script", "bin", "tools", "ci", "hack"))
"""Directories in which a repository keeps its scripts, also those whose names have no suffix."""
_SCRIPT_SUFFIXES = ("py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php", "lua", "r", "jl", "sh", "bash", "zsh")
_USUAL_SCRIPT_WORDS = frozenset(("dev", "serve", "start", "up", "init", "setup", "bootstrap", "configure", "sync"))
"""Words that are risky in the name of a build tool's task, but usual in that of a program."""


class Script(NamedTuple):
    """A script of the repository that a command runs."""

    path: str
    """Path as it was written."""
    suspicious_word: str
    """Word in its name that suggests more than building, testing or running, or an empty string."""


def find_script(argv: Sequence[str], tasks: Mapping[str, frozenset[str]]) -> Script | None:
    """Return the script that a command runs, or None if it runs none that is certainly in the repository."""
    path = _script_path(argv)
    if not path or is_outside_path(path) or set(path) & set("$`*?[{:= \\\n"):
        return None
    suspicious = ((tasks["risky"] - _USUAL_SCRIPT_WORDS) | tasks["shipping"]) - tasks["known"]
    name_words = [word for part in path.split("/") for word in split_name(part)]
    return Script(path, next((word for word in name_words if word in suspicious), ""))


def _script_path(argv: Sequence[str]) -> str:
    """Return the argument of a command that is a script, or an empty string."""
    if not is_system_program(argv[0]):
        return argv[0] if _is_script(argv[0]) or _is_in_script_directory(argv[0]) else ""
    flags = _INTERPRETERS.get(normalize_program_name(argv[0]))
    if flags is None:
        return ""
    args = list(argv[1:])
    while args and args[0] in flags:
        args.pop(0)
    return args[0] if args and (_is_script(args[0]) or _is_in_script_directory(args[0])) else ""


def _is_in_script_directory(path: str) -> bool:
    return path.removeprefix("./").split("/")[0] in _SCRIPT_DIRECTORIES


def _is_script(path: str) -> bool:
    if path.removeprefix("./") == "configure":
        return True  # name of the script in the GNU build system
    return not path.startswith("-") and path.rpartition(".")[2].lower() in _SCRIPT_SUFFIXES and "." in path.strip("./")
