"""Scripts that only read: lists, pipes, loops and conditions whose commands each only read.

A command with an expansion is checked as the commands that it stands for: with each value of a loop's variable, and
with `.` for names that another command lists, as in `wc $(git ls-files)`, `find … -exec wc {} +` or `… | xargs wc`.
"""

from __future__ import annotations

import os

from execplan.agents.guard.command_list import without_here_documents
from execplan.agents.guard.compound_command import CompoundReader, early_exit_reason, prints_status
from execplan.agents.guard.protected_paths import possible_targets, read_denial_reason
from execplan.agents.guard.read_policy import ReadDecision, decide_read
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project_discovery import find_repository
from execplan.execution.permission import ALLOW
from execplan.execution.shell.command_table import WITH_ANY_FLAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.execution.shell.shell_word import ShellWord
    from execplan.execution.shell.simple_command import SimpleCommand

_MAX_CHARS = 20_000
_MAX_VALUES = 200
"""Maximum number of commands with the values of variables that are checked for a script."""
_LISTED = "."
"""Argument that stands for names that another command lists: they are below the directories that it reads."""
_LISTERS = ("git ls-files", "git diff", "find", "ls", "rg", "grep", "egrep", "fgrep")
_LISTING_FLAGS = frozenset(
    "--name-only --files --files-with-matches --files-without-match -l -rl -lr -L -ln -il".split()
)
_NAME_FILTERS = frozenset(("head", "tail", "sort", "uniq"))
_SHOW_NO_CONTENT = frozenset(
    "wc ls stat md5sum sha1sum sha256sum sha512sum test [ basename dirname echo printf".split()
)
_TAKE_NAMES = frozenset((*WITH_ANY_FLAG, *_SHOW_NO_CONTENT))
"""Programs for which a name that looks like an option is harmless."""
_SAFE_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./*?-+@%,=:")
_KEYWORDS = frozenset("do done if then elif else fi while until ! { }".split())
_JOINS = frozenset(("&&", "||", ";", "\n", "|"))
_NEUTRAL = frozenset((("continue",), ("break",), (":",)))
_FILE_LIST_OPTION = "--files0"
_MAX_INDEX = 1 << 28
"""Maximum number of bytes of git's index that are searched; of paths with a common start, the index may have only the first."""
_XARGS_FLAGS = frozenset("-0 -r -t --null --no-run-if-empty".split())
_XARGS_VALUES = frozenset("-n -P -L -d -I".split())


class _Word(NamedTuple):
    """A word of a command, with the values that its expansions may have."""

    raw: str
    values: tuple[str, ...] = ()
    """Texts that the word may stand for; empty for a word without expansions."""
    listing: tuple[int, ...] | None = None
    """Indexes of the commands that list the names for which the word stands."""


class _Command(NamedTuple):
    """A command of a script."""

    argv: tuple[str, ...]
    words: tuple[_Word, ...]
    upstream: tuple[int, ...]
    """Indexes of the commands before it in its pipe."""


class _Variable(NamedTuple):
    values: tuple[str, ...] = ()
    listing: tuple[int, ...] | None = None


class _ScriptReader(CompoundReader):
    """Collects all commands of a script, also those of loops, conditions and substitutions."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.commands: list[_Command] = []
        self.read_files: list[str] = []
        self._pipe: tuple[int, ...] = ()
        self._variables: dict[str, _Variable] = {}
        self._words: list[tuple[int, int, ShellWord, tuple[int, ...]]] = []
        self._substitutions: list[tuple[int, int]] = []

    def parse_substitution(self, name: str) -> list[SimpleCommand]:
        """Return the commands of `$(…)`, which are collected as well."""
        start = self.position - 2
        saved = self._pipe, self._words, self._redirect_spans, self._joiner, self._substitutions
        self._pipe, self._words, self._redirect_spans, self._joiner, self._substitutions = (), [], [], "", []
        simple_commands = super().parse_substitution(name)
        self._pipe, self._words, self._redirect_spans, self._joiner, self._substitutions = saved
        self._substitutions.append((start, self.position))
        if name != "$(…)":
            self.reject(f"`{name}`")
        return simple_commands

    def read_word(self) -> ShellWord:
        """Read one word, and record where it is and which commands are in it."""
        start, count = self.position, len(self.commands)
        word = super().read_word()
        self._words.append((start, self.position, word, tuple(range(count, len(self.commands)))))
        return word

    def _read_separator(self, char: str) -> str:
        mark = super(CompoundReader, self)._read_separator(char)
        if mark not in _JOINS:
            self.reject(f"`{mark}`")
        if mark != "|":
            self._pipe = ()
        return mark

    def _parse_simple_command(self, upstream: tuple[str, ...]) -> list[SimpleCommand]:
        saved, self._words = self._words, []
        simple_commands = super()._parse_simple_command(upstream)
        self._words = saved
        return simple_commands

    def _handle_keywords(self) -> None:
        """Accept a keyword without a command: the parser has handled it."""

    def _record_piped_command(self, text: str, argv: tuple[str, ...]) -> None:
        words = [
            self._resolve(start, end, word, nested)
            for start, end, word, nested in self._words
            if not any([begin <= start < stop for begin, stop in self._redirect_spans])
        ][-len(argv) :]
        if argv[0] == "read":
            names = [name for name in argv[1:] if name != "-r"]
            self._variables |= dict.fromkeys(names, _Variable(listing=self._pipe))
            if not self._pipe or not all([_is_plain_variable(name) for name in names]):
                self.reject("`read`")
            return
        self.commands.append(_Command(argv, tuple(words), self._pipe))
        self._pipe = (*self._pipe, len(self.commands) - 1)

    def _resolve(self, start: int, end: int, word: ShellWord, nested: tuple[int, ...]) -> _Word:
        """Return a word with its possible values."""
        raw = self.text[start:end]
        if not word.shell_reason:
            return _Word(raw)
        bare = raw.strip('"')
        variable = self._variables.get(bare.removeprefix("$").strip("{}")) if bare.startswith("$") else None
        if variable is not None and variable.listing is not None:
            return _Word(raw, listing=variable.listing)
        spans = [span for span in self._substitutions if start <= span[0] and span[1] <= end]
        if len(spans) == 1 and self.text[spans[0][0] : spans[0][1]] == bare:
            return _Word(raw, listing=nested)
        for begin, stop in reversed(spans):  # what it prints is part of a text
            raw = raw[: begin - start] + "\0" + raw[stop - start :]
        texts = [raw.replace("$?", "0").replace("${PIPESTATUS[0]}", "0")]
        for name, variable in self._variables.items():
            for reference in (f"${{{name}}}", f"${name}"):
                values = ("\0",) if variable.listing is not None else variable.values
                texts = [text.replace(reference, value) for text in texts for value in values][:_MAX_VALUES]
        return _Word(raw, tuple(dict.fromkeys([text.replace('"', "") for text in texts])))

    def _handle_reserved_word(self, text: str) -> list[SimpleCommand]:
        if text not in (*_KEYWORDS, "for"):
            return super()._handle_reserved_word(text)
        count = len(self._words)
        simple_commands = super(CompoundReader, self)._handle_reserved_word(text)
        if text == "for":
            words = [self._resolve(*word) for word in self._words[count:]]
            self._words = self._words[:count]
            if len(words) < 2 or words[1].raw != "in" or not _is_plain_variable(words[0].raw):
                self.reject("a loop without a list")
                return simple_commands
            listed = [word.listing for word in words[2:] if word.listing is not None]
            values = [value for word in words[2:] for value in word.values or (word.raw,)]
            listing = tuple([index for indexes in listed for index in indexes]) if listed else None
            if listed and len(listed) < len(words) - 2:
                self.reject("a loop over names and a list of names")
            self._variables[words[0].raw] = _Variable(tuple(values), listing)
        return simple_commands

    def _parse_group(self, stop: str, upstream: tuple[str, ...] = ()) -> list[SimpleCommand]:
        return super(CompoundReader, self)._parse_group(stop, upstream)

    def _reject_redirection(self, descriptor: str, operator: str, target: str) -> None:
        if operator == "<" and not descriptor and target and not set(target) - _SAFE_CHARS:
            self.read_files.append(target)
        elif operator == "<" and not descriptor and target.strip('"').removeprefix("$").strip("{}") in self._variables:
            return
        else:
            super()._reject_redirection(descriptor, operator, target)


def _is_plain_variable(name: str) -> bool:
    """Check whether no shell or program gives a variable a meaning; in zsh, `path` is another name of `PATH`."""
    return name.isidentifier() and name.isascii() and name.islower() and not name.endswith("path")


def decide_script(call: ToolCall, scope: GuardScope, read_policy: str) -> ReadDecision:
    """Decide on a script: ALLOW if each of its commands only reads; otherwise the reason, which names the first part."""
    text = without_here_documents(call.command).strip(" \t\n")
    if len(text) > _MAX_CHARS:
        return ReadDecision("", "it is too long to be checked")
    reader = _ScriptReader(text)
    reader.parse_commands()
    if problem := reader.problem or reader.unsupported:
        return ReadDecision("", f"the guard doesn't understand {problem}")
    commands, prefix, places = reader.commands, "", [call]
    if len(commands) > 1 and _is_plain_cd(commands[0]):
        places.append(call._replace(cwd=os.path.join(call.cwd, *commands[0].argv[1:])))
        prefix, commands = f"{' '.join([word.raw for word in commands[0].words])} && ", commands[1:]
    plain_texts: list[tuple[str, bool]] = []
    for command in commands:
        for place in places:
            texts = _plain_texts(command, reader.commands, place, scope)
            if isinstance(texts, str):
                return ReadDecision("", texts)
            plain_texts += [(plain_text, bool(command.upstream)) for plain_text in texts]
    plain_texts += [(f"cat {name}", False) for name in reader.read_files]
    if len(plain_texts) > _MAX_VALUES:
        return ReadDecision("", "its loops have too many values to be checked")
    decisions = [_decide_plain(*plain_text, prefix, call, scope, read_policy) for plain_text in plain_texts]
    return next((decision for decision in decisions if decision.kind != ALLOW), ReadDecision(ALLOW))


def _is_plain_cd(command: _Command) -> bool:
    return command.argv[0] == "cd" and not any([word.values or word.listing is not None for word in command.words])


def _decide_plain(
    text: str, is_piped: bool, prefix: str, call: ToolCall, scope: GuardScope, read_policy: str
) -> ReadDecision:
    """Decide on a command without expansions; with a leading `cd`, in both directories."""
    if is_piped and not early_exit_reason(tuple(text.split())):
        return ReadDecision(ALLOW)
    for candidate in dict.fromkeys((text, prefix + text)):
        decision = decide_read(call._replace(command=candidate), scope, read_policy)
        if decision.kind != ALLOW:
            return decision if decision.reason else ReadDecision("", f"`{text[:80]}` may do more than read")
    return ReadDecision(ALLOW)


def _plain_texts(command: _Command, commands: Sequence[_Command], call: ToolCall, scope: GuardScope) -> list[str] | str:
    """Return the commands without expansions for which a command stands, or the reason why they are unknown."""
    argv, words = command.argv, command.words
    if argv in _NEUTRAL or (argv[0] == "set" and prints_status(" ".join(argv), argv)):
        return []
    if argv[0] == "echo" and not any(["$" in value or "`" in value for word in words for value in word.values]):
        return []
    texts: list[str] = []
    if argv[0] == "xargs":
        start = _xargs_start(argv)
        if not start:
            return "the guard doesn't understand these options of `xargs`"
        names = {argv[at + 1] for at in range(1, start) if argv[at] == "-I"} | {
            arg[2:] for arg in argv[1:start] if arg.startswith("-I") and len(arg) > 2
        }
        words = tuple(
            [_Word(word.raw, (_LISTED,)) if word.raw.strip("'\"") in names else word for word in words[start:]]
        )
        words = words if names else (*words, _Word(_LISTED, (_LISTED,)))
        words = tuple(
            [word._replace(listing=command.upstream) if word.values == (_LISTED,) else word for word in words]
        )
    elif argv[0] == "find":
        while "-exec" in [word.raw for word in words]:
            at = [word.raw for word in words].index("-exec")
            end = next((stop for stop in range(at, len(words)) if words[stop].raw in ("\\;", "';'", '";"', "+")), 0)
            inner = tuple(
                [
                    word._replace(listing=()) if word.raw in ("{}", "'{}'", '"{}"') else word
                    for word in words[at + 1 : end]
                ]
            )
            if not inner:
                return "the guard doesn't understand `-exec`"
            substituted = _substitute(inner, (command,), call, scope)
            if isinstance(substituted, str):
                return substituted
            texts += substituted
            words = (*words[:at], *words[end + 1 :])
    substituted = _substitute(words, commands, call, scope)
    return substituted if isinstance(substituted, str) else [*texts, *substituted]


def _xargs_start(argv: Sequence[str]) -> int:
    """Return the index of the command in the arguments of xargs; 0 if there is none or an option is unknown."""
    at = 1
    while at < len(argv):
        arg = argv[at]
        if not arg.startswith("-"):
            return at
        if arg not in _XARGS_FLAGS and not (arg[:2] in _XARGS_VALUES and (len(arg) > 2 or at + 1 < len(argv))):
            return 0
        at += 2 if arg in _XARGS_VALUES else 1
    return 0


def _substitute(
    words: Sequence[_Word], commands: Sequence[_Command], call: ToolCall, scope: GuardScope
) -> list[str] | str:
    """Return the texts of a command with each value of its expansions, or the reason why they are unknown."""
    program = words[0].raw
    texts = [""]
    for word in words:
        if word.listing is not None:
            sources = [commands[index] for index in word.listing] or list(commands[:1])
            if program not in _TAKE_NAMES:
                return f"`{program[:40]}` with names that another command lists may do more than read"
            if program == "wc" and _may_list_option(commands, call.cwd, scope.root):
                return f"a file's name begins with `{_FILE_LIST_OPTION}`, which `wc` takes for an option"
            if reason := _listing_reason(sources, program, call, scope):
                return reason
            options: tuple[str, ...] = (_LISTED,)
        elif word.values:
            options = word.values
            unclear = next(
                (value for value in options if not value or set(value) - _SAFE_CHARS or value.startswith("-")), None
            )
            if unclear is not None:
                return f"the guard doesn't know the value of {word.raw[:60]}"
        else:
            options = (word.raw,)
        texts = [f"{text} {option}".strip() for text in texts for option in options][: _MAX_VALUES + 1]
    return texts


def _may_list_option(commands: Sequence[_Command], cwd: str, root: str) -> bool:
    """Return whether a listed name may be the option with which `wc` reads names, and prints them if they don't exist."""
    directories = {os.path.join(cwd, arg) for command in commands for arg in command.argv[1:]} | {cwd}
    git = find_repository(root)[1]
    index = file_access.read_if_exists(os.path.join(git or "", "index"), _MAX_INDEX) if git else None
    if index is not None and _FILE_LIST_OPTION.lstrip("-").encode() in index:
        return True
    names = [name for directory in directories if os.path.isdir(directory) for name in os.listdir(directory)]
    return any([name.startswith(_FILE_LIST_OPTION) for name in names])


def _listing_reason(sources: Sequence[_Command], program: str, call: ToolCall, scope: GuardScope) -> str:
    """Return why commands may print other texts than names of files that a program may show; empty if they don't."""
    argv, filters = sources[0].argv, sources[1:]
    lister = " ".join(argv[:2]) if argv[0] == "git" else argv[0]
    lists_by_flag = lister in ("find", "ls", "git ls-files") or not _LISTING_FLAGS.isdisjoint(argv)
    if lister not in _LISTERS or not lists_by_flag:
        return f"`{argv[0]}` may print other texts than names of files"
    if program in _SHOW_NO_CONTENT:
        return ""
    for command in filters:
        if command.argv[0] not in _NAME_FILTERS and command.argv[:2] != ("grep", "-v"):
            return f"`{command.argv[0]}` may select files for secrets"
    if "-regex" in argv or "-iregex" in argv:
        return "`-regex` may select files for secrets"
    from execplan.execution.shell.listed_secrets import listed_secret_reason

    if reason := listed_secret_reason(argv, call.cwd, scope.root):
        return reason
    for at, arg in enumerate(argv[1:], 1):
        is_excluded = lister == "find" and at > 2 and argv[at - 2] in ("!", "-not")
        for path in possible_targets(call.cwd, arg) if not is_excluded else ():
            if path and (reason := read_denial_reason(scope, path)):
                return f"{arg} may select a file that agents can't read: {reason}"
    return ""
