"""Unified diffs of file changes, in a form that Git can apply."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_DIFF_LINES = 3000
"""Limit on lines for a minimal diff; with more, it takes seconds."""
_CONTEXT_LINES = 3


def split_lines(data: bytes) -> list[str]:
    """Split data into lines with their line ends; only LF ends a line."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def have_crlf_ends(lines: Sequence[str]) -> bool:
    """Return whether all lines that have a line end have CRLF."""
    complete_lines = [line for line in lines if line.endswith("\n")]
    return bool(complete_lines) and all([line.endswith("\r\n") for line in complete_lines])


def replacement_lines(lines: Sequence[str], first: int, last: int, content: str) -> str:
    """Return the text that replaces a range of lines, counted from 1 and inclusive, with the line ends of the file."""
    line_end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    text = content.replace("\r\n", "\n")
    text = text if text.endswith("\n") or not text else text + "\n"
    new = text.replace("\n", line_end)
    return new.removesuffix(line_end) if last == len(lines) and not lines[-1].endswith("\n") else new


def file_diff(old: bytes | None, new: bytes | None, path: str) -> str:
    """Return the diff from the old to the new bytes; None is an absent file, and a binary file is only named."""
    if old == new:
        return ""
    names = [f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new is not None else "/dev/null"]
    if any([_is_binary(data) for data in (old, new) if data is not None]):
        sizes = [f"{len(data):,} bytes" if data is not None else "nothing" for data in (old, new)]
        return f"Binary files {names[0]} and {names[1]} differ: {sizes[0]} before, {sizes[1]} after\n"
    old_lines, new_lines = split_lines(old or b""), split_lines(new or b"")
    if not old_lines and not new_lines:
        return f"diff --git a/{path} b/{path}\n{'new' if old is None else 'deleted'} file mode 100644\n"
    from difflib import unified_diff

    lines = (
        unified_diff(old_lines, new_lines, names[0], names[1])
        if min(len(old_lines), len(new_lines)) <= _MAX_DIFF_LINES
        else _coarse_diff(old_lines, new_lines, names)
    )
    return "".join([line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines])


def _coarse_diff(old_lines: list[str], new_lines: list[str], names: list[str]) -> list[str]:
    """Return a diff of one hunk from the first to the last difference, or a minimal diff if these are close."""
    from difflib import unified_diff

    first = next(
        (index for index, (old, new) in enumerate(zip(old_lines, new_lines, strict=False)) if old != new), None
    )
    first = min(len(old_lines), len(new_lines)) if first is None else first
    max_tail = min(len(old_lines), len(new_lines)) - first
    pairs = zip(reversed(old_lines), reversed(new_lines), strict=False)
    tail_length = min(next((index for index, (old, new) in enumerate(pairs) if old != new), max_tail), max_tail)
    start, context_after = max(first - _CONTEXT_LINES, 0), min(tail_length, _CONTEXT_LINES)
    ends = [len(lines) - tail_length + context_after for lines in (old_lines, new_lines)]
    if max(ends) - start <= _MAX_DIFF_LINES:
        diff_lines = list(
            unified_diff(old_lines[start : ends[0]], new_lines[start : ends[1]], names[0], names[1], n=max(ends))
        )
        body = diff_lines[3:]
    else:
        old, new = old_lines[first : len(old_lines) - tail_length], new_lines[first : len(new_lines) - tail_length]
        tail = old_lines[len(old_lines) - tail_length : ends[0]]
        body = (
            [f" {line}" for line in old_lines[start:first]]
            + [f"-{line}" for line in old]
            + [f"+{line}" for line in new]
        )
        body += [f" {line}" for line in tail]
    counts = [f"{start + 1},{end - start}" for end in ends]
    return [f"--- {names[0]}\n", f"+++ {names[1]}\n", f"@@ -{counts[0]} +{counts[1]} @@\n", *body]


def _is_binary(data: bytes) -> bool:
    if b"\0" in data:
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
