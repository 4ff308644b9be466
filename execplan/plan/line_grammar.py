"""One task or entry line, taken apart: the box, the stamp, the labels; and what stands for nothing at all."""

from __future__ import annotations

from execplan.clock import Timestamp, placeholder_length, read_timestamp
from execplan.named_tuple import NamedTuple

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
"""The labels with which an entry begins."""

_MAX_LABEL_END = 56
"""Columns within which a label ends: the longest, with its bullet, emphasis and a translation."""

_BULLETS = ("- ", "* ", "+ ")
_NOTE_PREFIXES = (
    "revision note",
    "plan revision note",
    "plan update note",
    "update note",
    "change note",
    "plan change note",
)
_NOTE_INITIALS = frozenset("RrPpUuCc")
_EMPTY_TEXTS = frozenset(
    (
        "none yet|none|none so far|none at this time|nothing yet|nothing so far|n/a|na|tbd|todo|pending|not yet|"
        "to be filled|to be filled in|to be completed|to be added|to be determined|to be recorded|to be documented|"
        "fill in as discovered|not started|not started yet|in progress|no surprises yet|no discoveries yet|"
        "no decisions yet|no outcomes yet|not yet complete|not yet completed"
    ).split("|")
)


class Checkbox(NamedTuple):
    """What a list item with a box says on its first line."""

    mark: str
    timestamp: Timestamp | None
    leading_space: str
    """The white space behind the box."""
    placeholder: str
    """A template's placeholder for a stamp, with the space behind it; or nothing."""
    text: str


def read_checkbox(text: str) -> Checkbox | None:
    """The box that the first line of an item begins with: any one character in brackets, then white space or nothing."""
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


def text_without_timestamp(source: str) -> str:
    """What a task says that is written with the words: all but a stamp, or a template's placeholder for one."""
    checkbox = read_checkbox(f"[ ] {source}")
    return checkbox.text if checkbox is not None else source


def read_label(line: str) -> tuple[str, str] | None:
    """The label that a line begins with, by its standard name, and the words behind it."""
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
    """The date (with its time, as written) and the author of `2026-03-01 / Codex` and its kin."""
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
    """The name that is left beside a date."""
    name = text.lstrip(" \t/,;:|-–—").rstrip(" \t,;/")
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1]
    return None if is_empty_text(name) else name


def is_revision_note(line: str) -> bool:
    """Whether a paragraph that begins with the line is a revision note."""
    bare_line = line.lstrip("*_# \t")
    return bare_line[:1] in _NOTE_INITIALS and bare_line.lower().startswith(_NOTE_PREFIXES)


def is_empty_text(text: str) -> bool:
    """Whether the words only hold a place: none at all, an ellipsis, `None yet.` and its kin."""
    bare_text = text.strip(" \t.…*_()[]<>-–—`:").lower()
    return not bare_text or bare_text in _EMPTY_TEXTS or (bare_text.startswith("to be ") and len(bare_text) < 60)
