"""Rewriting of paths in a plan after their targets have moved."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.plan_change import PlanChange, PlanContent, plan_content
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder


class PathReplacement(NamedTuple):
    """A spelling of a path or an ID, and its replacement."""

    old: str
    new: str
    allows_subpath: bool
    """Whether more of a path may follow, as after a directory, or after a file with a line number or an anchor."""


def replace_paths(replacements: Sequence[PathReplacement]) -> ChangeBuilder:
    """Build a change that replaces each old spelling wherever it is a name of its own."""
    longest_first = sorted(replacements, key=lambda replacement: -len(replacement.old))
    return rewrite_lines(lambda text: apply_replacements(text, longest_first))


def rewrite_lines(rewrite: Callable[[str], str]) -> ChangeBuilder:
    """Build a change that applies a function to every line, and to the expected content of the plan."""

    def build_change(plan: ParsedPlan) -> PlanChange:
        lines = [(index, line, rewrite(line)) for index, line in enumerate(plan.text.lines)]
        edits = tuple([Edit(index, index + 1, (new_line,)) for index, line, new_line in lines if new_line != line])
        expected = PlanContent(*_rewrite_nested(tuple(plan_content(plan)), rewrite)) if edits else plan_content(plan)
        return PlanChange(edits, expected, "paths", (), may_change_structure=True)

    return build_change


def apply_replacements(text: str, replacements: Sequence[PathReplacement]) -> str:
    """Replace each old spelling in a text; at each position, the first replacement that matches applies."""
    candidates = [candidate for candidate in replacements if candidate.old in text]
    if not candidates:
        return text
    pieces: list[str] = []
    index = copied_end = 0
    while index < len(text):
        match = next((candidate for candidate in candidates if _is_reference(text, index, candidate, candidates)), None)
        if match is None:
            index += 1
            continue
        pieces += [text[copied_end:index], match.new]
        index = copied_end = index + len(match.old)
    return "".join([*pieces, text[copied_end:]])


def _is_reference(text: str, index: int, replacement: PathReplacement, replacements: Sequence[PathReplacement]) -> bool:
    """Return whether a spelling is at a position as a whole name, and is not the text of a link to something else."""
    if not text.startswith(replacement.old, index) or not _is_whole_name(text, index, replacement):
        return False
    name_end = index + len(replacement.old)
    if not text.startswith("](", name_end):
        return True
    target_index = name_end + (3 if text.startswith("](<", name_end) else 2)
    return any(
        [
            text.startswith(other.old, target_index) and _is_whole_name(text, target_index, other)
            for other in replacements
        ]
    )


def _is_whole_name(text: str, index: int, replacement: PathReplacement) -> bool:
    """Return whether the spelling at a position is not part of a longer name."""
    char_before, following_text = text[index - 1 : index], text[index + len(replacement.old) :]
    if char_before == ":" and text[index - 2 : index - 1].isalnum():  # `HEAD:path` keeps the old name
        return False
    if char_before.isalnum() or char_before in tuple("_-./~%\\"):
        return False
    if replacement.allows_subpath and following_text[:1] == "/":
        return True
    following_name = following_text.lstrip(".")
    return not (
        following_text[:1].isalnum()
        or following_text[:1] in tuple("_-/%")
        or (following_name != following_text and following_name[:1].isalnum())
    )


def _rewrite_nested(value: Any, rewrite: Callable[[str], str]) -> Any:
    """Apply a function to a string, or to all strings in nested tuples."""
    if isinstance(value, str):
        return rewrite(value)
    return tuple([_rewrite_nested(child, rewrite) for child in value]) if isinstance(value, tuple) else value
