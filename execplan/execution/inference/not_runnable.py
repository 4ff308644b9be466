"""Reasons why a line can't run as written: placeholders, endless commands, prompts for input, or no command at all."""

from __future__ import annotations

import re

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.cue_table import WORDS
from execplan.execution.inference.long_running import NEVER_ENDS, find_blocking_reason, split_line_commands
from execplan.execution.inference.shell_line import find_unset_variable, is_script_fragment, mask_quotes
from execplan.execution.shell.endless_commands import find_endless_command
from execplan.execution.shell.shell_vocabulary import looks_like_command

_SEARCH_PROGRAMS = frozenset("rg grep egrep fgrep ag ack sed awk perl jq git find sg ast-grep".split())
"""Programs with patterns or programs as arguments, in which a placeholder looks like any other text."""
_PLACEHOLDER = lazy_pattern(
    r"<[A-Za-z][^<>|;&$()]*>|\{\{|\}\}|\[(?:--?\w|[a-z]+ )[^\]]*\]|(?:^|[\s=/:])…|…$|…\s|[\s=]\.\.\.(?:\s|$)"
)
_QUOTED_PLACEHOLDER = lazy_pattern(r"<[a-z][a-z0-9 _-]*>|\{\{|…|\.\.\.[\"']")
_SAMPLE_VALUE = lazy_pattern(
    r"path/to/|\byour[-_ ]|\bYYYY|\bNNN+\b|\bXXX+\b|\bxxx+\b|\bEP-N|\bTODO\b|\bTBD\b|\bplaceholder\b|\bexample-\w|\bREPLACE|\bchangeme\b",
    re.IGNORECASE,
)
_CAPITAL_WORD = lazy_pattern(r"(?:^|[\s=/])[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*(?=$|[\s/])")
_KNOWN_CAPITAL_WORD = lazy_pattern(
    r"HEAD|[A-Z]+_HEAD|GET|POST|PUT|PATCH|DELETE|OPTIONS|[A-Z]+[0-9]+|INT|TERM|KILL|HUP|ON|OFF|TRUE|FALSE|YES|NO|README|LICENSE|CHANGELOG|[A-Z]{1,2}|[A-Z]:?|UTC|UTF-8|JSON|CSV|XML"
)
_MACHINE_PATH = lazy_pattern(r"(?:^|[\s=:'\"(])(/(?:home|Users|root|Volumes|workspaces?|mnt|srv|opt)/|[A-Za-z]:[\\/])")
_WINDOWS_SYNTAX = lazy_pattern(
    r"^[A-Z][a-z]+-[A-Z]\w+|^\.?\\|^\w+\\\w|\$env:|^(?:powershell|pwsh|cmd)(?:\.exe)?\b|^\S+\.(?:exe|ps1|bat|cmd)\b|^\$\w+ *="
)
_LOWERCASE_WORD = lazy_pattern(r"[a-z]+(?:-[a-z]+)*")
_PROGRAM = lazy_pattern(r"[A-Za-z0-9_.@-][A-Za-z0-9_.@/-]*")
_ARGUMENT = lazy_pattern(r"[-\w./@'\"$]")
_SCRIPT_EXTENSIONS = ("sh", "bash", "py", "mjs", "js", "rb", "pl")
_PROGRAM_DIRECTORIES = (
    "./",
    "../",
    ".venv/",
    "venv/",
    "scripts/",
    "script/",
    "bin/",
    "tools/",
    "target/",
    "build/",
    "node_modules/.bin/",
    "vendor/bin/",
)
"""Directories with programs that have no file extension."""
_ESCAPED_QUOTE = lazy_pattern(r"""'[^']*'|"(?:\\.|[^"\\])*"|(\\["'])""")
_SEVERAL_COMMANDS = lazy_pattern(
    r"\w (?:just \w+|cargo (?:test|fmt|check|build|clippy|run)|p?npm (?:run|test|ci|install)|git (?:status|diff|add|commit|log|push)|"
    r"make \w+|go (?:test|build|vet)|uv run|ls \x02)(?:\s|$)"
)
_COMMAND_RUNNERS = frozenset(
    "npx env conda sudo xargs time timeout nohup bash sh zsh docker ssh uv echo printf find watch pre-commit mise asdf direnv nix devbox".split()
)


def not_runnable_reason(line: str) -> str:
    """Return why a line is not a runnable command, phrased to follow `it `, or an empty string."""
    masked_line = mask_quotes(line)
    if masked_line is None:
        return "has a quote that is not closed on its line"
    tokens = masked_line.split()
    if "<<" in masked_line:
        return "has a here-document: write it as a script, with `shell`"
    if is_script_fragment(masked_line):
        return "is a part of a multi-line script"
    if _WINDOWS_SYNTAX.search(line):
        return "is for Windows"
    if any([match.group(1) for match in _ESCAPED_QUOTE.finditer(line)]):
        return "has quotes after backslashes, as if copied from a string"
    first_command = next(split_line_commands(masked_line))
    if (
        _SEVERAL_COMMANDS.search(first_command)
        and command_program(first_command) not in _COMMAND_RUNNERS | _SEARCH_PROGRAMS
    ):
        return "looks like several commands on one line"
    return (
        _find_placeholder(line, masked_line)
        or _prose_reason(masked_line, tokens)
        or (f"needs a value for ${name}" if (name := find_unset_variable(line)) else "")
        or (NEVER_ENDS if find_endless_command(line) else find_blocking_reason(masked_line))
        or ("contains a path of a specific machine" if _MACHINE_PATH.search(line) else "")
    )


def _find_placeholder(line: str, masked_line: str) -> str:
    """Return the reason with the placeholder that the reader must fill in, or an empty string."""
    program = command_program(next(split_line_commands(masked_line)))
    match = _PLACEHOLDER.search(masked_line) or _SAMPLE_VALUE.search(masked_line)
    is_search = program in _SEARCH_PROGRAMS and (
        program != "git" or re.search(r" (?:grep|log|show) .*\x02|\x01", masked_line)
    )
    if match is None and not is_search:
        match = _QUOTED_PLACEHOLDER.search(line) or _SAMPLE_VALUE.search(line)
        for capitals in _CAPITAL_WORD.finditer(masked_line) if match is None else ():
            capital_word = capitals.group().strip(" =/")
            at = capitals.start()
            is_name = "/" in masked_line[at : at + 1] or "/" in masked_line[capitals.end() : capitals.end() + 1]
            if not is_name and not _KNOWN_CAPITAL_WORD.fullmatch(capital_word) and len(capital_word) > 2:
                match = capitals
                break
    return f"has a placeholder to fill in: {match.group().strip()}" if match else ""


_OUTPUT_LINE = lazy_pattern(
    r"test (?![-!\x01\x02$({])(?!\S+ !?=)|npm (?:ERR|WARN|warn|notice|error)|\w+ (?:version )?v?\d+\.\d+|\w+: "
)
"""Starts of output lines that look like a command."""


def _prose_reason(masked_line: str, tokens: list[str]) -> str:
    """Return why a line reads as prose or output instead of a command, or an empty string."""
    if _OUTPUT_LINE.match(masked_line):
        return "looks like program output"
    reason = "looks like a sentence, not a command"
    is_script_line = bool(tokens) and tokens[0] in ("for", "while", "if", "until", "case", "echo", "printf")
    if not is_script_line and any([token in WORDS["sentence"] for token in tokens[1:]]):
        return reason
    if re.search(r"\w[.:?!,]$", masked_line) and not masked_line.endswith(("::", " .")):
        return reason
    if re.search(r"[→⇒✓✔✗✘•│├└]|(?:^|\s)(?:=>|->|or)\s", masked_line):
        return reason
    if re.search(r"(?<![$<>\s(])\s\((?!\))", masked_line) and not masked_line.startswith("("):
        return "is followed by text in parentheses"
    return ""


def command_program(command: str) -> str:
    """Return the name of the program that a command runs."""
    return (command.split() or [""])[0].rpartition("/")[2]


def is_clear_command(line: str, *, is_called_command: bool = False) -> bool:
    """Return whether a line is certainly a command.

    With `is_called_command`, the text around it calls it one, so that the path of a script alone is enough.
    """
    command = line[2:].split("&&", 1)[-1].strip() if line.startswith("cd ") and "&&" in line else line.strip("( ")
    is_lone_script = " " not in command.strip() and command.endswith(".sh") and not command.startswith("./")
    if looks_like_command(command):
        return is_called_command or not is_lone_script
    tokens = [token for token in command.split() if "=" not in token.partition("/")[0]]
    if not tokens:
        return False
    program, *arguments = tokens
    name = program.rpartition("/")[2]
    if "/" not in program or not name or not _PROGRAM.fullmatch(program):
        return False
    dot, extension = name.rpartition(".")[1:]
    is_script = extension in _SCRIPT_EXTENSIONS if dot else program.startswith(_PROGRAM_DIRECTORIES)
    return is_script and (is_called_command if not arguments else _ARGUMENT.match(arguments[0]) is not None)
