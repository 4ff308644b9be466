"""The text that a shell gets, where it is so plain that what runs is told from it: commands side by side, and nothing expanded."""

from __future__ import annotations

import os

from execplan.agents.guard.command_equivalence import is_harmless_variable, strip_wrappers
from execplan.agents.guard.execplan_commands import NAME
from execplan.agents.guard.path_resolution import is_unambiguous
from execplan.execution.shell.shell_parser import ShellParser
from execplan.named_tuple import NamedTuple
from execplan.secrets.secret_files import is_secret_file
from execplan.text.invisible_characters import may_have_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

    from execplan.execution.shell.shell_word import ShellWord


_READ_ONLY_PROGRAMS: Final = frozenset(
    "cat grep egrep fgrep head ls md5sum nl sha1sum sha256sum sha512sum stat tail wc".split()
)
"""Programs that no flag lets write or start anything: the name of a file may be taken for one."""
_MAX_NAMES: Final = 1000
_MAX_WILD_DIRECTORIES: Final = 2
"""Folders in a pattern that are patterns themselves."""
_WILD: Final = frozenset("*?")


def is_safe_glob(word: ShellWord) -> bool:
    """Whether a word is a pattern that every shell reads alike, and that finds no name that begins with a hyphen.

    It begins with a name, or it says how all the names end.
    """
    text, suffix = word.text, word.text.rpartition(".")[2]
    if not word.is_plain or _WILD.isdisjoint(text) or "**" in text:
        return False
    if not all([char.isalnum() or char in "*?./_-+@%," for char in text]) or not text.isascii() or text.startswith("-"):
        return False
    if text[0] in _WILD:
        return "/" not in text and "." in text and _WILD.isdisjoint(suffix) and bool(suffix)
    return len([part for part in text.split("/")[:-1] if not _WILD.isdisjoint(part)]) <= _MAX_WILD_DIRECTORIES


def expand_globs(argv: Sequence[str], patterns: Collection[str], folders: Sequence[str]) -> tuple[str, ...] | None:
    """The words of a command with the names of files in place of patterns, those that are hidden too; None where that is not known."""
    if not any([arg in patterns for arg in argv]):
        return tuple(argv)
    if argv[0] not in _READ_ONLY_PROGRAMS:
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
        if is_secret_file(literal):  # what is not there yet, or not found
            expanded_argv.append(literal)
    return tuple(expanded_argv)


_CD = "`cd` is a builtin of the shell"
_AND_OPERATOR = "`&&`"
_COMMAND = "`command` is a builtin of the shell"
_ALLOWED_REASONS = frozenset(("a pipe", _AND_OPERATOR, "`||`", "`;`", "several lines", "a redirection", _CD, _COMMAND))
"""What may be in such a text, of all that needs a shell."""
_PATTERN_CHARS = frozenset("*?[")
_EXPANDS = "a pattern of files"
_MAX_CHARS = 20_000
"""Characters: nobody types more to look at something."""


class CommandList(NamedTuple):
    """Commands side by side."""

    commands: tuple[tuple[str, ...], ...]
    """The words of each, as its program gets them."""
    folders: tuple[str, ...]
    """Where they may run: absolute."""


class _CommandListReader(ShellParser):
    """Keeps every reason why a shell is needed, and takes whatever a shell may take for a pattern for one."""

    def __init__(self, text: str) -> None:
        self.reasons: set[str] = set()
        self.patterns: set[str] = set()
        super().__init__(text)

    def require_shell(self, why: str) -> None:
        """Keep a reason why a shell is needed."""
        if why:
            self.reasons.add(why)
        super().require_shell(why)

    def read_word(self) -> ShellWord:
        """One word; in some shells one that begins with `=` is the path of a program."""
        word = super().read_word()
        if is_safe_glob(word):
            self.patterns.add(word.text)
        elif (not _PATTERN_CHARS.isdisjoint(word.mask) and word.mask not in ("[", "]")) or word.mask.startswith("="):
            self.require_shell("a pattern that is not expanded here")
        if "{" in word.mask and ("," in word.mask or ".." in word.mask):
            self.require_shell("`{…}` is expanded")
        return word


def parse_command_list(text: str, cwd: str) -> CommandList | None:
    """The commands of a text that is run in a folder; None where it does more than to run them with the words that it has.

    Variables that change nothing, `timeout`, `time` and `env` may stand in front of one, and what such a command is given by a
    pattern of files is expanded as far as it can be told. They may be joined by pipes, `&&`, `||`, `;` and line ends; what they print may be thrown away or joined; one `cd` may
    stand in front. Nothing else is expanded or assigned, and nothing is written or read by the shell.
    """
    text = text.strip(" \t\n")
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
    if not all([is_harmless_variable(*assignment) for _, assigned in unwrapped for assignment in assigned.items()]):
        return None
    commands = [argv for argv, _ in unwrapped]
    if any(
        [argv[:1] == (NAME,) and raw != (argv, ()) for argv, raw in zip(commands, reader.raw_commands, strict=True)]
    ):
        return None  # by that name alone
    if _CD not in reader.reasons:
        return _expand_patterns(CommandList(tuple(commands), (cwd,)), reader.patterns)
    command_list = _commands_after_cd(commands, reader.reasons - {_EXPANDS}, cwd)
    return None if command_list is None else _expand_patterns(command_list, reader.patterns)


def _commands_after_cd(commands: Sequence[tuple[str, ...]], reasons: set[str], cwd: str) -> CommandList | None:
    """The commands behind one `cd` in front; where a pipe stands too they may run on either side of it."""
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
    """The commands with the names of files in place of patterns; None where these can't be told."""
    if not patterns:
        return command_list
    commands = [expand_globs(argv, patterns, command_list.folders) for argv in command_list.commands]
    return (
        None
        if None in commands
        else command_list._replace(commands=tuple([argv for argv in commands if argv is not None]))
    )
