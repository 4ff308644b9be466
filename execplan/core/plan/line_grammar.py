"""Parser for a single task or entry line: checkbox, timestamp, labels and placeholder text."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.role_table import EMPTY_ENDS, EMPTY_TEXTS
from execplan.core.timestamps import Timestamp, placeholder_length, read_timestamp

DECISION = "Decision"
RATIONALE = "Rationale"
DATE_AUTHOR = "Date/Author"
SUPERSEDES = "Supersedes"
OBSERVATION = "Observation"
EVIDENCE = "Evidence"

_LABELS = {
    "decision": DECISION,
    "rationale": RATIONALE,
    "reason": RATIONALE,
    "why": RATIONALE,
    "date/author": DATE_AUTHOR,
    "date / author": DATE_AUTHOR,
    "author/date": DATE_AUTHOR,
    "date": DATE_AUTHOR,
    "author": DATE_AUTHOR,
    "supersedes": SUPERSEDES,
    "observation": OBSERVATION,
    "discovery": OBSERVATION,
    "surprise": OBSERVATION,
    "evidence": EVIDENCE,
}
HEAD_LABELS = frozenset((DECISION, OBSERVATION))
"""Labels that start an entry."""

_MAX_LABEL_END = 56
"""Column by which a label must end: enough for the longest one with its bullet, emphasis and a translation."""

_MAX_NUMBER_LENGTH = 12
_BULLETS = ("- ", "* ", "+ ")
_NOTE_PREFIXES = tuple(
    [f"{subject}{kind} note" for kind in ("revision", "update", "change") for subject in ("", "plan ")]
)
_NOTE_INITIALS = frozenset("RrPpUuCc")
_EMPTY_TEXTS = frozenset([text for texts in EMPTY_TEXTS.values() for text in texts])
_MAX_EMPTY_CHARS = 60
"""Maximum characters of a text that its end shows to be a placeholder."""


class Checkbox(NamedTuple):
    """The parts of a task's first line, from the checkbox on."""

    mark: str
    timestamp: Timestamp | None
    leading_space: str
    """White space after the checkbox."""
    placeholder: str
    """Template placeholder for a timestamp, with the space after it; or empty."""
    text: str


def read_checkbox(text: str) -> Checkbox | None:
    """Parse the checkbox at the start of an item's first line, or return None if there is none.

    A checkbox is any one character in brackets, followed by white space or the end of the line.
    """
    if len(text) < 3 or text[0] != "[" or text[2] != "]" or text[3:4] not in ("", " ", "\t"):
        return None
    following_text = text[3:]
    content = following_text.lstrip(" \t")
    leading_space = following_text[: len(following_text) - len(content)]
    timestamp = read_timestamp(content)
    if timestamp is not None:
        return Checkbox(
            text[1], timestamp, leading_space, "", content[len(timestamp.text) + len(timestamp.separator) :]
        )
    placeholder_end = placeholder_length(content)
    return Checkbox(text[1], None, leading_space, content[:placeholder_end], content[placeholder_end:])


def split_box(source: str) -> tuple[str, str]:
    """Return the mark of the checkbox that a task's text starts with, perhaps after a bullet, and the text after it.

    Without a checkbox, the mark is empty, and the text is as it was.
    """
    text = source[2:].lstrip(" ") if source[:2] in _BULLETS else source
    is_box = text[:1] == "[" and text[2:4] == "] " and (text[1] in " xX" or text != source)
    return (text[1], text[4:].lstrip(" ")) if is_box else ("", source)


def text_without_timestamp(source: str) -> str:
    """Return a task's text without the timestamp, or the template placeholder for one, that it starts with."""
    checkbox = read_checkbox(f"[ ] {source}")
    return checkbox.text if checkbox is not None else source


def read_label(line: str) -> tuple[str, str] | None:
    """Return the standard name of the label that a line starts with, and the text after it; or None."""
    colon = line.find(":", 0, _MAX_LABEL_END)
    if not line.isascii():
        wide_colon = line.find("：", 0, _MAX_LABEL_END)
        colon = wide_colon if colon < 0 or 0 <= wide_colon < colon else colon
    if colon < 0:
        return None
    name = line[:colon].lstrip(" \t")
    if name[:2] in _BULLETS:
        name = name[2:].lstrip(" \t")
    bare_name = name.strip("*_ ")
    lowered = bare_name.lower()
    label = _LABELS.get(lowered) or _LABELS.get(lowered.split(" / ")[0].rstrip(" 0123456789#"))
    if label is None:
        return None
    text = line[colon + 1 :]
    if name[-1] == bare_name[-1]:
        text = text.removeprefix(name[: name.index(bare_name)])
    return label, text.strip()


def read_date_author(text: str) -> tuple[str | None, str | None]:
    """Parse a date, with its time as written, and an author from text like `2026-03-01 / Codex`."""
    timestamp = read_timestamp(text)
    if timestamp is not None:
        return timestamp.date_time, _read_author(text[len(timestamp.text) :])
    for index in range(len(text) - 9):
        if text[index].isdigit() and (index == 0 or not text[index - 1].isalnum()):
            timestamp = read_timestamp(text[index:].replace(")", " ").replace(",", " "))
            if timestamp is not None:
                return timestamp.date_time, _read_author(
                    text[:index].rstrip(" ,;/(-") + text[index + len(timestamp.text) :]
                )
    return None, _read_author(text[placeholder_length(text) :])


def _read_author(text: str) -> str | None:
    """Return the author's name from the text next to a date, or None."""
    name = text.lstrip(" \t/,;:|-–—").rstrip(" \t,;/")
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1]
    return None if is_empty_text(name) else name


def is_revision_note(line: str) -> bool:
    """Return whether a paragraph that starts with the line is a revision note."""
    bare_line = line.lstrip("*_# \t")
    return bare_line[:1] in _NOTE_INITIALS and bare_line.lower().startswith(_NOTE_PREFIXES)


def is_list_item(line: str) -> bool:
    """Return whether a line starts with the marker of a list item."""
    marker, space, _ = line.lstrip(" ").partition(" ")
    return bool(space) and (marker in ("-", "*", "+") or (marker[:-1].isdigit() and marker[-1] in ".)"))


def read_number(text: str) -> str:
    """Return the number that begins a task's text, as `2.1` in OpenSpec and `T012` in spec-kit; else an empty string."""
    number = text.partition(" ")[0]
    group, dot, part = number.rstrip(".").partition(".")
    if len(number) > _MAX_NUMBER_LENGTH or not number.isascii():
        return ""
    if dot:
        return number if group.isdecimal() and part.isdecimal() else ""
    return number if len(number) > len("T00") and number[0] == "T" and number[1:].isdecimal() else ""


def read_any_number(text: str) -> str:
    """Return the number that begins a task's text in any form, also as `4.` in Kiro and `#3` in Backlog.md; else empty."""
    word = text.partition(" ")[0]
    digits = word[1:] if word[:1] == "#" else word[:-1]
    is_label = word[:1] == "#" or word[-1:] in (".", ")")
    is_plain = is_label and len(word) <= _MAX_NUMBER_LENGTH and digits.isascii() and digits.isdecimal()
    return word if is_plain else read_number(text)


def read_prefix(text: str) -> str:
    """Return the number of a task with the marks after it and a space, as `T002 [P] ` in spec-kit; empty without a number."""
    words = text.split(" ")
    count = 1 if read_any_number(text) else 0
    while 0 < count < len(words) and words[count][:1] == "[" and words[count][-1:] == "]":
        count += 1
    return "".join([f"{word} " for word in words[:count]])


def is_empty_text(text: str) -> bool:
    """Return whether a text is empty or a placeholder, such as an ellipsis or `None yet`."""
    bare_text = text.strip(" \t.…*_()[]<>-–—`:").lower()
    if not bare_text or bare_text in _EMPTY_TEXTS:
        return True
    if len(bare_text) >= _MAX_EMPTY_CHARS:
        return False
    return bare_text.startswith("to be ") or bare_text.rstrip("。、（）()").endswith(EMPTY_ENDS)
