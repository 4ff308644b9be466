"""Whether a row of the table of risks is about a command, a file or a variable."""

from __future__ import annotations

from execplan.execution.command.simple import is_local, is_remote, is_system, leads_out, program
from execplan.execution.risk.questions import QUESTIONS, is_task
from execplan.execution.risk.table import CRITICAL, HIGH, SECRETS
from execplan.record import NamedTuple
from execplan.text.secret_files import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from re import Pattern

    from execplan.execution.command.simple import Simple
    from execplan.execution.risk.table import Row, Table

_LONG = frozenset(
    "find go gofmt java javac terraform tofu dotnet gcc g++ cc c++ clang clang++ ld swiftc ghc kotlinc mvn mvnw xcodebuild".split()
)
"""Programs whose long flags have one dash, so that their letters can't be put together."""
_CLUSTER = 7
"""Characters of a flag that may be several in one, as `-rfvdx`."""
_MODULE = "python -m"
_FETCHING = {
    **dict.fromkeys(
        ("npx", "bunx", "bun x", "npm exec", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "pnpm", "yarn", "bun"),
        "npm",
    ),
    **dict.fromkeys(("uvx", "uv tool run", "pipx run"), "pypi"),
    _MODULE: "pypi stdlib",
}
"""Runners that take a program by its name from elsewhere, and where they look for it."""
_CHANNELS = frozenset(("cargo", "rustc", "rustfmt", "rustdoc"))
"""Programs whose first word may say which version of them is meant: `+nightly`."""
_PIECES = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_CUT = r"(\*\*/|/\*\*|\*\*|\*|\?)"
_NEUTRAL = frozenset(("cross-env",))
_ASKING = frozenset(("--version", "-V", "-version", "--help"))


class Read(NamedTuple):
    """A command taken apart, as far as its program is known."""

    program: str
    """By its name alone; as it was written where it is none of the machine and none of a package manager."""
    words: tuple[str, ...]
    """What is no flag and no value of one that is known."""
    loose: tuple[str, ...]
    """All that is no flag, and what stands behind the `=` of flags."""
    flags: tuple[str, ...]
    is_clear: bool
    """Whether it is sure which word is the first."""
    sources: tuple[str, ...]
    """Where the program is taken from by its name, if not from the machine."""
    is_trusted: bool
    """Whether a row of LOW or MEDIUM may be about it."""
    asks: bool
    """Whether it only asks for a version or for help."""


def read(simple: Simple, table: Table) -> Read:
    """Take a command apart."""
    word = simple.argv[0] if simple.argv else ""
    fetching = [at for at, each in enumerate(simple.via) if each in _FETCHING]
    name, version = program(word), ""
    if fetching and "@" in word[1:]:
        name, _, version = word.rpartition("@")
    elif word.startswith("@"):
        name = word
    last = len(simple.via) - 1
    sources = tuple(_FETCHING[simple.via[fetching[-1]]].split()) if fetching else ()
    if not fetching and is_local(word):
        sources = ("npm", "pypi", "local")
    known_by_path = [row for row in table.rows if word in row.program]
    is_trusted = (
        (is_system(word) or is_local(word) or bool(known_by_path) or (bool(fetching) and word.startswith("@")))
        and all([at == last or simple.via[at + 1] in _FETCHING or simple.via[at + 1] in _NEUTRAL for at in fetching])
        and version.replace(".", "").replace("-", "").replace("^", "").replace("~", "").isalnum() is bool(version)
    )
    shown = word if known_by_path and "/" in word else name
    words, loose, flags, is_clear = _apart(simple.argv[1:], shown.rpartition("/")[2], table)
    asks = len(simple.argv) == 2 and simple.argv[1] in _ASKING
    return Read(shown, words, loose, flags, is_clear, sources, is_trusted, asks)


def _apart(
    argv: Sequence[str], name: str, table: Table
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]:
    """The words, all that is no flag, and the flags behind a program; and whether the first word is sure to be it."""
    values = table.values.get(name, frozenset())
    bare = table.bare["all"] | table.bare.get(name, frozenset())
    words: list[str] = []
    loose: list[str] = []
    flags: list[str] = []
    is_clear, ended, at = True, False, 0
    if name in _CHANNELS and argv and argv[0].startswith("+"):
        at = 1
    while at < len(argv):
        word = argv[at]
        at += 1
        if name == "dotnet" and word.startswith("/") and "/" not in word[1:]:
            word = f"-{word[1:]}"
        if word.startswith("-") and len(word) > 1:
            flags.append(word)
        if word == "--":
            ended = True
        elif ended or not word.startswith("-") or word == "-":
            words.append(word)
            loose.append(word)
        else:
            flag, equals, value = word.partition("=")
            if equals:
                loose.append(value)
            elif flag in values and at < len(argv):
                loose.append(argv[at])
                at += 1
            elif not words and flag not in bare and flag[:2] not in values and flag[:2] not in ("-D", "-P", "-j"):
                is_clear = False
    return tuple(words), tuple(loose), tuple(flags), is_clear


def fits(row: Row, command: Read, table: Table, *, anywhere: bool) -> bool:
    """Whether a row is about a command; its words may stand anywhere where it is not sure how the command is read."""
    patterns = [each for each in row.program if "*" in each]
    names = [command.program, command.program.rpartition("/")[2]][: 1 + (row.level in (HIGH, CRITICAL))]
    if not any([name in row.program or any([_like(name, each) for each in patterns]) for name in names]):
        return False
    if row.flags and not any([_has(command, flag) for flag in row.flags]):
        return False
    if any([_has(command, flag) for flag in row.without]):
        return False
    if row.path and not any([on_path(path, row) for each in command.loose for path in paths(each)]):
        return False
    wanted = list(row.words)
    if row.alone and len(command.words) != len(wanted):
        return False
    if not wanted:
        return True
    if anywhere:
        spread = [piece for each in wanted if each != "..." for piece in ("...", each)]
        return _follow(spread, command.loose, table) or _follow(wanted, command.words, table)
    if not command.is_clear and wanted[0] not in QUESTIONS:
        return False
    return _follow(wanted, command.words, table) or (wanted[0] == "..." and _follow(wanted, command.loose, table))


def is_from(row: Row, command: Read) -> bool:
    """Whether what a row knows is what the command gets by this name."""
    return row.package in command.sources if command.sources else row.package != "stdlib"


def is_strange_module(simple: Simple, command: Read, table: Table) -> bool:
    """Whether a command is a module of Python, behind `-m`, of no tool that a row knows as one of Python."""
    if simple.via[-1:] != (_MODULE,):
        return False
    return not any([command.program in row.program and row.package in command.sources for row in table.rows])


def _follow(wanted: Sequence[str], words: Sequence[str], table: Table) -> bool:
    """Whether words begin with what is wanted."""
    if not wanted:
        return True
    first, rest = wanted[0], wanted[1:]
    if first == "...":
        if not rest or rest[0] in QUESTIONS:
            return _follow(rest, words, table)
        places = [at for at in range(len(words)) if _follow(rest[:1], words[at : at + 1], table)]
        if rest[1:2] in ([], ["..."]):
            places = places[:1]
        return any([_follow(rest[1:], words[at + 1 :], table) for at in places])
    if first in QUESTIONS:
        return QUESTIONS[first](words, table.tasks)
    if not words:
        return False
    here = (
        is_task(words[0], table.tasks)
        if first == "@task"
        else any([_like(words[0], each) for each in first.split("|")])
    )
    return here and _follow(rest, words[1:], table)


def _has(command: Read, flag: str) -> bool:
    """Whether a flag is there: alone, with its value, shortened, or among others of one letter."""
    for word in command.flags:
        name = word.partition("=")[0]
        if name == flag or ("*" in flag and _like(word, flag)):
            return True
        if flag.startswith("--"):
            if name.startswith("--") and len(name) > 3 and flag.startswith(name):
                return True
        elif command.program in _LONG:
            if name == "-" + flag:
                return True
        elif len(flag) == 2 and not word.startswith("--"):
            if word.startswith(flag) or (len(word) <= _CLUSTER and word[1:].isalpha() and flag[1] in word):
                return True
    return False


def paths(word: str) -> Iterator[str]:
    """The paths that a word may hold: itself, what stands behind a `=`, and what is joined to a flag."""
    for each in (word, word.partition("=")[2], word[2:] if word.startswith("-") and not word.startswith("--") else ""):
        if each and each not in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            yield each


def goes_out(command: Read, argv: Sequence[str]) -> str:
    """The word of a command that leads out of the folder, or to another machine."""
    for word in argv[1:]:
        labels = word.startswith("//") and command.program.rpartition("/")[2] in (
            "bazel",
            "bazelisk",
            "buck2",
            "buck",
            "pants",
        )
        switch = command.program == "dotnet" and "/" not in word[1:]
        for each in paths(word):
            if is_remote(each) or (leads_out(each) and not labels and not switch):
                return word
    return ""


def on_path(path: str, row: Row) -> bool:
    """Whether a row is about a path, however it is written; capitals make no difference."""
    folded = "/".join([each for each in path.replace("\\", "/").split("/") if each not in ("", ".")])
    plain = ("/" if path.startswith("/") else "") + folded
    named = (SECRETS in row.path and is_secret(plain)) or _on(plain, row.path)
    return named and not _on(plain, row.unless)


_MADE: dict[tuple[str, ...], Pattern[str]] = {}


def _on(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns fits a whole path, or, where there is no slash in it, a part of one."""
    if not patterns:
        return False
    if patterns not in _MADE:
        import re

        whole = [each if "/" in each else f"**/{each}/**" for each in patterns]
        made = "|".join(["".join([_PIECES.get(at, re.escape(at)) for at in re.split(_CUT, each)]) for each in whole])
        _MADE[patterns] = re.compile(made, re.DOTALL | re.IGNORECASE)
    return _MADE[patterns].fullmatch(path) is not None


def _like(word: str, pattern: str) -> bool:
    if pattern == word or pattern == "*":
        return True
    if not set(pattern) & set("*?["):
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(word, pattern)
