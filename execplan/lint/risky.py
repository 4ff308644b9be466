"""What a command destroys that no second command brings back."""

from __future__ import annotations

from execplan.execution.command.typed import PROMPTS
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDLES = (
    *"rm -,reset --hard,push ,clean -,branch -,filter-,DROP ,TRUNCATE ,DELETE FROM,drop ,kubectl,helm ,terraform,tofu ".split(
        ","
    ),
    *"prune,volume,down ,aws ,gh ,dd ,mkfs,dropdb,shred,wipefs,redis-cli,prisma,db:,checkout -- ,-delete".split(","),
)
"""Every such command holds one of them."""


class _Taking(NamedTuple):
    """A command that takes something away: its program, words that it has, and flags of which it has one."""

    program: str
    words: tuple[str, ...]
    flags: tuple[str, ...]
    said: str


_DOWN = "takes down what runs"
_ALL = "takes away all that is stored"
_TAKINGS = (
    _Taking("git", ("reset",), ("--hard",), "throws away what is not committed"),
    _Taking("git", ("push",), ("--force", "-f", "--mirror"), "throws away commits of others"),
    _Taking("git", ("clean",), ("--force", "-f"), "takes away files that git does not know"),
    _Taking("git", ("branch",), ("-D",), "throws away commits that are nowhere else"),
    _Taking("git", ("checkout", "."), ("--",), "throws away what is not committed"),
    _Taking("git", ("filter-branch",), (), "writes history anew"),
    _Taking("git", ("filter-repo",), (), "writes history anew"),
    _Taking("kubectl", ("delete",), (), _DOWN),
    _Taking("helm", ("uninstall",), (), _DOWN),
    _Taking("helm", ("delete",), (), _DOWN),
    _Taking("terraform", ("destroy",), (), _DOWN),
    _Taking("terraform", ("apply",), ("-auto-approve", "--auto-approve"), "changes what runs and asks nobody"),
    _Taking("tofu", ("destroy",), (), _DOWN),
    _Taking("docker", ("prune",), (), "takes away what no container uses just now"),
    _Taking("docker", ("volume", "rm"), (), "takes away a volume"),
    _Taking("docker", ("down",), ("-v", "--volumes"), "takes away the volumes"),
    _Taking("docker-compose", ("down",), ("-v", "--volumes"), "takes away the volumes"),
    _Taking("aws", ("s3", "rm"), (), _ALL),
    _Taking("aws", ("s3", "rb"), (), _ALL),
    _Taking("gh", ("repo", "delete"), (), _ALL),
    _Taking("gh", ("release", "delete"), (), "takes away a release"),
    _Taking("redis-cli", ("flushall",), (), _ALL),
    _Taking("redis-cli", ("flushdb",), (), _ALL),
    _Taking("prisma", ("migrate", "reset"), (), _ALL),
    _Taking("rails", ("db:drop",), (), _ALL),
    _Taking("rails", ("db:reset",), (), _ALL),
    _Taking("rake", ("db:drop",), (), _ALL),
    _Taking("dropdb", (), (), _ALL),
    _Taking("find", (), ("-delete",), "takes away files"),
    _Taking("shred", (), (), "writes over the file"),
    _Taking("wipefs", (), (), "writes over the device"),
    _Taking("mkfs", (), (), "writes over the device"),
)
_CLIENTS = frozenset(("psql", "mysql", "mariadb", "sqlite3", "duckdb"))
_LOSING = ("DROP ", "TRUNCATE ", "DELETE FROM ")
_REMADE = (
    *"$ ~/.cache target build dist out node_modules coverage .venv venv .pytest_cache .mypy_cache .ruff_cache .next".split(),
    *"__pycache__ .turbo .cache obj bin".split(),
)
"""How paths begin that are there to be removed, beside those with `tmp` in them."""
_LEADS = frozenset("sudo env time nohup command exec npx pnpm yarn bundle".split())
_PLAIN = frozenset(" \t-_./:=+,@%^~*?[]{}$!0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""In a command of these alone, white space is all that parts words."""
_LONG = 5000
"""Characters of a command that nobody wrote by hand."""
_SHORT = 5
"""Characters of a flag that may be several in one, as `-fdx`."""


def lost(command: str) -> str:
    """What a command takes away for good, in words; nothing for one that does not."""
    if len(command) <= _LONG and any([needle in command for needle in NEEDLES]):
        prompt = next((each for each in PROMPTS if command.startswith(each)), "")
        for words in _parts(command.removeprefix(prompt)):
            said = _said(_bare(words))
            if said:
                return said
    return ""


def _parts(command: str) -> Iterator[list[str]]:
    """The words of each command of a line, as far as it can be read."""
    if _PLAIN.issuperset(command):
        yield command.split()
        return
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(";&|()"):
                words.append(word)
            else:
                yield words
                words = []
    except ValueError:
        return
    yield words


def _bare(words: list[str]) -> list[str]:
    """A command without what runs it and the variables that it is given."""
    at = 0
    while at < len(words) and (words[at] in _LEADS or (words[at].partition("=")[0].isupper() and "=" in words[at])):
        at += 1
    return words[at:]


def _said(words: list[str]) -> str:
    """What one command takes away."""
    if not words:
        return ""
    program = words[0].rpartition("/")[2].partition(".")[0]
    flags = [word for word in words[1:] if word.startswith("-")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    if program == "rm":
        kept = [path for path in rest if not path.removeprefix("./").startswith(_REMADE) and "tmp" not in path.lower()]
        return "`rm -r` takes the folder away" if kept and _has(flags, ("-r", "-R", "--recursive")) else ""
    if program == "dd":
        return "`dd` writes over the device" if any([word.startswith("of=/dev/") for word in rest]) else ""
    if program in _CLIENTS:
        text = " ".join(rest).upper()
        return f"what `{program}` is told takes rows away" if any([each in text for each in _LOSING]) else ""
    folded = [word.lower() for word in rest]
    for taking in _TAKINGS:
        if taking.program == program and all([word in folded for word in taking.words]) and _has(flags, taking.flags):
            return f"`{' '.join((program, *taking.words, *taking.flags[:1]))}` {taking.said}"
    return ""


def _has(flags: list[str], wanted: tuple[str, ...]) -> bool:
    """Whether one of the flags is there, alone or among others of one letter; no flag wanted is no question."""
    letters = "".join([flag[1:] for flag in flags if flag[1:2] != "-" and len(flag) <= _SHORT])
    return not wanted or any([flag in flags or (len(flag) == 2 and flag[1] in letters) for flag in wanted])
