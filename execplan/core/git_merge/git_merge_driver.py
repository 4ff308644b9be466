"""The merge driver that git calls: it never drops a side, and always reports a failure."""

from __future__ import annotations

import os
import sys

from execplan.core import trace
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git_merge import three_way_merge
from execplan.core.plan.index_block import may_have_index
from execplan.core.plan.merge.plan_merge import ConflictMarkers, MergeResult
from execplan.core.plan.reader import too_large_error
from execplan.core.text.invisible_characters import escape_unprintable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MERGED, CONFLICTS = "merged", "conflicts"
"""Lines printed after our side is written; exit status 1 alone could also mean that Python has no execplan."""
PLACEHOLDERS = ("%O", "%A", "%B", "%L", "%P", "%S", "%X", "%Y")
"""Placeholders for git to fill in; a git version that does not know one leaves it unchanged."""
MIN_ARGUMENTS = 5
"""Minimum number of arguments."""
_MAX_BYTES = 1 << 28


def run_merge_driver(arguments: Sequence[str]) -> int:
    """Merge the files that git passes, as in `PLACEHOLDERS`, into our side, and return the exit status.

    Status 1 means that conflicts remain, or that the files could not be merged as plans. In the latter case, our side
    has git's merge of the lines. Raises ExecplanError for wrong arguments, or if a file can't be read or written.
    """
    if len(arguments) < MIN_ARGUMENTS:
        hint = "git runs it after you install it: execplan install merge-driver"
        raise ExecplanError("usage", f"--driver requires {' '.join(PLACEHOLDERS)}", hint=hint)
    base, ours, theirs, size, path = arguments[:MIN_ARGUMENTS]
    marks = _parse_marks(
        size,
        [
            _argument_or_empty(argument, placeholder)
            for argument, placeholder in zip(arguments[MIN_ARGUMENTS:], PLACEHOLDERS[MIN_ARGUMENTS:], strict=False)
        ],
    )
    path = _argument_or_empty(path, PLACEHOLDERS[MIN_ARGUMENTS - 1]) or ours
    our_data, their_data = _read_bounded(ours), _read_bounded(theirs)
    if b"\0" in our_data + their_data:
        _report(path, "it is binary on one side, so our side is kept")
        merged = MergeResult(our_data, 1, ())
    else:
        merged = _merge(_read_bounded(base), our_data, their_data, marks, path)
    if merged.data != our_data:
        atomic_files.replace_if_unchanged(ours, our_data, merged.data)
    for note in merged.notes:
        _report(path, note)
    print(CONFLICTS if merged.conflict_count else MERGED)
    return CHECK_FAILED if merged.conflict_count else OK


def _merge(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers, path: str) -> MergeResult:
    """Merge the versions as plans; if that fails, merge the lines and report a conflict."""
    try:
        if may_have_index(ours) and may_have_index(theirs):
            from execplan.core.git_merge.three_way_merge import merge_index_files

            merged_index = merge_index_files(base, ours, theirs, marks)
            if merged_index is not None:
                return merged_index
        from execplan.core.git_merge.three_way_merge import merge_versions

        return merge_versions(base, ours, theirs, marks)
    except ExecplanError as error:
        reason = error.message
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, both sides go into the file
        trace.log(_format_traceback())
        reason = f"internal error (a bug in execplan): {type(error).__name__}: {error}"
    _report(path, f"{reason}; merged line by line instead: review the result before you stage it")
    git_merge = three_way_merge.run_merge_file(base, ours, theirs, marks)
    return MergeResult(_whole_file_conflict(ours, theirs, marks) if git_merge is None else git_merge[0], 1, ())


def _whole_file_conflict(ours: bytes, theirs: bytes, marks: ConflictMarkers) -> bytes:
    """Return both sides, one after the other, between conflict markers."""
    begin, _, middle, _, end = [marker.encode() for marker in marks.wrap_sides([""], [""], "\n")]
    return begin + _with_line_end(ours) + middle + _with_line_end(theirs) + end


def _with_line_end(data: bytes) -> bytes:
    return data if data.endswith((b"\n", b"\r")) or not data else data + b"\n"


def _parse_marks(size: str, labels: Sequence[str]) -> ConflictMarkers:
    default = ConflictMarkers()
    _, ours, theirs = [*labels, "", "", ""][:3]
    number = int(size) if size.isdecimal() else 0
    return ConflictMarkers(number or default.size, ours or default.ours, theirs or default.theirs)


def _argument_or_empty(argument: str, placeholder: str) -> str:
    """Return the value that git passed for a placeholder, or an empty string if git does not know it."""
    return "" if argument == placeholder else argument


def _read_bounded(path: str) -> bytes:
    data, size = file_access.read(path, _MAX_BYTES)
    if size > _MAX_BYTES:
        raise too_large_error(size)
    return data


def _report(path: str, message: str) -> None:
    line = f"execplan: {os.fsencode(path).decode('utf-8', 'replace')}: {message}"
    print(escape_unprintable(line), file=sys.stderr)


def _format_traceback() -> str:
    from traceback import format_exc

    return format_exc()
