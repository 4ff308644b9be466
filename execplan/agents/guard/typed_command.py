"""Parser for a shell text that is one plain command: arguments, variables, working directory and here-documents.

It uses the parser with which steps are compiled. Texts that shells interpret differently are not accepted.
"""

from __future__ import annotations

import os

from execplan.agents.guard.path_resolution import is_unambiguous
from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.shell_parser import ShellParser
from execplan.execution.shell.shell_word import QUOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.shell.shell_word import ShellWord
    from execplan.execution.shell.simple_command import SimpleCommand

_MAX_CHARS = 500_000
_PROBLEM = "a here-document"
_EXPANDED = frozenset("$`\\")
_MAX_BYTES = 131_072
"""Maximum size of one argument in bytes on Linux (MAX_ARG_STRLEN): no shell gets more."""
_COMMAND_ENDS = frozenset("\n;&|()<>")
_PATTERN_CHARS = frozenset("*?[")


class _HereDocumentReader(ShellParser):
    """Records where here-documents are, and whether every shell passes their text on unchanged."""

    def __init__(self, text: str) -> None:
        self.spans: list[tuple[int, int]] = []
        self.is_literal = True
        self._pending: list[tuple[str, str]] = []
        super().__init__(text)

    def record_problem(self, problem: str) -> None:
        """Record a reason why the text can't be parsed, other than a here-document."""
        self.is_literal = self.is_literal and problem == _PROBLEM
        super().record_problem(problem)

    def _parse_redirection(
        self,
        operator: str,
        writes: list[str],
        reads: list[str],
        piped_from: list[str],
        commands: list[SimpleCommand],
    ) -> None:
        start = self.position
        super()._parse_redirection(operator, writes, reads, piped_from, commands)
        if operator in ("<<", "<<-"):
            self.is_literal = self.is_literal and not self.text[start - 1 : start].isdigit()
            self.spans.append((start, self.position))
            self._pending.append((operator, self.text[start + len(operator) : self.position].strip(" \t")))

    def _skip_heredocs(self) -> None:
        for operator, raw_delimiter in self._pending:
            delimiter = raw_delimiter.strip("'\"").removeprefix("\\")
            start, at, line = self.position, self.position, ""
            while at < len(self.text):
                line_start = at
                at = self.text.find("\n", line_start) + 1 or len(self.text)
                line = self.text[line_start:at].removesuffix("\n")
                if (line.lstrip("\t") if operator == "<<-" else line) == delimiter:
                    break
            else:
                self.is_literal = False
                return
            is_quoted = raw_delimiter in (f"'{delimiter}'", f'"{delimiter}"', f"\\{delimiter}")
            is_plain = raw_delimiter == delimiter and _EXPANDED.isdisjoint(self.text[start:line_start])
            self.is_literal = self.is_literal and delimiter.isidentifier() and (is_quoted or is_plain)
            self.spans.append((start, at))
            self.position = at
        self._pending, self._heredoc_delimiters = [], []

    def is_removable(self) -> bool:
        """Check whether all here-documents were found, and are literal."""
        self.parse_commands()
        return self.is_literal and not self._pending


def remove_here_documents(text: str) -> str:
    """Return a text without its here-documents; unchanged if a shell would change one, or might see another end."""
    if "<<" not in text or len(text) > _MAX_CHARS:
        return text
    reader = _HereDocumentReader(text)
    if not reader.is_removable():
        return text
    remaining, at = "", 0
    for start, end in sorted(reader.spans):
        remaining, at = remaining + text[at:start], end
    return (remaining + text[at:]).rstrip(" \t\n")


class TypedCommand(NamedTuple):
    """A command as an agent typed it, parsed as far as possible."""

    text: str
    argv: tuple[str, ...]
    """Arguments, as the program gets them; empty if it is not a plain command."""
    assigned: dict[str, str]
    folder: str
    """Real path of the directory in which it runs."""
    cwd: str
    """Real path of the directory in which it was typed, before any leading `cd`."""
    simple: tuple[SimpleCommand, ...]
    """All simple commands in it, at any level of nesting."""
    problem: str
    """Reason why it is not a plain command, or empty."""


class _TypedReader(ShellParser):
    """Parser that records all words, and accepts only the syntax that all shells have."""

    def __init__(self, text: str) -> None:
        self.seen_words: list[ShellWord] = []
        super().__init__(text)

    def read_word(self) -> ShellWord:
        """Read one word and record it."""
        word = super().read_word()
        self.seen_words.append(word)
        return word

    def _read_ansi_c_quoted(self) -> str:
        self.record_problem("`$'…'`, which shells interpret differently")
        return super()._read_ansi_c_quoted()


def parse_typed_command(text: str, cwd: str) -> TypedCommand:
    """Parse a command typed in a directory, which is given by its absolute path; never raises."""
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_BYTES:
        return TypedCommand("", (), {}, "", "", (), "too long")
    folder, command_text, reason = _split_cd(_stripped(text))
    directory, directory_problem = _resolve_directory(cwd, folder)
    reader = _TypedReader(command_text)
    simple_commands = tuple(reader.parse_commands())
    reason = (
        reason
        or directory_problem
        or reader.problem
        or reader.shell_reason
        or ("" if simple_commands else "it contains no command")
    )
    reason = reason or ("" if len(reader.raw_commands) == 1 else "several commands")
    reason = reason or next(
        (ambiguity for word in reader.seen_words if (ambiguity := _ambiguity_reason(word, directory))), ""
    )
    argv, assigned = reader.raw_commands[0] if reader.raw_commands and not reason else ((), ())
    if any([word.text.startswith(f"{word.assigned_name}+=") for word in reader.seen_words[: len(assigned)]]):
        reason = "`+=` adds to a variable"
    elif len(dict(assigned)) < len(assigned):
        reason = "a variable is set twice"
    return TypedCommand(
        text,
        argv if not reason else (),
        dict(assigned),
        directory,
        _resolve_directory(cwd, "")[0],
        simple_commands,
        reason,
    )


def _stripped(text: str) -> str:
    """Remove surrounding white space; white space protected by a backslash belongs to the last word."""
    bare = text.strip(" \t\n")
    protects = (len(bare) - len(bare.rstrip("\\"))) % 2
    return text.lstrip(" \t\n")[: len(bare) + protects]


def _split_cd(text: str) -> tuple[str, str, str]:
    """Split off one leading `cd FOLDER &&`; return its directory, the remaining text, and an error."""
    reader = _TypedReader(text)
    if not reader.skip_blanks() or reader.peek() in _COMMAND_ENDS:
        return "", text, ""
    word = reader.read_word()
    if word.text != "cd" or not word.is_plain or not reader.skip_blanks() or reader.peek() in _COMMAND_ENDS:
        return "", text, ""
    folder = reader.read_word()
    if not reader.skip_blanks() or not reader.text.startswith("&&", reader.position):
        return "", text, ""
    path = folder.text
    if (
        folder.shell_reason
        or reader.problem
        or path[:1] in ("", "-", "~")
        or _shell_difference(folder)
        or not _PATTERN_CHARS.isdisjoint(folder.mask)
    ):
        return path, text[reader.position + 2 :], "`cd` to a directory that only a shell can resolve"
    if not path.startswith("/") and path.partition("/")[0] not in (".", "..") and os.environ.get("CDPATH"):
        return path, text[reader.position + 2 :], "`cd` searches the directories of CDPATH"
    return path, text[reader.position + 2 :], ""


def _resolve_directory(cwd: str, folder: str) -> tuple[str, str]:
    """Return the directory in which a command runs, and an error."""
    if not os.path.isabs(cwd) or "\0" in cwd + folder or not os.path.isdir(cwd):
        return "", "its directory is unknown"
    path = os.path.join(cwd, folder)
    real_path = os.path.realpath(path)
    if folder and not (is_unambiguous(path) and os.path.isdir(path)):
        return "", f"`cd` to a directory that doesn't exist or depends on the shell: {folder}"
    return real_path, ""


def _ambiguity_reason(word: ShellWord, folder: str) -> str:
    """Return why some shells interpret a word differently; empty if none does."""
    reason = _shell_difference(word)
    if not reason and not _PATTERN_CHARS.isdisjoint(word.mask) and _matches_files(word, folder):
        reason = "a glob pattern"
    return f"{reason}: put {word.text} in quotes" if reason else ""


def _shell_difference(word: ShellWord) -> str:
    """Return the part of a word that some shells expand; empty if there is none."""
    mask = word.mask
    if len(mask) > 1 and mask.startswith("="):
        return "a leading `=`"
    if any([mask.startswith("~", at) and (not at or mask[at - 1] in "=:") for at in range(len(mask))]):
        return "`~` is expanded"
    return "`{…}` is expanded" if "{" in mask and ("," in mask or ".." in mask) else ""


def _matches_files(word: ShellWord, folder: str) -> bool:
    """Check whether a word is a pattern that matches files; without a match, shells keep it unchanged or stop."""
    from glob import glob

    if any([mark in word.mask for mark in ("*", "[[", "[:", "[.", "[=")]):
        return True
    quoted = [
        f"[{char}]" if mark == QUOTED and char in _PATTERN_CHARS else char
        for char, mark in zip(word.text, word.mask, strict=False)
    ]
    pattern = "".join(quoted).replace("[^", "[!")
    return bool(glob(pattern, root_dir=folder, include_hidden=True))
