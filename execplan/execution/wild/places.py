"""Where in a section commands may stand: blocks of code, lines that stand bare, and code spans in a sentence."""

from __future__ import annotations

import re

from execplan.execution.command.typed import BARE, PROMPTS, is_command
from execplan.execution.wild.said import sentences
from execplan.record import NamedTuple
from execplan.text.blocks import CODE, FENCE, HEADING, HTML, ITEM, PARAGRAPH, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.plan.model import Plan, Section
    from execplan.text.blocks import Block

LINES: Final = "lines"
WORDS: Final = "words"
_ALSO_ENGLISH = re.compile(
    r"(?:make|just|rake|invoke|task|mix|turbo)(?: [a-z0-9][\w.:/-]*){1,3}|go (?:test|vet|build|run|mod|generate|fmt|install|tool|list|work)\b.*|"
    r"(?:node|perl|ruby|cat|find|test|head|tail|export|source|env|time|curl|cut|ruff|tree|stat|sleep|touch|echo) (?:[-./'\"$]|\S*[/.=:]\S|check|format).*|"
    r"(?:poetry|pip|meson|ninja|helm|heroku|flutter|swift|firebase|nox|forge|black|buf) (?:run|install|test|build|compile|setup|check|lint|-)\b.*"
)
"""Commands whose first word is one of English too."""
_BOX = re.compile(r"^\[.\]\s+")


class Place(NamedTuple):
    """A block of code, or a paragraph."""

    kind: str
    """Lines: of code. Words: a paragraph."""
    start: int
    end: int
    """Of a fence with its marks."""
    lines: tuple[tuple[int, str], ...]
    """What it holds, each line with its number; of a paragraph its words, without the box that they begin with."""
    language: str
    context: tuple[str, ...]
    """The words that lead to it, the nearest first: the paragraph above, those above its items, its headings."""
    tail: str
    """The paragraph behind it."""
    item: int
    """Line of the outermost list item that it stands in, or -1."""
    alone: bool
    """Whether it begins a list item."""
    inner: int
    """Where the innermost item that it stands in ends, or -1."""
    indent: int = 0
    """The column where that item's content begins."""
    fence: Block | None = None
    """The fence whose lines they are."""
    heads: tuple[int, ...] = ()
    """Lines of the headings below the section's that it stands under."""


class Span(NamedTuple):
    """A code span of a paragraph."""

    start: int
    end: int
    """Lines, the end exclusive."""
    code: str


class Sentence(NamedTuple):
    """A sentence with its code spans."""

    words: str
    shape: str
    """Its words with `\\x01` for each span."""
    spans: tuple[Span, ...]


class _Frame:
    """What is open: a section or a list item, with the words said in it so far."""

    def __init__(self, block: Block | None, context: tuple[str, ...]) -> None:
        self.block = block
        self.context = context
        self.said = ""
        self.begun = False
        self.open: list[int] = []
        """Places that wait for the paragraph behind them."""


def places(plan: Plan, section: Section) -> list[Place]:
    """The places of a section, in the order of its lines."""
    found: list[Place] = []
    heads: list[Block] = []
    frames = [_Frame(None, ())]
    skipped = section.body
    for block in plan.blocks[section.first : section.last]:
        if block.start >= section.notes:
            break
        if block.start < skipped:
            continue
        while frames[-1].block is not None and block.start >= frames[-1].block.end:
            frames.pop()
        frame = frames[-1]
        if block.kind in (QUOTE, HTML):
            skipped = block.end
        elif block.kind == HEADING:
            heads = [each for each in heads if each.level < block.level]
            heads.append(block)
            frame.said, frame.open = "", []
        elif block.kind == ITEM:
            frames.append(_Frame(block, (frame.said, *frame.context)))
            frame.begun = True
        elif block.kind in (FENCE, CODE, PARAGRAPH):
            _place(plan, block, frames, heads, found)
    return found


def _place(plan: Plan, block: Block, frames: list[_Frame], heads: list[Block], found: list[Place]) -> None:
    frame = frames[-1]
    item = frames[1].block.start if len(frames) > 1 and frames[1].block is not None else -1
    inner, indent = (frame.block.end, frame.block.content) if frame.block is not None else (-1, 0)
    fence = block if block.kind == FENCE else None
    alone, frame.begun = frame.block is not None and not frame.begun, True
    lines = plan.text.lines
    above = [each.text for each in reversed(heads)]
    under = tuple([each.start for each in heads])

    def add(kind: str, start: int, end: int, held: list[tuple[int, str]], language: str = "") -> None:
        context = tuple([each for each in (frame.said, *frame.context, *above) if each])
        here = (item, alone, inner, indent, fence, under)
        found.append(Place(kind, start, end, tuple(held), language, context, "", *here))

    if block.kind == PARAGRAPH:
        held = [(at, lines[at].strip(" \t")) for at in range(block.start, block.end)]
        held[0] = (block.start, _BOX.sub("", block.text.strip(" \t")))
        bare = _bare_from(held)
        words = " ".join([line for _, line in held[:bare]])
        if bare:
            for at in frame.open:
                found[at] = found[at]._replace(tail=words)
            frame.open = []
            add(WORDS, block.start, held[bare - 1][0] + 1, held[:bare])
            frame.said = words
        if bare < len(held):
            frame.open.append(len(found))
            add(LINES, held[bare][0], block.end, held[bare:])
        return
    fenced = block.kind == FENCE
    inside = range(block.start + fenced, block.end - (fenced and block.closed))
    language = block.text.strip("{}").split(" ")[0].lstrip(".").lower() if fenced else ""
    frame.open.append(len(found))
    add(LINES, block.start, block.end, [(at, lines[at].strip(" \t")) for at in inside], language)


def _bare_from(held: list[tuple[int, str]]) -> int:
    """From where on the lines of a paragraph are commands that stand bare, as below an item that indents them too little."""
    at = len(held)
    while at and _is_bare(held[at - 1][1], held[at - 2][1] if at > 1 else ""):
        at -= 1
    if at and at < len(held) and not held[at - 1][1].endswith((":", "：")):
        return len(held)
    return at


def _is_bare(line: str, above: str) -> bool:
    if "`" in line:
        return False
    if above.endswith("\\"):
        return True
    if line.startswith(PROMPTS[:2]):
        return True
    word = line.partition(" ")[0]
    sure = word in BARE or "=" in word or line.startswith("cd ") or word.endswith("\\")
    local = word.startswith(("./", ".venv/")) and " " in line and line[-1] not in ".:,"
    return (sure and is_command(line.removesuffix("\\"))) or local or _ALSO_ENGLISH.fullmatch(line) is not None


def spoken(place: Place) -> Iterator[Sentence]:
    """The sentences of a paragraph."""
    text = ""
    starts: list[tuple[int, int]] = []
    for at, line in place.lines:
        starts.append((len(text), at))
        text += f"{line} "
    text = text.rstrip()
    offset = 0
    for words in sentences(text):
        begin = text.index(words, offset)
        offset = begin + len(words)
        spans: list[Span] = []
        shape = ""
        done = 0
        for found in re.finditer(r"(`+)((?:(?!\1).)+?)\1(?!`)", words):
            shape += words[done : found.start()] + "\x01"
            done = found.end()
            lines = [
                max([line for at, line in starts if at <= begin + each]) for each in (found.start(), found.end() - 1)
            ]
            spans.append(Span(lines[0], lines[1] + 1, found.group(2).strip()))
        yield Sentence(words, shape + words[done:], tuple(spans))


def without_commands(sentence: Sentence) -> str:
    """The words of a sentence with code spans of several words hidden, but for a lone `cd`."""
    words = sentence.words
    for span in sentence.spans:
        if " " in span.code and (not span.code.startswith("cd ") or "&" in span.code):
            words = words.replace(f"`{span.code}`", "`command`")
    return words
