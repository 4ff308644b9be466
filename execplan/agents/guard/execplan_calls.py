"""Whether an agent may make a call of execplan: its command, its options, its files, and where it runs."""

from __future__ import annotations

import os

from execplan.agents.guard import protected_paths
from execplan.agents.guard.execplan_commands import (
    ALLOWED_COMMANDS,
    COMMIT_COMMAND,
    COMMIT_FLAG,
    DENIED_COMMANDS,
    GLOBAL_FLAGS,
    NAME,
    shorten,
)
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.pure_paths import is_inside
from execplan.execution.permission import PLANS
from execplan.execution.shell.simple_command import parse_args

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.execution.shell.simple_command import ParsedArgs

AGENT_VARIABLE: Final = "EXECPLAN_AGENT"
_WITH_OTHER_AS: Final = ("archive",)
"""Commands whose `--as` is not a name."""
_MAX_NAME_LENGTH: Final = 64
_HELP_ALL: Final = "--help-all"
"""Flag that is accepted only before a command."""


def denial_reason(argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> str:
    """Return why an agent may not make a call of execplan; empty if it only reads, reports or writes plans."""
    directories, args = _split_call(argv)
    if not args:
        return _enter(directories, scope, folders).reason
    command = args[0]
    if command not in ALLOWED_COMMANDS:
        reason = DENIED_COMMANDS.get(command, "it is none of the commands that agents may use")
        return f"agents can't use `{NAME} {shorten(command)}`: {reason}"
    allowed_options = ALLOWED_COMMANDS[command]
    value_options = [*allowed_options.value_options.split(), *allowed_options.file_options.split(), "-C"]
    flags = [*allowed_options.flags.split(), *GLOBAL_FLAGS]
    parsed_args = parse_args([arg for arg in args[1:] if not arg.startswith("- ")], flags, value_options)
    if parsed_args is None:
        return _unknown_option_reason(args, [*flags, *value_options])
    directories += [value for flag, value in parsed_args.values if flag == "-C"]
    place = _enter(directories, scope, folders)
    return place.reason or _operand_denial_reason(command, parsed_args, place.scope, place.folders)


def naming_problem(argv: Sequence[str], name: str) -> str:
    """Return why an agent may not name itself with a variable before a call of execplan; empty if it may.

    As with `--as`, it chooses its name only for claims and the tasks that they protect, and where nothing is written.
    """
    letters = name.replace("-", "").replace("_", "").replace(".", "")
    if not (letters.isascii() and letters.isalnum() and name[0].isalnum() and len(name) <= _MAX_NAME_LENGTH):
        return f"{AGENT_VARIABLE} must be a plain name: letters, digits, `-`, `_` and `.`"
    command = "".join(_split_call(argv)[1][:1])
    signs = command in _WITH_OTHER_AS or (
        command in ALLOWED_COMMANDS and "--as" in ALLOWED_COMMANDS[command].denied_options.split()
    )
    if signs and name != os.environ.get(AGENT_VARIABLE):
        return f"agents can't choose in whose name `{NAME} {command}` writes: leave out {AGENT_VARIABLE}"
    return ""


def _split_call(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the directories that `-C` names before the command, and the arguments from the command on."""
    directories, args = [], list(argv[1:])
    while args and (args[0] in (*GLOBAL_FLAGS, _HELP_ALL) or args[0] == "-C"):
        if args[0] == "-C":
            directories.append("".join(args[1:2]))
        args = args[1 + (args[0] == "-C") :]
    return directories, args


class _Place(NamedTuple):
    """Where a call of execplan runs."""

    scope: GuardScope
    folders: tuple[str, ...]
    """The directories in which it may run."""
    reason: str = ""
    """Why an agent may not run it there; empty if it may."""


def _enter(directories: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> _Place:
    """Return where a call runs, also with `-C`: in the repository, or in another worktree of it."""
    if len(directories) > 1:
        return _Place(scope, (), f"give `{NAME} -C` only once")
    directory = directories[0] if directories else "."
    paths = [path for folder in folders for path in protected_paths.possible_real_paths(folder, directory)]
    for root in (scope.root, *(scope.other_roots() if not _are_readable(paths, scope) else ())):
        if _are_readable(paths, scope._replace(root=root)):
            return _Place(scope._replace(root=root), tuple(dict.fromkeys(paths)))
    verb = f"{NAME} -C leads" if directories else f"{NAME} would run"
    return _Place(scope, (), f"{verb} outside the repository")


def _unknown_option_reason(args: Sequence[str], options: Sequence[str]) -> str:
    """Return the reason for options that an agent may not use, with the first of them."""
    command, known_options = args[0], [option.removesuffix("?") for option in options]
    flag_names = [arg.partition("=")[0] for arg in args[1:] if arg.startswith("-") and arg != "--"]
    option = next((name for name in flag_names if name not in known_options), "")
    if option in ALLOWED_COMMANDS[command].denied_options.split():
        return f"agents can't use `{NAME} {command}` with {option}: leave it out, or ask a person to run it"
    return f"agents can't use `{NAME} {command}` with {shorten(option) or 'these options'}"


def _operand_denial_reason(command: str, parsed_args: ParsedArgs, scope: GuardScope, folders: Sequence[str]) -> str:
    """Return why an agent may not call a command with these operands and values; empty if it may."""
    allowed_options = ALLOWED_COMMANDS[command]
    if (command == COMMIT_COMMAND or COMMIT_FLAG in parsed_args.flags) and PLANS not in scope.commits:
        return "the policy doesn't let agents commit plans (execution.commit_plans)"
    read_paths = [value for flag, value in parsed_args.values if flag in allowed_options.file_options.split()]
    read_paths += [value for flag, value in parsed_args.values if flag in ("-p", "--plan", "--stdin-filename")]
    read_paths += parsed_args.operands if allowed_options.operand_kind else ()
    texts = [*parsed_args.operands, *[value for _, value in parsed_args.values]]
    read_paths += [text[1:] for text in texts if text.startswith("@") and not text.startswith("@@")]
    real_paths = [
        real_path
        for path in read_paths
        if path != "-"
        for folder in folders
        for real_path in protected_paths.possible_real_paths(folder, path)
    ]
    return "" if _are_readable(real_paths, scope) else f"`{NAME} {command}` refers to a file that agents can't read"


def _are_readable(real_paths: Sequence[str], scope: GuardScope) -> bool:
    """Check whether all paths lead into the repository and may be read."""
    return all(
        [
            path and is_inside(path, scope.root) and not protected_paths.read_denial_reason(scope, path)
            for path in real_paths
        ]
    )
