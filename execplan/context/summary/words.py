"""Words of a plan as a summary prints them: on one line, without comments, with what is hidden made visible."""

from __future__ import annotations

import re

from execplan.context.summary.sentences import gist
from execplan.text.hidden import escaped, may_hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.summary.piece import Subject

_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_FENCE = re.compile(r"(?:^|\s)(?:```|~~~).*")
_LIST = re.compile(r"(?<=[:：])\s[-*+]\s.*")
_STRUCTURE = re.compile(r"#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|~~~|```|=+$|(\d{1,9})[.)](?:\s|$)")
_LONGEST = 20_000
"""Characters of a paragraph that are looked at."""


def said(subject: Subject, words: str, most: int = 0) -> str:
    """The gist of words of the plan, as the form wants them; nothing where no word is left."""
    line = _COMMENT.sub(" ", words[:_LONGEST])
    line = " ".join(_LIST.sub("", _FENCE.sub("", line)).split())
    return dressed(subject, gist(line, most or subject.length.sentence))


def dressed(subject: Subject, words: str) -> str:
    """Words of the plan with their markup, or made plain; nothing in them opens a block."""
    if subject.markup:
        words = _escaped(words)
    else:
        from execplan.text.inline import plain

        words = " ".join(plain(words).split())
    return visible(words)


def _escaped(words: str) -> str:
    """Words that begin no heading, list, quote, table or fence."""
    found = _STRUCTURE.match(words)
    if found is None:
        return words
    at = len(found[1] or "")
    return f"{words[:at]}\\{words[at:]}"


def visible(words: str) -> str:
    """A line with each hidden character as its escape."""
    if not may_hide(words):
        return words
    return escaped(words, lambda run: "".join([f"\\u{{{ord(char):x}}}" for char in run]))
