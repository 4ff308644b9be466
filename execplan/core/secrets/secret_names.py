"""Classification of named values: which names are those of secrets, and which values are no placeholders."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from execplan.core.secrets import secret_table
from execplan.core.secrets.secret_table import EXAMPLE, NOTHING, PLACEHOLDER

PASSWORD: Final = "password"  # noqa: S105 - the name of a kind
SECRET: Final = "secret"  # noqa: S105 - the name of a kind
SERVICE: Final = "service"
"""Kind of a name whose random values are secrets.

The others are a password, which may be short or a word, and a secret, which is unlike a word.
"""
_NAME_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_JOINED_PARTS: Final = 3
"""Maximum number of name parts that form one word, such as `shared_access_key`."""
_FINAL_PARTS: Final = frozenset(
    "sig sid salt pat otp totp pass pw psk auth cookie dsn webhook seed jwt signature bearer".split()
)
"""Name parts that count only at the end of a name."""
_NAMES_BY_KIND: Final = {PASSWORD: frozenset(secret_table.PASSWORD), SECRET: frozenset(secret_table.SECRET)}
_ABOUT, _NEVER = frozenset(secret_table.ABOUT), frozenset(secret_table.NEVER)
_SERVICES = frozenset(secret_table.SERVICES)
_JOINED_SUFFIXES: Final = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "credential")
"""Endings of name parts in which words are joined without a separator: `dbpassword`, `mysecret`."""


_MIN_LENGTHS: Final = {PASSWORD: 3, SECRET: 6, SERVICE: 14}
_MAX_LENGTH: Final = 600
"""Maximum number of characters of a value to check."""

_MIN_SENTENCE_WORDS: Final = 6
"""Minimum number of words for a quoted text to count as a sentence."""

_EMPTY_VALUES: Final = frozenset(NOTHING)
_MASKED: Final = r"[xX*.•·#_?+~\s-]*"
"""Pattern of a fully masked value."""

_REFERENCE: Final = r"""(?x)
    \$(?:\w+|\{\w+(?:[?+]|:[?+]|\})|\(|\{\{|env:|\w+\[) .*          # $NAME, ${NAME}, $(command), ${{ … }}
    | (?:[fFrRbB]*["'])?[^{}\n]{0,40}(?:\{[\w.:!\[\] ?-]{0,60}\}|\{\{[^{}\n]{0,200}\}?\}?) .{0,80}   # {name}, {{ name }}, Bearer {token}
    | %(?:\(|\w+%|[sdr]\b) .* | !(?:vault|ref|sub|getatt|env)\b .* | \#\{ .* | @[\w./~-]+ | --[a-z][\w-]* | &\w+ | \*\w+ | <[^<>\n]{0,80}>?
    | (?:op|vault|ssm|aws-sm|gcp-sm|arn|secretsmanager|keyring|env|file|azurekeyvault|ref\+\w+):/{0,2}[\w/:.$-]+
    | (?:https?://|/|\./|\.\./|~/)[\w./@:%?=&~+-]*                     # an address, a path
    | (?:secrets?|vars?|env|inputs|github|steps|matrix|params|process|os|config|settings|self|this|data|local|module|each|input|ctx|args?|opts?|options|request|req|row|user|obj)
      (?:\.|\[|->|::) .*
    """

_TYPE_EXPRESSION: Final = (
    r"(?ix)(?:str|string|text|bytes?|int|bool|any|none|null|optional|option|list|dict|tuple|set|vec|box|arc|secretstr|char|varchar|[iuf](?:8|16|32|64|128|size)|&'?\w*\s?str|uuid)\b"
    r"(?:\s*[\[<(|;?!,=] .* | \s*\|.* | $)"
)
_CODE_EXPRESSION: Final = (
    r"(?x)\w*[a-zA-Z_]\w*(?:[.:]{1,2}\w+)*[(\[<] .*"  # a call, an index, a generic type
    r"| [a-zA-Z_]\w*(?:(?:\.|->|::|\?\.)[a-zA-Z_]\w*)+[;,)]*"  # an attribute
    r"| (?:await|new|lambda|not|yield|return|async|typeof|func|function|fn|def|if|else|in|is|isinstance|import|from)\s .*"
)
_PLAIN_WORD: Final = r"[A-Za-z][a-z]*[.,;:!?)]*"
_IDENTIFIER: Final = (
    r"(?:[a-z]+(?:[A-Z][a-z]*)+|[A-Z][a-z]+(?:[A-Z][a-z]*)+|[A-Za-z]+(?:_[A-Za-z]+)+|_+[A-Za-z_]+)\d{0,2}[;,)]*"
)
"""Pattern of an identifier: camelCase, snake_case or CONSTANT_CASE."""

_UUID: Final = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SPECIAL_CHARS: Final = frozenset("!@#$%^&*?+=~|")
_DIGEST_OR_VERSION: Final = r"(?i)(?:sha(?:1|256|384|512)|md5|h1)[:-].*|v?\d+(?:\.\d+)+.*"
_SENTENCE_WORDS: Final = frozenset(
    (
        "must is be the a an required invalid incorrect wrong not your enter please for of to at least characters field with "
        "password token secret key missing expired are was has have cannot can't should new old in on from this that no"
    ).split()
)


@lru_cache(maxsize=4096)
def classify_name(name: str) -> str:
    """Return the kind of a name (PASSWORD, SECRET or SERVICE), or an empty string for any other name."""
    name_parts = [name_part.lower() for name_part in _NAME_PART.findall(name.rpartition("/")[2])]
    while name_parts and (
        name_parts[-1].isdigit()
        or name_parts[-1] in ("base", "prod", "production", "dev", "staging", "b64", "base64", "plain", "x")
    ):
        name_parts.pop()
    if not name_parts or len(name_parts) > 12:
        return ""
    last_part = name_parts[-1]
    joined_parts = {
        "".join(name_parts[index : index + size])
        for size in range(2, _MAX_JOINED_PARTS + 1)
        for index in range(len(name_parts) - size + 1)
    }
    if name_parts[0] in _NEVER and len(name_parts) > 1:
        return ""
    if last_part in _ABOUT and not (
        {"".join(name_parts[-2:]), "".join(name_parts[-3:])} & (_NAMES_BY_KIND[SECRET] | {"authorization"})
    ):
        return ""
    for name_kind in (PASSWORD, SECRET):
        known_names = _NAMES_BY_KIND[name_kind]
        if (
            any(
                [
                    name_part in known_names and (name_part not in _FINAL_PARTS or name_part == last_part)
                    for name_part in name_parts
                ]
            )
            or joined_parts & known_names
        ):
            return name_kind
    if any([name_part.endswith(_JOINED_SUFFIXES) for name_part in name_parts]):
        return PASSWORD if any([name_part.endswith(_JOINED_SUFFIXES[:3]) for name_part in name_parts]) else SECRET
    if last_part in ("key", "pin") and len(name_parts) > 1:
        return SECRET if name.isupper() else SERVICE
    service_names = _SERVICES.intersection(name_parts) or _SERVICES & joined_parts
    return SERVICE if service_names else ""


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern and cache the result."""
    return re.compile(pattern)


@lru_cache(maxsize=4096)
def is_secret(value: str, kind: str, *, is_quoted: bool, is_config: bool, is_alone: bool = True) -> bool:
    """Return whether the value of a name of this kind is a secret.

    `is_quoted`: the value was in quotes. `is_config`: it is the value of a setting, where nothing is code. `is_alone`:
    nothing follows it on its line.
    """
    stripped = value.strip()[:_MAX_LENGTH]
    if (
        len(stripped) < _MIN_LENGTHS[kind]
        or is_placeholder(stripped)
        or compile_pattern(_REFERENCE).fullmatch(stripped)
    ):
        return False
    if kind == SERVICE:
        return _looks_random(stripped) and not compile_pattern(_UUID).fullmatch(stripped)
    if is_quoted and value[0] in " ," and len(value.split()) > 1:
        return False  # the text between two quoted texts
    if is_quoted:
        return _is_quoted_secret(stripped, kind)
    if (
        compile_pattern(_TYPE_EXPRESSION).fullmatch(stripped)
        or compile_pattern(_DIGEST_OR_VERSION).fullmatch(stripped)
        or (not is_config and compile_pattern(_CODE_EXPRESSION).fullmatch(stripped))
    ):
        return False
    if kind == PASSWORD:
        return _is_bare_password(stripped, is_config=is_config, is_alone=is_alone)
    return _is_bare_secret(stripped, is_config=is_config)


@lru_cache(maxsize=4096)
def is_placeholder(value: str) -> bool:
    """Return whether a value is only a placeholder for another."""
    lowered = value.lower()
    bare_value = lowered.strip(" \t.,;:!?()[]{}<>\"'`")
    return (
        bare_value in _EMPTY_VALUES
        or bool(compile_pattern(_MASKED).fullmatch(value))
        or len(set(lowered)) < 2
        or any([word in lowered for word in PLACEHOLDER])
        or (16 <= len(value) <= 40 and any([word in lowered for word in EXAMPLE]))
    )


def _is_identifier(value: str) -> bool:
    """Return whether a value reads as an identifier; random values have too many capitals for that."""
    capitals = sum([char.isupper() for char in value])
    return compile_pattern(_IDENTIFIER).fullmatch(value) is not None and (
        3 * capitals <= len(value) or value == value.upper()
    )


def _is_quoted_secret(value: str, kind: str) -> bool:
    words = value.split()
    if len(words) > 1:
        is_sentence = (
            any([_is_sentence_word(word) for word in words]) or value[-1] in ".:?!" or len(words) >= _MIN_SENTENCE_WORDS
        )
        return not is_sentence and (kind == PASSWORD or any([char.isdigit() for char in value]))
    if kind == PASSWORD:
        return not (_is_identifier(value) and _names_secret(value))
    if compile_pattern(_DIGEST_OR_VERSION).fullmatch(value):
        return False
    return _is_unlike_word(value) or (
        len(value) >= 12 and not _is_identifier(value) and not value.isalpha() and "/" not in value and " " not in value
    )


def _is_bare_password(value: str, *, is_config: bool, is_alone: bool) -> bool:
    if _is_identifier(value):
        return is_config and not _names_secret(value)
    if compile_pattern(_PLAIN_WORD).fullmatch(value):
        return is_config and is_alone and len(value) > 3
    return True


def _is_bare_secret(value: str, *, is_config: bool) -> bool:
    if value.isdigit() or "/" in value[:1]:
        return False
    if _is_identifier(value) or compile_pattern(_PLAIN_WORD).fullmatch(value):
        return (
            is_config
            and len(value) >= 8
            and not _names_secret(value)
            and compile_pattern(_PLAIN_WORD).fullmatch(value) is not None
        )
    return _is_unlike_word(value) or (is_config and len(value) >= 8 and not _names_secret(value) and "." not in value)


def _is_unlike_word(value: str) -> bool:
    """Return whether a value has letters and digits, or a character that no identifier has, or looks random."""
    digits = sum([char.isdigit() for char in value])
    letters = sum([char.isalpha() for char in value])
    if digits and letters:
        return not _is_plain_name(value)
    return (letters > 0 and not _SPECIAL_CHARS.isdisjoint(value) and " " not in value) or _looks_random(value)


def _is_plain_name(value: str) -> bool:
    """Return whether a value consists of joined words and numbers: `step-2`, `utf-8`."""
    name_parts = re.split(r"[-_. :/]", value)
    return (
        len(name_parts) > 1
        and len(value) < 12
        and all([name_part.isalpha() or name_part.isdigit() for name_part in name_parts])
    )


def _looks_random(value: str) -> bool:
    """Return whether a value of letters and digits looks randomly generated."""
    stripped = value.strip("=")
    if len(stripped) < 12 or " " in stripped:
        return False
    digits = sum([char.isdigit() for char in stripped])
    kind_count = bool(digits) + (stripped != stripped.lower()) + (stripped != stripped.upper())
    if digits < 2 or len(set(stripped)) < 7:
        return False
    return kind_count == 3 or digits >= 3


def _names_secret(value: str) -> bool:
    """Return whether an identifier is itself the name of a secret."""
    lowered = value.lower()
    return any(
        [
            name_part in lowered
            for name_part in (
                "passw",
                "pwd",
                "token",
                "secret",
                "key",
                "cred",
                "auth",
                "cookie",
                "session",
                "value",
                "name",
            )
        ]
    )


def _is_sentence_word(word: str) -> bool:
    """Return whether a word belongs to a sentence about a secret."""
    return word.strip(".,;:!?()").lower() in _SENTENCE_WORDS
