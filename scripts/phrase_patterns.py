r"""Regular expressions from phrases in TOML, in a notation that is close to the text that it matches.

A phrase matches whole words, in upper and lower case. In Chinese, Japanese and Korean it matches anywhere. In a phrase:

    (run|execute) it    one of several words or phrases
    [the] file[s]       an optional word with its space, or an optional ending
    approv* approv+     any ending; any nonempty ending
    ...                 at an end of the phrase: within a longer word, too
    {name}              the expression in [parts] or [places], or any phrase of the cue with this name
    {not of|in}         not followed by one of these
    {never run}         not followed by one of these words later
    {not after the }    not directly after one of these
    {some the|own}      one or more of these words
    \(                  the character itself

A part is a regular expression, or a list of phrases. A place is a regular expression for a position or a gap; the spaces
around its name are not matched. `{ regex = '…' }` in place of a phrase is a literal regular expression.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

UNSPACED_LANGUAGES = frozenset(("ja", "ko", "zh"))
"""Languages whose phrases match anywhere, because words have no spaces between them."""
_WORD_BOUNDARY = r"\b"
_CLOSING = {"(": ")", "[": "]", "{": "}"}
SETTINGS = ("about", "case")
"""Keys of a cue or a word list that are not languages."""


class PhraseCompiler:
    """Translates the cues of a TOML file to regular expressions, with its parts and places."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._parts: Mapping[str, str | list[str]] = content["parts"]
        self._places: Mapping[str, str] = content["places"]
        self._cues: Mapping[str, Mapping[str, Any]] = content["cues"]

    def expression(self, cue: str) -> str:
        """Return the regular expression for any phrase of a cue."""
        bounded_phrases = [
            self._bounded_expression(phrase, has_boundaries=language not in UNSPACED_LANGUAGES)
            for language, phrases in self._cues[cue].items()
            if language not in SETTINGS
            for phrase in phrases
        ]
        groups = groupby(bounded_phrases, key=lambda bounded: (bounded[0], bounded[2]))
        return "|".join(
            [f"{begin}(?:{'|'.join([body for _, body, _ in group])}){end}" for (begin, end), group in groups]
        )

    def _bounded_expression(self, phrase: str | dict[str, str], *, has_boundaries: bool) -> tuple[str, str, str]:
        """Return the expression of a phrase, between those for its beginning and its end."""
        if not isinstance(phrase, str):
            return "", phrase["regex"], ""
        text = phrase.removeprefix("...").removesuffix("...")
        places = tuple([f"{{{name}}}" for name in self._places])
        begins_anywhere = not has_boundaries or phrase.startswith("...") or text.startswith(places)
        ends_anywhere = not has_boundaries or phrase.endswith("...") or text.endswith(places)
        return (
            "" if begins_anywhere else _WORD_BOUNDARY,
            self._alternatives(text),
            "" if ends_anywhere else _WORD_BOUNDARY,
        )

    def _alternatives(self, text: str, *, end: str = "") -> str:
        """Return the expression for alternatives, with one for the end of each that may not continue."""
        return "|".join(
            [
                self._sequence(alternative.removesuffix("...")) + ("" if alternative.endswith("...") else end)
                for alternative in _split(text, "|")
            ]
        )

    def _sequence(self, text: str) -> str:
        """Return the expression for a phrase, or a part of one, without alternatives outside of brackets."""
        expressions: list[str] = []
        at = 0
        while at < len(text):
            char = text[at]
            if char in _CLOSING:
                end = _closing_index(text, at) + 1
                add = self._add_braces if char == "{" else self._add_optional if char == "[" else self._add_group
                at = end + add(expressions, text, at, end)
            elif char == "\\":
                expressions.append(re.escape(text[at + 1]))
                at += 2
            else:
                expressions.append(rf"\w{char}" if char in "*+" else char if char == " " else re.escape(char))
                at += 1
        return "".join(expressions)

    def _add_group(self, expressions: list[str], text: str, start: int, end: int) -> int:
        """Add the expression for parentheses at these indexes; return how many characters after them belong to it."""
        expressions.append(f"(?:{self._alternatives(text[start + 1 : end - 1])})")
        return 0

    def _add_optional(self, expressions: list[str], text: str, start: int, end: int) -> int:
        """Do the same for square brackets; the space on one side of a word belongs to them."""
        content = text[start + 1 : end - 1]
        alternatives = f"(?:{self._alternatives(content)})"
        is_word = text[start - 1 : start] in ("", " ")
        if is_word and text[end : end + 1] == " ":
            expressions.append(f"(?:{alternatives} )?")
            return 1
        if is_word and end == len(text) and expressions[-1:] == [" "]:
            expressions[-1] = f"(?: {alternatives})?"
        else:
            expressions.append(f"{content if len(content) == 1 and content.isalnum() else alternatives}?")
        return 0

    def _add_braces(self, expressions: list[str], text: str, start: int, end: int) -> int:
        """Do the same for braces; the spaces around a place belong to it, and the one before `not` and `never`."""
        content = text[start + 1 : end - 1]
        operator, _, operand = content.partition(" ")
        if content in self._parts:
            part = self._parts[content]
            phrases = [part] if isinstance(part, str) else [self._alternatives(phrase) for phrase in part]
            expressions.append(f"(?:{'|'.join(phrases)})")
        elif content in self._cues:
            expressions.append(f"(?:{self.expression(content)})")
        elif operator == "some":
            expressions.append(rf"(?:(?:{self._alternatives(operand)})\b[\s-]*)+")
        elif content.startswith("not after "):
            preceding = content.removeprefix("not after ").split("|")
            expressions += [f"(?<!{self._sequence(alternative)})" for alternative in preceding]
        else:
            space = expressions.pop() if expressions[-1:] == [" "] else ""
            if content in self._places:
                expressions.append(self._places[content])
                return int(text[end : end + 1] == " ")
            lookahead = {"not": space, "never": r".*\b"}[operator]
            expressions.append(rf"(?!{lookahead}(?:{self._alternatives(operand, end=_WORD_BOUNDARY)}))")
        return 0


def _split(text: str, separator: str) -> list[str]:
    """Return the pieces of a text between separators that are outside of brackets."""
    pieces, start, at = [], 0, 0
    while at < len(text):
        if text[at] == separator:
            pieces.append(text[start:at])
            start = at + 1
        at = _closing_index(text, at) + 1 if text[at] in _CLOSING else at + 1 + (text[at] == "\\")
    return [*pieces, text[start:]]


def _closing_index(text: str, at: int) -> int:
    """Return the index of the bracket that closes the one at an index."""
    closing = [_CLOSING[text[at]]]
    while closing:
        at += 1 + (text[at] == "\\")
        if text[at] == closing[-1]:
            closing.pop()
        elif text[at] in _CLOSING:
            closing.append(_CLOSING[text[at]])
    return at
