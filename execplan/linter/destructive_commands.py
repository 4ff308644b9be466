"""Detection of commands whose effect no other command can undo."""

from __future__ import annotations

from execplan.execution.shell import command_table
from execplan.execution.shell.shell_vocabulary import PROMPTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDLES = command_table.LOSS_NEEDLES
"""Substrings of which every destructive command contains at least one."""
_GENERATED_PATHS = (
    *"$ ~/.cache target build dist out node_modules coverage .venv venv .pytest_cache .mypy_cache .ruff_cache .next".split(),
    *"__pycache__ .turbo .cache obj bin".split(),
)
"""Prefixes of paths that are safe to remove, besides paths that contain `tmp`."""
_COMMAND_PREFIXES = frozenset((*command_table.COMMAND_PREFIXES, "npx", "pnpm", "yarn", "bundle"))
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
        if not removed_paths:
            return ""
    if program == "dd" and not any([word.startswith("of=/dev/") for word in operands]):
        return ""
    if program in command_table.DATABASE_CLIENTS:
        text = " ".join(operands).upper()
        if any([statement in text for statement in command_table.LOSS_STATEMENTS]):
            return f"the SQL passed to `{program}` deletes data"
        return ""
    folded = [word.lower() for word in operands]
    for name, required_words, wanted_flags, effect in command_table.DESTROYS:
        if name == program and all([word in folded for word in required_words]) and _has_flag(flags, wanted_flags):
            return f"`{' '.join((program, *required_words, *wanted_flags[:1]))}` {effect}"
    return ""


def _has_flag(flags: list[str], wanted_flags: tuple[str, ...]) -> bool:
    """Return whether any wanted flag is present, also among combined letters. True if no flag is wanted."""
    letters = "".join([flag[1:] for flag in flags if flag[1:2] != "-" and len(flag) <= _MAX_FLAG_LENGTH])
    return not wanted_flags or any([flag in flags or (len(flag) == 2 and flag[1] in letters) for flag in wanted_flags])
