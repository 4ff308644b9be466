"""Lexer for shell words: quotes, expansions and substitutions."""

from __future__ import annotations

from execplan.execution.shell import shell_word
from execplan.execution.shell.shell_word import QUOTED, ShellWord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.shell.simple_command import SimpleCommand

_WORD_TERMINATORS = frozenset(" \t\n;&|()<>")
_SPECIAL_PARAMETERS = frozenset("0123456789@*#?-$!")
"""Characters that may follow a dollar sign and do not start a name."""


class ShellLexer:
    """Reads the words of a text from the current position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.problem = ""
        """First reason why the text can't be parsed, or an empty string."""
        self.shell_reason = ""
        """First reason why the text needs a shell, or an empty string."""
        self.has_expansion = False
        """Whether a shell would insert a value that the text does not show."""

    def parse_substitution(self, name: str) -> list[SimpleCommand]:
        """Return the commands of `$(…)` or `<(…)`, from after its bracket; implemented by the parser."""
        raise NotImplementedError

    def parse_backticks(self) -> list[SimpleCommand]:
        """Return the commands between backticks, from the first; implemented by the parser."""
        raise NotImplementedError

    def read_word(self) -> ShellWord:
        """Read one word, with at least one character."""
        text_parts: list[str] = []
        mask_parts: list[str] = []
        nested_commands: list[SimpleCommand] = []
        shell_reason = ""
        start = self.position
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in _WORD_TERMINATORS and self.position > start:
                break
            if self.text.startswith("\\\n", self.position):
                self.position += 2
            elif char in "\\'\"$`" or (char in "<>" and self.peek(1) == "("):
                segment, reason = self._read_quoted_or_expanded(nested_commands)
                text_parts.append(segment)
                mask_parts.append(QUOTED * len(segment))
                shell_reason = shell_reason or reason
            else:
                self.position += 1
                text_parts.append(char)
                mask_parts.append(char)
        mask, source = "".join(mask_parts) or QUOTED, self.text[start : self.position].replace("\\\n", "")
        return ShellWord("".join(text_parts), mask, shell_reason, tuple(nested_commands), source)

    def _read_quoted_or_expanded(self, nested_commands: list[SimpleCommand]) -> tuple[str, str]:
        """Read a quoted or expanded part, and return it with the reason why it needs a shell."""
        start, char, next_char = self.position, self.text[self.position], self.peek(1)
        if char in "<>":
            self.position += 2
            self.has_expansion = True
            nested_commands += self.parse_substitution(char + "(…)")
            return self.text[start : self.position], f"`{char}(…)` is expanded"
        if char == "\\":
            if not next_char:
                self.record_problem("a `\\` at the end")
            self.position += 2
            return next_char, ""
        if char == "'":
            return self._read_single_quoted(self.position + 1), ""
        if char == '"':
            self.position += 1
            return self._read_double_quoted(nested_commands)
        if char + next_char == '$"':
            self.position += 2
            return self._read_double_quoted(nested_commands)[0], '`$"…"` is translated'
        if char + next_char == "$'":
            return self._read_ansi_c_quoted(), ""
        return self._read_expansion(nested_commands)

    def _read_single_quoted(self, start: int, *, escapes: bool = False) -> str:
        """Read the text between single quotes, from after the first quote."""
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if escapes and self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.record_problem("an unclosed quote")
        self.position = min(at + 1, len(self.text))
        return self.text[start:at]

    def _read_ansi_c_quoted(self) -> str:
        """Read a `$'…'` string and return its value."""
        raw = self._read_single_quoted(self.position + 2, escapes=True)
        text = shell_word.decode_ansi_c(raw)
        if text is None:
            self.record_problem("a `$'…'` that is not valid text")
        return raw if text is None else text

    def _read_double_quoted(self, nested_commands: list[SimpleCommand]) -> tuple[str, str]:
        """Read the text between double quotes, from after the first, and return it with the reason for a shell."""
        segments: list[str] = []
        shell_reason = ""
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == '"':
                self.position += 1
                return "".join(segments), shell_reason
            if char in "$`":
                segment, reason = self._read_expansion(nested_commands)
                shell_reason = shell_reason or reason
            elif char == "\\" and self.peek(1) in ("$", "`", '"', "\\", "\n"):
                segment = self.peek(1).replace("\n", "")
                self.position += 2
            else:
                segment = char
                self.position += 1
            segments.append(segment)
        self.record_problem("an unclosed quote")
        return "".join(segments), shell_reason

    def _read_expansion(self, nested_commands: list[SimpleCommand]) -> tuple[str, str]:
        """Read an expansion at a dollar sign or backtick, and return it as written with the reason for a shell."""
        text, shell_reason = self._parse_expansion(nested_commands)
        self.has_expansion = self.has_expansion or bool(shell_reason)
        return text, shell_reason

    def _parse_expansion(self, nested_commands: list[SimpleCommand]) -> tuple[str, str]:
        start = self.position
        opening = self.peek(1)
        if self.text[start] == "`":
            nested_commands += self.parse_backticks()
            return self.text[start : self.position], "`` `…` `` is expanded"
        if opening == "(":
            if self.peek(2) == "(":
                self.record_problem("arithmetic")
            self.position += 2
            nested_commands += self.parse_substitution("$(…)")
            return self.text[start : self.position], "`$(…)` is expanded"
        if opening == "{":
            self.position += 2
            self._skip_parameter_expansion(nested_commands)
            return self.text[start : self.position], "`${…}` is expanded"
        if opening == "[":
            self.record_problem("arithmetic")
        if opening in _SPECIAL_PARAMETERS:
            self.position += 2
            return self.text[start : self.position], f"`${opening}` is expanded"
        self.position += 1
        while self.position < len(self.text) and (
            self.text[self.position].isalnum() or self.text[self.position] == "_"
        ):
            self.position += 1
        name = self.text[start : self.position]
        return name, f"`{name}` is expanded" if len(name) > 1 else ""

    def _skip_parameter_expansion(self, nested_commands: list[SimpleCommand]) -> None:
        """Skip `${…}`, from after its brace, and collect the commands nested in it."""
        depth = 1
        while self.position < len(self.text) and depth:
            char = self.text[self.position]
            if char in "$`" and self.peek(1) != "'":
                if self.peek(1) == "{":
                    depth += 1
                    self.position += 2
                else:
                    self._read_expansion(nested_commands)
                continue
            if char == "'":
                self._read_single_quoted(self.position + 1)
                continue
            depth -= char == "}"
            self.position += 2 if char == "\\" else 1
        self.position = min(self.position, len(self.text))
        if depth:
            self.record_problem("an unclosed brace")

    def skip_blanks(self) -> bool:
        """Skip blanks, line continuations and comments; return whether any text is left."""
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in " \t":
                self.position += 1
            elif self.text.startswith("\\\n", self.position):
                self.position += 2
            elif char == "#" and (self.position == 0 or self.text[self.position - 1] in _WORD_TERMINATORS):
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def peek(self, offset: int = 0) -> str:
        """Return the character at an offset from the current position, or an empty string."""
        return self.text[self.position + offset : self.position + offset + 1]

    def require_shell(self, reason: str) -> None:
        """Record the reason why a shell is needed, unless one is recorded."""
        self.shell_reason = self.shell_reason or reason

    def record_problem(self, problem: str) -> None:
        """Record the reason why the text can't be parsed, unless one is recorded."""
        self.problem = self.problem or problem
