"""Parser for requests, and search for the cues of the triage table in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from execplan.context.triage.triage_table import Cue, QuantityRule, TriageTable
from execplan.core.named_tuple import NamedTuple

CLAUSE_END = "."
"""Token that replaces the punctuation at the end of a clause."""
QUOTED_NAME = "`"
"""Token that replaces quoted text or a path; it names something, and its words have no meaning as cues."""
_TOKEN_PATTERN = re.compile(
    r"""(?P<code>`[^`\n]{1,200}`)
    | (?P<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»)
    | (?P<path>[\w.@-]{0,80}/[\w./@*-]{1,200}|[\w-]{1,80}\.[a-z]\w{0,4}\b(?![.\w])|\w{1,80}(?:\.\w{1,80}){0,4}\(\)|\w{0,80}_\w+|\*\.\w+)
    | (?P<end>(?:[.!?](?=\s|$)|\n\s*(?:[-*+]|\d+[.)])\s|\n\s*\n|;)+)
    | (?P<word>[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*)
    | (?P<number>\d[\d.,]*\d|\d)
    | (?P<stop>[,:()—–\n]|\s-\s)""",
    re.VERBOSE,
)
_NOUN_NEGATIONS = frozenset(("no", "without", "neither", "nor"))
_VERB_NEGATIONS = frozenset(("don't", "never", "not"))
_BEING_WORDS = frozenset("is are was were be has have had with there".split())
_LIMITING_WORDS = frozenset(("longer", "only", "one", "more"))
_CHANGE_WORDS = frozenset(
    "a an any the need needs require requires change changes touch touches affect affects involve involves alter alters "
    "break breaks migrate do add introduce refactor rewrite".split()
)
_CHANGE_PARTICIPLES = frozenset(("touching", "changing", "breaking", "altering", "migrating", "refactoring", "adding"))
_NEED_WORDS = frozenset("needed required necessary involved affected".split())
_MAX_CHARS = 50_000
"""Maximum characters of a request that are read; a longer one needs a plan because of its length."""
_MAX_PREFIX_CHARS = 20
"""Maximum letters of a word prefix in the table."""
_MIN_FOREIGN_WORDS = 2
"""Number of foreign words from which a request may count as not English."""
_QUANTITY_REACH = 3
"""Number of words before a number that say what it is about."""
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
}
_NEGATION_REACH = 6
"""Number of words after a `no` that it still applies to."""


class TokenizedRequest(NamedTuple):
    """A request that is split into tokens."""

    text: str
    tokens: tuple[str, ...]
    """Lower-case words, `#` for a number, `CLAUSE_END` and `NAME_TOKEN`."""
    original_tokens: tuple[str, ...]
    """Tokens as they are written in the request."""
    sentences: int
    code_names: tuple[str, ...]
    """Paths and code names, without duplicates."""
    quoted: tuple[str, ...]
    is_english: bool
    """Whether the request is in English, the language of the cues."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the code names that are paths or file names."""
        return tuple([name for name in self.code_names if "/" in name or ("." in name and "(" not in name)])

    @property
    def word_count(self) -> int:
        """Return the number of words in the request."""
        return len([token for token in self.tokens if token != CLAUSE_END])

    @property
    def first_word(self) -> str:
        """Return the first word of the request after polite phrases."""
        polite = ("please", "can", "could", "you", "we", "should", "also", "just", "hi", "hey")
        return next((token for token in self.tokens if token not in (CLAUSE_END, *polite)), "")


class CueHit(NamedTuple):
    """A cue found in a request."""

    cue: Cue
    text: str
    """Matched words as they are written in the request."""
    is_negated: bool
    is_first: bool


class Quantity(NamedTuple):
    """A number of things in a request that a rule of the table is about."""

    rule: QuantityRule
    amount: float
    """The number, in the units of the rule."""
    text: str
    """The number and its noun, as they are written in the request."""


def parse_request(text: str, table: TriageTable) -> TokenizedRequest:
    """Split a request into tokens."""
    tokens: list[str] = []
    original_tokens: list[str] = []
    code_names: dict[str, None] = {}
    quoted: dict[str, None] = {}
    sentences, is_sentence_open = 0, False
    for match in _TOKEN_PATTERN.finditer(text[:_MAX_CHARS]):
        kind, token_text = match.lastgroup, match.group()
        token = {"word": token_text.lower().replace("’", "'"), "number": "#"}.get(kind or "", QUOTED_NAME)
        if kind in ("end", "stop"):
            token = CLAUSE_END
            sentences += kind == "end" and is_sentence_open
            is_sentence_open = is_sentence_open and kind != "end"
        else:
            is_sentence_open = True
        if kind in ("code", "path"):
            code_names[token_text.strip("`")] = None
        if kind == "quoted":
            quoted[token_text] = None
        tokens.append(token)
        original_tokens.append(token_text)
    names = (tuple(code_names), tuple(quoted))
    return TokenizedRequest(
        text, tuple(tokens), tuple(original_tokens), sentences + is_sentence_open, *names, _is_english(tokens, table)
    )


def _is_english(tokens: Sequence[str], table: TriageTable) -> bool:
    """Return whether most letters are ASCII, and foreign words are at most one or fewer than the English ones."""
    word_tokens = [token for token in tokens if token[0].isalpha()]
    non_ascii_count = sum([not char.isascii() for word in word_tokens for char in word])
    if 2 * non_ascii_count > sum([len(word) for word in word_tokens]):
        return False
    foreign_words = [word for word in word_tokens if word in table.foreign_words or not word.isascii()]
    return len(foreign_words) < max(
        _MIN_FOREIGN_WORDS, len([word for word in word_tokens if word in table.english_words])
    )


def find_cues(request: TokenizedRequest, table: TriageTable) -> list[CueHit]:
    """Find the cues in a request, the longest at each position, each with the matched words."""
    cue_index = _build_cue_index(table)
    tokens = request.tokens
    cue_hits, index = [], 0
    first_index = next((position for position, token in enumerate(tokens) if token == request.first_word), -1)
    while index < len(tokens):
        cues, size = _longest_phrase(tokens, index, cue_index)
        text = " ".join(request.original_tokens[index : index + size])
        for cue in cues:
            cue_hits.append(CueHit(cue, text, _is_negated(tokens, index, index + size), index == first_index))
        index += size or 1
    return cue_hits


def find_quantities(request: TokenizedRequest, table: TriageTable) -> Iterator[Quantity]:
    """Yield the numbers of a request that say how much work it is, such as `in 40 files`."""
    tokens = request.tokens
    for index, (word, original) in enumerate(zip(tokens, request.original_tokens, strict=True)):
        number = _NUMBER_WORDS.get(word, original.replace(",", "") if word == "#" else "")
        if number.count(".") > 1 or not number:
            continue
        for end in range(index + 2, min(index + 3, len(tokens)) + 1):  # `40 files`, `40 source files`
            if CLAUSE_END in tokens[index:end] or _is_negated(tokens, index, end):
                break
            nearby = {*tokens[max(index - _QUANTITY_REACH, 0) : index]}, {*tokens[end : end + 2]}
            for rule in table.quantities:
                is_meant = not (rule.after.isdisjoint(nearby[0]) and rule.before.isdisjoint(nearby[1]))
                if is_meant and (unit := rule.units.get(tokens[end - 1], 0)):
                    yield Quantity(rule, float(number) * unit, " ".join(request.original_tokens[index:end]))


_CueIndex = dict[str, list[tuple[tuple[frozenset[str], ...], "Cue"]]]
_INDEX_CACHE: dict[int, _CueIndex] = {}


def _build_cue_index(table: TriageTable) -> _CueIndex:
    """Index the cues by each word that they can start with."""
    if id(table) not in _INDEX_CACHE:
        index: _CueIndex = {}
        for cue in table.cues:
            for phrase in cue.words:
                pattern = tuple([frozenset(word_set.split("|")) for word_set in phrase.split()])
                for word in sorted(pattern[0]):
                    index.setdefault(word, []).append((pattern, cue))
        _INDEX_CACHE[id(table)] = index
    return _INDEX_CACHE[id(table)]


def _longest_phrase(
    tokens: Sequence[str], index: int, cue_index: Mapping[str, list[tuple[tuple[frozenset[str], ...], Cue]]]
) -> tuple[list[Cue], int]:
    """Return the cues of the longest phrase at a token, and its number of tokens."""
    best: list[Cue] = []
    size = 0
    for form in _token_forms(tokens[index]):
        for pattern, cue in cue_index.get(form, ()):
            following = tokens[index + 1 : index + len(pattern)]
            is_match = len(following) == len(pattern) - 1 and all(
                [
                    not alternatives.isdisjoint(_token_forms(token))
                    for alternatives, token in zip(pattern[1:], following, strict=True)
                ]
            )
            if is_match and len(pattern) > size:
                best, size = [], len(pattern)
            if is_match and len(pattern) == size and cue not in best:
                best.append(cue)
    return best, size


def _token_forms(token: str) -> Iterator[str]:
    """Yield a token and its prefixes with a wildcard."""
    yield token
    for length in range(3, min(len(token), _MAX_PREFIX_CHARS) + 1):
        yield token[:length] + "*"


def _is_negated(tokens: Sequence[str], start: int, end: int) -> bool:
    """Return whether a clause rules something out: `no migration`, `without touching the schema`."""
    following = list(tokens[end : end + 4])
    following = following[: following.index(CLAUSE_END)] if CLAUSE_END in following else following
    if "not" in following and not _NEED_WORDS.isdisjoint(following):
        return True
    for index in range(start - 1, max(start - 1 - _NEGATION_REACH, -1), -1):
        word, next_token = tokens[index], tokens[index + 1]
        if word in (CLAUSE_END, "but", "instead", "then"):
            return False
        if word == "and" and _NOUN_NEGATIONS.isdisjoint(tokens[max(index - _NEGATION_REACH, 0) : index]):
            return False
        if word in _NOUN_NEGATIONS:
            return _rules_out_work(tokens, index, next_token, following)
        if word in _VERB_NEGATIONS or (word.endswith("n't") and word != "can't"):
            imperative = word == "don't" or (word == "not" and index > 0 and tokens[index - 1] == "do")
            return imperative or next_token in _CHANGE_WORDS
    return False


def _rules_out_work(tokens: Sequence[str], index: int, next_token: str, following: Sequence[str]) -> bool:
    """Return whether a `no` or `without` rules out work, rather than describing a state or a forbidden effect."""
    if tokens[index] == "without":
        return not next_token.endswith("ing") or next_token in _CHANGE_PARTICIPLES
    if next_token in _LIMITING_WORDS:
        return False
    return index == 0 or tokens[index - 1] not in _BEING_WORDS or not _NEED_WORDS.isdisjoint(following)
