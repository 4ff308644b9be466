"""Texts with fields in settings, such as `{date}_{slug}`: which fields they may have, and what else they may contain."""

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


DATE_FIELDS: dict[str, str | int] = dict.fromkeys(("year", "month", "day"), "")
_NAME_FIELDS: dict[str, str | int] = {"date": "", "day": "", "number": 0, "slug": ""}
_BRANCH_FIELDS: dict[str, str | int] = {"slug": "x", "id": "x"}
MESSAGE_FIELDS: dict[str, str | int] = dict.fromkeys(("id", "summary", "verb", "title"), "")


def find_name_problem(form: str) -> str:
    """Return the problem with the form of the names of plans, as it follows the name of the setting; empty if there is none."""
    if "{slug}" not in form or "/" in form:
        return "must be a file name without .md that contains {slug}"
    width = form.partition("{number")[2].partition("}")[0].removeprefix(":")
    if width.strip("0123456789") or len(width) > 2:
        return "can have only a width of digits for the number, as in {number:04}"
    if problem := find_field_problem(form, _NAME_FIELDS):
        return problem
    if {"{", "}"} & set(fill_fields(form, _NAME_FIELDS)):
        return "can contain braces only as part of a field"
    repeated = [field for field in _NAME_FIELDS if form.count("{" + field) > 1]
    return f"can contain {{{repeated[0]}}} only once" if repeated else ""


def find_archived_name_problem(form: str) -> str:
    """Return the problem with the form of the names of archived plans; empty if there is none."""
    if "/" in form or not ("{id}" in form or "{slug}" in form):
        return "must be a file name without .md that contains {id} or {slug}"
    return find_field_problem(form, {"id": "", "slug": "", "date": ""})


def find_branch_problem(form: str) -> str:
    """Return the problem with the form of branch names; empty if there is none."""
    if problem := find_field_problem(form, _BRANCH_FIELDS):
        return problem
    name = fill_fields(form, _BRANCH_FIELDS)
    is_valid = name.isprintable() and not set(name) & set(" ~^:?*[\\") and "@{" not in name and name[:1] != "-"
    parts = name.split("/")
    are_valid = all(
        [part and part[0] != "." and not part.endswith((".lock", ".")) and ".." not in part for part in parts]
    )
    if not (is_valid and are_valid) or form == fill_fields(form, _BRANCH_FIELDS):
        return "must be a valid branch name that contains {slug} or {id}"
    return ""


def find_field_problem(form: str, fields: dict[str, str | int]) -> str:
    """Return the problem with the fields of a text, given the allowed fields with examples; empty if there is none."""
    try:
        fill_fields(form, fields)
    except ValueError:
        return f"can contain only the fields {', '.join(['{' + field + '}' for field in fields])}"
    return ""


def fill_fields(form: str, fields: dict[str, str | int]) -> str:
    """Fill the fields of a text. Raises ValueError for an unknown field or an unmatched brace."""
    return fill(form, fields)
