"""Whether a name has the form that settings give to names, such as `{date}_{slug}`, without regular expressions."""

from __future__ import annotations

from execplan.clock import read_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def fits(form: str, name: str, *, loose: bool = False) -> bool:
    """Whether a name has the form: a real date, a number as wide as the others, a slug of letters, digits, hyphens.

    A loose slug may hold anything behind its first letter, as names do that were given by hand.
    """
    return _match(list(_parts(form)), name, loose=loose)


def _parts(form: str) -> Iterator[tuple[str, str]]:
    """The fields of a form, each with the text before it; the last has no field."""
    rest = form
    while "{" in rest:
        text, _, rest = rest.partition("{")
        field, _, rest = rest.partition("}")
        yield text, field
    yield rest, ""


def _match(parts: list[tuple[str, str]], name: str, *, loose: bool) -> bool:
    text, field = parts[0]
    if not name.startswith(text):
        return False
    rest = name[len(text) :]
    if not field:
        return not rest
    return any([_match(parts[1:], rest[size:], loose=loose) for size in _sizes(field, rest, loose=loose)])


def _sizes(field: str, rest: str, *, loose: bool) -> Iterator[int]:
    """How many characters of what is left a field may take."""
    if field == "date":
        stamp = read_stamp(rest[:10])
        if stamp is not None and stamp.possible:
            yield 10
    elif field == "day":
        stamp = read_stamp(f"{rest[:4]}-{rest[4:6]}-{rest[6:8]}")
        if stamp is not None and stamp.possible:
            yield 8
    elif field.startswith("number"):
        spec = field.partition(":")[2].rstrip("d")
        width = int(spec) if spec.isdecimal() else 1
        digits = len(rest) - len(rest.lstrip("0123456789"))
        yield from range(max(width, 1), digits + 1)
    elif rest[:1].isalnum():
        size = 1
        while size < len(rest) and (loose or rest[size].isalnum() or rest[size] in "_.-"):
            size += 1
        yield from range(size, 0, -1)
