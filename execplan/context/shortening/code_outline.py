"""Code in ranked parts: signatures, and whole definitions in the order in which the task needs them."""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

from execplan.context.shortening.code_definitions import read_definitions
from execplan.context.shortening.excerpt import REST_RANK, TextPart
from execplan.context.text_search import split_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.shortening.code_definitions import Definition

_DESCRIPTION, _RELEVANT, _FIRST_BODY, _DECLARED, _INNER, _IMPORTED = 0, 1, 2, 80, 81, 82
"""Ranks of lines, from the most to the least important.

They are: the file's description; signatures of the definitions that share most with the task, then these definitions
whole, the best first; other signatures, those inside of classes, and imports. Other definitions are the rest.
"""
_MAX_RELEVANT: Final = 3
"""Maximum number of definitions whose signatures come before whole definitions."""
_NAME_WEIGHT: Final = 4.0
"""Weight of a definition that the task or the plan names, and of the words in its name, relative to words in its body."""
_LENGTH_POWER: Final = 0.3
"""How much the length of a definition counts against it: a short one leaves room for others."""
_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|include|#\s*include|package|@import|source)\b")
_DESCRIBED = re.compile(r"\s*(?://[/!]|#\s|/\*\*|\*\s|--\s|\"\"\")")
_WORDS = re.compile(r"[A-Za-z_]\w*")


def split_code(lines: Sequence[str], weights: Mapping[str, float], *, is_python: bool) -> list[TextPart]:
    """Split code into ranked parts; `weights` has the words of the task and the plan, and the symbols that they name."""
    definitions = read_definitions(lines, is_python=is_python)
    scores = score_definitions(lines, definitions, weights)
    order = sorted(range(len(definitions)), key=lambda at: (-scores[at], at))
    ranks = [REST_RANK] * len(lines)
    is_body = [False] * len(lines)
    is_open = False
    for at, line in enumerate(lines):
        is_import = _IMPORT.match(line) is not None
        if is_import or is_open:
            ranks[at] = _IMPORTED
            is_open = line.rstrip().endswith(("(", "{", ",")) if is_import else not line.lstrip().startswith((")", "}"))
    for at in [at for at, line in enumerate(lines[:3]) if line.strip() and _DESCRIBED.match(line)]:
        ranks[at] = _DESCRIPTION
    for at in range(len(definitions)):  # from the outside to the inside
        place = order.index(at)
        body_rank = _FIRST_BODY + min(place, _DECLARED - _FIRST_BODY - 1) if scores[at] else REST_RANK + 1 + place
        definition = definitions[at]
        for line_index in range(definition.start, definition.end):
            ranks[line_index], is_body[line_index] = body_rank, True
        signature_rank = _INNER if definition.depth else _DECLARED
        if scores[at] and place < _MAX_RELEVANT:
            signature_rank = _RELEVANT
        for line_index in range(definition.signature_start, definition.body_start):
            ranks[line_index], is_body[line_index] = signature_rank, False
    return [
        TextPart(line, at, ranks[at] if line.strip() or is_body[at] else REST_RANK, is_whole=is_body[at])
        for at, line in enumerate(lines)
    ]


def score_definitions(
    lines: Sequence[str], definitions: Sequence[Definition], weights: Mapping[str, float]
) -> list[float]:
    """Score definitions by the words of the task and the plan that they have; words that are rare in the file count more."""
    words_by_definition = [
        {
            word
            for name in _WORDS.findall("\n".join(lines[definition.start : definition.end]))
            for word in (name.lower(), *split_words(name))
        }
        for definition in definitions
    ]
    counts = Counter([word for words in words_by_definition for word in words if word in weights])
    scores = []
    for definition, words in zip(definitions, words_by_definition, strict=True):
        name_words = {definition.name.lower(), *split_words(definition.name)}
        scores.append(
            sum(
                [
                    weights[word]
                    * log(1 + len(definitions) / counts[word])
                    * (_NAME_WEIGHT if word in name_words else 1.0)
                    for word in sorted(words)
                    if word in counts
                ]
            )
            / (definition.end - definition.start) ** _LENGTH_POWER
        )
    return scores
