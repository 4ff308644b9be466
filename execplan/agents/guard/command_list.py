"""Parser for shell texts whose commands are known without running a shell: lists of commands, nothing expanded."""

from __future__ import annotations

import os

from execplan.agents.guard.command_equivalence import is_harmless_variable, strip_wrappers
from execplan.agents.guard.execplan_commands import NAME
from execplan.agents.guard.path_resolution import is_unambiguous
from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.text.invisible_characters import may_have_hidden
from execplan.execution.shell.command_table import WITH_ANY_FLAG
from execplan.execution.shell.shell_parser import ShellParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

    from execplan.execution.shell.shell_word import ShellWord


_MAX_NAMES: Final = 1000
_MAX_WILD_DIRECTORIES: Final = 2
"""Maximum number of directories in a pattern that contain wildcards."""
_WILD: Final = frozenset("*?")
_PATTERN_OPTIONS: Final = ("--include=*", "--exclude=*")


def is_safe_glob(word: ShellWord) -> bool:
    """Check whether every shell reads a word as the same pattern, which matches no name with a leading hyphen.

    Such a pattern starts with a literal name, or contains the suffix of all matching names, or matches directories. One
    after `--include=` matches nothing, so that the program gets it.
    """
    text, suffix = word.text, word.text.rpartition(".")[2]
    if word.is_plain and (text == "*/" or text.startswith(_PATTERN_OPTIONS)):
        return not set("[{(~$`") & set(text)
    if not word.is_plain or _WILD.isdisjoint(text) or "**" in text:
        return False
    if not all([char.isalnum() or char in "*?./_-+@%," for char in text]) or not text.isascii() or text.startswith("-"):
        return False
    if text[0] in _WILD:
        return "/" not in text and "." in text and _WILD.isdisjoint(suffix) and bool(suffix)
    return len([part for part in text.split("/")[:-1] if not _WILD.isdisjoint(part)]) <= _MAX_WILD_DIRECTORIES


def expand_globs(argv: Sequence[str], patterns: Collection[str], folders: Sequence[str]) -> tuple[str, ...] | None:
    """Replace patterns in a command's arguments with file names, including hidden files; None if they are unknown."""
    if not any([arg in patterns for arg in argv]):
        return tuple(argv)
    if argv[0] not in WITH_ANY_FLAG:  # a file name may be taken for a flag
        return None
    from glob import iglob
    from itertools import islice

    expanded_argv: list[str] = []
    for arg in argv:
        if arg not in patterns:
            expanded_argv.append(arg)
            continue
        names: dict[str, None] = {}
        for folder in folders:
            for name in islice(iglob(arg, root_dir=folder, include_hidden=True), _MAX_NAMES + 1):
                names[name] = None
        if len(names) > _MAX_NAMES or any([name.startswith("-") for name in names]):
            return None
        expanded_argv += list(names) or [arg]
        literal = "".join([char for char in arg if char not in _WILD])
        if is_secret_file(literal):  # the file may be missing or not found
            expanded_argv.append(literal)
    return tuple(expanded_argv)


_CD = "`cd` is a shell builtin"
_AND_OPERATOR = "`&&`"
_COMMAND = "`command` is a shell builtin"
_ALLOWED_REASONS = frozenset(("a pipe", _AND_OPERATOR, "`||`", "`;`", "several lines", "a redirection", _CD, _COMMAND))
"""Reasons for needing a shell that are allowed in such a text."""
_PATTERN_CHARS = frozenset("*?[")
_EXPANDS = "a glob pattern"
_MAX_CHARS = 20_000
"""Maximum length of a text, in characters; commands that only inspect something are shorter."""


class CommandList(NamedTuple):
    """A list of commands and the directories in which they may run."""

    commands: tuple[tuple[str, ...], ...]
    """Arguments of each command, as its program gets them."""
    folders: tuple[str, ...]
    """Absolute paths of the directories in which they may run."""


class _CommandListReader(ShellParser):
    """Collects all reasons for needing a shell, and treats everything that any shell may expand as a pattern."""

    def __init__(self, text: str) -> None:
        self.reasons: set[str] = set()
        self.patterns: set[str] = set()
        super().__init__(text)

    def require_shell(self, why: str) -> None:
        """Record a reason for needing a shell."""
        if why:
            self.reasons.add(why)
        super().require_shell(why)

    def read_word(self) -> ShellWord:
        """Read one word; in some shells, a word with a leading `=` is the path of a program."""
        word = super().read_word()
        if is_safe_glob(word):
            self.patterns.add(word.text)
        elif (not _PATTERN_CHARS.isdisjoint(word.mask) and word.mask not in ("[", "]")) or word.mask.startswith("="):
            self.require_shell("a glob pattern that is not expanded here")
        if "{" in word.mask and ("," in word.mask or ".." in word.mask):
            self.require_shell("`{…}` is expanded")
        return word


def without_here_documents(text: str) -> str:
    """Return a text without its literal here-documents, which are input like that of a pipe."""
    if "<<" not in text:
        return text
    from execplan.agents.guard.typed_command import remove_here_documents

    return remove_here_documents(text)


def parse_command_list(text: str, cwd: str) -> CommandList | None:
    """Parse a text into commands run in a directory; None if it does more than run them with their literal arguments.

    `timeout`, `time`, `env` and variables without effect are allowed before a command. Patterns of files are expanded
    if the result is known. Pipes, `&&`, `||`, `;` and line ends may join commands; their output may be discarded or
    merged. The text may start with one `cd`. The shell expands, assigns, writes and reads nothing else.
    """
    text = without_here_documents(text).strip(" \t\n")
    if len(text) > _MAX_CHARS or may_have_hidden(text.replace("\n", "").replace("\t", "")):
        return None
    reader = _CommandListReader(text)
    simple_commands = reader.parse_commands()
    if reader.problem or reader.reasons - _ALLOWED_REASONS - {_EXPANDS} or not reader.raw_commands:
        return None
    if any(
        [
            set(simple_command.writes) - {os.devnull} or {"<", "<<"} & set(simple_command.piped_from)
            for simple_command in simple_commands
        ]
    ):
        return None
    unwrapped = [strip_wrappers(argv, dict(assigned)) for argv, assigned in reader.raw_commands]
    for (argv, assigned), (raw_argv, raw_assigned) in zip(unwrapped, reader.raw_commands, strict=True):
        if argv[:1] == (NAME,):
            if raw_argv != argv or not _are_only_naming(argv, raw_assigned):
                return None  # only by that exact name
        elif not all([is_harmless_variable(*assignment) for assignment in assigned.items()]):
            return None
    commands = [argv for argv, _ in unwrapped]
    if _CD not in reader.reasons:
        return _expand_patterns(CommandList(tuple(commands), (cwd,)), reader.patterns)
    command_list = _commands_after_cd(commands, reader.reasons - {_EXPANDS}, cwd)
    return None if command_list is None else _expand_patterns(command_list, reader.patterns)


def _are_only_naming(argv: Sequence[str], assignments: Sequence[tuple[str, str]]) -> bool:
    """Check whether the variables before a call of execplan only name the agent, where it may give its name."""
    if not assignments:
        return True
    from execplan.agents.guard.execplan_calls import AGENT_VARIABLE, naming_problem

    name, value = assignments[0]
    return len(assignments) == 1 and name == AGENT_VARIABLE and not naming_problem(argv, value)


def disallowed_constructs(text: str) -> list[str]:
    """Return the descriptions of what a text contains that such a list may not, expansions first."""
    reader = _CommandListReader(without_here_documents(text).strip(" \t\n"))
    reader.parse_commands()
    constructs = sorted(reader.reasons - _ALLOWED_REASONS, key=lambda reason: ("is expanded" not in reason, reason))
    return list(filter(None, [reader.problem, *constructs, *sorted(reader.reasons & {"a redirection"})]))


def _commands_after_cd(commands: Sequence[tuple[str, ...]], reasons: set[str], cwd: str) -> CommandList | None:
    """Return the commands after a leading `cd`; with a pipe, they may run in either directory."""
    cd_argv, *rest = commands
    if len(cd_argv) != 2 or cd_argv[0] != "cd" or cd_argv[1].startswith("-") or any([argv[0] == "cd" for argv in rest]):
        return None
    if not rest or reasons - {_CD, _AND_OPERATOR, _COMMAND, "a pipe", "a redirection"} or _AND_OPERATOR not in reasons:
        return None
    if not cd_argv[1].startswith(("/", "./", "../")) and os.environ.get("CDPATH"):
        return None
    folder = os.path.join(cwd, cd_argv[1])
    if not is_unambiguous(folder):
        return None
    return CommandList(tuple(rest), (folder,) if "a pipe" not in reasons else (folder, cwd))


def _expand_patterns(command_list: CommandList, patterns: set[str]) -> CommandList | None:
    """Replace patterns in the commands with file names; None if these are unknown."""
    if not patterns:
        return command_list
    commands = [expand_globs(argv, patterns, command_list.folders) for argv in command_list.commands]
    if None in commands:
        return None
    return command_list._replace(commands=tuple([argv for argv in commands if argv is not None]))
