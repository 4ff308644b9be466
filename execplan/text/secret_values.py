"""What a value is that is given to a name: a secret, or a placeholder, a reference, a type, a sentence."""

from __future__ import annotations

import re
from functools import lru_cache

from execplan.text.patterns import compiled
from execplan.text.secret_table import EXAMPLE, NOTHING, PLACEHOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PASSWORD: Final = "password"  # noqa: S105 - the name of a kind
SECRET: Final = "secret"  # noqa: S105 - the name of a kind
SERVICE: Final = "service"
"""What the name says: a password, which may be short or a word; a secret, which looks like no word; a service, whose
random values are secrets."""
_LEAST: Final = {PASSWORD: 3, SECRET: 6, SERVICE: 14}
_MOST: Final = 600
"""Characters of a value that are looked at."""
_SENTENCE: Final = 6
"""Words from which on a quoted text is a sentence."""
_NOTHING: Final = frozenset(NOTHING)
_ONES_OWN: Final = r"[xX*.•·#_?+~\s-]*"
"""What stands for a value without a letter of it."""
_REFERENCE: Final = r"""(?x)
    \$(?:\w+|\{\w+(?:[?+]|:[?+]|\})|\(|\{\{|env:|\w+\[) .*          # $NAME, ${NAME}, $(command), ${{ … }}
    | (?:[fFrRbB]*["'])?[^{}\n]{0,40}(?:\{[\w.:!\[\] ?-]{0,60}\}|\{\{[^{}\n]{0,200}\}?\}?) .{0,80}   # {name}, {{ name }}, Bearer {token}
    | %(?:\(|\w+%|[sdr]\b) .* | !(?:vault|ref|sub|getatt|env)\b .* | \#\{ .* | @[\w./~-]+ | &\w+ | \*\w+ | <[^<>\n]{0,80}>?
    | (?:op|vault|ssm|aws-sm|gcp-sm|arn|secretsmanager|keyring|env|file|azurekeyvault|ref\+\w+):/{0,2}[\w/:.$-]+
    | (?:https?://|/|\./|\.\./|~/)[\w./@:%?=&~+-]*                     # an address, a path
    | (?:secrets?|vars?|env|inputs|github|steps|matrix|params|process|os|config|settings|self|this|data|local|module|each|input|ctx|args?|opts?|options|request|req|row|user|obj)
      (?:\.|\[|->|::) .*
    """
_TYPED: Final = (
    r"(?ix)(?:str|string|text|bytes?|int|bool|any|none|null|optional|option|list|dict|tuple|set|vec|box|arc|secretstr|char|varchar|[iuf](?:8|16|32|64|128|size)|&'?\w*\s?str|uuid)\b"
    r"(?:\s*[\[<(|;?!,=] .* | \s*\|.* | $)"
)
_CODE: Final = (
    r"(?x)\w*[a-zA-Z_]\w*(?:[.:]{1,2}\w+)*[(\[<] .*"  # a call, an item, a generic
    r"| [a-zA-Z_]\w*(?:(?:\.|->|::|\?\.)[a-zA-Z_]\w*)+[;,)]*"  # an attribute
    r"| (?:await|new|lambda|not|yield|return|async|typeof|func|function|fn|def|if|else|in|is|isinstance|import|from)\s .*"
)
_WORD: Final = r"[A-Za-z][a-z]*[.,;:!?)]*"
_NAME: Final = (
    r"(?:[a-z]+(?:[A-Z][a-z]*)+|[A-Z][a-z]+(?:[A-Z][a-z]*)+|[A-Za-z]+(?:_[A-Za-z]+)+|_+[A-Za-z_]+)\d{0,2}[;,)]*"
)
"""A name of a program: camelCase, snake_case, CONSTANT_CASE."""
_UUID: Final = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SPECIAL: Final = frozenset("!@#$%^&*?+=~|")
_DIGEST: Final = r"(?i)(?:sha(?:1|256|384|512)|md5|h1)[:-].*|v?\d+(?:\.\d+)+.*"


@lru_cache(maxsize=4096)
def is_secret(value: str, kind: str, *, quoted: bool, config: bool, alone: bool = True) -> bool:
    """Whether a value is one.

    `quoted`: it was in quotes. `config`: it is on the right of a setting, where nothing is code. `alone`: nothing follows it
    on its line.
    """
    plain = value.strip()[:_MOST]
    if len(plain) < _LEAST[kind] or is_placeholder(plain) or compiled(_REFERENCE).fullmatch(plain):
        return False
    if kind == SERVICE:
        return _looks_drawn(plain) and not compiled(_UUID).fullmatch(plain)
    if quoted and value[0] in " ," and len(value.split()) > 1:
        return False  # what is between two quoted texts
    if quoted:
        return _is_quoted_secret(plain, kind)
    if (
        compiled(_TYPED).fullmatch(plain)
        or compiled(_DIGEST).fullmatch(plain)
        or (not config and compiled(_CODE).fullmatch(plain))
    ):
        return False
    if kind == PASSWORD:
        return _is_bare_password(plain, config=config, alone=alone)
    return _is_bare_secret(plain, config=config)


@lru_cache(maxsize=4096)
def is_placeholder(value: str) -> bool:
    """Whether a value only stands for another."""
    folded = value.lower()
    bare = folded.strip(" \t.,;:!?()[]{}<>\"'`")
    return (
        bare in _NOTHING
        or bool(compiled(_ONES_OWN).fullmatch(value))
        or len(set(folded)) < 2
        or any([word in folded for word in PLACEHOLDER])
        or (16 <= len(value) <= 40 and any([word in folded for word in EXAMPLE]))
    )


def _is_name(value: str) -> bool:
    """Whether a value reads as a name of a program; in one that was drawn, capitals follow each other too closely."""
    capitals = sum([char.isupper() for char in value])
    return compiled(_NAME).fullmatch(value) is not None and (3 * capitals <= len(value) or value == value.upper())


def _is_quoted_secret(value: str, kind: str) -> bool:
    words = value.split()
    if len(words) > 1:
        told = any([_says(word) for word in words]) or value[-1] in ".:?!" or len(words) >= _SENTENCE
        return not told and (kind == PASSWORD or any([char.isdigit() for char in value]))
    if kind == PASSWORD:
        return not (_is_name(value) and _tells(value))
    if compiled(_DIGEST).fullmatch(value):
        return False
    return _is_no_word(value) or (
        len(value) >= 12 and not _is_name(value) and not value.isalpha() and "/" not in value and " " not in value
    )


def _is_bare_password(value: str, *, config: bool, alone: bool) -> bool:
    if _is_name(value):
        return config and not _tells(value)
    if compiled(_WORD).fullmatch(value):
        return config and alone and len(value) > 3
    return True


def _is_bare_secret(value: str, *, config: bool) -> bool:
    if value.isdigit() or "/" in value[:1]:
        return False
    if _is_name(value) or compiled(_WORD).fullmatch(value):
        return config and len(value) >= 8 and not _tells(value) and compiled(_WORD).fullmatch(value) is not None
    return _is_no_word(value) or (config and len(value) >= 8 and not _tells(value) and "." not in value)


def _is_no_word(value: str) -> bool:
    """Whether a value has letters and digits, or a character that no name has, or is long and of both cases."""
    digits = sum([char.isdigit() for char in value])
    letters = sum([char.isalpha() for char in value])
    if digits and letters:
        return not _is_plain_name(value)
    return (letters > 0 and not _SPECIAL.isdisjoint(value) and " " not in value) or _looks_drawn(value)


def _is_plain_name(value: str) -> bool:
    """Whether it is words that are joined, with a number at an end: `step-2`, `v1_tokens`, `utf-8`."""
    parts = re.split(r"[-_. :/]", value)
    return len(parts) > 1 and len(value) < 12 and all([part.isalpha() or part.isdigit() for part in parts])


def _looks_drawn(value: str) -> bool:
    """Whether letters and digits were drawn by a machine."""
    row = value.strip("=")
    if len(row) < 12 or " " in row:
        return False
    digits = sum([char.isdigit() for char in row])
    kinds = bool(digits) + (row != row.lower()) + (row != row.upper())
    if digits < 2 or len(set(row)) < 7:
        return False
    return kinds == 3 or digits >= 3


def _tells(value: str) -> bool:
    """Whether a name of a program is itself the name of a secret."""
    folded = value.lower()
    return any(
        [
            word in folded
            for word in ("passw", "pwd", "token", "secret", "key", "cred", "auth", "cookie", "session", "value", "name")
        ]
    )


def _says(word: str) -> bool:
    """Whether a word belongs to a sentence about a secret."""
    return word.strip(".,;:!?()").lower() in _SENTENCES


_SENTENCES: Final = frozenset(
    (
        "must is be the a an required invalid incorrect wrong not your enter please for of to at least characters field with "
        "password token secret key missing expired are was has have cannot can't should new old in on from this that no"
    ).split()
)
