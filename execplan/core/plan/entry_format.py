"""The format of the entries in a log, which new entries copy: bullets, wrapping and order."""

from __future__ import annotations

from execplan.core.plan.item_format import wrap_width
from execplan.core.plan.line_grammar import read_label
from execplan.core.plan.text_blocks import has_blocks
from execplan.core.text.text_lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import Entry


def entry_width(lines: Sequence[str], entries: Sequence[Entry]) -> int:
    """Return the width at which entries are wrapped by hand, or 0 if no field continues on a line without a label."""
    widths = []
    for entry in entries:
        if any([has_blocks(text or "") for text in (entry.body, entry.rationale, entry.evidence)]):
            continue  # the lines of its code and lists end for other reasons
        for index in range(entry.start + 1, entry.end):
            if not (is_blank(lines[index]) or is_blank(lines[index - 1])) and read_label(lines[index]) is None:
                widths += [len(lines[index]), len(lines[index - 1])]
    return wrap_width(widths)


def is_newest_first(entries: Sequence[Entry]) -> bool:
    """Return whether the dates of a log descend from the first entry to the last."""
    dates = [entry.date[:10] for entry in entries if entry.date]
    return len(dates) > 1 and dates[0] > dates[-1] and dates == sorted(dates, reverse=True)


def entry_bullet(lines: Sequence[str], entry: Entry) -> str:
    """Return the bullet that an entry starts with, including the white space around it, or an empty string."""
    line = lines[entry.start]
    bare_line = line.lstrip(" ")
    if bare_line[:2] not in ("- ", "* ", "+ "):
        return ""
    return line[: len(line) - len(bare_line[1:].lstrip(" "))]
