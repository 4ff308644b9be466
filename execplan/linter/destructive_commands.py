"""Detection of commands whose effect no other command can undo."""

from __future__ import annotations

from execplan.execution.shell.shell_vocabulary import PROMPTS
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDLES = (
    *"rm -,reset --hard,push ,clean -,branch -,filter-,DROP ,TRUNCATE ,DELETE FROM,drop ,kubectl,helm ,terraform,tofu ".split(
        ","
    ),
    *"prune,volume,down ,aws ,gh ,dd ,mkfs,dropdb,shred,wipefs,redis-cli,prisma,db:,checkout -- ,-delete".split(","),
)
"""Substrings of which every destructive command contains at least one."""


class _DestructiveCommand(NamedTuple):
    """A destructive command: its program, its required words, and the flags of which it needs one."""

    program: str
    required_words: tuple[str, ...]
    flags: tuple[str, ...]
    effect: str


_STOPS_SERVICE = "takes down what runs"
_DELETES_STORAGE = "takes away all that is stored"
_DESTRUCTIVE_COMMANDS = (
    _DestructiveCommand("git", ("reset",), ("--hard",), "throws away what is not committed"),
    _DestructiveCommand("git", ("push",), ("--force", "-f", "--mirror"), "throws away commits of others"),
    _DestructiveCommand("git", ("clean",), ("--force", "-f"), "takes away files that git does not know"),
    _DestructiveCommand("git", ("branch",), ("-D",), "throws away commits that are nowhere else"),
    _DestructiveCommand("git", ("checkout", "."), ("--",), "throws away what is not committed"),
    _DestructiveCommand("git", ("filter-branch",), (), "writes history anew"),
    _DestructiveCommand("git", ("filter-repo",), (), "writes history anew"),
    _DestructiveCommand("kubectl", ("delete",), (), _STOPS_SERVICE),
    _DestructiveCommand("helm", ("uninstall",), (), _STOPS_SERVICE),
    _DestructiveCommand("helm", ("delete",), (), _STOPS_SERVICE),
    _DestructiveCommand("terraform", ("destroy",), (), _STOPS_SERVICE),
    _DestructiveCommand(
        "terraform", ("apply",), ("-auto-approve", "--auto-approve"), "changes what runs and asks nobody"
    ),
    _DestructiveCommand("tofu", ("destroy",), (), _STOPS_SERVICE),
    _DestructiveCommand("docker", ("prune",), (), "takes away what no container uses just now"),
    _DestructiveCommand("docker", ("volume", "rm"), (), "takes away a volume"),
    _DestructiveCommand("docker", ("down",), ("-v", "--volumes"), "takes away the volumes"),
    _DestructiveCommand("docker-compose", ("down",), ("-v", "--volumes"), "takes away the volumes"),
    _DestructiveCommand("aws", ("s3", "rm"), (), _DELETES_STORAGE),
    _DestructiveCommand("aws", ("s3", "rb"), (), _DELETES_STORAGE),
    _DestructiveCommand("gh", ("repo", "delete"), (), _DELETES_STORAGE),
    _DestructiveCommand("gh", ("release", "delete"), (), "takes away a release"),
    _DestructiveCommand("redis-cli", ("flushall",), (), _DELETES_STORAGE),
    _DestructiveCommand("redis-cli", ("flushdb",), (), _DELETES_STORAGE),
    _DestructiveCommand("prisma", ("migrate", "reset"), (), _DELETES_STORAGE),
    _DestructiveCommand("rails", ("db:drop",), (), _DELETES_STORAGE),
    _DestructiveCommand("rails", ("db:reset",), (), _DELETES_STORAGE),
    _DestructiveCommand("rake", ("db:drop",), (), _DELETES_STORAGE),
    _DestructiveCommand("dropdb", (), (), _DELETES_STORAGE),
    _DestructiveCommand("find", (), ("-delete",), "takes away files"),
    _DestructiveCommand("shred", (), (), "writes over the file"),
    _DestructiveCommand("wipefs", (), (), "writes over the device"),
    _DestructiveCommand("mkfs", (), (), "writes over the device"),
)
_DATABASE_CLIENTS = frozenset(("psql", "mysql", "mariadb", "sqlite3", "duckdb"))
_LOSS_STATEMENTS = ("DROP ", "TRUNCATE ", "DELETE FROM ")
_GENERATED_PATHS = (
    *"$ ~/.cache target build dist out node_modules coverage .venv venv .pytest_cache .mypy_cache .ruff_cache .next".split(),
    *"__pycache__ .turbo .cache obj bin".split(),
)
"""Prefixes of paths that are safe to remove, besides paths that contain `tmp`."""
_COMMAND_PREFIXES = frozenset("sudo env time nohup command exec npx pnpm yarn bundle".split())
_PLAIN_CHARACTERS = frozenset(" \t-_./:=+,@%^~*?[]{}$!0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Characters that need no shell parsing; in a command of only these, white space separates the words."""
_MAX_COMMAND_LENGTH = 5000
"""Maximum characters of a command; longer ones are not written by hand."""
_MAX_FLAG_LENGTH = 5
"""Maximum characters of a flag that may combine several, such as `-fdx`."""


def describe_loss(command: str) -> str:
    """Describe what a command destroys; empty if it destroys nothing."""
    if len(command) <= _MAX_COMMAND_LENGTH and any([needle in command for needle in NEEDLES]):
        prompt = next((candidate for candidate in PROMPTS if command.startswith(candidate)), "")
        for argv in _split_commands(command.removeprefix(prompt)):
            effect = _describe_effect(_strip_prefixes(argv))
            if effect:
                return effect
    return ""


def _split_commands(command: str) -> Iterator[list[str]]:
    """Yield the words of each command in a line, up to the first syntax error."""
    if _PLAIN_CHARACTERS.issuperset(command):
        yield command.split()
        return
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    argv: list[str] = []
    try:
        for token in lexer:
            if token.strip(";&|()"):
                argv.append(token)
            else:
                yield argv
                argv = []
    except ValueError:
        return
    yield argv


def _strip_prefixes(argv: list[str]) -> list[str]:
    """Return a command without wrappers such as `sudo` and without variable assignments."""
    at = 0
    while at < len(argv) and (
        argv[at] in _COMMAND_PREFIXES or (argv[at].partition("=")[0].isupper() and "=" in argv[at])
    ):
        at += 1
    return argv[at:]


def _describe_effect(argv: list[str]) -> str:
    """Describe what a single command destroys; empty if it destroys nothing."""
    if not argv:
        return ""
    program = argv[0].rpartition("/")[2].partition(".")[0]
    flags = [word for word in argv[1:] if word.startswith("-")]
    operands = [word for word in argv[1:] if not word.startswith("-")]
    if program == "rm":
        removed_paths = [
            path
            for path in operands
            if not path.removeprefix("./").startswith(_GENERATED_PATHS) and "tmp" not in path.lower()
        ]
        return (
            "`rm -r` takes the folder away" if removed_paths and _has_flag(flags, ("-r", "-R", "--recursive")) else ""
        )
    if program == "dd":
        return "`dd` writes over the device" if any([word.startswith("of=/dev/") for word in operands]) else ""
    if program in _DATABASE_CLIENTS:
        text = " ".join(operands).upper()
        return (
            f"what `{program}` is told takes rows away"
            if any([statement in text for statement in _LOSS_STATEMENTS])
            else ""
        )
    folded = [word.lower() for word in operands]
    for destructive_command in _DESTRUCTIVE_COMMANDS:
        if (
            destructive_command.program == program
            and all([word in folded for word in destructive_command.required_words])
            and _has_flag(flags, destructive_command.flags)
        ):
            return f"`{' '.join((program, *destructive_command.required_words, *destructive_command.flags[:1]))}` {destructive_command.effect}"
    return ""


def _has_flag(flags: list[str], wanted_flags: tuple[str, ...]) -> bool:
    """Return whether any wanted flag is present, also among combined letters. True if no flag is wanted."""
    letters = "".join([flag[1:] for flag in flags if flag[1:2] != "-" and len(flag) <= _MAX_FLAG_LENGTH])
    return not wanted_flags or any([flag in flags or (len(flag) == 2 and flag[1] in letters) for flag in wanted_flags])
