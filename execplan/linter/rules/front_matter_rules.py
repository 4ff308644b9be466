"""EP1 rules about front matter: it can be read, and agrees with the plan's title, ID and dates."""

from __future__ import annotations

from execplan.core.text.markdown_blocks import FRONT
from execplan.core.timestamps import minute_bounds, read_timestamp
from execplan.linter.rule import WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.title_rules import plan_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_ID_KEYS = ("id", "plan_id", "plan-id")
_CREATED_KEYS = ("created", "created_at")
_UPDATED_KEYS = ("updated", "updated_at", "last_updated", "modified", "completed", "closed")


@rule("EP115", WARNING)
def front_matter_conflict(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The front matter has a different title, ID or date than the plan.

    Tools read the front matter, people read the plan. Checked are `title`, `id` and `plan_id`, and `created` and
    `updated` with their variants. An `id` is only checked if it can't be another kind of identifier: words with
    hyphens, with or without a date before them.

    Bad:
        ---
        title: Write the lexer
        ---

        # Build the parser

        This ExecPlan is a living document.
    Good:
        ---
        title: Build the parser
        ---

        # Build the parser

        This ExecPlan is a living document.
    """
    if not plan.blocks or plan.blocks[0].kind != FRONT:
        return
    fields = _read_fields(plan)
    title = fields.get("title")
    if title and plan.title and not _is_same_title(title[1], plan.title):
        yield on_line(plan, title[0], f"differs from the title on line {plan.title_line + 1}")
    for key in _ID_KEYS:
        if key in fields:
            line, value = fields[key]
            expected_names = [
                ("differs from the plan's name,", plan_id(context)),
                ("differs from the start of the title,", plan.title or ""),
            ]
            for description, name in expected_names:
                must_match = description == expected_names[0][0] and (key != "id" or _is_other_plan(value, name))
                if _differs(value, name, must_match=must_match):
                    yield on_line(plan, line, f"{description} {name.split(' ')[0]}")
                    break
    yield from _date_conflicts(plan, fields, plan_id(context))


@rule("EP116", WARNING)
def unreadable_front_matter(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The front matter is not YAML with keys, or is too long to be read.

    Programs that read it stop there, and execplan ignores the owner, the tags and the dependencies in it. Quote texts
    that contain a colon or start with a special character.

    Bad:
        ---
        owner: @ana
        ---

        # Build the parser

        This ExecPlan is a living document.
    Good:
        ---
        owner: '@ana'
        ---

        # Build the parser

        This ExecPlan is a living document.
    """
    if plan.blocks and plan.blocks[0].kind == FRONT:
        from execplan.core.plan.front_matter import parse_front_matter

        front_matter = parse_front_matter(plan.text.lines)
        if front_matter.problem:
            yield on_line(plan, front_matter.problem_line, f"can't be read as YAML: {front_matter.problem}")


def _read_fields(plan: ParsedPlan) -> dict[str, tuple[int, str]]:
    """Return the simple fields of the front matter with their lines; the first one counts if a key is repeated."""
    fields: dict[str, tuple[int, str]] = {}
    for at in range(1, plan.blocks[0].end - 1):
        key, colon, value = plan.text.lines[at].partition(":")
        value = value.strip()
        if value[:1] in ("'", '"'):
            value = value[1:].partition(value[0])[0]
        value = value.partition(" #")[0].strip()
        if colon and key[:1].isalpha() and value and value[0] not in "|>[{&*!":
            fields.setdefault(key.strip().lower(), (at, value))
    return fields


def _date_conflicts(plan: ParsedPlan, fields: dict[str, tuple[int, str]], name: str) -> Iterator[RuleMatch]:
    """Yield a match if the creation date is after an update, or differs from the date in the plan's name."""
    created = next((fields[key] for key in _CREATED_KEYS if key in fields), None)
    if created is not None:
        for key in _UPDATED_KEYS:
            if key in fields and _is_later(created[1], fields[key][1]):
                yield on_line(plan, created[0], f"{created[1]} is after {key} ({fields[key][1]})")
        if _is_later(created[1], name[:10]) or _is_later(name[:10], created[1]):
            yield on_line(plan, created[0], f"differs from the date in the plan's name, {name[:10]}")


def _is_same_title(title: str, other_title: str) -> bool:
    """Return whether two titles are equal, or one contains the other."""
    title_key, other_key = [
        "".join([char for char in text.casefold() if char.isalnum()]) for text in (title, other_title)
    ]
    return title_key in other_key or other_key in title_key


_DIGITS = str.maketrans("123456789", "000000000")


def _differs(value: str, name: str, *, must_match: bool) -> bool:
    """Return whether a value conflicts with a name.

    It does if the name contains a different ID of the same shape, or if they must match and do not overlap.
    """
    value, name = value.casefold(), name.casefold()
    if not name or value in name or name in value:
        return False
    size = len(value)
    shaped = name[:size].translate(_DIGITS) == value.translate(_DIGITS) and not name[size : size + 1].isalnum()
    return must_match or (shaped and any([char.isdecimal() for char in value]))


def _is_other_plan(value: str, name: str) -> bool:
    """Return whether both are plan IDs, dated or hyphenated, with different slugs or dates."""
    (day, slug), (other_day, other_slug) = [
        _split_plan_id(plan_name) for plan_name in (value.casefold(), name.casefold())
    ]
    if not slug or not other_slug:
        return False
    is_same_slug = slug in other_slug or other_slug in slug
    return not is_same_slug or bool(day and other_day and day != other_day)


def _split_plan_id(name: str) -> tuple[str, str]:
    """Return the date and slug of a plan ID; an empty slug if it may be another kind of identifier."""
    stamp = read_timestamp(name[:10])
    day, slug = (stamp.date, name[10:].strip("-_")) if stamp is not None else ("", name)
    parts = slug.replace("_", "-").split("-")
    words = [part for part in parts if part.isalpha()]
    is_certain = words and len(name) > 10 if day else len(words) > 1 and len(words) == len(parts)
    return day, "-".join(parts) if is_certain and " " not in name else ""


def _is_later(date: str, other_date: str) -> bool:
    """Return whether the first of two dates is certainly later than the second."""
    timestamp, other_timestamp = read_timestamp(date), read_timestamp(other_date)
    spans = [
        minute_bounds(parsed_date) if parsed_date is not None else None for parsed_date in (timestamp, other_timestamp)
    ]
    return spans[0] is not None and spans[1] is not None and spans[0][0] > spans[1][1]
