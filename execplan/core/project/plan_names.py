"""Naming patterns of plans, such as `{date}_{slug}`: filling in, matching, and guessing from names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from execplan.core.clock import now
from execplan.core.plan.name_pattern import matches_pattern

_DATE_PREFIX = re.compile(r"\d{4}-\d\d-\d\d")
_KNOWN_FORMS = (
    (re.compile(r"\d{4}-\d\d-\d\d([-_])."), r"{{date}}{1}{{slug}}"),
    (re.compile(r"([A-Za-z]{1,12}[-_])?\d{8}([-_])(\d{1,4})([-_])."), r"{1}{{day}}{2}{{number}}{4}{{slug}}"),
    (re.compile(r"([A-Za-z]{1,12}[-_])?\d{8}([-_])."), r"{1}{{day}}{2}{{slug}}"),
    (re.compile(r"([A-Za-z]{1,12}[-_])?(\d{1,5})( - |[-_])."), r"{1}{{number}}{3}{{slug}}"),
    (re.compile(r"((?:exec[-_]?)?plan[-_])."), r"{1}{{slug}}"),
)
"""Patterns of common names, each with its form; numbers in the form refer to groups."""


_SUB_NUMBER = re.compile(r"([A-Za-z]{1,12}[-_])?\d{1,5}\.\d")
"""A name with the number of a part of another plan, such as `task-3.1`."""


def fill(form: str, slug: str) -> str:
    """Return the name of a plan created today; a number field remains."""
    today = f"{now():%Y-%m-%d}"
    return form.replace("{date}", today).replace("{day}", today.replace("-", "")).replace("{slug}", slug)


def assign_number(name: str, taken_names: Iterable[str]) -> str:
    """Fill in a number field with the number after the highest of the taken names, which are in lower case."""
    head, field, rest = name.partition("{number")
    if not field:
        return name
    width = int(rest.partition("}")[0].removeprefix(":") or 0)
    return name.format(number=1 + max(_used_numbers(head.casefold(), width, taken_names), default=0))


def used_number(form: str, name: str) -> str:
    """Return the digits of a name in the place of the form's number field; empty if there are none."""
    head, field, _ = form.partition("{number")
    rest = name.removeprefix(head) if field and name.startswith(head) else ""
    return rest[: len(rest) - len(rest.lstrip("0123456789"))]


def extract_slugs(form: str, name: str) -> set[str]:
    """Return the possible slugs of a name, without date, number and fixed words, by this form and the common forms."""
    matched_slugs = {
        full_match.group(1) for full_match in [_slug_pattern(form).fullmatch(name)] if full_match is not None
    }
    for pattern, _ in _KNOWN_FORMS:
        match = pattern.match(name)
        if match is not None:
            matched_slugs.add(name[match.end() - 1 :])
            break
    return matched_slugs


def _slug_pattern(form: str) -> re.Pattern[str]:
    """Return a pattern for the names of a form, with the slug as its only group."""
    fields = {"date": r"\d{4}-\d\d-\d\d", "day": r"\d{8}", "number": r"\d+", "slug": "(.+)"}
    parts = re.split(r"\{(date|day|number|slug)[^{}]*\}", form)
    return re.compile(
        "".join([fields[part] if at % 2 else re.escape(part) for at, part in enumerate(parts)]), re.DOTALL
    )


def guess_form(names: Iterable[str]) -> str:
    """Return the form that at least nine of ten names have, without those of parts of other plans, or else `{slug}`."""
    names = [name for name in names if not _SUB_NUMBER.match(name)]
    forms: Counter[str] = Counter()
    numbers: dict[str, list[str]] = {}
    for name in names:
        form, digits = "{slug}", ""
        for pattern, form_template in _KNOWN_FORMS:
            match = pattern.match(name)
            if match is not None:
                groups = ["", *[group or "" for group in match.groups()]]
                form = form_template.format(*groups)
                digits = next((group for group in groups if group.isdigit()), "")
                break
        forms[form] += 1
        numbers.setdefault(form, []).append(digits)
    if not forms:
        return "{slug}"
    form = max(forms, key=lambda form: (forms[form], form != "{slug}"))
    widths = Counter(map(len, numbers[form]))
    padded = len(widths) == 1 or any([number_text.startswith("0") for number_text in numbers[form]])
    form = form.replace("{number}", f"{{number:0{widths.most_common(1)[0][0]}}}") if padded else form
    fit = sum([matches_pattern(form, name, any_slug=True) for name in names])
    return form if fit * 10 >= len(names) * 9 else "{slug}"


def _used_numbers(head: str, width: int, names: Iterable[str]) -> Iterable[int]:
    """Yield the numbers that follow a prefix, except dates and numbers of a different width with a leading zero."""
    for name in names:
        digits = re.match(r"\d*", name[len(head) :] if name.startswith(head) else "")
        number_text = digits[0] if digits else ""
        has_width = len(number_text) == width or (width < len(number_text) <= width + 2 and number_text[0] != "0")
        if number_text and has_width and not _DATE_PREFIX.match(name[len(head) :]):
            yield int(number_text)
