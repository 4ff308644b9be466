"""A reader of what is typed into a shell: which commands are in it, and what of it only a shell does."""

from __future__ import annotations

from execplan.execution import words
from execplan.execution.simple import Simple, program
from execplan.execution.words import QUOTED, Word
from execplan.execution.wrappers import unwrapped

_DEEPEST = 8
"""How deep commands may be nested: nobody reads what goes deeper, and each level may be read twice."""
_ENDS = frozenset(" \t\n;&|()<>")
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


class Reader:
    """Reads one text from its start to its end; never raises, and never stands still."""

    def __init__(self, text: str, via: tuple[str, ...] = (), depth: int = 0) -> None:
        self.text = text
        self.via = via
        self.depth = depth
        self.at = 0
        self.problem = ""
        self.needs = ""
        self.raw: list[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = []
        """The commands as they stand, with the variables in front of them."""
        self._documents: list[str] = []
        self._open = 0

    def commands(self, stop: str = "", feeding: tuple[str, ...] = ()) -> list[Simple]:
        """The commands up to the closing mark, or to the end; `feeding` is what stands left of the pipe."""
        found: list[Simple] = []
        begun, fed, opened = 0, feeding, self._open
        while self._blanks():
            char = self.text[self.at]
            if char == ")" and stop:
                self.at += 1
                return found
            if char == "(":
                self.at += 1
                self._need("`(`")
                if self._peek() == "(":
                    self._trouble("arithmetic")
                found += self._deeper(")", fed)
            elif char in ")\n;" or (char in "&|" and not self.text.startswith("&>", self.at)):
                mark = self._separator(char)
                if mark in ("|", "|&"):
                    fed = (*feeding, *_programs(found[begun:]))
                elif self._open <= opened:
                    begun, fed = len(found), feeding
            else:
                found += self._simple(fed)
        if stop:
            self._trouble("a bracket that is never closed")
        return found

    def _separator(self, char: str) -> str:
        """What stands between two commands."""
        double = self.text[self.at : self.at + 2]
        mark = double if double in ("&&", "||", "|&", ";;", ";&") else char
        self.at += len(mark)
        if mark == ")":
            self._trouble("a bracket that was never opened")
        elif mark == "\n":
            self._need("several lines")
            self._skip_documents()
        else:
            self._need("a pipe" if mark in ("|", "|&") else f"`{mark}`")
        return mark

    def _simple(self, feeding: tuple[str, ...]) -> list[Simple]:
        """One command, and those in its substitutions."""
        found: list[Simple] = []
        argv: list[Word] = []
        assigned: list[tuple[str, str]] = []
        writes: list[str] = []
        fed = list(feeding)
        while self._blanks():
            mark = self._redirection()
            if mark:
                self._redirect(mark, writes, fed, found)
                continue
            char = self.text[self.at]
            if char == "(" and (argv or assigned):
                self._trouble("a bracket where none can stand")
                self._need("a function")
                break
            if char in "\n;&|()":
                break
            word = self._word()
            found += word.inner
            if not argv and word.plain and word.text in _RESERVED:
                self._reserved(word.text)
                if word.text in ("for", "select", "case", "[[", "function"):
                    found += self._passed_over("]]" if word.text == "[[" else "")
            elif not argv and word.name:
                assigned.append((word.name, word.text.partition("=")[2]))
                self._need(word.why)
            else:
                argv.append(word)
                self._need(word.why or words.expands(word.mask))
                fed += [each for each in _programs(list(word.inner)) if len(argv) == 1 or word.text[:2] in ("<(", ">(")]
        if argv or assigned or writes:
            texts = tuple([word.text for word in argv])
            self.raw.append((texts, tuple(assigned)))
            if argv and argv[0].text in _BUILTINS:
                self._need(f"`{argv[0].text}` is a builtin of the shell")
            elif not argv:
                self._need("no program is named")
            via = (*self.via, "|") if feeding else self.via
            simple = Simple(texts, tuple(assigned), tuple(writes), via, tuple(fed))
            found += unwrapped(simple, self._inside, self.depth)
        return found

    def _inside(self, text: str, via: tuple[str, ...], depth: int) -> list[Simple]:
        """The commands of a text that a command hands to a shell; none where it can't be read to its end."""
        if depth > _DEEPEST:
            return []
        reader = Reader(text, via, depth)
        found = reader.commands()
        return found if not reader.problem else []

    def _reserved(self, text: str) -> None:
        """A word that makes the shell a language."""
        self._need(f"`{text}`")
        self._open += (text in _OPENING) - (text in _CLOSING)
        if text in ("case", "function"):
            self._trouble(f"`{text}`")

    def _passed_over(self, end: str) -> list[Simple]:
        """What is in the words behind `for`, `case` or `[[`, which are no command themselves."""
        found: list[Simple] = []
        while self._blanks():
            char = self.text[self.at]
            if char in "\n;" or (char in "&|()" and not end):
                break
            if char in "&|()<>":
                self.at += 1
                continue
            word = self._word()
            found += word.inner
            if end and word.text == end:
                break
        return found

    def _redirect(self, mark: str, writes: list[str], fed: list[str], found: list[Simple]) -> None:
        """Where what a command reads or prints comes from or goes to."""
        self._need("a redirection")
        self.at += len(mark)
        if not self._blanks() or (self.text[self.at] in "\n;&|()<>" and self._peek(1) != "("):
            self._trouble("a redirection that leads nowhere")
            return
        word = self._word()
        found += word.inner
        if mark in ("<<", "<<-"):
            self._trouble("a here-document")
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

    def _word(self) -> Word:
        """One word; at least one character is read."""
        text: list[str] = []
        mask: list[str] = []
        inner: list[Simple] = []
        why = ""
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self._peek(1) == "(" and not text:
                self.at += 2
                inner += self._substitution(char + "(…)")
                piece, reason = self.text[start : self.at], f"`{char}(…)` is expanded"
            elif char in _ENDS and self.at > start:
                break
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
                continue
            elif char == "\\":
                if not self._peek(1):
                    self._trouble("a `\\` at the end")
                self.at += 2
                piece, reason = self.text[self.at - 1 : self.at], ""
            elif char == "'":
                piece, reason = self._single(self.at + 1), ""
            elif char == '"' or self.text.startswith('$"', self.at):
                reason = '`$"…"` is translated' if char == "$" else ""
                self.at += 2 if char == "$" else 1
                piece, other = self._double(inner)
                reason = other or reason
            elif self.text.startswith("$'", self.at):
                piece, reason = self._ansi(), ""
            elif char in "$`":
                piece, reason = self._expansion(inner)
            else:
                self.at += 1
                text.append(char)
                mask.append(char)
                continue
            text.append(piece)
            mask.append(QUOTED * len(piece) or "")
            why = why or reason
        return Word("".join(text), "".join(mask) or QUOTED, why, tuple(inner))

    def _single(self, start: int, *, escapes: bool = False) -> str:
        """What stands between single quotes, from behind the first."""
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if escapes and self.text[at] == "\\" else 1
        if at >= len(self.text):
            self._trouble("a quote that is never closed")
        self.at = min(at + 1, len(self.text))
        return self.text[start:at]

    def _ansi(self) -> str:
        """What `$'…'` stands for."""
        raw = self._single(self.at + 2, escapes=True)
        text = words.decoded(raw)
        if text is None:
            self._trouble("a `$'…'` that stands for no text")
        return raw if text is None else text

    def _double(self, inner: list[Simple]) -> tuple[str, str]:
        """What stands between double quotes, from behind the first, and what is expanded in it."""
        pieces = []
        why = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(pieces), why
            if char in "$`":
                piece, reason = self._expansion(inner)
                why = why or reason
            elif char == "\\" and self._peek(1) in ("$", "`", '"', "\\", "\n"):
                piece = self._peek(1).replace("\n", "")
                self.at += 2
            else:
                piece = char
                self.at += 1
            pieces.append(piece)
        self._trouble("a quote that is never closed")
        return "".join(pieces), why

    def _expansion(self, inner: list[Simple]) -> tuple[str, str]:
        """What begins with a dollar or a backtick, as it stands, and why it needs a shell."""
        start = self.at
        opening = self._peek(1)
        if self.text[start] == "`":
            inner += self._backticks()
            return self.text[start : self.at], "`` `…` `` is expanded"
        if opening == "(":
            if self._peek(2) == "(":
                self._trouble("arithmetic")
            self.at += 2
            inner += self._substitution("$(…)")
            return self.text[start : self.at], "`$(…)` is expanded"
        if opening == "{":
            self.at += 2
            self._braces(inner)
            return self.text[start : self.at], "`${…}` is expanded"
        if opening == "[":
            self._trouble("arithmetic")
        if opening.isascii() and opening.isdigit() or opening in ("@", "*", "#", "?", "-", "$", "!"):
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
            if char in "$`" and self._peek(1) != "'":
                if self._peek(1) == "{":
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
            self._trouble("a brace that is never closed")

    def _substitution(self, name: str) -> list[Simple]:
        """The commands of `$(…)` or `<(…)`, from behind its bracket."""
        via, self.via = self.via, (*self.via, name)
        found = self._deeper(")")
        self.via = via
        return found

    def _backticks(self) -> list[Simple]:
        """The commands between backticks."""
        at = self.at + 1
        pieces = []
        while at < len(self.text) and self.text[at] != "`":
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ("`", "\\", "$"):
                at += 1
            pieces.append(self.text[at : at + 1])
            at += 1
        if at >= len(self.text):
            self._trouble("a backtick that is never closed")
        self.at = min(at + 1, len(self.text))
        if self.depth >= _DEEPEST:
            self._trouble("commands nested too deep")
            return []
        reader = Reader("".join(pieces), (*self.via, "`…`"), self.depth + 1)
        found = reader.commands()
        if reader.problem:
            self._trouble(reader.problem)
        return found

    def _deeper(self, stop: str, feeding: tuple[str, ...] = ()) -> list[Simple]:
        """The commands up to a closing mark, one level down."""
        if self.depth >= _DEEPEST:
            self._trouble("commands nested too deep")
            self.at = len(self.text)
            return []
        raw, self.raw = self.raw, []
        opened, self._open = self._open, 0
        self.depth += 1
        found = self.commands(stop, feeding)
        self.depth -= 1
        self.raw, self._open = raw, opened
        return found

    def _blanks(self) -> bool:
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

    def _peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def _need(self, why: str) -> None:
        """Keep the first reason why a shell is needed."""
        self.needs = self.needs or why

    def _trouble(self, what: str) -> None:
        """Keep the first reason why the text can't be read."""
        self.problem = self.problem or what


def _programs(found: list[Simple]) -> tuple[str, ...]:
    """The programs of commands."""
    return tuple([program(each.argv[0]) for each in found if each.argv])
