"""What a shell does within a word: quotes, expansions, substitutions."""

from __future__ import annotations

from execplan.execution.command import words
from execplan.execution.command.words import QUOTED, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.command.simple import Simple

_ENDS = frozenset(" \t\n;&|()<>")
_SPECIAL = frozenset("0123456789@*#?-$!")
"""What may stand behind a dollar and is no name."""


class Scanner:
    """Reads the words of a text, from where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.problem = ""
        """Why the text can't be read."""
        self.needs = ""
        """Why it needs a shell."""
        self.expands = False
        """Whether a shell would put in a value that the text does not show."""

    def substitution(self, name: str) -> list[Simple]:
        """The commands of `$(…)` or `<(…)`, from behind its bracket: whoever reads commands knows."""
        raise NotImplementedError

    def backticks(self) -> list[Simple]:
        """The commands between backticks, from the first: likewise."""
        raise NotImplementedError

    def word(self) -> Word:
        """One word; at least one character is read."""
        text: list[str] = []
        mask: list[str] = []
        inner: list[Simple] = []
        why = ""
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _ENDS and self.at > start:
                break
            if self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char in "\\'\"$`" or (char in "<>" and self.peek(1) == "("):
                piece, reason = self._piece(inner)
                text.append(piece)
                mask.append(QUOTED * len(piece))
                why = why or reason
            else:
                self.at += 1
                text.append(char)
                mask.append(char)
        return Word("".join(text), "".join(mask) or QUOTED, why, tuple(inner))

    def _piece(self, inner: list[Simple]) -> tuple[str, str]:
        """What is quoted or expanded from here on, and why it needs a shell."""
        start, char, after = self.at, self.text[self.at], self.peek(1)
        if char in "<>":
            self.at += 2
            self.expands = True
            inner += self.substitution(char + "(…)")
            return self.text[start : self.at], f"`{char}(…)` is expanded"
        if char == "\\":
            if not after:
                self.trouble("a `\\` at the end")
            self.at += 2
            return after, ""
        if char == "'":
            return self._single(self.at + 1), ""
        if char == '"':
            self.at += 1
            return self._double(inner)
        if char + after == '$"':
            self.at += 2
            return self._double(inner)[0], '`$"…"` is translated'
        if char + after == "$'":
            return self._ansi(), ""
        return self._expansion(inner)

    def _single(self, start: int, *, escapes: bool = False) -> str:
        """What stands between single quotes, from behind the first."""
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if escapes and self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.trouble("a quote that is never closed")
        self.at = min(at + 1, len(self.text))
        return self.text[start:at]

    def _ansi(self) -> str:
        """What `$'…'` stands for."""
        raw = self._single(self.at + 2, escapes=True)
        text = words.decoded(raw)
        if text is None:
            self.trouble("a `$'…'` that stands for no text")
        return raw if text is None else text

    def _double(self, inner: list[Simple]) -> tuple[str, str]:
        """What stands between double quotes, from behind the first, and what is expanded in it."""
        pieces: list[str] = []
        why = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(pieces), why
            if char in "$`":
                piece, reason = self._expansion(inner)
                why = why or reason
            elif char == "\\" and self.peek(1) in ("$", "`", '"', "\\", "\n"):
                piece = self.peek(1).replace("\n", "")
                self.at += 2
            else:
                piece = char
                self.at += 1
            pieces.append(piece)
        self.trouble("a quote that is never closed")
        return "".join(pieces), why

    def _expansion(self, inner: list[Simple]) -> tuple[str, str]:
        """What begins with a dollar or a backtick, as it stands, and why it needs a shell."""
        text, why = self._expanded(inner)
        self.expands = self.expands or bool(why)
        return text, why

    def _expanded(self, inner: list[Simple]) -> tuple[str, str]:
        start = self.at
        opening = self.peek(1)
        if self.text[start] == "`":
            inner += self.backticks()
            return self.text[start : self.at], "`` `…` `` is expanded"
        if opening == "(":
            if self.peek(2) == "(":
                self.trouble("arithmetic")
            self.at += 2
            inner += self.substitution("$(…)")
            return self.text[start : self.at], "`$(…)` is expanded"
        if opening == "{":
            self.at += 2
            self._braces(inner)
            return self.text[start : self.at], "`${…}` is expanded"
        if opening == "[":
            self.trouble("arithmetic")
        if opening in _SPECIAL:
            self.at += 2
            return self.text[start : self.at], f"`${opening}` is expanded"
        self.at += 1
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
            self.at += 1
        name = self.text[start : self.at]
        return name, f"`{name}` is expanded" if len(name) > 1 else ""

    def _braces(self, inner: list[Simple]) -> None:
        """Pass over `${…}`, from behind its brace, and find what is run in it."""
        depth = 1
        while self.at < len(self.text) and depth:
            char = self.text[self.at]
            if char in "$`" and self.peek(1) != "'":
                if self.peek(1) == "{":
                    depth += 1
                    self.at += 2
                else:
                    self._expansion(inner)
                continue
            if char == "'":
                self._single(self.at + 1)
                continue
            depth -= char == "}"
            self.at += 2 if char == "\\" else 1
        self.at = min(self.at, len(self.text))
        if depth:
            self.trouble("a brace that is never closed")

    def blanks(self) -> bool:
        """Pass over blanks, joined lines and comments; whether anything is left."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#" and (self.at == 0 or self.text[self.at - 1] in _ENDS):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def peek(self, ahead: int = 0) -> str:
        """The character so far ahead, or nothing."""
        return self.text[self.at + ahead : self.at + ahead + 1]

    def need(self, why: str) -> None:
        """Keep the first reason why a shell is needed."""
        self.needs = self.needs or why

    def trouble(self, what: str) -> None:
        """Keep the first reason why the text can't be read."""
        self.problem = self.problem or what
