"""The text that a shell gets, where it is one plain command: its words, its variables, and the folder that it runs in.

It is read by the reader that steps are compiled with; what shells read differently, one from the other, is refused.
"""

from __future__ import annotations

import os

from execplan.execution.command.reader import Reader
from execplan.execution.command.words import QUOTED
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.command.simple import Simple
    from execplan.execution.command.words import Word

_LONGEST = 131_072
"""Bytes that Linux takes as one argument (MAX_ARG_STRLEN): no shell is given more."""
_ENDS = frozenset("\n;&|()<>")
_PATTERN = frozenset("*?[")


class Typed(NamedTuple):
    """A command as it was typed."""

    text: str
    argv: tuple[str, ...]
    """The words, as the program gets them; none where it is no plain command."""
    assigned: dict[str, str]
    folder: str
    """Where it runs: a real path."""
    cwd: str
    """Where it was typed, before any `cd` in front: a real path."""
    simple: tuple[Simple, ...]
    """Every command in it, wherever it hides."""
    problem: str
    """Why it is no plain command, or nothing."""


class _Strict(Reader):
    """Keeps its words, and takes nothing that not every shell has."""

    def __init__(self, text: str) -> None:
        self.kept: list[Word] = []
        super().__init__(text)

    def word(self) -> Word:
        """One word."""
        word = super().word()
        self.kept.append(word)
        return word

    def _ansi(self) -> str:
        self.trouble("`$'…'`, which not every shell reads alike")
        return super()._ansi()


def typed(text: str, cwd: str) -> Typed:
    """Read what is typed in a folder, given by its absolute path; never raises."""
    if len(text.encode("utf-8", "surrogatepass")) > _LONGEST:
        return Typed("", (), {}, "", "", (), "longer than any command")
    stripped = text.strip(" \t\n")
    folder, rest, why = _moved(stripped)
    inside, wrong = _entered(cwd, folder)
    reader = _Strict(rest)
    found = tuple(reader.commands())
    why = why or wrong or reader.problem or reader.needs or ("" if found else "there is no command in it")
    why = why or ("" if len(reader.raw) == 1 else "several commands")
    why = why or next((loose for word in reader.kept if (loose := _loose(word, inside))), "")
    argv, assigned = reader.raw[0] if reader.raw and not why else ((), ())
    if any([word.text.startswith(f"{word.name}+=") for word in reader.kept[: len(assigned)]]):
        why = "`+=` adds to a variable"
    elif len(dict(assigned)) < len(assigned):
        why = "a variable is set twice"
    return Typed(text, argv if not why else (), dict(assigned), inside, _entered(cwd, "")[0], found, why)


def _moved(text: str) -> tuple[str, str, str]:
    """The folder of one `cd FOLDER &&` in front, the text behind it, and what is wrong with that folder."""
    reader = _Strict(text)
    if not reader.blanks() or reader.peek() in _ENDS:
        return "", text, ""
    word = reader.word()
    if word.text != "cd" or not word.plain or not reader.blanks() or reader.peek() in _ENDS:
        return "", text, ""
    folder = reader.word()
    if not reader.blanks() or not reader.text.startswith("&&", reader.at):
        return "", text, ""
    path = folder.text
    if (
        folder.why
        or reader.problem
        or path[:1] in ("", "-", "~")
        or _unlike(folder)
        or not _PATTERN.isdisjoint(folder.mask)
    ):
        return path, text[reader.at + 2 :], "`cd` to a folder that only a shell can tell"
    if not path.startswith("/") and path.partition("/")[0] not in (".", "..") and os.environ.get("CDPATH"):
        return path, text[reader.at + 2 :], "`cd` looks into the folders of CDPATH"
    return path, text[reader.at + 2 :], ""


def _entered(cwd: str, folder: str) -> tuple[str, str]:
    """The folder in which a command runs, and what is wrong with it."""
    if not os.path.isabs(cwd) or "\0" in cwd + folder or not os.path.isdir(cwd):
        return "", "nobody knows in which folder"
    path = os.path.join(cwd, folder)
    found = os.path.realpath(path)
    if folder and (found != os.path.realpath(os.path.normpath(path)) or not os.path.isdir(found)):
        return "", f"`cd` to a folder that is not there, or not the same for every shell: {folder}"
    return found, ""


def _loose(word: Word, folder: str) -> str:
    """What some shell would make of a word, other than what it says; or nothing."""
    why = _unlike(word)
    if not why and not _PATTERN.isdisjoint(word.mask) and _finds(word, folder):
        why = "a pattern of files"
    return f"{why}: put {word.text} in quotes" if why else ""


def _unlike(word: Word) -> str:
    """What not every shell takes as it stands."""
    mask = word.mask
    if len(mask) > 1 and mask.startswith("="):
        return "`=` in front"
    if any([mask.startswith("~", at) and (not at or mask[at - 1] in "=:") for at in range(len(mask))]):
        return "`~` is expanded"
    return "`{…}` is expanded" if "{" in mask and ("," in mask or ".." in mask) else ""


def _finds(word: Word, folder: str) -> bool:
    """Whether a word is the pattern of files that are there; where none is, shells leave it as it is, or stop."""
    from glob import glob

    if any([mark in word.mask for mark in ("*", "[[", "[:", "[.", "[=")]):
        return True
    quoted = [
        f"[{char}]" if mark == QUOTED and char in _PATTERN else char
        for char, mark in zip(word.text, word.mask, strict=False)
    ]
    pattern = "".join(quoted).replace("[^", "[!")
    return bool(glob(pattern, root_dir=folder, include_hidden=True))
