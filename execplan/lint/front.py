"""EP1: does the front matter fit the plan?"""

from __future__ import annotations

from execplan.clock import minutes, read_stamp
from execplan.lint.rule import WARNING, Given, Place, on_line, rule
from execplan.lint.titles import plan_id
from execplan.text.blocks import FRONT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan

_IDS = ("id", "plan_id", "plan-id")
_MADE = ("created", "created_at")
_TOUCHED = ("updated", "updated_at", "last_updated", "modified", "completed", "closed")


@rule("EP115", WARNING)
def front_matter_contradicts(plan: Plan, given: Given) -> Iterator[Place]:
    """The front matter names another title, id or date than the plan.

    Tools read the one and people the other. Judged are `title`, `id` and `plan_id`, and `created` and `updated` with their
    kin; of an `id` only what can't be another kind of number: words with hyphens, with a date before them or without.

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
    fields = _fields(plan)
    title = fields.get("title")
    if title and plan.title and not _alike(title[1], plan.title):
        yield on_line(plan, title[0], f"the title is another in line {plan.title_line + 1}")
    for key in _IDS:
        if key in fields:
            line, value = fields[key]
            called = [("the plan is named", plan_id(given)), ("the title begins with", plan.title or "")]
            for what, name in called:
                whole = what == called[0][0] and (key != "id" or _other_plan(value, name))
                if _differs(value, name, whole=whole):
                    yield on_line(plan, line, f"{what} {name.split(' ')[0]}")
                    break
    yield from _dates(plan, fields, plan_id(given))


def _fields(plan: Plan) -> dict[str, tuple[int, str]]:
    """The simple fields of the front matter, each with its line; of one that stands twice the first."""
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


def _dates(plan: Plan, fields: dict[str, tuple[int, str]], name: str) -> Iterator[Place]:
    """A plan that was made after it was touched, or on another day than its name says."""
    made = next((fields[key] for key in _MADE if key in fields), None)
    if made is not None:
        for key in _TOUCHED:
            if key in fields and _later(made[1], fields[key][1]):
                yield on_line(plan, made[0], f"{made[1]} is after {key}, {fields[key][1]}")
        if _later(made[1], name[:10]) or _later(name[:10], made[1]):
            yield on_line(plan, made[0], f"the plan is named by another day, {name[:10]}")


def _alike(one: str, other: str) -> bool:
    """Whether two titles say the same, or one says it with more words."""
    first, second = ["".join([char for char in each.casefold() if char.isalnum()]) for each in (one, other)]
    return first in second or second in first


_DIGITS = str.maketrans("123456789", "000000000")


def _differs(value: str, name: str, *, whole: bool) -> bool:
    """Whether a name holds an id of the same shape that is another, or as a whole can't be the one that is given."""
    value, name = value.casefold(), name.casefold()
    if not name or value in name or name in value:
        return False
    size = len(value)
    shaped = name[:size].translate(_DIGITS) == value.translate(_DIGITS) and not name[size : size + 1].isalnum()
    return whole or (shaped and any([char.isdecimal() for char in value]))


def _other_plan(value: str, name: str) -> bool:
    """Whether both are ids of plans, a date with words or words with hyphens, and no words of the one are in the other."""
    (day, said), (other_day, other) = [_parted(each) for each in (value.casefold(), name.casefold())]
    if not said or not other:
        return False
    same = said in other or other in said
    return not same or bool(day and other_day and day != other_day)


def _parted(name: str) -> tuple[str, str]:
    """The date and the words of a plan's id; no words for what may be another kind of number."""
    stamp = read_stamp(name[:10])
    day, said = (stamp.date, name[10:].strip("-_")) if stamp is not None else ("", name)
    parts = said.replace("_", "-").split("-")
    words = [part for part in parts if part.isalpha()]
    sure = words and len(name) > 10 if day else len(words) > 1 and len(words) == len(parts)
    return day, "-".join(parts) if sure and " " not in name else ""


def _later(one: str, other: str) -> bool:
    """Whether the first of two dates is certainly later than the second."""
    first, second = read_stamp(one), read_stamp(other)
    spans = [minutes(each) if each is not None else None for each in (first, second)]
    return spans[0] is not None and spans[1] is not None and spans[0][0] > spans[1][1]
