"""Sentences that only point elsewhere."""

from __future__ import annotations

_POINTER_WORDS = frozenset(
    "see read refer consult follow check visit described documented defined specified explained details detail according".split()
)
_STOP_WORDS = frozenset(
    (
        "a about additional all also and are as at background below by can complete context design documentation docs document "
        "documents everything for found from full further here how in information is it link links more of on or our overview page "
        "please reference requirements spec specification that the their there these this to under we what which why with you"
    ).split()
)
_MAX_CONTENT_WORDS = 2
"""Words more that may say what is found there."""


def is_pointer(text: str) -> bool:
    """Whether a paragraph with an address in it only sends the reader there."""
    words = _text_words(text)
    if not any([word in _POINTER_WORDS for word in words]):
        return False
    return len([word for word in words if word not in _POINTER_WORDS and word not in _STOP_WORDS]) <= _MAX_CONTENT_WORDS


def is_link_only(text: str) -> bool:
    """Whether a paragraph is an address, or a link, and nothing else."""
    return "://" in text and not _text_words(text)


def _text_words(text: str) -> list[str]:
    """The words of a paragraph in lower case, without its links."""
    words = [word.strip(".,;:()[]<>*_`'\"!?-+") for word in _strip_links(text).casefold().split()]
    return [word for word in words if word]


def _strip_links(text: str) -> str:
    """The text without its links, their words and bare addresses."""
    segments: list[str] = []
    at = 0
    while at < len(text):
        close = text.find("](", at)
        begin = text.rfind("[", at, close) if close >= 0 else -1
        end = text.find(")", close) if close >= 0 else -1
        if begin < 0 or end < 0:
            break
        segments.append(text[at:begin])
        at = end + 1
    segments.append(text[at:])
    return " ".join([word for word in " ".join(segments).split() if "://" not in word])
