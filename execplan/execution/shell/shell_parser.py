"""Parser for shell text: the commands in it, and the features that only a shell provides."""

from __future__ import annotations

from execplan.execution.shell import shell_word
from execplan.execution.shell.shell_lexer import ShellLexer
from execplan.execution.shell.simple_command import SimpleCommand, normalize_program_name
from execplan.execution.shell.wrappers import unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.shell.shell_word import ShellWord

_MAX_DEPTH = 8
"""Maximum nesting depth of commands: no reader follows deeper nesting, and each level may be parsed twice."""
_OPENING_WORDS = frozenset("if while until for select case {".split())
_CLOSING_WORDS = frozenset("fi done esac }".split())
_RESERVED_WORDS = _OPENING_WORDS | _CLOSING_WORDS | frozenset("then elif else do ! function coproc [[".split())
BUILTINS = frozenset(
    (
        "cd . source export unset alias unalias eval exec set shift read trap ulimit umask wait jobs fg bg disown pushd popd dirs "
        "return break continue local declare typeset readonly let shopt bind builtin hash type command history fc enable logout "
        "exit suspend times mapfile readarray caller compgen complete getopts :"
    ).split()
)
"""Shell builtins: on Linux no program has these names."""
_REDIRECTIONS = ("<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">&", ">|", ">")
_WRITE_REDIRECTIONS = frozenset((">", ">>", ">|", "<>", "&>", "&>>", ">&"))


class ShellParser(ShellLexer):
    """Parses one text from start to end; never raises and always advances."""

    def __init__(self, text: str, via: tuple[str, ...] = (), depth: int = 0) -> None:
        super().__init__(text)
        self.via = via
        self.depth = depth
        self.raw_commands: list[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = []
        """Commands as written, each with the variables in front of it."""
        self._heredoc_delimiters: list[str] = []
        self._open_compounds = 0

    def parse_commands(self, stop: str = "", upstream: tuple[str, ...] = ()) -> list[SimpleCommand]:
        """Return the commands up to the closing mark or the end; `upstream` has the programs left of the pipe."""
        commands: list[SimpleCommand] = []
        pipeline_start, piped_from, open_compounds = 0, upstream, self._open_compounds
        while self.skip_blanks():
            char = self.text[self.position]
            if char == ")" and stop:
                self.position += 1
                return commands
            if char == "(":
                self.position += 1
                self.require_shell("`(`")
                if self.peek() == "(":
                    self.record_problem("arithmetic")
                commands += self._parse_group(")", piped_from)
            elif char in ")\n;" or (char in "&|" and not self.text.startswith("&>", self.position)):
                operator = self._read_separator(char)
                if operator in ("|", "|&"):
                    piped_from = (
                        *piped_from,
                        *[
                            name
                            for name in dict.fromkeys(_program_names(commands[pipeline_start:]))
                            if name not in piped_from
                        ],
                    )
                    pipeline_start = len(commands)
                elif self._open_compounds <= open_compounds:
                    pipeline_start, piped_from = len(commands), upstream
            else:
                commands += self._parse_simple_command(piped_from)
        if stop:
            self.record_problem("an unclosed bracket")
        return commands

    def _read_separator(self, char: str) -> str:
        """Read the separator between two commands and return it."""
        double = self.text[self.position : self.position + 2]
        operator = double if double in ("&&", "||", "|&", ";;", ";&") else char
        self.position += len(operator)
        if operator == ")":
            self.record_problem("a closing bracket without an opening one")
        elif operator == "\n":
            self.require_shell("several lines")
            self._skip_heredocs()
        else:
            self.require_shell("a pipe" if operator in ("|", "|&") else f"`{operator}`")
        return operator

    def _parse_simple_command(self, upstream: tuple[str, ...]) -> list[SimpleCommand]:
        """Parse one command, and return it with the commands in its substitutions."""
        commands: list[SimpleCommand] = []
        argv: list[ShellWord] = []
        assignments: list[tuple[str, str]] = []
        writes: list[str] = []
        reads: list[str] = []
        piped_from = list(upstream)
        while self.skip_blanks():
            if operator := self._match_redirection():
                self._parse_redirection(operator, writes, reads, piped_from, commands)
                continue
            if self.text[self.position] in "\n;&|()":
                break
            word = self.read_word()
            commands += word.nested_commands
            if not argv and word.is_plain and word.text in _RESERVED_WORDS:
                commands += self._handle_reserved_word(word.text)
            elif not argv and word.assigned_name:
                assignments.append((word.assigned_name, word.text.partition("=")[2]))
                self.require_shell(word.shell_reason)
            else:
                argv.append(word)
                self.require_shell(word.shell_reason or shell_word.describe_expansion(word.mask))
                if len(argv) == 1 or word.text.startswith(("<(", ">(")):
                    piped_from += _program_names(list(word.nested_commands))
        if self.peek() == "(" and (argv or assignments):
            self.record_problem("a misplaced bracket")
        if argv or assignments or writes:
            arguments = tuple([word.text for word in argv])
            commands += self._record_command(
                SimpleCommand(arguments, tuple(assignments), tuple(writes), (), tuple(piped_from), tuple(reads)),
                piped=bool(upstream),
            )
        return commands

    def _record_command(self, command: SimpleCommand, *, piped: bool) -> Iterator[SimpleCommand]:
        """Record a command as written, and yield the commands that it runs."""
        self.raw_commands.append((command.argv, command.assignments))
        if not command.argv:
            self.require_shell("no program is named")
        elif command.argv[0] in BUILTINS:
            self.require_shell(f"`{command.argv[0]}` is a shell builtin")
        via = (*self.via, "|") if piped else self.via
        return unwrap(command._replace(via=via), self._parse_nested, self.depth)

    def _parse_nested(self, text: str, via: tuple[str, ...], depth: int) -> list[SimpleCommand]:
        """Return the commands of a text that a command passes to a shell; empty if the text can't be fully parsed."""
        if depth > _MAX_DEPTH:
            return []
        parser = ShellParser(text, via, depth)
        commands = parser.parse_commands()
        return commands if not parser.problem else []

    def _handle_reserved_word(self, text: str) -> list[SimpleCommand]:
        """Handle a reserved word, and return commands nested in words after it that are not a command themselves."""
        self.require_shell(f"`{text}`")
        self._open_compounds += (text in _OPENING_WORDS) - (text in _CLOSING_WORDS)
        if text in ("case", "function"):
            self.record_problem(f"`{text}`")
        skips_words = text in ("for", "select", "case", "[[", "function")
        return self._skip_words("]]" if text == "[[" else "") if skips_words else []

    def _skip_words(self, end: str) -> list[SimpleCommand]:
        """Skip the words after `for`, `case` or `[[`, which are no command, and return the commands nested in them."""
        commands: list[SimpleCommand] = []
        while self.skip_blanks():
            char = self.text[self.position]
            if char in "\n;" or (char in "&|()" and not end):
                break
            if char in "&|()<>":
                self.position += 1
                continue
            word = self.read_word()
            commands += word.nested_commands
            if end and word.text == end:
                break
        return commands

    def _parse_redirection(
        self,
        operator: str,
        writes: list[str],
        reads: list[str],
        piped_from: list[str],
        commands: list[SimpleCommand],
    ) -> None:
        """Parse a redirection, and record its file or its source."""
        self.require_shell("a redirection")
        self.position += len(operator)
        if not self.skip_blanks() or (self.text[self.position] in "\n;&|()<>" and self.peek(1) != "("):
            self.record_problem("a redirection without a target")
            return
        word = self.read_word()
        commands += word.nested_commands
        if operator in ("<<", "<<-"):
            self.record_problem("a here-document")
            self._heredoc_delimiters.append(word.text)
        if operator in ("<<", "<<-", "<<<"):
            piped_from.append("<<")
        elif operator == "<":
            piped_from += [*_program_names(list(word.nested_commands)), "<"]
            reads.append(word.text)
        elif operator in _WRITE_REDIRECTIONS and not (operator == ">&" and word.text.strip("-").isdigit()):
            writes.append(word.text)

    def _match_redirection(self) -> str:
        """Return the redirection operator at this position and skip its file number, or return an empty string."""
        at = self.position
        while at < len(self.text) and self.text[at].isdigit() and at - self.position < 4:
            at += 1
        if self.text[at : at + 1] not in ("<", ">", "&") or (at > self.position and self.text[at] == "&"):
            return ""
        operator = next((candidate for candidate in _REDIRECTIONS if self.text.startswith(candidate, at)), "")
        if not operator or (operator in ("<", ">") and self.text[at + 1 : at + 2] == "("):
            return ""
        self.position = at
        return operator

    def _skip_heredocs(self) -> None:
        """Skip the lines of here-documents."""
        for delimiter in self._heredoc_delimiters:
            while self.position < len(self.text):
                end = self.text.find("\n", self.position) + 1 or len(self.text)
                line = self.text[self.position : end].strip()
                self.position = end
                if line == delimiter:
                    break
        self._heredoc_delimiters = []

    def parse_substitution(self, name: str) -> list[SimpleCommand]:
        """Return the commands of `$(…)` or `<(…)`, from after its bracket."""
        via, self.via = self.via, (*self.via, name)
        commands = self._parse_group(")")
        self.via = via
        return commands

    def parse_backticks(self) -> list[SimpleCommand]:
        """Return the commands between backticks."""
        at = self.position + 1
        characters = []
        while at < len(self.text) and self.text[at] != "`":
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ("`", "\\", "$"):
                at += 1
            characters.append(self.text[at : at + 1])
            at += 1
        if at >= len(self.text):
            self.record_problem("an unclosed backtick")
        self.position = min(at + 1, len(self.text))
        if self.depth >= _MAX_DEPTH:
            self.record_problem("commands nested too deep")
            return []
        parser = ShellParser("".join(characters), (*self.via, "`…`"), self.depth + 1)
        commands = parser.parse_commands()
        if parser.problem:
            self.record_problem(parser.problem)
        return commands

    def _parse_group(self, stop: str, upstream: tuple[str, ...] = ()) -> list[SimpleCommand]:
        """Return the commands up to a closing mark, one nesting level deeper."""
        if self.depth >= _MAX_DEPTH:
            self.record_problem("commands nested too deep")
            self.position = len(self.text)
            return []
        raw_commands, self.raw_commands = self.raw_commands, []
        open_compounds, self._open_compounds = self._open_compounds, 0
        self.depth += 1
        commands = self.parse_commands(stop, upstream)
        self.depth -= 1
        self.raw_commands, self._open_compounds = raw_commands, open_compounds
        return commands


def _program_names(commands: list[SimpleCommand]) -> tuple[str, ...]:
    """Return the names of the programs that commands run."""
    return tuple([normalize_program_name(command.argv[0]) for command in commands if command.argv])
