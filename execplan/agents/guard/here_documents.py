"""Here-documents whose text no shell changes: the input of a command, like a pipe."""

from __future__ import annotations

from execplan.execution.shell.shell_parser import ShellParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.shell.simple_command import SimpleCommand

_MAX_CHARS = 500_000
_PROBLEM = "a here-document"
_EXPANDED = frozenset("$`\\")


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
        self, operator: str, writes: list[str], piped_from: list[str], commands: list[SimpleCommand]
    ) -> None:
        start = self.position
        super()._parse_redirection(operator, writes, piped_from, commands)
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
