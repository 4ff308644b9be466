"""Substitution of fields in braces in the texts of settings, such as `plan({id}): {summary}`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def fill(form: str, values: Mapping[str, str | int]) -> str:
    """Replace the fields of a text by their values, which are not expanded again. Raises ValueError for a bad field.

    Unlike `str.format` it evaluates nothing: `{id.__class__}` and `{id!r}` are unknown fields. A field may have a width
    of digits, as in `{number:04}`, if its value is a number. `{{` and `}}` are escapes for single braces.
    """
    return "".join([text if field is None else _field_value(field, values) for text, field in _split_fields(form)])


def _field_value(field: str, values: Mapping[str, str | int]) -> str:
    name, colon, width = field.partition(":")
    value = values.get(name)
    if value is None or (colon and not (isinstance(value, int) and width.isascii() and width.isdigit())):
        raise ValueError(field)
    return f"{value:0{int(width)}d}" if colon and isinstance(value, int) and len(width) < 3 else str(value)


def _split_fields(form: str) -> Iterator[tuple[str, str | None]]:
    """Yield the texts between the fields, and the fields, in order. Raises ValueError for an unmatched brace."""
    rest = form
    while rest:
        text, brace, rest = _split_at_brace(rest)
        yield text, None
        if brace and rest.startswith(brace):
            yield brace, None
            rest = rest[1:]
        elif brace == "{" and "}" in rest:
            field, _, rest = rest.partition("}")
            yield "", field
        elif brace:
            raise ValueError(brace)


def _split_at_brace(text: str) -> tuple[str, str, str]:
    """Split a text at its first brace into the text before it, the brace, and the text after it."""
    positions = [at for at in (text.find("{"), text.find("}")) if at >= 0]
    at = min(positions) if positions else len(text)
    return text[:at], text[at : at + 1], text[at + 1 :]
