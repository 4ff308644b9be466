"""A reader of what is typed into a shell: which commands are in it, and what of it only a shell does."""

from __future__ import annotations

from execplan.execution.command import words
from execplan.execution.command.scanner import Scanner
from execplan.execution.command.simple import Simple, program
from execplan.execution.command.wrappers import unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.command.words import Word

_DEEPEST = 8
"""How deep commands may be nested: nobody reads what goes deeper, and each level may be read twice."""
_OPENING = frozenset("if while until for select case {".split())
_CLOSING = frozenset("fi done esac }".split())
_RESERVED = _OPENING | _CLOSING | frozenset("then elif else do ! function coproc [[".split())
_BUILTINS = frozenset(
    (
        "cd . source export unset alias unalias eval exec set shift read trap ulimit umask wait jobs fg bg disown pushd popd dirs "
        "return break continue local declare typeset readonly let shopt bind builtin hash type command history fc enable logout "
        "exit suspend times mapfile readarray caller compgen complete getopts :"
    ).split()
)
"""What only a shell can do: no program has these names on Linux."""
_REDIRECTIONS = ("<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">&", ">|", ">")
_WRITING = frozenset((">", ">>", ">|", "<>", "&>", "&>>", ">&"))


class Reader(Scanner):
    """Reads one text from its start to its end; never raises, and never stands still."""

    def __init__(self, text: str, via: tuple[str, ...] = (), depth: int = 0) -> None:
        super().__init__(text)
        self.via = via
        self.depth = depth
        self.raw: list[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = []
        """The commands as they stand, with the variables in front of them."""
        self._documents: list[str] = []
        self._open = 0

    def commands(self, stop: str = "", feeding: tuple[str, ...] = ()) -> list[Simple]:
        """The commands up to the closing mark, or to the end; `feeding` is what stands left of the pipe."""
        found: list[Simple] = []
        begun, fed, opened = 0, feeding, self._open
        while self.blanks():
            char = self.text[self.at]
            if char == ")" and stop:
                self.at += 1
                return found
            if char == "(":
                self.at += 1
                self.need("`(`")
                if self.peek() == "(":
                    self.trouble("arithmetic")
                found += self._deeper(")", fed)
            elif char in ")\n;" or (char in "&|" and not self.text.startswith("&>", self.at)):
                mark = self._separator(char)
                if mark in ("|", "|&"):
                    fed = (*fed, *[each for each in dict.fromkeys(_programs(found[begun:])) if each not in fed])
                    begun = len(found)
                elif self._open <= opened:
                    begun, fed = len(found), feeding
            else:
                found += self._simple(fed)
        if stop:
            self.trouble("a bracket that is never closed")
        return found

    def _separator(self, char: str) -> str:
        """What stands between two commands."""
        double = self.text[self.at : self.at + 2]
        mark = double if double in ("&&", "||", "|&", ";;", ";&") else char
        self.at += len(mark)
        if mark == ")":
            self.trouble("a bracket that was never opened")
        elif mark == "\n":
            self.need("several lines")
            self._skip_documents()
        else:
            self.need("a pipe" if mark in ("|", "|&") else f"`{mark}`")
        return mark

    def _simple(self, feeding: tuple[str, ...]) -> list[Simple]:
        """One command, and those in its substitutions."""
        found: list[Simple] = []
        argv: list[Word] = []
        assigned: list[tuple[str, str]] = []
        writes: list[str] = []
        fed = list(feeding)
        while self.blanks():
            mark = self._redirection()
            if mark:
                self._redirect(mark, writes, fed, found)
                continue
            if self.text[self.at] in "\n;&|()":
                break
            word = self.word()
            found += word.inner
            if not argv and word.plain and word.text in _RESERVED:
                found += self._reserved(word.text)
            elif not argv and word.name:
                assigned.append((word.name, word.text.partition("=")[2]))
                self.need(word.why)
            else:
                argv.append(word)
                self.need(word.why or words.expands(word.mask))
                if len(argv) == 1 or word.text.startswith(("<(", ">(")):
                    fed += _programs(list(word.inner))
        if self.peek() == "(" and (argv or assigned):
            self.trouble("a bracket where none can stand")
        if argv or assigned or writes:
            texts = tuple([word.text for word in argv])
            found += self._found(Simple(texts, tuple(assigned), tuple(writes), (), tuple(fed)), piped=bool(feeding))
        return found

    def _found(self, simple: Simple, *, piped: bool) -> Iterator[Simple]:
        """Keep a command as it stands, and give those that it runs."""
        self.raw.append((simple.argv, simple.assigned))
        if not simple.argv:
            self.need("no program is named")
        elif simple.argv[0] in _BUILTINS:
            self.need(f"`{simple.argv[0]}` is a builtin of the shell")
        via = (*self.via, "|") if piped else self.via
        return unwrapped(simple._replace(via=via), self._inside, self.depth)

    def _inside(self, text: str, via: tuple[str, ...], depth: int) -> list[Simple]:
        """The commands of a text that a command hands to a shell; none where it can't be read to its end."""
        if depth > _DEEPEST:
            return []
        reader = Reader(text, via, depth)
        found = reader.commands()
        return found if not reader.problem else []

    def _reserved(self, text: str) -> list[Simple]:
        """A word that makes the shell a language, and what is in the words behind it that are no command."""
        self.need(f"`{text}`")
        self._open += (text in _OPENING) - (text in _CLOSING)
        if text in ("case", "function"):
            self.trouble(f"`{text}`")
        passed = text in ("for", "select", "case", "[[", "function")
        return self._passed_over("]]" if text == "[[" else "") if passed else []

    def _passed_over(self, end: str) -> list[Simple]:
        """What is in the words behind `for`, `case` or `[[`, which are no command themselves."""
        found: list[Simple] = []
        while self.blanks():
            char = self.text[self.at]
            if char in "\n;" or (char in "&|()" and not end):
                break
            if char in "&|()<>":
                self.at += 1
                continue
            word = self.word()
            found += word.inner
            if end and word.text == end:
                break
        return found

    def _redirect(self, mark: str, writes: list[str], fed: list[str], found: list[Simple]) -> None:
        """Where what a command reads or prints comes from or goes to."""
        self.need("a redirection")
        self.at += len(mark)
        if not self.blanks() or (self.text[self.at] in "\n;&|()<>" and self.peek(1) != "("):
            self.trouble("a redirection that leads nowhere")
            return
        word = self.word()
        found += word.inner
        if mark in ("<<", "<<-"):
            self.trouble("a here-document")
            self._documents.append(word.text)
        if mark in ("<<", "<<-", "<<<"):
            fed.append("<<")
        elif mark == "<":
            fed += [*_programs(list(word.inner)), "<"]
        elif mark in _WRITING and not (mark == ">&" and word.text.strip("-").isdigit()):
            writes.append(word.text)

    def _redirection(self) -> str:
        """The mark of a redirection that stands here, behind its number, which is passed over; else nothing."""
        at = self.at
        while at < len(self.text) and self.text[at].isdigit() and at - self.at < 4:
            at += 1
        if self.text[at : at + 1] not in ("<", ">", "&") or (at > self.at and self.text[at] == "&"):
            return ""
        mark = next((each for each in _REDIRECTIONS if self.text.startswith(each, at)), "")
        if not mark or (mark in ("<", ">") and self.text[at + 1 : at + 2] == "("):
            return ""
        self.at = at
        return mark

    def _skip_documents(self) -> None:
        """Pass over the lines of here-documents."""
        for name in self._documents:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at) + 1 or len(self.text)
                line = self.text[self.at : end].strip()
                self.at = end
                if line == name:
                    break
        self._documents = []

    def substitution(self, name: str) -> list[Simple]:
        """The commands of `$(…)` or `<(…)`, from behind its bracket."""
        via, self.via = self.via, (*self.via, name)
        found = self._deeper(")")
        self.via = via
        return found

    def backticks(self) -> list[Simple]:
        """The commands between backticks."""
        at = self.at + 1
        pieces = []
        while at < len(self.text) and self.text[at] != "`":
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ("`", "\\", "$"):
                at += 1
            pieces.append(self.text[at : at + 1])
            at += 1
        if at >= len(self.text):
            self.trouble("a backtick that is never closed")
        self.at = min(at + 1, len(self.text))
        if self.depth >= _DEEPEST:
            self.trouble("commands nested too deep")
            return []
        reader = Reader("".join(pieces), (*self.via, "`…`"), self.depth + 1)
        found = reader.commands()
        if reader.problem:
            self.trouble(reader.problem)
        return found

    def _deeper(self, stop: str, feeding: tuple[str, ...] = ()) -> list[Simple]:
        """The commands up to a closing mark, one level down."""
        if self.depth >= _DEEPEST:
            self.trouble("commands nested too deep")
            self.at = len(self.text)
            return []
        raw, self.raw = self.raw, []
        opened, self._open = self._open, 0
        self.depth += 1
        found = self.commands(stop, feeding)
        self.depth -= 1
        self.raw, self._open = raw, opened
        return found


def _programs(found: list[Simple]) -> tuple[str, ...]:
    """The programs of commands."""
    return tuple([program(each.argv[0]) for each in found if each.argv])
