"""Unified diffs: parsed strictly, and applied exactly or rejected with the failing hunk.

unidiff parses the hunks. It treats unknown lines, and hunks that it does not recognize, as remarks; here every line of
a diff must have a meaning.
"""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import shorten
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.evaluation.unified_diff import have_crlf_ends, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unidiff.patch import Hunk as UnidiffHunk
    from unidiff.patch import PatchedFile


def is_partially_applied(before: bytes, after: bytes, hunks: Sequence[Hunk]) -> bool:
    """Return whether a file has the content that results from applying any subset of the hunks, even none or all."""
    old, new = split_lines(before), split_lines(after)
    ends, index = {0}, 0  # possible numbers of lines of the new file that are read so far
    for hunk in hunks:
        between = old[index : hunk.start]
        ends = {end + len(between) for end in ends if new[end : end + len(between)] == between}
        variants = [list(lines) for lines in (hunk.old, hunk.new)]
        ends = {end + len(variant) for end in ends for variant in variants if new[end : end + len(variant)] == variant}
        index = hunk.start + len(hunk.old)
    return any([new[end:] == old[index:] for end in ends])


_DEV_NULL = "/dev/null"
_MODES = {None: None, "100644": 0o644, "100755": 0o755}
_GIT_LINE_PREFIXES = tuple(
    "diff --git |index |old mode |new mode |new file mode |deleted file mode |rename from |rename to |similarity index |"
    "dissimilarity index ".split("|")
)
"""Prefixes of the lines that Git writes between files."""
_RENAMES = "rename from "


class Hunk(NamedTuple):
    """A range of old lines and the new lines that replace it, each with its line end."""

    header: str
    start: int
    """Index of the first line, from 0."""
    old: tuple[str, ...]
    new: tuple[str, ...]


class FilePatch(NamedTuple):
    """The changes of a diff to one file."""

    source: str | None
    """Path of the file before, or None if the file is new."""
    target: str | None
    """Path of the file after, or None if it is deleted; a path other than the source means a rename."""
    hunks: tuple[Hunk, ...]
    mode: int | None = None
    """File mode given by the diff: 0o644 or 0o755."""


def parse_patch(text: str, target: str | None = None) -> tuple[FilePatch, ...]:
    """Return the files that a diff changes, in order; a diff without a header applies to the target.

    Raises ExecplanError if a line can't be parsed, or if the diff changes something other than text: a link or a binary
    file.
    """
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    text = text.lstrip("\n")
    text = text if text.endswith("\n") else text + "\n"
    if target is not None and _has_no_header(text):
        text = f"--- a/{target}\n+++ b/{target}\n{text}"
    lines = text.split("\n")[:-1]
    try:
        files = PatchSet([line + "\n" for line in lines])
    except (UnidiffParseError, ValueError, AssertionError) as error:
        raise _patch_error(f"{' '.join(str(error).split())}; check the counts in the `@@` lines") from None
    if not files:
        raise _patch_error("it has no `---`, `+++` and `@@` lines")
    if sum([_line_count(file) for file in files]) != len(lines):
        raise _patch_error("it has lines outside its hunks; check the counts in the `@@` lines")
    changes = tuple([_file_patch(file) for file in files])
    paths = [name for change in changes for name in (change.source, change.target) if name is not None]
    if set(paths) != set(diff_paths(text)):
        raise _patch_error("its headers name different files")
    if len({change.target or change.source for change in changes}) != len(changes):
        raise _patch_error("it changes a file twice")
    if target is not None and paths == [target]:
        raise _patch_error(f"it creates or deletes {target}, but the step only changes it")
    if target is not None and paths != [target, target]:
        raise _patch_error(f"it is for {' and '.join(dict.fromkeys(paths))}, not for {target} alone")
    return changes


def apply_patch(data: bytes, change: FilePatch) -> bytes:
    """Return the bytes of the file after the change. Raises ExecplanError if a hunk does not match byte for byte.

    A file whose lines all end in CRLF can be changed by a diff whose lines end in LF, and keeps its line ends.
    """
    lines = split_lines(data)
    new_lines: list[str] = []
    index = 0
    for number, hunk in enumerate(adapt_line_ends(lines, change), 1):
        if hunk.start < index or tuple(lines[hunk.start : hunk.start + len(hunk.old)]) != hunk.old:
            raise _mismatch_error(number, hunk, lines, index)
        new_lines += [*lines[index : hunk.start], *hunk.new]
        index = hunk.start + len(hunk.old)
    new_lines += lines[index:]
    if any([not line.endswith("\n") for line in new_lines[:-1]]):
        raise ExecplanError(
            "patch-does-not-apply",
            "a line in the middle would have no line ending",
            hint="check `\\ No newline` in the diff",
        )
    return "".join(new_lines).encode("utf-8", "surrogateescape")


def adapt_line_ends(lines: Sequence[str], change: FilePatch) -> tuple[Hunk, ...]:
    """Return the hunks with the line ends of the file: CRLF if all lines of the file have it and no diff line does."""
    hunks = change.hunks
    if not have_crlf_ends(lines) or any([line.endswith("\r\n") for hunk in hunks for line in hunk.old + hunk.new]):
        return hunks
    return tuple([hunk._replace(old=_with_crlf(hunk.old), new=_with_crlf(hunk.new)) for hunk in hunks])


def _has_no_header(text: str) -> bool:
    """Return whether a diff starts with its hunks, without a header."""
    return next((line for line in text.split("\n") if line.strip()), "").startswith("@@")


def _line_count(file: PatchedFile) -> int:
    """Return the number of lines that a file takes in the diff."""
    headers = 2 if file else 0
    return len(file.patch_info or ()) + headers + sum([1 + len(hunk) for hunk in file])


def _marked_lines(hunk: UnidiffHunk) -> list[tuple[str, str]]:
    """Return the lines of a hunk with their marks, without trailing blank lines."""
    return [(line.line_type, line.value) for line in hunk if line.line_type]


def _file_patch(file: PatchedFile) -> FilePatch:
    """Convert a parsed file of a diff. Raises ExecplanError if it is invalid or unsupported."""
    git_lines = [str(line) for line in file.patch_info or ()]
    unknown_lines = [line.strip() for line in git_lines if line.strip() and not line.startswith(_GIT_LINE_PREFIXES)]
    if file.is_binary_file:
        raise _patch_error(f"{file.path} is a binary file")
    if unknown_lines:
        raise _patch_error(f"it contains {unknown_lines[0]!r}, which is not a line of a diff")
    source, target = _header_path(file.source_file), _header_path(file.target_file)
    is_rename = any([line.startswith(_RENAMES) for line in git_lines])
    if source is not None and target is not None and (source != target) != is_rename:
        raise _patch_error(f"its headers {source} and {target} don't match: only a rename has two names")
    if not file and not is_rename:
        raise _patch_error(f"it changes no line of {target or source}; create an empty file with create_file")
    for mode in (file.source_mode, file.target_mode):
        if mode not in _MODES:
            raise _patch_error(f"{target or source} has the mode {mode}; only regular files can be changed")
    return FilePatch(source, target, tuple([_convert_hunk(hunk) for hunk in file]), _MODES[file.target_mode])


def _header_path(text: str | None) -> str | None:
    """Return the path in a header, or None for /dev/null. Raises ExecplanError if the path is quoted."""
    if text is None or text.rstrip("\r") == _DEV_NULL:
        return None
    if text.startswith('"'):
        raise _patch_error(f"it quotes the name {text}; write the name without quotes")
    name = text.rstrip("\r")
    return name[2:] if name[:2] in ("a/", "b/") else name


def _convert_hunk(parsed: UnidiffHunk) -> Hunk:
    old: list[str] = []
    new: list[str] = []
    previous_mark = ""
    for mark, value in _marked_lines(parsed):
        if mark == "\\":
            for side, marks in ((old, " -"), (new, " +")):
                if previous_mark in marks and side:
                    side[-1] = side[-1].removesuffix("\n")
            continue
        if mark in " -":
            old.append(value)
        if mark in " +":
            new.append(value)
        previous_mark = mark
    # The header of a hunk without old lines gives the line before it, any other its first line.
    start = parsed.source_start - 1 if old else parsed.source_start
    header = f"@@ -{parsed.source_start},{parsed.source_length} +{parsed.target_start},{parsed.target_length} @@"
    return Hunk(header, start, tuple(old), tuple(new))


def _with_crlf(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines with LF replaced by CRLF."""
    return tuple([line[:-1] + "\r\n" if line.endswith("\n") else line for line in lines])


def _mismatch_error(number: int, hunk: Hunk, lines: list[str], index: int) -> ExecplanError:
    """Return the error for a hunk that does not match, with the line where it would."""
    expected = hunk.old
    fits = _find_lines("".join(lines[index:]), "".join(expected), index + 1)
    hint = "create the diff again"
    if hunk.start < index:
        why = "it begins before the end of the previous hunk"
    elif len(fits) == 1:
        why, hint = f"its lines are at line {fits[0]}", "correct the numbers in its `@@` line"
    elif hunk.start >= len(lines) and expected:
        why = f"the file has {len(lines)} lines"
    else:
        pairs = zip(expected, [*lines[hunk.start :], *[""] * len(expected)], strict=False)
        line, expected_line, actual_line = next(
            (line_number, wanted_line, current_line)
            for line_number, (wanted_line, current_line) in enumerate(pairs, hunk.start + 1)
            if wanted_line != current_line
        )
        why = f"line {line} is {_quote_line(actual_line)}, not {_quote_line(expected_line)}"
    message = f"hunk {number} ({hunk.header}) doesn't match: {why}"
    return ExecplanError("patch-does-not-apply", message, hint=hint)


def _find_lines(text: str, excerpt: str, first_line: int) -> list[int]:
    """Return up to two line numbers at which the excerpt occurs in the text, counted from `first_line`."""
    line_numbers: list[int] = []
    position = f"\n{text}".find(f"\n{excerpt}") if excerpt else -1
    while position >= 0 and len(line_numbers) < 2:
        line_numbers.append(first_line + text.count("\n", 0, position))
        position = f"\n{text}".find(f"\n{excerpt}", position + 1)
    return line_numbers


def _quote_line(line: str) -> str:
    return repr(shorten(line.removesuffix("\n"), 60))


def _patch_error(why: str) -> ExecplanError:
    return ExecplanError("bad-patch", f"the diff can't be parsed: {why}", hint="create it with git diff")
