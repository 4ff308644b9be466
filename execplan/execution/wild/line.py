"""One line as somebody types it: what of it stands in quotes, where a comment begins, what it takes from elsewhere."""

from __future__ import annotations

import re

from execplan.execution.command.typed import PROMPTS

HARD, SOFT = "\x01", "\x02"
"""What a character is shown as that single quotes or a backslash protect, and one in double quotes."""
_VARIABLE = re.compile(r"\$(?:\{[!#]?)?([A-Za-z_][A-Za-z0-9_]*)")
_SETS = re.compile(r"(?:^|[\s;&|(])(?:for\s+(\w+)\s+in\b|read\s+(?:-\w+\s+)*(\w+)|(\w+)=[^;&]*(?:;|&&))")
"""What gives a variable its value within the line; `NAME=value command $NAME` does not."""
_GIVEN = frozenset(
    "HOME PWD OLDPWD USER LOGNAME PATH SHELL TMPDIR LANG RANDOM SECONDS HOSTNAME UID EUID PPID IFS".split()
)
"""Variables that a shell has without being told."""
_COMPOUND = (
    ("for", "done"),
    ("while", "done"),
    ("until", "done"),
    ("if", "fi"),
    ("case", "esac"),
    ("{", "}"),
    ("(", ")"),
)


def masked(line: str, *, soft: bool = True) -> str | None:
    """The line with what is quoted made unreadable, character by character; None when a quote is never closed.

    Without `soft`, what double quotes hold stays: a shell expands it.
    """
    shown: list[str] = []
    quote = ""
    at = 0
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            shown.append((SOFT if quote else HARD) * len(line[at : at + 2]))
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
            shown.append(HARD if quote == "'" or char == "'" else char if not soft else SOFT)
        elif char in "'\"":
            quote = char
            shown.append(HARD if char == "'" else SOFT)
        else:
            shown.append(char)
        at += 1
    return None if quote else "".join(shown)


def without_prompt(line: str) -> str:
    """The line without the prompt of a shell before it."""
    for prompt in PROMPTS:
        if line.startswith(prompt):
            return line[len(prompt) :].strip()
    return line


def split_comment(line: str) -> tuple[str, str]:
    """The command of a line and the comment behind it."""
    shown = masked(line) or line
    found = re.search(r"(?:^|\s)#", shown)
    return (line[: found.start()].rstrip(), line[found.end() :].strip()) if found else (line, "")


def goes_on(line: str) -> bool:
    """Whether a line goes on in the next one: behind a backslash, a pipe or `&&`."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1 or line.endswith(("&&", "|"))


def joined(line: str, more: str) -> str:
    """A line with the one in which it goes on."""
    return f"{line.removesuffix(chr(92)).rstrip()} {more.strip()}"


def unknown(line: str) -> str:
    """The first variable that the line takes its value from and does not set, or nothing."""
    shown = masked(line, soft=False) or line
    known = _GIVEN.union(*_SETS.findall(shown))
    return next((name for name in _VARIABLE.findall(shown) if name not in known), "")


def is_part(shown: str) -> bool:
    """Whether a line, quotes made unreadable, is only a part of what a shell reads as one."""
    words = shown.split()
    if words and words[0] in ("do", "done", "then", "else", "elif", "fi", "esac", "}", ")", "function"):
        return True
    for begin, end in _COMPOUND:
        opens = shown.startswith(begin) if begin == "(" else bool(words) and words[0] == begin
        if opens and not re.search(rf"(?:^|[\s;])?{re.escape(end)}(?:$|[\s;&|>)])", shown):
            return True
    return shown.count("$(") > shown.count(")") or bool(re.search(r"\w\(\)\s*\{", shown)) or shown.count("`") % 2 == 1
