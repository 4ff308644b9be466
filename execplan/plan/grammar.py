"""One task or entry line, taken apart: the box, the stamp, the labels; and what stands for nothing at all."""

from __future__ import annotations

from execplan.clock import Stamp, placeholder, read_stamp
from execplan.record import NamedTuple

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
HEADS = frozenset((DECISION, OBSERVATION))
"""The labels with which an entry begins."""

_FARTHEST = 56
"""Columns within which a label ends: the longest, with its bullet, emphasis and a translation."""

_BULLETS = ("- ", "* ", "+ ")
_NOTES = ("revision note", "plan revision note", "plan update note", "update note", "change note", "plan change note")
_INITIALS = frozenset("RrPpUuCc")
_NOTHING = frozenset(
    (
        "none yet|none|none so far|none at this time|nothing yet|nothing so far|n/a|na|tbd|todo|pending|not yet|"
        "to be filled|to be filled in|to be completed|to be added|to be determined|to be recorded|to be documented|"
        "fill in as discovered|not started|not started yet|in progress|no surprises yet|no discoveries yet|"
        "no decisions yet|no outcomes yet|not yet complete|not yet completed"
    ).split("|")
)


class Box(NamedTuple):
    """What a list item with a box says on its first line."""

    mark: str
    stamp: Stamp | None
    lead: str
    """The white space behind the box."""
    blank: str
    """A template's placeholder for a stamp, with the space behind it; or nothing."""
    words: str


def read_box(text: str) -> Box | None:
    """The box that the first line of an item begins with: any one character in brackets, then white space or nothing."""
    if len(text) < 3 or text[0] != "[" or text[2] != "]" or text[3:4] not in ("", " ", "\t"):
        return None
    rest = text[3:]
    words = rest.lstrip(" \t")
    lead = rest[: len(rest) - len(words)]
    stamp = read_stamp(words)
    if stamp is not None:
        return Box(text[1], stamp, lead, "", words[len(stamp.text) + len(stamp.after) :])
    skipped = placeholder(words)
    return Box(text[1], None, lead, words[:skipped], words[skipped:])


def task_text(words: str) -> str:
    """What a task says that is written with the words: all but a stamp, or a template's placeholder for one."""
    box = read_box(f"[ ] {words}")
    return box.words if box is not None else words


def read_label(line: str) -> tuple[str, str] | None:
    """The label that a line begins with, by its standard name, and the words behind it."""
    colon = line.find(":", 0, _FARTHEST)
    if not line.isascii():
        wide = line.find("：", 0, _FARTHEST)
        colon = wide if colon < 0 or 0 <= wide < colon else colon
    if colon < 0:
        return None
    name = line[:colon].lstrip(" \t")
    if name[:2] in _BULLETS:
        name = name[2:].lstrip(" \t")
    bare = name.strip("*_ ")
    folded = bare.lower()
    label = _LABELS.get(folded) or _LABELS.get(folded.split(" / ")[0].rstrip(" 0123456789#"))
    if label is None:
        return None
    words = line[colon + 1 :]
    if name[-1] == bare[-1]:
        words = words.removeprefix(name[: name.index(bare)])
    return label, words.strip()


def read_date_author(words: str) -> tuple[str | None, str | None]:
    """The date (with its time, as written) and the author of `2026-03-01 / Codex` and its kin."""
    stamp = read_stamp(words)
    if stamp is not None:
        return stamp.moment, _author(words[len(stamp.text) :])
    for at in range(len(words) - 9):
        if words[at].isdigit() and (at == 0 or not words[at - 1].isalnum()):
            stamp = read_stamp(words[at:].replace(")", " ").replace(",", " "))
            if stamp is not None:
                return stamp.moment, _author(words[:at].rstrip(" ,;/(-") + words[at + len(stamp.text) :])
    return None, _author(words[placeholder(words) :])


def _author(words: str) -> str | None:
    """The name that is left beside a date."""
    name = words.lstrip(" \t/,;:|-–—").rstrip(" \t,;/")
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1]
    return None if is_nothing(name) else name


def is_note(line: str) -> bool:
    """Whether a paragraph that begins with the line is a revision note."""
    bare = line.lstrip("*_# \t")
    return bare[:1] in _INITIALS and bare.lower().startswith(_NOTES)


def is_nothing(words: str) -> bool:
    """Whether the words only hold a place: none at all, an ellipsis, `None yet.` and its kin."""
    bare = words.strip(" \t.…*_()[]<>-–—`:").lower()
    return not bare or bare in _NOTHING or (bare.startswith("to be ") and len(bare) < 60)
