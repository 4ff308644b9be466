"""Python modules that are generated from TOML tables and templates, because the code that uses them must start fast."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import command_tables
import phrase_patterns
from command_tables import python_literal

from execplan.execution.risk import risk_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
EARLIER_PLACEHOLDER_LINES = "scripts/earlier_placeholder_lines.txt"
"""Placeholder lines of the templates of earlier versions, with white space collapsed: plans still contain them."""
SECRETS = "execplan/core/secrets/secret_table.py"
_SEPARATOR = "|"
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")


def placeholder_lines() -> str:
    """Return the placeholder lines of the templates, also of earlier ones, for authors to replace."""
    lines = set((ROOT / EARLIER_PLACEHOLDER_LINES).read_text(encoding="utf-8").splitlines())
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    return "\n".join(sorted(lines)) + "\n"


def device_paths() -> str:
    """Return the module with parts of the paths of all devices that the risk table forbids reading."""
    rows = [row for row in command_tables.RISK_ROWS if row.reading and risk_table.SECRETS not in row.path]
    pieces = {max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path}
    entries = "\n".join(f'    "{piece}",' for piece in sorted(pieces))
    head = (
        '"""Parts of the paths of devices that must not be read; written by scripts/generate.py from the risk table."""'
    )
    return f"{head}\n\nPIECES = (\n{entries}\n)\n"


def secret_table() -> str:
    """Return the rules for secret detection as a module, so that using them requires no TOML parser."""
    rules = tomllib.loads((ROOT / "execplan/core/secrets/secret_rules.toml").read_text(encoding="utf-8"))
    tokens = [
        (
            rule["service"],
            tuple(rule["begins"]),
            rule["chars"],
            rule["least"],
            rule.get("most", 0),
            rule.get("test", False),
            rule.get("vague", False),
        )
        for rule in rules["token"]
    ]
    shapes = [(rule["service"], tuple(map(str.lower, rule["needle"])), rule["pattern"]) for rule in rules["shape"]]
    lines = [
        '"""Formats of secrets; written by scripts/generate.py from secret_rules.toml, which names the sources of the facts."""',
        "",
        "# service, beginnings, characters, least, most, test, vague",
        "TOKENS: tuple[tuple[str, tuple[str, ...], str, int, int, bool, bool], ...] = (",
        *[f"    {python_literal(token)}," for token in tokens],
        ")",
        "# service, needles, pattern",
        "SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (",
        *[f"    {python_literal(shape)}," for shape in shapes],
        ")",
    ]
    for group in ("names", "values"):
        for name, entries in rules[group].items():
            lines += [
                f"{name.upper()}: tuple[str, ...] = (",
                *[f"    {python_literal(entry)}," for entry in entries],
                ")",
            ]
    return _formatted("\n".join(lines) + "\n")


def cue_table() -> str:
    """Return the cues for the inference of steps as a module, so that using them requires no TOML parser."""
    content = tomllib.loads((ROOT / "execplan/execution/inference/cues.toml").read_text(encoding="utf-8"))
    compiler = phrase_patterns.PhraseCompiler(content)
    case_sensitive = tuple(cue for cue, table in content["cues"].items() if table.get("case"))
    lines = [
        '"""Cues as regular expressions, and lists of words; written by scripts/generate.py from cues.toml, which explains them."""',
        "",
        f"CASE_SENSITIVE = frozenset({python_literal(case_sensitive)})",
        "EXPRESSIONS = {",
        *[f"    {python_literal(cue)}: {_raw_literal(compiler.expression(cue))}," for cue in content["cues"]],
        "}",
        "WORDS = {",
        *[
            f"    {python_literal(name)}: frozenset({_words_literal(table)}),"
            for name, table in content["words"].items()
        ],
        "}",
    ]
    return _formatted("\n".join(lines) + "\n")


def phrase_table() -> str:
    """Return the phrases that lint rules look for as a module, because the rules must start fast."""
    tables = tomllib.loads((ROOT / "execplan/linter/phrases.toml").read_text(encoding="utf-8"))
    lines = [
        '"""Phrases that lint rules look for in a text; written by scripts/generate.py from phrases.toml, which explains them."""',
        "",
    ]
    for name, table in tables.items():
        phrases = [phrase for key, phrases in table.items() if key != "about" for phrase in phrases]
        lines.append(f"{name.upper()}_PHRASES = {python_literal(tuple(phrases))}")
    return _formatted("\n".join(lines) + "\n")


def role_table() -> str:
    """Return the titles and words that tell what a section is for as a module, because reading a plan must be fast."""
    tables = tomllib.loads((ROOT / "execplan/core/plan/roles.toml").read_text(encoding="utf-8"))
    lines = [
        '"""What sections are for, by their headings; written by scripts/generate.py from roles.toml, which explains it."""',
        "",
    ]
    for name, table in tables.items():
        entries = [
            f"    {python_literal(role)}: ({_wrapped_literal(texts)}).split({_SEPARATOR!r}),"
            for role, texts in table.items()
        ]
        lines += [f"{name.upper()} = {{", *entries, "}"]
    return _formatted("\n".join(lines) + "\n")


def _wrapped_literal(texts: list[str]) -> str:
    """Format texts as one string in several lines of Python source."""
    lines = textwrap.wrap(_SEPARATOR.join(texts), 90, drop_whitespace=False, break_long_words=False)
    return "\n".join([python_literal(line) for line in lines])


def _words_literal(table: dict[str, str]) -> str:
    """Format the words of all languages as Python source, one long string."""
    words = [word for key, words in table.items() if key not in phrase_patterns.SETTINGS for word in words.split()]
    return f"{python_literal(' '.join(words))}.split()"


def _raw_literal(expression: str) -> str:
    """Format a regular expression as a raw string."""
    return f'r"""{expression}"""' if '"' in expression else f'r"{expression}"'


def _formatted(source: str) -> str:
    """Format Python source with ruff."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", SECRETS, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


MODULES: dict[str, Callable[[], str]] = {
    "execplan/core/plan/placeholder_lines.txt": placeholder_lines,
    "execplan/agents/guard/device_paths.py": device_paths,
    "execplan/execution/inference/cue_table.py": cue_table,
    "execplan/linter/phrase_table.py": phrase_table,
    "execplan/core/plan/role_table.py": role_table,
    SECRETS: secret_table,
    command_tables.COMMANDS: command_tables.command_table,
    command_tables.RISKS: command_tables.risk_rows,
}
