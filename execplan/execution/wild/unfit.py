"""Why a command is not taken as it stands: it has gaps to be filled, never ends, asks somebody, or is no command at all."""

from __future__ import annotations

import re

from execplan.execution.command.typed import is_command
from execplan.execution.wild.line import is_part, masked, unknown
from execplan.execution.wild.stays import commands, stays

_SEARCH = frozenset("rg grep egrep fgrep ag ack sed awk perl jq git find sg ast-grep".split())
"""Their words are patterns and programs of their own, in which a gap looks like any other text."""
_GAP = re.compile(
    r"<[A-Za-z][^<>|;&$()]*>|\{\{|\}\}|\[(?:--?\w|[a-z]+ )[^\]]*\]|(?:^|[\s=/:])…|…$|…\s|[\s=]\.\.\.(?:\s|$)"
)
_QUOTED_GAP = re.compile(r"<[a-z][a-z0-9 _-]*>|\{\{|…|\.\.\.[\"']")
_SAMPLE = re.compile(
    r"path/to/|\byour[-_ ]|\bYYYY|\bNNN+\b|\bXXX+\b|\bxxx+\b|\bEP-N|\bTODO\b|\bTBD\b|\bplaceholder\b|\bexample-\w|\bREPLACE|\bchangeme\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"(?:^|[\s=/])[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*(?=$|[\s/])")
_KNOWN_CAPITALS = re.compile(
    r"HEAD|[A-Z]+_HEAD|GET|POST|PUT|PATCH|DELETE|OPTIONS|[A-Z]+[0-9]+|INT|TERM|KILL|HUP|ON|OFF|TRUE|FALSE|YES|NO|README|LICENSE|CHANGELOG|[A-Z]{1,2}|[A-Z]:?|UTC|UTF-8|JSON|CSV|XML"
)
_MACHINE = re.compile(r"(?:^|[\s=:'\"(])(/(?:home|Users|root|Volumes|workspaces?|mnt|srv|opt)/|[A-Za-z]:[\\/])")
_WINDOWS = re.compile(
    r"^[A-Z][a-z]+-[A-Z]\w+|^\.?\\|^\w+\\\w|\$env:|^(?:powershell|pwsh|cmd)(?:\.exe)?\b|^\S+\.(?:exe|ps1|bat|cmd)\b|^\$\w+ *="
)
_ENGLISH = frozenset(
    "the an is are was were and should must of that which will when then than into onto via per after before until unless because "
    "also only both each these those this".split()
)
_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*")
_PROGRAM = re.compile(r"[A-Za-z0-9_.@-][A-Za-z0-9_.@/-]*")
_ARGUMENT = re.compile(r"[-\w./@'\"$]")
_ENDINGS = ("sh", "bash", "py", "mjs", "js", "rb", "pl")
_KEPT = (
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
"""Where programs without an ending lie."""
_ESCAPED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|(\\["'])""")
_SEVERAL = re.compile(
    r"\w (?:just \w+|cargo (?:test|fmt|check|build|clippy|run)|p?npm (?:run|test|ci|install)|git (?:status|diff|add|commit|log|push)|"
    r"make \w+|go (?:test|build|vet)|uv run|ls \x02)(?:\s|$)"
)
_CARRIERS = frozenset(
    "npx env conda sudo xargs time timeout nohup bash sh zsh docker ssh uv echo printf find watch pre-commit mise asdf direnv nix devbox".split()
)


def unfit(line: str) -> str:
    """Why a line is no command that can be run as it stands, or nothing; `it ` would begin the sentence."""
    shown = masked(line)
    if shown is None:
        return "has a quote that is not closed on the line"
    words = shown.split()
    if "<<" in shown:
        return "has a here-document: write it as a script, with `shell`"
    if is_part(shown):
        return "is a part of a script of several lines"
    if _WINDOWS.search(line):
        return "is for Windows"
    if any([found.group(1) for found in _ESCAPED.finditer(line)]):
        return "has quotes behind backslashes, as if it were taken out of a string"
    first = next(commands(shown))
    if _SEVERAL.search(first) and program_of(first) not in _CARRIERS | _SEARCH:
        return "looks like several commands on one line"
    return (
        _gap(line, shown)
        or _prose(shown, words)
        or (f"needs a value for ${name}" if (name := unknown(line)) else "")
        or stays(shown)
        or ("names a path of one machine" if _MACHINE.search(line) else "")
    )


def _gap(line: str, shown: str) -> str:
    """What is left open for the reader to fill in."""
    program = program_of(next(commands(shown)))
    found = _GAP.search(shown) or _SAMPLE.search(shown)
    searches = program in _SEARCH and (program != "git" or re.search(r" (?:grep|log|show) .*\x02|\x01", shown))
    if found is None and not searches:
        found = _QUOTED_GAP.search(line) or _SAMPLE.search(line)
        for capitals in _CAPITALS.finditer(shown) if found is None else ():
            word = capitals.group().strip(" =/")
            at = capitals.start()
            is_name = "/" in shown[at : at + 1] or "/" in shown[capitals.end() : capitals.end() + 1]
            if not is_name and not _KNOWN_CAPITALS.fullmatch(word) and len(word) > 2:
                found = capitals
                break
    return f"has a gap to be filled: {found.group().strip()}" if found else ""


_PRINTED = re.compile(
    r"test (?![-!\x01\x02$({])(?!\S+ !?=)|npm (?:ERR|WARN|warn|notice|error)|\w+ (?:version )?v?\d+\.\d+|\w+: "
)
"""How lines begin that a program prints and that begin as a command does."""


def _prose(shown: str, words: list[str]) -> str:
    """What a line of prose shows that a command does not."""
    if _PRINTED.match(shown):
        return "reads as what a program prints"
    says = "reads as a sentence, not as a command"
    loop = bool(words) and words[0] in ("for", "while", "if", "until", "case", "echo", "printf")
    if not loop and any([word in _ENGLISH for word in words[1:]]):
        return says
    if re.search(r"\w[.:?!,]$", shown) and not shown.endswith(("::", " .")):
        return says
    if re.search(r"[→⇒✓✔✗✘•│├└]|(?:^|\s)(?:=>|->|or)\s", shown):
        return says
    if re.search(r"(?<![$<>\s(])\s\((?!\))", shown) and not shown.startswith("("):
        return "has words in parentheses behind it"
    return ""


def program_of(command: str) -> str:
    """The name of the program that a command runs."""
    return (command.split() or [""])[0].rpartition("/")[2]


def is_typed(line: str, *, told: bool = False) -> bool:
    """Whether a line is surely a command; `told` says that words around it call it one, so a lone path of a script is."""
    bare = line[2:].split("&&", 1)[-1].strip() if line.startswith("cd ") and "&&" in line else line.strip("( ")
    lone = " " not in bare.strip() and bare.endswith(".sh") and not bare.startswith("./")
    if is_command(bare):
        return told or not lone
    words = [word for word in bare.split() if "=" not in word.partition("/")[0]]
    if not words:
        return False
    program, *rest = words
    name = program.rpartition("/")[2]
    if "/" not in program or not name or not _PROGRAM.fullmatch(program):
        return False
    dot, ending = name.rpartition(".")[1:]
    script = ending in _ENDINGS if dot else program.startswith(_KEPT)
    return script and (told if not rest else _ARGUMENT.match(rest[0]) is not None)
