"""How a file changes, as a unified diff that git applies."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 3000
"""Lines between the first and the last difference up to which the shortest diff is looked for: beyond, it takes seconds."""
_AROUND = 3


def cut(data: bytes) -> list[str]:
    """Lines with their ends; only LF ends one."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def are_returned(lines: Sequence[str]) -> bool:
    """Whether all lines that end at all end in CRLF."""
    ended = [line for line in lines if line.endswith("\n")]
    return bool(ended) and all([line.endswith("\r\n") for line in ended])


def spliced(lines: Sequence[str], first: int, last: int, content: str) -> str:
    """What takes the place of lines of a file, counted from 1 and inclusive: the line ends are those of the file."""
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    given = content.replace("\r\n", "\n")
    given = given if given.endswith("\n") or not given else given + "\n"
    new = given.replace("\n", end)
    return new.removesuffix(end) if last == len(lines) and not lines[-1].endswith("\n") else new


def diff(old: bytes | None, new: bytes | None, path: str) -> str:
    """What makes the new bytes of the old ones; None is a file that is not there, what is no text is only named."""
    if old == new:
        return ""
    names = [f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new is not None else "/dev/null"]
    if any([_is_binary(data) for data in (old, new) if data is not None]):
        sizes = [f"{len(data):,} bytes" if data is not None else "nothing" for data in (old, new)]
        return f"Binary files {names[0]} and {names[1]} differ: {sizes[0]} before, {sizes[1]} after\n"
    one, two = cut(old or b""), cut(new or b"")
    if not one and not two:
        return f"diff --git a/{path} b/{path}\n{'new' if old is None else 'deleted'} file mode 100644\n"
    from difflib import unified_diff

    lines = (
        unified_diff(one, two, names[0], names[1]) if min(len(one), len(two)) <= _LONGEST else _coarse(one, two, names)
    )
    return "".join([line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines])


def _coarse(one: list[str], two: list[str], names: list[str]) -> list[str]:
    """A diff of one hunk, from the first difference to the last, unless these are near."""
    from difflib import unified_diff

    first = next((at for at, (old, new) in enumerate(zip(one, two, strict=False)) if old != new), None)
    first = min(len(one), len(two)) if first is None else first
    room = min(len(one), len(two)) - first
    pairs = zip(reversed(one), reversed(two), strict=False)
    last = min(next((at for at, (old, new) in enumerate(pairs) if old != new), room), room)
    begin, behind = max(first - _AROUND, 0), min(last, _AROUND)
    ends = [len(lines) - last + behind for lines in (one, two)]
    if max(ends) - begin <= _LONGEST:
        shorter = list(unified_diff(one[begin : ends[0]], two[begin : ends[1]], names[0], names[1], n=max(ends)))
        body = shorter[3:]
    else:
        old, new = one[first : len(one) - last], two[first : len(two) - last]
        tail = one[len(one) - last : ends[0]]
        body = [f" {line}" for line in one[begin:first]] + [f"-{line}" for line in old] + [f"+{line}" for line in new]
        body += [f" {line}" for line in tail]
    counts = [f"{begin + 1},{end - begin}" for end in ends]
    return [f"--- {names[0]}\n", f"+++ {names[1]}\n", f"@@ -{counts[0]} +{counts[1]} @@\n", *body]


def _is_binary(data: bytes) -> bool:
    if b"\0" in data:
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
