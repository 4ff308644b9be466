"""Words of a plan as a summary prints them: on one line, without comments, with what is hidden made visible."""

from __future__ import annotations

import re

from execplan.context.summary.sentences import first_sentences
from execplan.text.hidden import replace_hidden, may_have_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.summary.piece import Subject

_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_CODE_FENCE = re.compile(r"(?:^|\s)(?:```|~~~).*")
_INLINE_LIST = re.compile(r"(?<=[:：])\s[-*+]\s.*")
_BLOCK_START = re.compile(r"#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|~~~|```|=+$|(\d{1,9})[.)](?:\s|$)")
_MAX_PARAGRAPH_CHARS = 20_000
"""Characters of a paragraph that are looked at."""


def quote_text(subject: Subject, text: str, max_words: int = 0) -> str:
    """The gist of words of the plan, as the form wants them; nothing where no word is left."""
    line = _COMMENT.sub(" ", text[:_MAX_PARAGRAPH_CHARS])
    line = " ".join(_INLINE_LIST.sub("", _CODE_FENCE.sub("", line)).split())
    return format_markup(subject, first_sentences(line, max_words or subject.length.max_sentence_words))


def format_markup(subject: Subject, text: str) -> str:
    """Words of the plan with their markup, or made plain; nothing in them opens a block."""
    if subject.markup:
        text = _escape_block_start(text)
    else:
        from execplan.text.inline import plain_text

        text = " ".join(plain_text(text).split())
    return escape_hidden(text)


def _escape_block_start(text: str) -> str:
    """Words that begin no heading, list, quote, table or fence."""
    match = _BLOCK_START.match(text)
    if match is None:
        return text
    escape_index = len(match[1] or "")
    return f"{text[:escape_index]}\\{text[escape_index:]}"


def escape_hidden(text: str) -> str:
    """A line with each hidden character as its escape."""
    if not may_have_hidden(text):
        return text
    return replace_hidden(text, lambda run: "".join([f"\\u{{{ord(char):x}}}" for char in run]))
