"""Tables as Python, made of TOML and templates, because the code that uses them must start fast."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import command_tables
import phrase_patterns
from command_tables import format_table

from execplan.core.plan.status_words import status_key
from execplan.core.secrets.credential_patterns import ARGUMENT_VALUE

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
EARLIER_PLACEHOLDER_LINES = "scripts/earlier_placeholder_lines.txt"
"""Placeholder lines of the templates of earlier versions, with white space collapsed: plans still contain them."""
_MARK = re.compile(r"\s*\{#- guidance #\}\s*$")


def placeholder_lines() -> str:
    """Return the placeholder lines of the templates, also of earlier ones, for authors to replace."""
    lines = set((ROOT / EARLIER_PLACEHOLDER_LINES).read_text(encoding="utf-8").splitlines())
    for template in sorted((ROOT / "templates").rglob("*.md")):
        for line in template.read_text(encoding="utf-8").splitlines():
            if _MARK.search(line):
                lines.add(" ".join(_MARK.sub("", line).split()))
    return format_table("templates", {"lines": sorted(lines)})


def secret_rules() -> str:
    """Return the rules for secret detection."""
    source = "execplan/core/secrets/secret_rules.toml"
    rules = _read_toml(source)
    tokens: dict[str, list[tuple[object, ...]]] = {}
    prefixes = [(prefix, rule) for rule in rules["token"] for prefix in rule["begins"]]
    for prefix, rule in sorted(prefixes, key=lambda pair: -len(pair[0])):
        limits = rule["least"], rule.get("most", 0), rule.get("test", False), rule.get("vague", False)
        tokens.setdefault(prefix[:2], []).append((rule["service"], prefix, rule["chars"], *limits))
    shapes = [
        (rule["service"], [needle.lower() for needle in rule["needle"]], rule["pattern"]) for rule in rules["shape"]
    ]
    credentials = [
        (rule["needle"], rule["pattern"].replace("{argument}", ARGUMENT_VALUE), rule["check"])
        for rule in rules["credential"]
    ]
    programs = [(rule["needle"], rule["program"], rule["option"]) for rule in rules["password_program"]]
    return format_table(
        source,
        {
            "tokens": tokens,
            "shapes": shapes,
            "credentials": credentials,
            "password_programs": programs,
            **rules["names"],
            **rules["values"],
        },
    )


def cues() -> str:
    """Return the cues for the inference of steps as regular expressions, and the lists of words of all languages."""
    source = "execplan/execution/inference/cues.toml"
    content = _read_toml(source)
    compiler = phrase_patterns.PhraseCompiler(content)
    return format_table(
        source,
        {
            "case_sensitive": [cue for cue, table in content["cues"].items() if table.get("case")],
            "expressions": {cue: compiler.expression(cue) for cue in content["cues"]},
            "words": {
                name: [
                    word
                    for key, words in table.items()
                    if key not in phrase_patterns.SETTINGS
                    for word in words.split()
                ]
                for name, table in content["words"].items()
            },
        },
    )


def phrases() -> str:
    """Return the phrases of all languages that lint rules look for."""
    source = "execplan/linter/phrases.toml"
    tables = _read_toml(source)
    return format_table(
        source,
        {
            name: [phrase for key, texts in table.items() if key != "about" for phrase in texts]
            for name, table in tables.items()
        },
    )


def roles() -> str:
    """Return the titles and words that tell what a section is for."""
    source = "execplan/core/plan/roles.toml"
    tables = _read_toml(source)
    names = {" ": "open_words", "~": "started_words", "x": "done_words", "-": "dropped_words"}
    first_words = {
        mark: {language: texts[0] for language, texts in tables[name].items()} for mark, name in names.items()
    }
    status_words: dict[str, tuple[str, str]] = {}
    for mark, name in names.items():
        for language, texts in tables.pop(name).items():
            for text in texts:
                status_words.setdefault(status_key(text), (mark, language))
    return format_table(source, {**tables, "status_words": status_words, "first_words": first_words})


def dialects() -> str:
    """Return the dialects of the package by their names."""
    source = "execplan/core/project/dialects"
    return format_table(
        source, {path.stem: _read_toml(f"{source}/{path.name}") for path in sorted((ROOT / source).glob("*.toml"))}
    )


def dangers() -> str:
    """Return what makes a written file dangerous, and what others use of a file."""
    source = "execplan/execution/risk/dangers.toml"
    table = _read_toml(source)
    signs = [
        (row["texts"], row["effect"], row.get("suffixes", ()), row.get("required_text", ""))
        for row in table.pop("sign")
    ]
    python = [
        (
            row["functions"],
            row["effect"],
            row.get("required_call", ""),
            row.get("when", ""),
            tuple(row.get("keyword", {}).items()),
        )
        for row in table.pop("python")
    ]
    unasked, internal = table.pop("unasked"), table.pop("internal")
    routes, exports = [[(row["suffixes"], row["patterns"]) for row in table.pop(kind)] for kind in ("route", "export")]
    if table:
        raise ValueError(f"{source}: unknown tables {', '.join(table)}")
    return format_table(
        source,
        {
            "signs": signs,
            "python": python,
            "unasked_files": unasked["files"],
            "unasked_directories": unasked["directories"],
            "routes": routes,
            "exports": exports,
            "internal": internal["names"],
        },
    )


def _read_toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


TABLES: dict[str, Callable[[], str]] = {
    "execplan/core/plan/placeholder_data.py": placeholder_lines,
    "execplan/execution/inference/cues_data.py": cues,
    "execplan/linter/phrases_data.py": phrases,
    "execplan/core/plan/roles_data.py": roles,
    "execplan/core/project/dialects_data.py": dialects,
    "execplan/core/secrets/secret_rules_data.py": secret_rules,
    "execplan/execution/shell/code_reading_data.py": command_tables.code_reading,
    "execplan/execution/shell/commands_data.py": command_tables.commands,
    "execplan/execution/risk/dangers_data.py": dangers,
    "execplan/execution/risk/risk_rows_data.py": command_tables.risk_rows,
}
