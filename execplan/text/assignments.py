"""Secrets by the name that they are given to: `NAME=value`, `name: value`, `"name": "value"`, `'name' => 'value'` and the like."""

from __future__ import annotations

import re
from typing import Final

from execplan.text.secret_names import kind
from execplan.text.secret_values import PASSWORD, SECRET, is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD: Final = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{2,120}+)(?P<close>(?:\\{0,3}[\"'`])?[\])]{0,2})"
    r"(?P<before>[ \t]{0,20}+\*{0,2})(?P<joint>=>|\|\|=|[:?+]?=(?![=~>])|:(?![:=/\w]))(?P<after>\*{0,2}[ \t]{0,40}+)"
)
_QUOTED: Final = re.compile(
    r"(?:(?:base64|hex|plain):)?[bBrRuUfF@&]{0,2}(?P<quote>\\{0,3}(?:\"\"\"|'''|[\"'`]))(?P<s>(?>(?:(?!(?P=quote))[^\n]){1,2000}))"
)
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token|apikey|bot|ssws|base64:|plain:)[ \t]*")
_ANNOTATED: Final = re.compile(r"[&*]?'?[A-Za-z][\w.<>\[\], |&?]{0,60}?[ \t]{0,4}=(?!=)[ \t]{0,4}(?=[\"'`bru])")
_BLOCK: Final = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\n(?P<indent>[ \t]+)(?P<s>[^\n]+)")
_NEXT_LINE: Final = re.compile(r"(?:\\?\n[ \t]*){1,2}(?=\\?[\"'])")
_ROW: Final = re.compile(r"[^\s\"'`]{1,4000}+")
"""A value without quotes where nothing ends it but white space."""
_WORD: Final = re.compile(r"[^\s\"'`,;&|(){}<>\[\]]{1,4000}+")
_DEFAULT: Final = re.compile(r"\$\{\w+:?-(?P<s>[^{}\s]{3,200})\}")
_SETTING: Final = re.compile(
    r"^[ \t>+\-*|│]*(?:(?:export|set|ENV|ARG|env|setx?|declare -x|Environment=\"?|-e|--build-arg|--env)[ \t]+)*[\"']?$"
)
"""What is before a setting on its line."""
_LEAD: Final = 200
"""Characters of a line before a name that are looked at."""
_LOOKED: Final = 600
"""Characters of a value that are looked at."""
_WITHIN: Final = frozenset("?&;")
_MARKUP: Final = frozenset("<>")


def assignments(text: str) -> Iterator[tuple[int, int]]:
    """Where such values begin and end."""
    at = 0
    while (head := _HEAD.search(text, at)) is not None:
        at = head.end()
        found = kind(head["name"])
        if not found:
            continue
        if head["name"].lower() == "pass" and head["joint"] == ":" and not head["close"]:
            found = SECRET  # `the tests pass: …`
        span = _value(text, head, found)
        if span is not None:
            yield span
            at = max(span[1], at)


def _value(text: str, head: re.Match[str], found: str) -> tuple[int, int] | None:
    """The value of an assignment, if it is a secret."""
    at = head.end()
    if (block := _BLOCK.match(text, at)) is not None and head["joint"] == ":":
        if not is_secret(block["s"], found, quoted=False, config=True):
            return None
        return block.start("s"), _end_of_block(text, block.end("s"), block["indent"])
    if (line := _NEXT_LINE.match(text, at)) is not None and head["close"]:
        at = line.end()
    if head["joint"] == ":" and (annotation := _ANNOTATED.match(text, at)) is not None:
        at = annotation.end()
    if (quoted := _QUOTED.match(text, at)) is not None:
        return _of_quoted(text, quoted, found)
    if (scheme := _SCHEME.match(text, at)) is not None:
        at = scheme.end()
    if (default := _DEFAULT.match(text, at)) is not None:
        return default.span("s") if is_secret(default["s"], found, quoted=False, config=True) else None
    return _bare(text, head, at, found)


def _end_of_block(text: str, end: int, indent: str) -> int:
    """Where the lines end that are indented as the first line of a block is."""
    while text.startswith(f"\n{indent}", end):
        stop = text.find("\n", end + 1)
        end = stop if stop >= 0 else len(text)
    return end


def _of_quoted(text: str, quoted: re.Match[str], found: str) -> tuple[int, int] | None:
    """What is in quotes, if it is a secret."""
    start, end = quoted.span("s")
    if (scheme := _SCHEME.match(text, start, end)) is not None:
        start = scheme.end()
    value = text[start:end]
    if (default := _DEFAULT.search(value)) is not None:
        start, end = start + default.start("s"), start + default.end("s")
        value = default["s"]
    return (start, end) if start < end and is_secret(value, found, quoted=True, config=True) else None


def _bare(text: str, head: re.Match[str], at: int, found: str) -> tuple[int, int] | None:
    """A value without quotes, if it is a secret."""
    begin = max(text.rfind("\n", max(head.start() - _LEAD, 0), head.start()) + 1, head.start() - _LEAD)
    lead = text[begin : head.start()]
    spaced = bool(head["before"].strip("*") or head["after"].strip("*"))
    is_setting = _SETTING.match(lead) is not None and not head["close"]
    tight = head["joint"] in ("=", "?=") and not spaced
    constant = head["name"].isupper()
    row = _ROW.match(text, at) if (is_setting and (tight or spaced)) or (tight and constant) else _WORD.match(text, at)
    if row is None:
        return None
    start, end = row.span()
    value = row[0]
    in_a_call = tight and not constant and (lead.rstrip(" \t")[-1:] in ("(", ",") or value[-1:] in (",", ")"))
    if row.re is _ROW and (in_a_call or (not tight and value[-1:] in ",;)")):
        value = value.rstrip(",;)")
    value = value.rstrip("." if row.re is _WORD else "").rstrip(":*\\")
    if lead[-1:] in _WITHIN or (found == PASSWORD and ";" in value and tight):
        value = value.partition(";")[0].partition("&")[0] if ";" in value or lead[-1:] in _WITHIN else value
    end = start + len(value)
    rest = text[end : end + 40].split("\n", maxsplit=1)[0].strip()
    alone = not rest.strip(".\"'`)]}") or rest.startswith("#")
    by_line = (is_setting or found == PASSWORD) and head["joint"] == ":" and alone and not head["name"][:1].isupper()
    config = not in_a_call and (
        (tight and (constant or is_setting or lead[-1:].isspace() or lead[-1:] in _WITHIN or lead[-1:] == "-"))
        or by_line
    )
    if found == SECRET and not constant and config and head["joint"] == ":":
        config = False
    if not value or (rest and head["joint"] == ":" and found == SECRET and not _is_row(value[:_LOOKED])):
        return None
    return (
        (start, end) if is_secret(value[:_LOOKED], found, quoted=False, config=config, alone=alone or tight) else None
    )


def _is_row(value: str) -> bool:
    """Whether a value is no word of a sentence."""
    return any([char.isdigit() for char in value]) and len(value) >= 8
