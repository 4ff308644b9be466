"""One line as somebody types it: what of it stands in quotes, where a comment begins, what it takes from elsewhere."""

from __future__ import annotations

import re

from execplan.execution.shell.command_detection import PROMPTS

HARD_QUOTED, SOFT_QUOTED = "\x01", "\x02"
"""What a character is shown as that single quotes or a backslash protect, and one in double quotes."""
_VARIABLE = re.compile(r"\$(?:\{[!#]?)?([A-Za-z_][A-Za-z0-9_]*)")
_VARIABLE_SETTERS = re.compile(r"(?:^|[\s;&|(])(?:for\s+(\w+)\s+in\b|read\s+(?:-\w+\s+)*(\w+)|(\w+)=[^;&]*(?:;|&&))")
"""What gives a variable its value within the line; `NAME=value command $NAME` does not."""
_PREDEFINED_VARIABLES = frozenset(
    "HOME PWD OLDPWD USER LOGNAME PATH SHELL TMPDIR LANG RANDOM SECONDS HOSTNAME UID EUID PPID IFS".split()
)
"""Variables that a shell has without being told."""
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
    """The line with what is quoted made unreadable, character by character; None when a quote is never closed.

    Without `mask_double_quotes`, what double quotes hold stays: a shell expands it.
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
            chars.append(
                HARD_QUOTED if quote == "'" or char == "'" else char if not mask_double_quotes else SOFT_QUOTED
            )
        elif char in "'\"":
            quote = char
            chars.append(HARD_QUOTED if char == "'" else SOFT_QUOTED)
        else:
            chars.append(char)
        at += 1
    return None if quote else "".join(chars)


def strip_prompt(line: str) -> str:
    """The line without the prompt of a shell before it."""
    for prompt in PROMPTS:
        if line.startswith(prompt):
            return line[len(prompt) :].strip()
    return line


def split_comment(line: str) -> tuple[str, str]:
    """The command of a line and the comment behind it."""
    masked_line = mask_quotes(line) or line
    match = re.search(r"(?:^|\s)#", masked_line)
    return (line[: match.start()].rstrip(), line[match.end() :].strip()) if match else (line, "")


def is_continued(line: str) -> bool:
    """Whether a line goes on in the next one: behind a backslash, a pipe or `&&`."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1 or line.endswith(("&&", "|"))


def join_lines(line: str, next_line: str) -> str:
    """A line with the one in which it goes on."""
    return f"{line.removesuffix(chr(92)).rstrip()} {next_line.strip()}"


def find_unset_variable(line: str) -> str:
    """The first variable that the line takes its value from and does not set, or nothing."""
    masked_line = mask_quotes(line, mask_double_quotes=False) or line
    known_variables = _PREDEFINED_VARIABLES.union(*_VARIABLE_SETTERS.findall(masked_line))
    return next((name for name in _VARIABLE.findall(masked_line) if name not in known_variables), "")


def is_script_fragment(masked_line: str) -> bool:
    """Whether a line, quotes made unreadable, is only a part of what a shell reads as one."""
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
