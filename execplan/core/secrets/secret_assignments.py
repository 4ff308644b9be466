"""Detection of secrets by name in assignments such as `NAME=value`, `name: value` and `'name' => 'value'`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from execplan.core.secrets.secret_names import PASSWORD, SECRET, classify_name, is_secret

_NAME_AND_OPERATOR: Final = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{2,120}+)(?P<close>(?:\\{0,3}[\"'`])?[\])]{0,2})"
    r"(?P<before>(?<=[\"'])\s{1,40}+(?=:)|[ \t]{0,20}+\*{0,2})(?P<joint>=>|\|\|=|[:?+]?=(?![=~>])|:(?![:=/\w]))(?P<after>\*{0,2}[ \t]{0,40}+)"
)
_QUOTED: Final = re.compile(
    r"(?:(?:base64|hex|plain):)?[bBrRuUfF@&]{0,2}(?P<quote>\\{0,3}(?:\"\"\"|'''|[\"'`]))(?P<s>(?>(?:(?!(?P=quote))[^\n]){1,2000}))"
)
_WRAPPER: Final = re.compile(
    r"(?:String(?:::from)?|(?:pydantic\.)?Secret(?:Str|Bytes|String|Value)?(?:::(?:new|from))?|Password|Some|bytes|Buffer\.from|new String)\("
    r"(?=\\{0,3}[bB]?[\"'])"
)
"""Constructors of strings, whose argument is the value."""
_YAML_PROPERTIES: Final = re.compile(r"(?:(?:!{1,2}(?:str|binary)?|&[\w-]{1,60})[ \t]{1,8}){1,3}")
"""Tag and anchor before a value of YAML."""
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token|apikey|bot|ssws|base64:|plain:)[ \t]*")
_TYPE_ANNOTATION: Final = re.compile(r"[&*]?'?[A-Za-z][\w.<>\[\], |&?]{0,60}?[ \t]{0,4}=(?!=)[ \t]{0,4}(?=[\"'`bru])")
_BLOCK_SCALAR: Final = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\n(?P<indent>[ \t]+)(?P<s>[^\n]+)")
_NEXT_LINE: Final = re.compile(r"(?:\\?\n[ \t]*){1,2}(?=\\?[\"'])")
_UNQUOTED_VALUE: Final = re.compile(r"[^\s\"'`]{1,4000}+")
"""Unquoted value that only white space or a quote ends."""
_UNQUOTED_WORD: Final = re.compile(r"[^\s\"'`,;&|(){}<>\[\]]{1,4000}+")
_DEFAULT: Final = re.compile(r"\$\{\w+:?-(?P<s>[^{}\s]{3,200})\}")
_SETTING_PREFIX: Final = re.compile(
    r"^[ \t>+\-*|│]*(?:(?:export|set|ENV|ARG|env|setx?|declare -x|Environment=\"?|-e|--build-arg|--env)[ \t]+)*[\"']?$"
)
"""Text before a setting on its line."""
_MAX_PREFIX: Final = 200
"""Maximum number of characters before a name to check."""
_MAX_VALUE: Final = 600
"""Maximum number of characters of a value to check."""
_QUERY_SEPARATORS: Final = frozenset("?&;")
_MARKUP: Final = frozenset("<>")


def find_assignments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secret values in assignments."""
    offset = 0
    while (name_match := _NAME_AND_OPERATOR.search(text, offset)) is not None:
        offset = name_match.end()
        if not (name_kind := classify_name(name_match["name"])):
            continue
        if name_match["name"].lower() == "pass" and name_match["joint"] == ":" and not name_match["close"]:
            name_kind = SECRET  # `the tests pass: …`
        span = _assigned_value(text, name_match, name_kind)
        if span is not None:
            yield span
            offset = max(span[1], offset)


def _assigned_value(text: str, name_match: re.Match[str], name_kind: str) -> tuple[int, int] | None:
    """Return the span of an assignment's value if it is a secret, or None."""
    offset = name_match.end()
    if (block_match := _BLOCK_SCALAR.match(text, offset)) is not None and name_match["joint"] == ":":
        if not is_secret(block_match["s"], name_kind, is_quoted=False, is_config=True):
            return None
        return block_match.start("s"), _block_end(text, block_match.end("s"), block_match["indent"])
    if (next_line := _NEXT_LINE.match(text, offset)) is not None and name_match["close"]:
        offset = next_line.end()
    if name_match["joint"] == ":" and (annotation_match := _TYPE_ANNOTATION.match(text, offset)) is not None:
        offset = annotation_match.end()
    if name_match["joint"] == ":" and (properties_match := _YAML_PROPERTIES.match(text, offset)) is not None:
        offset = properties_match.end()
    if (wrapper_match := _WRAPPER.match(text, offset)) is not None:
        offset = wrapper_match.end()
    if (quoted_match := _QUOTED.match(text, offset)) is not None:
        return _quoted_value(text, quoted_match, name_kind)
    if (scheme_match := _SCHEME.match(text, offset)) is not None:
        offset = scheme_match.end()
    if (default_match := _DEFAULT.match(text, offset)) is not None:
        return (
            default_match.span("s")
            if is_secret(default_match["s"], name_kind, is_quoted=False, is_config=True)
            else None
        )
    return _unquoted_value(text, name_match, offset, name_kind)


def _block_end(text: str, end: int, indent: str) -> int:
    """Return the end of the lines that have the indentation of a block's first line."""
    while text.startswith(f"\n{indent}", end):
        line_end = text.find("\n", end + 1)
        end = line_end if line_end >= 0 else len(text)
    return end


def _quoted_value(text: str, quoted_match: re.Match[str], name_kind: str) -> tuple[int, int] | None:
    """Return the span of a quoted value if it is a secret, or None."""
    start, end = quoted_match.span("s")
    if (scheme_match := _SCHEME.match(text, start, end)) is not None:
        start = scheme_match.end()
    value = text[start:end]
    if (default_match := _DEFAULT.search(value)) is not None:
        start, end = start + default_match.start("s"), start + default_match.end("s")
        value = default_match["s"]
    return (start, end) if start < end and is_secret(value, name_kind, is_quoted=True, is_config=True) else None


def _unquoted_value(text: str, name_match: re.Match[str], offset: int, name_kind: str) -> tuple[int, int] | None:
    """Return the span of an unquoted value if it is a secret, or None."""
    prefix_start = max(
        text.rfind("\n", max(name_match.start() - _MAX_PREFIX, 0), name_match.start()) + 1,
        name_match.start() - _MAX_PREFIX,
    )
    prefix = text[prefix_start : name_match.start()]
    has_spaces = bool(name_match["before"].strip("*") or name_match["after"].strip("*"))
    is_setting = _SETTING_PREFIX.match(prefix) is not None and not name_match["close"]
    is_tight = name_match["joint"] in ("=", "?=") and not has_spaces
    is_constant = name_match["name"].isupper()
    if (is_setting and (is_tight or has_spaces)) or (is_tight and is_constant):
        value_match = _UNQUOTED_VALUE.match(text, offset)
    else:
        value_match = _UNQUOTED_WORD.match(text, offset)
    if value_match is None:
        return None
    start, end = value_match.span()
    value = value_match[0]
    is_call_argument = (
        is_tight and not is_constant and (prefix.rstrip(" \t")[-1:] in ("(", ",") or value[-1:] in (",", ")"))
    )
    if value_match.re is _UNQUOTED_VALUE and (is_call_argument or (not is_tight and value[-1:] in ",;)")):
        value = value.rstrip(",;)")
    value = value.rstrip("." if value_match.re is _UNQUOTED_WORD else "").rstrip(":*\\")
    if prefix[-1:] in _QUERY_SEPARATORS or (name_kind == PASSWORD and ";" in value and is_tight):
        value = value.partition(";")[0].partition("&")[0] if ";" in value or prefix[-1:] in _QUERY_SEPARATORS else value
    end = start + len(value)
    following_text = text[end : end + 40].split("\n", maxsplit=1)[0].strip()
    is_alone = not following_text.strip(".\"'`)]}") or following_text.startswith("#")
    is_yaml_setting = (
        (is_setting or name_kind == PASSWORD)
        and name_match["joint"] == ":"
        and is_alone
        and not name_match["name"][:1].isupper()
    )
    is_config = not is_call_argument and (
        (
            is_tight
            and (
                is_constant
                or is_setting
                or prefix[-1:].isspace()
                or prefix[-1:] in _QUERY_SEPARATORS
                or prefix[-1:] == "-"
            )
        )
        or is_yaml_setting
    )
    if name_kind == SECRET and not is_constant and is_config and name_match["joint"] == ":":
        is_config = False
    if not value or (
        following_text
        and name_match["joint"] == ":"
        and name_kind == SECRET
        and not _is_unlike_prose(value[:_MAX_VALUE])
    ):
        return None
    return (
        (start, end)
        if is_secret(value[:_MAX_VALUE], name_kind, is_quoted=False, is_config=is_config, is_alone=is_alone or is_tight)
        else None
    )


def _is_unlike_prose(value: str) -> bool:
    """Return whether a value is unlike a word in a sentence."""
    return any([char.isdigit() for char in value]) and len(value) >= 8
