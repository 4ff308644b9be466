"""What an agent may call of execplan itself: verbs that read, report or keep a plan true, with options that do no more."""

from __future__ import annotations

from execplan.agents.guard import places
from execplan.agents.guard.verbs import GLOBAL_FLAGS, DENIED_COMMANDS, ALLOWED_COMMANDS
from execplan.agents.guard.words import parse_args

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.planned import GuardScope
    from execplan.agents.guard.verbs import AllowedOptions

NAME: Final = "execplan"


def denial_reason(argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> str:
    """Why a call of execplan is more than an agent may do; nothing for one that reads, reports or keeps the plan true."""
    if argv[0] != NAME:
        return f"{shorten(argv[0])} is not {NAME}"
    args = list(argv[1:])
    while args and (args[0] in GLOBAL_FLAGS or args[0] == "-C"):
        consumed = 2 if args[0] == "-C" else 1
        if consumed == 2 and not _are_all_readable(args[1:2] or [""], scope, folders):
            return f"{NAME} -C leads out of the repository"
        args = args[consumed:]
    if not args:
        return ""
    command, command_args = args[0], args[1:]
    if command not in ALLOWED_COMMANDS:
        reason = DENIED_COMMANDS.get(command, "it is none of the verbs that an agent may use")
        return f"`{NAME} {shorten(command)}` is not for an agent: {reason}"
    allowed_options = ALLOWED_COMMANDS[command]
    return _option_denial_reason(command, allowed_options, command_args, scope, folders)


def _option_denial_reason(command: str, allowed_options: AllowedOptions, argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> str:
    """Why a verb is given more than an agent may give it."""
    value_options = [*allowed_options.value_options.split(), *allowed_options.file_options.split(), "-C"]
    parsed_args = parse_args([arg for arg in argv if not arg.startswith("- ")], [*allowed_options.flags.split(), *GLOBAL_FLAGS], value_options)
    if parsed_args is None or (allowed_options.required_flag and allowed_options.required_flag not in parsed_args.flags):
        restriction = f" but with {allowed_options.required_flag}" if allowed_options.required_flag else " with these options"
        return f"`{NAME} {command}` is not for an agent{restriction}"
    read_paths = [value for flag, value in parsed_args.values if flag in allowed_options.file_options.split() or flag == "-C"]
    read_paths += [value for flag, value in parsed_args.values if flag in ("-p", "--plan", "--stdin-filename")]
    read_paths += parsed_args.operands if allowed_options.operand_kind else ()
    texts = [*parsed_args.operands, *[value for _, value in parsed_args.values]]
    read_paths += [text[1:] for text in texts if text.startswith("@") and not text.startswith("@@")]
    return "" if _are_all_readable(read_paths, scope, folders) else f"`{NAME} {command}` is given a file that an agent may not read"


def _are_all_readable(path_args: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> bool:
    """Whether all paths lead into the repository, to nothing that is never read; `-` is standard input."""
    real_paths = [real_path for path in path_args if path != "-" for folder in folders for real_path in places.possible_real_paths(folder, path)]
    return all([path and places.is_inside(scope.root, path) and not places.read_denial_reason(scope, path) for path in real_paths])


def shorten(text: str) -> str:
    """A text as a reason shows it."""
    return text if len(text) <= 80 else f"{text[:60]}…"
