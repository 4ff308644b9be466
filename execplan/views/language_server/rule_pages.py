"""The help of a rule as Markdown, in a hover and in a file that a diagnostic links to."""

from __future__ import annotations

import os
import re
from typing import Final

from pygls.uris import from_fs_path

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files
from execplan.linter.rule import NO_FIX, RULES, SAFE

_EXAMPLE: Final = re.compile(r"^([A-Z][^\n]*:)\n((?:(?: {4}[^\n]*)?\n)+)", re.MULTILINE)
"""A heading such as `Bad:`, and the indented example below it."""
_uris_by_code: dict[str, str] = {}
"""The URI of each page that this process has written, by code."""


def rule_markdown(code: str) -> str:
    """Return the help of a rule as Markdown; empty if there is no such rule."""
    rule = RULES.get(code)
    if rule is None:
        return ""
    fix = {NO_FIX: "no fix", SAFE: "a safe fix"}.get(rule.fix, "an unsafe fix")
    body = _EXAMPLE.sub(_format_example, f"{rule.help_text}\n")
    return f"# {code}\n\n{body.strip()}\n\nLevel: {rule.level}, with {fix}.\n"


def rule_page_uri(code: str) -> str:
    """Return the URI of a file with the help of a rule, which is written if needed; empty if that is not possible."""
    if code not in _uris_by_code:
        _uris_by_code[code] = _write_page(code)
    return _uris_by_code[code]


def _format_example(match: re.Match[str]) -> str:
    lines = [line.removeprefix("    ") for line in match[2].strip("\n").split("\n")]
    return "\n".join(["", match[1], "", "~~~~markdown", *lines, "~~~~", ""])


def _write_page(code: str) -> str:
    page = rule_markdown(code)
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(caches, "execplan", "rules", f"{code}.md")
    if not page:
        return ""
    try:
        atomic_files.replace(path, page.encode(), durable=False, is_locked=False)
    except ExecplanError:
        return ""
    return from_fs_path(path) or ""
