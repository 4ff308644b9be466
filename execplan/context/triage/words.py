"""The words of a request, and which cues of the table stand among them."""

from __future__ import annotations

import re

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.context.triage.table import Cue, Table

STOP = "."
"""A token that ends a clause, in place of its punctuation."""
NAME = "`"
"""A token in place of what is quoted, or of a path: it is named, and its words say nothing."""
_PART = re.compile(
    r"""(?P<code>`[^`\n]{1,200}`)
    | (?P<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»)
    | (?P<path>[\w.@-]{0,80}/[\w./@*-]{1,200}|[\w-]{1,80}\.[a-z]\w{0,4}\b(?![.\w])|\w{1,80}(?:\.\w{1,80}){0,4}\(\)|\w{0,80}_\w+|\*\.\w+)
    | (?P<end>(?:[.!?](?=\s|$)|\n\s*(?:[-*+]|\d+[.)])\s|\n\s*\n|;)+)
    | (?P<word>[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*)
    | (?P<number>\d[\d.,]*\d|\d)
    | (?P<stop>[,:()—–\n]|\s-\s)""",
    re.VERBOSE,
)
_NOUN_NOT = frozenset(("no", "without", "neither", "nor"))
_VERB_NOT = frozenset(("don't", "never", "not"))
_HAS = frozenset("is are was were be has have had with there".split())
_ONLY = frozenset(("longer", "only", "one", "more"))
_TOUCHES = frozenset(
    "a an any the need needs require requires change changes touch touches affect affects involve involves alter alters "
    "break breaks migrate do add introduce refactor rewrite".split()
)
_TOUCHING = frozenset(("touching", "changing", "breaking", "altering", "migrating", "refactoring", "adding"))
_NEEDED = frozenset("needed required necessary involved affected".split())
_MOST = 50_000
"""Characters of a request that are read: what is longer needs a plan by its length."""
_LONGEST = 20
"""Letters of the longest beginning of a word in the table."""
_FEW = 2
"""Foreign words that a request may hold anyhow."""
_REACH = 6
"""Words behind a `no` that it is still said of."""


class Request(NamedTuple):
    """A request, taken apart."""

    text: str
    tokens: tuple[str, ...]
    """Words in small letters, `#` for a number, STOP and NAME."""
    shown: tuple[str, ...]
    """The same as they were written."""
    sentences: int
    code: tuple[str, ...]
    """Paths and names in code, each once."""
    quoted: tuple[str, ...]
    is_known: bool
    """Whether it is in a language that the cues are of."""

    @property
    def files(self) -> tuple[str, ...]:
        """Of what it names in code, the paths and names of files."""
        return tuple([each for each in self.code if "/" in each or ("." in each and "(" not in each)])

    @property
    def words(self) -> int:
        """How many words it has."""
        return len([each for each in self.tokens if each != STOP])

    @property
    def first(self) -> str:
        """Its first word, courtesies apart."""
        polite = ("please", "can", "could", "you", "we", "should", "also", "just", "hi", "hey")
        return next((each for each in self.tokens if each not in (STOP, *polite)), "")


class Hit(NamedTuple):
    """Where a cue stands in a request."""

    cue: Cue
    said: str
    """The words as they were written."""
    negated: bool
    is_first: bool


def read(text: str, table: Table) -> Request:
    """Take a request apart."""
    tokens: list[str] = []
    shown: list[str] = []
    code: dict[str, None] = {}
    quoted: dict[str, None] = {}
    sentences, open_ = 0, False
    for part in _PART.finditer(text[:_MOST]):
        kind, said = part.lastgroup, part.group()
        token = {"word": said.lower().replace("’", "'"), "number": "#"}.get(kind or "", NAME)
        if kind in ("end", "stop"):
            token = STOP
            sentences += kind == "end" and open_
            open_ = open_ and kind != "end"
        else:
            open_ = True
        if kind in ("code", "path"):
            code[said.strip("`")] = None
        if kind == "quoted":
            quoted[said] = None
        tokens.append(token)
        shown.append(said)
    names = (tuple(code), tuple(quoted))
    return Request(text, tuple(tokens), tuple(shown), sentences + open_, *names, _is_known(tokens, table))


def _is_known(tokens: Sequence[str], table: Table) -> bool:
    """Whether most letters are those of English, and at most one word is of another language, or fewer than are English."""
    words = [each for each in tokens if each[0].isalpha()]
    strange = sum([not char.isascii() for each in words for char in each])
    if 2 * strange > sum([len(each) for each in words]):
        return False
    foreign = [each for each in words if each in table.other or not each.isascii()]
    return len(foreign) < max(_FEW, len([each for each in words if each in table.english]))


def hits(request: Request, table: Table) -> list[Hit]:
    """The cues that stand in a request, the longest at each place, each with the words it was found by."""
    known = _index(table)
    tokens = request.tokens
    found, at = [], 0
    first = next((place for place, each in enumerate(tokens) if each == request.first), -1)
    while at < len(tokens):
        cues, size = _at(tokens, at, known)
        said = " ".join(request.shown[at : at + size])
        for cue in cues:
            found.append(Hit(cue, said, _is_negated(tokens, at, at + size), at == first))
        at += size or 1
    return found


_Index = dict[str, list[tuple[tuple[frozenset[str], ...], "Cue"]]]
_INDEXED: dict[int, _Index] = {}


def _index(table: Table) -> _Index:
    """The cues by each word that they may begin with."""
    if id(table) not in _INDEXED:
        index: _Index = {}
        for cue in table.cues:
            for phrase in cue.words:
                pattern = tuple([frozenset(each.split("|")) for each in phrase.split()])
                for word in sorted(pattern[0]):
                    index.setdefault(word, []).append((pattern, cue))
        _INDEXED[id(table)] = index
    return _INDEXED[id(table)]


def _at(
    tokens: Sequence[str], at: int, known: Mapping[str, list[tuple[tuple[frozenset[str], ...], Cue]]]
) -> tuple[list[Cue], int]:
    """The cues of the longest phrase that begins at a token, and how many tokens it has."""
    best: list[Cue] = []
    size = 0
    for form in _forms(tokens[at]):
        for pattern, cue in known.get(form, ()):
            rest = tokens[at + 1 : at + len(pattern)]
            fits = len(rest) == len(pattern) - 1 and all(
                [not each.isdisjoint(_forms(token)) for each, token in zip(pattern[1:], rest, strict=True)]
            )
            if fits and len(pattern) > size:
                best, size = [], len(pattern)
            if fits and len(pattern) == size and cue not in best:
                best.append(cue)
    return best, size


def _forms(token: str) -> Iterator[str]:
    """A token, and its beginnings with any ending."""
    yield token
    for end in range(3, min(len(token), _LONGEST) + 1):
        yield token[:end] + "*"


def _is_negated(tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether a clause says that something is not to be done: `no migration`, `without touching the schema`."""
    behind = list(tokens[end : end + 4])
    behind = behind[: behind.index(STOP)] if STOP in behind else behind
    if "not" in behind and not _NEEDED.isdisjoint(behind):
        return True
    for at in range(start - 1, max(start - 1 - _REACH, -1), -1):
        word, after = tokens[at], tokens[at + 1]
        if word in (STOP, "but", "instead", "then"):
            return False
        if word == "and" and _NOUN_NOT.isdisjoint(tokens[max(at - _REACH, 0) : at]):
            return False
        if word in _NOUN_NOT:
            return _says_none(tokens, at, after, behind)
        if word in _VERB_NOT or (word.endswith("n't") and word != "can't"):
            imperative = word == "don't" or (word == "not" and at > 0 and tokens[at - 1] == "do")
            return imperative or after in _TOUCHES
    return False


def _says_none(tokens: Sequence[str], at: int, after: str, behind: Sequence[str]) -> bool:
    """Whether a `no` or a `without` says that none is to be done, rather than what is or what must not happen."""
    if tokens[at] == "without":
        return not after.endswith("ing") or after in _TOUCHING
    if after in _ONLY:
        return False
    return at == 0 or tokens[at - 1] not in _HAS or not _NEEDED.isdisjoint(behind)
