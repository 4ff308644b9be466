"""Analysis of a single shell line: quotes, comments, continuations and variables."""

from __future__ import annotations

import re

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.shell.shell_vocabulary import PROMPTS

HARD_QUOTED, SOFT_QUOTED = "\x01", "\x02"
"""Masks for characters within single quotes or after a backslash, and within double quotes."""
_VARIABLE = lazy_pattern(r"\$(?:\{[!#]?)?([A-Za-z_][A-Za-z0-9_]*)")
_VARIABLE_SETTERS = lazy_pattern(r"(?:^|[\s;&|(])(?:for\s+(\w+)\s+in\b|read\s+(?:-\w+\s+)*(\w+)|(\w+)=[^;&]*(?:;|&&))")
"""Constructs that set a variable within the line; `NAME=value command $NAME` does not."""
_PREDEFINED_VARIABLES = frozenset(
    "HOME PWD OLDPWD USER LOGNAME PATH SHELL TMPDIR LANG RANDOM SECONDS HOSTNAME UID EUID PPID IFS".split()
)
"""Variables that are predefined in a shell."""
_COMPOUND_KEYWORDS = (
    ("for", "done"),
    ("while", "done"),
    ("until", "done"),
    ("if", "fi"),
    ("case", "esac"),
    ("{", "}"),
    ("(", ")"),
)


def mask_quotes(line: str, *, mask_double_quotes: bool = True) -> str | None:
    """Return the line with quoted text masked, character by character; None if a quote is not closed.

    Without `mask_double_quotes`, text in double quotes is kept, because a shell expands it.
    """
    chars: list[str] = []
    quote = ""
    at = 0
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            chars.append((SOFT_QUOTED if quote else HARD_QUOTED) * len(line[at : at + 2]))
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
            if quote == "'" or char == "'":
                chars.append(HARD_QUOTED)
            else:
                chars.append(SOFT_QUOTED if mask_double_quotes else char)
        elif char in "'\"":
            quote = char
            chars.append(HARD_QUOTED if char == "'" else SOFT_QUOTED)
        else:
            chars.append(char)
        at += 1
    return None if quote else "".join(chars)


def strip_prompt(line: str) -> str:
    """Return the line without its leading shell prompt."""
    for prompt in PROMPTS:
        if line.startswith(prompt):
            return line[len(prompt) :].strip()
    return line


def split_comment(line: str) -> tuple[str, str]:
    """Return the command of a line and the comment after it."""
    masked_line = mask_quotes(line) or line
    match = re.search(r"(?:^|\s)#", masked_line)
    return (line[: match.start()].rstrip(), line[match.end() :].strip()) if match else (line, "")


def is_continued(line: str) -> bool:
    """Return whether a line continues on the next one: after a backslash, a pipe or `&&`."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1 or line.endswith(("&&", "|"))


def join_lines(line: str, next_line: str) -> str:
    """Join a line with its continuation."""
    return f"{line.removesuffix(chr(92)).rstrip()} {next_line.strip()}"


def find_unset_variable(line: str) -> str:
    """Return the first variable that the line uses and does not set, or an empty string."""
    masked_line = mask_quotes(line, mask_double_quotes=False) or line
    known_variables = _PREDEFINED_VARIABLES.union(*_VARIABLE_SETTERS.findall(masked_line))
    return next((name for name in _VARIABLE.findall(masked_line) if name not in known_variables), "")


def is_script_fragment(masked_line: str) -> bool:
    """Return whether a line, with quotes masked, is only a part of a shell construct."""
    tokens = masked_line.split()
    if tokens and tokens[0] in ("do", "done", "then", "else", "elif", "fi", "esac", "}", ")", "function"):
        return True
    for opener, closer in _COMPOUND_KEYWORDS:
        is_opened = masked_line.startswith(opener) if opener == "(" else bool(tokens) and tokens[0] == opener
        if is_opened and not re.search(rf"(?:^|[\s;])?{re.escape(closer)}(?:$|[\s;&|>)])", masked_line):
            return True
    return (
        masked_line.count("$(") > masked_line.count(")")
        or bool(re.search(r"\w\(\)\s*\{", masked_line))
        or masked_line.count("`") % 2 == 1
    )
