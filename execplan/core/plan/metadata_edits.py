"""Changes to a plan's metadata, for `set --meta`: in the front matter, or in the Metadata list of a plan without it."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.front_matter import find_unread_front_matter, key_lines, parse_front_matter, read_nested_values
from execplan.core.plan.front_matter_edits import new_front_matter, remove_key, set_key
from execplan.core.plan.metadata_assignment import unknown_key_error
from execplan.core.plan.metadata_values import LINK_KEYS, LIST_KEYS, TEXT_KEYS, is_none, normalize_key
from execplan.core.plan.plan_change import PlanChange, plan_content
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan.reader import read_text
from execplan.core.text.markdown_blocks import ITEM
from execplan.core.text.text_lines import Edit, apply_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.core.plan.front_matter import FrontMatter
    from execplan.core.plan.metadata_assignment import Assignment
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.core.text.markdown_blocks import Block
    from execplan.core.text.text_lines import Text


def _metadata_items(plan: ParsedPlan) -> Iterator[Block]:
    """Yield the items of the Metadata lists, without those below a known key, which are its values."""
    for section in plan.sections:
        if outline.title_key(section.title) not in outline.METADATA_TITLES:
            continue
        value_depth = 0
        for block in plan.blocks[section.first_block : section.block_end]:
            if block.kind != ITEM or block.mark not in "-*+" or (value_depth and block.depth >= value_depth):
                continue
            value_depth = block.depth + 1 if _item_key(block) in TEXT_KEYS + LIST_KEYS + LINK_KEYS else 0
            yield block


def _item_key(item: Block) -> str:
    """Return the key of an item of a Metadata list; empty if it has none."""
    label, colon, _ = item.text.partition(":")
    return normalize_key(label) if colon else ""


def find_listed_key(plan: ParsedPlan, key: str) -> Block | None:
    """Return the item of the Metadata lists with a key."""
    return next((item for item in _metadata_items(plan) if _item_key(item) == key), None)


def last_listed_item(plan: ParsedPlan) -> Block | None:
    """Return the last top-level item of the Metadata lists."""
    return next((item for item in reversed(list(_metadata_items(plan))) if not item.depth), None)


def listed_key_edit(lines: list[str], item: Block, assignment: Assignment, edit_command: str) -> Edit | None:
    """Return the edit of a key in a Metadata list; raises ExecplanError if its value has several lines."""
    if item.end - item.start > 1:
        raise ExecplanError(
            "metadata-by-hand",
            f"{assignment.name} has several lines in the Metadata list",
            hint=f"change it by hand: {edit_command}",
            line=item.start + 1,
        )
    if not assignment.values:
        return Edit(item.start, item.end, ())
    head, _, tail = lines[item.start].partition(":")
    lead = tail[: len(tail) - len(tail.lstrip("*_ "))]
    new_line = f"{head}:{lead or ' '}{', '.join(assignment.values)}"
    return Edit(item.start, item.end, (new_line,)) if new_line != lines[item.start] else None


_LABELS = {"id": "ID", "depends_on": "Depends on", "pr": "PR"}


def set_metadata(assignments: Sequence[Assignment], edit_command: str = "execplan edit") -> ChangeBuilder:
    """Build a change that sets or removes keys of the metadata; front matter is created if there is no place for them.

    `edit_command` opens the plan in an editor, for hints.
    """

    def build_change(plan: ParsedPlan) -> PlanChange:
        text, messages = plan.text, []
        for assignment in assignments:
            edit = _assignment_edit(read_text(text), assignment, edit_command)
            if edit is None:
                messages.append(
                    f"unchanged: {assignment.name}" if assignment.values else f"not in the plan: {assignment.name}"
                )
                continue
            new_text = apply_edits(text, [edit])
            _ensure_only_changed(read_text(text), read_text(new_text), assignment, edit_command)
            text = new_text
            action = f"set: {assignment.name} to {', '.join(assignment.values)}"
            messages.append(action if assignment.values else f"removed: {assignment.name}")
        names = ", ".join([assignment.name for assignment in assignments])
        edits = difference(plan.text, text)
        return PlanChange(edits, plan_content(plan), f"set, {names}" if edits else "", tuple(messages))

    return build_change


def _assignment_edit(plan: ParsedPlan, assignment: Assignment, edit_command: str) -> Edit | None:
    """Return the edit for one key, where the plan has it; None if nothing changes."""
    lines = plan.text.lines
    front_matter = parse_front_matter(lines)
    if front_matter.problem:
        raise ExecplanError(
            "bad-front-matter",
            f"the front matter can't be read: {front_matter.problem}",
            hint=f"correct it first: {edit_command}",
            line=front_matter.problem_line + 1,
        )
    key = assignment.key
    written_key = _written_key(front_matter.fields, key)
    if written_key is None:
        item = find_listed_key(plan, key[-1])
        if item is not None:
            return listed_key_edit(lines, item, assignment, edit_command)
    if not assignment.values:
        return remove_key(lines, written_key) if written_key is not None else None
    if written_key is None:
        return _new_key_edit(plan, front_matter, assignment, edit_command)
    is_list = isinstance(front_matter.fields.get(written_key[0]), list)
    return set_key(lines, written_key, assignment.values if is_list else assignment.value)


def _new_key_edit(
    plan: ParsedPlan, front_matter: FrontMatter, assignment: Assignment, edit_command: str
) -> Edit | None:
    """Return the edit that adds a key: to the front matter, else to a Metadata list, else in new front matter."""
    key, lines = assignment.key, plan.text.lines
    if key[0] not in TEXT_KEYS + LIST_KEYS + ("links",):
        raise unknown_key_error(assignment.name)
    if front_matter.end:
        if len(key) > 1:
            _ensure_no_unnamed_values(lines, front_matter, assignment, edit_command)
        return set_key(lines, key, assignment.value)
    last_item = last_listed_item(plan)
    if last_item is not None:
        label = _LABELS.get(key[-1], key[-1].capitalize())
        return Edit(last_item.end, last_item.end, (f"{last_item.mark} {label}: {', '.join(assignment.values)}",))
    _ensure_no_unread_front_matter(lines)
    return new_front_matter(key, assignment.value)


def _ensure_no_unnamed_values(
    lines: list[str], front_matter: FrontMatter, assignment: Assignment, edit_command: str
) -> None:
    """Raise ExecplanError if the map of a new key has values that are not below keys, because YAML allows only one kind."""
    name = assignment.key[0]
    start, stop = key_lines(lines, front_matter.end, name)
    if not stop or isinstance(front_matter.fields.get(name), dict):
        return
    value = lines[start].partition(":")[2].partition(" #")[0].strip()
    below = [line for line in lines[start + 1 : stop] if line.strip() and not line.lstrip(" ").startswith("#")]
    if below or not is_none(value.strip("[]'\"")):
        raise ExecplanError(
            "metadata-by-hand",
            f"{name} has values without keys, so {assignment.name} can't be added; nothing was written",
            hint=f"give each value of {name} a key, such as docs, by hand: {edit_command}",
            line=start + 1,
        )


def _ensure_no_unread_front_matter(lines: list[str]) -> None:
    """Raise ExecplanError if new front matter would be inserted above lines that look like front matter."""
    if reason := find_unread_front_matter(lines):
        raise ExecplanError(
            "bad-front-matter",
            f"the lines after --- at the start are not read as front matter: {reason}; nothing was written",
            hint="write one `key: value` on each line, directly below ---; if the lines are text, remove the first ---",
            line=1,
        )


def _written_key(fields: Mapping[str, object], key: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return a key as the front matter writes it: the name itself before other names for the same; None if not there."""
    if len(key) > 1:
        links = fields.get(key[0])
        if isinstance(links, dict):
            for name in sorted(links, key=lambda name: name != key[1]):
                if normalize_key(name) == key[1]:
                    return key[0], name
    for name in sorted(fields, key=lambda name: name != key[-1]):
        if name == key[-1] or (normalize_key(name) == key[-1] and not isinstance(fields[name], dict)):
            return (name,)
    return None


def _ensure_only_changed(before: ParsedPlan, after: ParsedPlan, assignment: Assignment, edit_command: str) -> None:
    """Raise ExecplanError unless the new text has the new value, and all other metadata as before."""
    old_fields, new_matter = parse_front_matter(before.text.lines).fields, parse_front_matter(after.text.lines)
    name = (_written_key(old_fields, assignment.key) or assignment.key)[0]
    old_rest, new_rest = [
        {key: value for key, value in fields.items() if key != name} for fields in (old_fields, new_matter.fields)
    ]
    old, new = read_metadata(before)._asdict(), read_metadata(after)._asdict()
    field = assignment.key[0]
    is_others_same = all([new[key] == value for key, value in old.items() if key not in (field, normalize_key(field))])
    if field == "links":
        is_others_same = is_others_same and all(
            [getattr(new[field], key) == getattr(old[field], key) for key in LINK_KEYS if key != assignment.key[1]]
        )
        is_others_same = is_others_same and (bool(new_matter.problem) or _has_same_entries(before, after, assignment))
    if new_matter.problem or old_rest != new_rest or not is_others_same or not _has_values(after, assignment):
        raise ExecplanError(
            "metadata-by-hand",
            f"{assignment.name} can't be set without changing other metadata of the plan; nothing was written",
            hint=f"change it by hand: {edit_command}",
        )


def _has_same_entries(before: ParsedPlan, after: ParsedPlan, assignment: Assignment) -> bool:
    """Return whether a map of the front matter is unchanged except for one key."""
    old, new = [
        {name: value for name, value in values.items() if normalize_key(name) != assignment.key[1]}
        if isinstance(values, dict)
        else {}
        for values in [read_nested_values(plan.text.lines, assignment.key[0]) for plan in (before, after)]
    ]
    return old == new


def _has_values(plan: ParsedPlan, assignment: Assignment) -> bool:
    """Return whether a plan has the values of an assignment."""
    metadata = read_metadata(plan)
    if assignment.key[0] == "links":
        read_values = getattr(metadata.links, assignment.key[1])
    elif assignment.key[0] in TEXT_KEYS + LIST_KEYS:
        read_value = getattr(metadata, assignment.key[0])
        read_values = (read_value,) if isinstance(read_value, str) else read_value
    else:
        return True
    if assignment.key[0] == "depends_on":  # prose can name more
        return set(assignment.values) <= set(read_values)
    return not assignment.values or set(assignment.values) == set(read_values)


def difference(old: Text, new: Text) -> tuple[Edit, ...]:
    """Return the edit from one text to another: the lines between those that are equal at the start and at the end."""
    old_pairs, new_pairs = [list(zip(text.lines, text.ends, strict=True)) for text in (old, new)]
    if old_pairs == new_pairs:
        return ()
    limit = min(len(old_pairs), len(new_pairs))
    start = next((at for at in range(limit) if old_pairs[at] != new_pairs[at]), limit)
    same = 0
    while same < limit - start and old_pairs[-1 - same] == new_pairs[-1 - same]:
        same += 1
    changed = new_pairs[start : len(new_pairs) - same]
    return (
        Edit(
            start,
            len(old_pairs) - same,
            tuple([line for line, _ in changed]),
            tuple([end for _, end in changed]),
        ),
    )
