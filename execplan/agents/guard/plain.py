"""The text that a shell gets, where it is so plain that what runs is told from it: commands side by side, and nothing expanded."""

from __future__ import annotations

import os

from execplan.agents.guard.calling import NAME
from execplan.agents.guard.globs import expanded, is_tame
from execplan.agents.guard.paths import is_one
from execplan.agents.guard.wrapped import behind, is_harmless
from execplan.execution.command.reader import Reader
from execplan.record import NamedTuple
from execplan.text.hidden import may_hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.command.words import Word

_CD = "`cd` is a builtin of the shell"
_AND = "`&&`"
_COMMAND = "`command` is a builtin of the shell"
_PLAIN = frozenset(("a pipe", _AND, "`||`", "`;`", "several lines", "a redirection", _CD, _COMMAND))
"""What may be in such a text, of all that needs a shell."""
_PATTERN = frozenset("*?[")
_EXPANDS = "a pattern of files"
_LONGEST = 20_000
"""Characters: nobody types more to look at something."""


class Plain(NamedTuple):
    """Commands side by side."""

    commands: tuple[tuple[str, ...], ...]
    """The words of each, as its program gets them."""
    folders: tuple[str, ...]
    """Where they may run: absolute."""


class _Strict(Reader):
    """Keeps every reason why a shell is needed, and takes whatever a shell may take for a pattern for one."""

    def __init__(self, text: str) -> None:
        self.reasons: set[str] = set()
        self.patterns: set[str] = set()
        super().__init__(text)

    def need(self, why: str) -> None:
        """Keep a reason why a shell is needed."""
        if why:
            self.reasons.add(why)
        super().need(why)

    def word(self) -> Word:
        """One word; in some shells one that begins with `=` is the path of a program."""
        word = super().word()
        if is_tame(word):
            self.patterns.add(word.text)
        elif (not _PATTERN.isdisjoint(word.mask) and word.mask not in ("[", "]")) or word.mask.startswith("="):
            self.need("a pattern that is not expanded here")
        if "{" in word.mask and ("," in word.mask or ".." in word.mask):
            self.need("`{…}` is expanded")
        return word


def plain(text: str, cwd: str) -> Plain | None:
    """The commands of a text that is run in a folder; None where it does more than to run them with the words that it has.

    Variables that change nothing, `timeout`, `time` and `env` may stand in front of one, and what such a command is given by a
    pattern of files is expanded as far as it can be told. They may be joined by pipes, `&&`, `||`, `;` and line ends; what they print may be thrown away or joined; one `cd` may
    stand in front. Nothing else is expanded or assigned, and nothing is written or read by the shell.
    """
    text = text.strip(" \t\n")
    if len(text) > _LONGEST or may_hide(text.replace("\n", "").replace("\t", "")):
        return None
    reader = _Strict(text)
    found = reader.commands()
    if reader.problem or reader.reasons - _PLAIN - {_EXPANDS} or not reader.raw:
        return None
    if any([set(each.writes) - {os.devnull} or {"<", "<<"} & set(each.reads) for each in found]):
        return None
    called = [behind(argv, dict(assigned)) for argv, assigned in reader.raw]
    if not all([is_harmless(*each) for _, assigned in called for each in assigned.items()]):
        return None
    commands = [argv for argv, _ in called]
    if any([argv[:1] == (NAME,) and raw != (argv, ()) for argv, raw in zip(commands, reader.raw, strict=True)]):
        return None  # by that name alone
    if _CD not in reader.reasons:
        return _expanded(Plain(tuple(commands), (cwd,)), reader.patterns)
    moved = _moved(commands, reader.reasons - {_EXPANDS}, cwd)
    return None if moved is None else _expanded(moved, reader.patterns)


def _moved(commands: Sequence[tuple[str, ...]], reasons: set[str], cwd: str) -> Plain | None:
    """The commands behind one `cd` in front; where a pipe stands too they may run on either side of it."""
    first, *rest = commands
    if len(first) != 2 or first[0] != "cd" or first[1].startswith("-") or any([argv[0] == "cd" for argv in rest]):
        return None
    if not rest or reasons - {_CD, _AND, _COMMAND, "a pipe", "a redirection"} or _AND not in reasons:
        return None
    if not first[1].startswith(("/", "./", "../")) and os.environ.get("CDPATH"):
        return None
    folder = os.path.join(cwd, first[1])
    if not is_one(folder):
        return None
    return Plain(tuple(rest), (folder,) if "a pipe" not in reasons else (folder, cwd))


def _expanded(found: Plain, patterns: set[str]) -> Plain | None:
    """The commands with the names of files in place of patterns; None where these can't be told."""
    if not patterns:
        return found
    commands = [expanded(argv, patterns, found.folders) for argv in found.commands]
    return None if None in commands else found._replace(commands=tuple([argv for argv in commands if argv is not None]))
