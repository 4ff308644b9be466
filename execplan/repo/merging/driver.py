"""The merge driver that git calls: whatever goes wrong, no side is dropped, and nothing fails without a word."""

from __future__ import annotations

import os
import sys

from execplan import trace
from execplan.errors import NO, OK, USAGE, ExecplanError
from execplan.plan.merging.whole import Marks, Merged
from execplan.plan.reader import too_large
from execplan.repo.merging import mergefile
from execplan.text import disk, files
from execplan.text.hidden import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MERGED, CONFLICTS = "merged", "conflicts"
"""What is printed when the file of our side has been written: Python ends with 1, too, when it has no execplan."""
FORM = ("%O", "%A", "%B", "%L", "%P", "%S", "%X", "%Y")
"""What git is asked to hand in; one that is older than a placeholder leaves it as it is."""
LEAST = 5
"""How many of them there are at least."""
_LARGEST = 1 << 28


def drive(arguments: Sequence[str]) -> int:
    """Merge the files that git names, as in FORM, into that of our side; the exit status.

    1 when conflicts are left, or when the plans could not be merged as such: then our side holds what git makes of
    the lines. Raises ExecplanError when it is called otherwise, or a file can't be read or written.
    """
    if len(arguments) < LEAST:
        hint = "git calls it, once it is told to: execplan install merge-driver"
        raise ExecplanError("usage", f"--driver is followed by {' '.join(FORM)}", exit=USAGE, hint=hint)
    base, ours, theirs, size, path = arguments[:LEAST]
    marks = _marks(size, [_given(each, form) for each, form in zip(arguments[LEAST:], FORM[LEAST:], strict=False)])
    path = _given(path, FORM[LEAST - 1]) or ours
    old, other = _read(ours), _read(theirs)
    if b"\0" in old + other:
        _tell(path, "it is binary on one side, so our side is kept as it is")
        merged = Merged(old, 1, ())
    else:
        merged = _merge(_read(base), old, other, marks, path)
    if merged.data != old:
        files.replace(ours, old, merged.data)
    for note in merged.notes:
        _tell(path, note)
    print(CONFLICTS if merged.conflicts else MERGED)
    return NO if merged.conflicts else OK


def _merge(base: bytes, ours: bytes, theirs: bytes, marks: Marks, path: str) -> Merged:
    """The plans merged; when that can't be, the lines, as a conflict."""
    try:
        from execplan.repo.merging.merge import three

        return three(base, ours, theirs, marks)
    except ExecplanError as error:
        why = error.message
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, both sides go into the file
        trace.tell(_traceback())
        why = f"a bug in execplan: {type(error).__name__}: {error}"
    _tell(path, f"{why}; merged line by line instead, so look at it before you stage it")
    found = mergefile.merge(base, ours, theirs, marks)
    return Merged(_whole(ours, theirs, marks) if found is None else found[0], 1, ())


def _whole(ours: bytes, theirs: bytes, marks: Marks) -> bytes:
    """Both sides, one behind the other, between markers."""
    begin, _, middle, _, end = [each.encode() for each in marks.around([""], [""], "\n")]
    return begin + _ended(ours) + middle + _ended(theirs) + end


def _ended(data: bytes) -> bytes:
    return data if data.endswith((b"\n", b"\r")) or not data else data + b"\n"


def _marks(size: str, labels: Sequence[str]) -> Marks:
    default = Marks()
    _, ours, theirs = [*labels, "", "", ""][:3]
    number = int(size) if size.isdecimal() else 0
    return Marks(number or default.size, ours or default.ours, theirs or default.theirs)


def _given(word: str, form: str) -> str:
    """What git put in place of a placeholder; nothing where it knows none such."""
    return "" if word == form else word


def _read(path: str) -> bytes:
    data, size = disk.read(path, _LARGEST)
    if size > _LARGEST:
        raise too_large(size)
    return data


def _tell(path: str, words: str) -> None:
    line = f"execplan: {os.fsencode(path).decode('utf-8', 'replace')}: {words}"
    print(visible(line), file=sys.stderr)


def _traceback() -> str:
    from traceback import format_exc

    return format_exc()
