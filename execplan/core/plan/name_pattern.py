"""Check of plan names against a pattern from the settings, such as `{date}_{slug}`, without regular expressions."""

from __future__ import annotations

from execplan.core.timestamps import read_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def matches_pattern(pattern: str, name: str, *, any_slug: bool = False) -> bool:
    """Return whether a name matches a pattern: an existing date, a number of at least the given width, and a slug.

    A slug starts with a letter or digit, followed by letters, digits, `_`, `.` and `-`. With `any_slug`, any characters
    may follow the first, as in names that people chose.
    """
    return _matches_fields(list(_split_pattern(pattern)), name, any_slug=any_slug)


def _split_pattern(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pattern, each with the text before it; the last one has no field."""
    remaining = pattern
    while "{" in remaining:
        text, _, remaining = remaining.partition("{")
        field, _, remaining = remaining.partition("}")
        yield text, field
    yield remaining, ""


def _matches_fields(fields: list[tuple[str, str]], name: str, *, any_slug: bool) -> bool:
    literal, field = fields[0]
    if not name.startswith(literal):
        return False
    remaining = name[len(literal) :]
    if not field:
        return not remaining
    return any(
        [
            _matches_fields(fields[1:], remaining[size:], any_slug=any_slug)
            for size in _field_sizes(field, remaining, any_slug=any_slug)
        ]
    )


def _field_sizes(field: str, remaining: str, *, any_slug: bool) -> Iterator[int]:
    """Yield each number of characters of the remaining name that a field may take."""
    if field == "date":
        timestamp = read_timestamp(remaining[:10])
        if timestamp is not None and timestamp.is_valid:
            yield 10
    elif field == "day":
        timestamp = read_timestamp(f"{remaining[:4]}-{remaining[4:6]}-{remaining[6:8]}")
        if timestamp is not None and timestamp.is_valid:
            yield 8
    elif field.startswith("number"):
        spec = field.partition(":")[2].rstrip("d")
        width = int(spec) if spec.isdecimal() else 1
        digits = len(remaining) - len(remaining.lstrip("0123456789"))
        yield from range(max(width, 1), digits + 1)
    elif remaining[:1].isalnum():
        size = 1
        while size < len(remaining) and (any_slug or remaining[size].isalnum() or remaining[size] in "_.-"):
            size += 1
        yield from range(size, 0, -1)
