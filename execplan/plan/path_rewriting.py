"""Paths that a plan names, rewritten when what they lead to has moved."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple
from execplan.plan.plan_change import PlanChange, PlanContent, plan_content
from execplan.text.line_edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.plan.model import ParsedPlan
    from execplan.plan.plan_change import ChangeBuilder


class PathReplacement(NamedTuple):
    """A way to write a path or an id, and how it is written from now on."""

    old: str
    new: str
    allows_subpath: bool
    """Whether more of a path may follow: it is a folder, or a file behind which a line number or an anchor stands."""


def replace_paths(replacements: Sequence[PathReplacement]) -> ChangeBuilder:
    """Put the new spelling in the place of the old one wherever that stands as a word of its own."""
    longest_first = sorted(replacements, key=lambda replacement: -len(replacement.old))
    return rewrite_lines(lambda text: apply_replacements(text, longest_first))


def rewrite_lines(rewrite: Callable[[str], str]) -> ChangeBuilder:
    """Write every line anew, and with it all that the plan says."""

    def build_change(plan: ParsedPlan) -> PlanChange:
        lines = [(index, line, rewrite(line)) for index, line in enumerate(plan.text.lines)]
        edits = tuple([Edit(index, index + 1, (new_line,)) for index, line, new_line in lines if new_line != line])
        expected = PlanContent(*_rewrite_nested(tuple(plan_content(plan)), rewrite)) if edits else plan_content(plan)
        return PlanChange(edits, expected, "paths", (), may_change_structure=True)

    return build_change


def apply_replacements(text: str, replacements: Sequence[PathReplacement]) -> str:
    """The text with each old spelling in the place of the new one; the first that fits at a place is taken."""
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
    """Whether a spelling stands at a place, and is not the text of a link to something else."""
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
    """Whether what stands at a place is no part of a longer name."""
    char_before, following_text = text[index - 1 : index], text[index + len(replacement.old) :]
    if char_before == ":" and text[index - 2 : index - 1].isalnum():  # a path as it was in a commit
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
    """A fact, or facts in facts, written anew."""
    if isinstance(value, str):
        return rewrite(value)
    return tuple([_rewrite_nested(child, rewrite) for child in value]) if isinstance(value, tuple) else value
