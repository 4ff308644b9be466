"""Code in groups of lines: signatures, and whole definitions in the order in which the task needs them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Final

from execplan.context.shortening.code_definitions import Definition
from execplan.context.text_search import split_words
from execplan.core.named_tuple import NamedTuple

_MAX_RELEVANT: Final = 1
"""Maximum number of definitions whose signatures come before whole definitions."""
_NAME_WEIGHT: Final = 2.0
"""Weight of a definition that the task or the plan names, and of the words in its name, relative to words in its body."""
_LENGTH_POWER: Final = 0.3
"""How much the length of a definition counts against it: a short one leaves room for others."""
_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|include|#\s*include|package|@import|source)\b")
_DESCRIBED = re.compile(r"\s*(?://[/!]|#\s|/\*\*|\*\s|--\s|\"\"\")")
_WORDS = re.compile(r"[A-Za-z_]\w*")


class CodeFile(NamedTuple):
    """A file of code with its definitions and their words."""

    lines: Sequence[str]
    definitions: Sequence[Definition]
    own_lines: Sequence[Sequence[int]]
    """Lines of each definition; of a class, those that are not in its definitions, such as its fields."""
    words: Sequence[frozenset[str]]
    """Words of each definition's own lines, and those in its names."""

    def shares(self) -> list[float]:
        """Return the part of the file that each definition is; 0 for a class that only has other definitions."""
        size = sum(map(len, self.lines)) or 1
        return [sum([len(self.lines[at]) for at in own_lines]) / size for own_lines in self.own_lines]

    def score_definitions(self, weights: Mapping[str, float]) -> list[float]:
        """Score definitions by their words and their length."""
        return [
            sum(
                [
                    weights[word] * (_NAME_WEIGHT if word in _name_words(definition.name) else 1.0)
                    for word in sorted(words & weights.keys())
                ]
            )
            / max(len(own_lines), 1) ** _LENGTH_POWER
            for definition, own_lines, words in zip(self.definitions, self.own_lines, self.words, strict=True)
        ]


def read_code(lines: Sequence[str], definitions: Sequence[Definition]) -> CodeFile:
    """Read the words of the definitions of a file."""
    own_lines = [_find_own_lines(lines, definitions, at) for at in range(len(definitions))]
    words = [
        frozenset().union(*map(_name_words, _WORDS.findall("\n".join([definition.name, *[lines[at] for at in own]]))))
        for definition, own in zip(definitions, own_lines, strict=True)
    ]
    return CodeFile(lines, definitions, own_lines, words)


def _find_own_lines(lines: Sequence[str], definitions: Sequence[Definition], at: int) -> Sequence[int]:
    """Return the lines of a definition without those of the definitions in it; nothing if only its signature remains."""
    definition = definitions[at]
    own = list(range(definition.start, definition.end))
    if not definition.is_container:
        return own
    inner: set[int] = set()
    for other in definitions[at + 1 :]:
        if other.start >= definition.end:
            break
        inner.update(range(other.start, other.end))
    own = [line for line in own if line not in inner]
    has_members = any([line >= definition.body_start and _WORDS.search(lines[line]) for line in own])
    return own if has_members else ()


@lru_cache(maxsize=50_000)
def _name_words(name: str) -> frozenset[str]:
    return frozenset((name.lower(), *split_words(name)))


def weigh_rare_words(files: Iterable[CodeFile], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of words in the definitions of some files; words that few definitions have weigh more."""
    counts: Counter[str] = Counter()
    definition_count = 0
    for file in files:
        definition_count += len(file.words)
        for words in file.words:
            counts.update(words & weights.keys())
    return {word: weights[word] * log(1 + definition_count / count) for word, count in sorted(counts.items())}


def group_lines(code: CodeFile, weights: Mapping[str, float], chosen: Collection[int] = ()) -> list[list[int]]:
    """Return groups of lines, the most important first; `weights` has the words that are searched for.

    They are: the file's description; signatures of the definitions that share most with the task; these definitions
    whole, the chosen and then the best first; other signatures, those inside of classes, and imports.
    """
    lines, definitions = code.lines, code.definitions
    scores = code.score_definitions(weights)
    order = sorted(
        [at for at in range(len(definitions)) if scores[at]], key=lambda at: (at not in chosen, -scores[at], at)
    )
    signatures = [list(range(definition.signature_start, definition.body_start)) for definition in definitions]
    groups = [[at for at, line in enumerate(lines[:3]) if line.strip() and _DESCRIBED.match(line)]]
    groups += [[line] for at in order[:_MAX_RELEVANT] for line in signatures[at]]
    for at in order:
        start = definitions[at].start
        containers = [
            line
            for definition, signature in zip(definitions, signatures, strict=True)
            if definition.is_container and definition.start < start < definition.end
            for line in signature
        ]
        groups.append([*containers, *code.own_lines[at]])
    for is_inner in (False, True):
        groups += [
            signature
            for definition, signature in zip(definitions, signatures, strict=True)
            if bool(definition.depth) == is_inner
        ]
    return [group for group in [*groups, _find_imports(lines)] if group]


def _find_imports(lines: Sequence[str]) -> list[int]:
    imports = []
    is_open = False
    for at, line in enumerate(lines):
        is_import = _IMPORT.match(line) is not None
        if is_import or is_open:
            imports.append(at)
            is_open = line.rstrip().endswith(("(", "{", ",")) if is_import else not line.lstrip().startswith((")", "}"))
    return imports
