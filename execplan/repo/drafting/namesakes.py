"""Other plans with the title of a new one."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.plan.seek import normalize_text
from execplan.repo import shelf
from execplan.repo.slug import slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


def read_title(data: bytes) -> str:
    """The title in a plan's text; empty where there is none."""
    try:
        return reader.read(data).title or ""
    except ExecplanError:
        return ""


def duplicate_title_warnings(project: Project, title: str, new_id: str) -> tuple[str, ...]:
    """A warning that names the plan that has the title of a new one already; `new_id` is the id of the new one."""
    if not title:
        return ()
    existing_plan = next((ref for ref in _candidate_refs(project, title) if ref.id != new_id and _has_title(project, ref, title)), None)
    if existing_plan is None:
        return ()
    state = "archived" if existing_plan.archived else "open"
    undo_command = f"execplan undo -p {shelf.PlanRef(new_id, '', archived=False).shell_name}"
    return (f"{existing_plan.id} is {state} and has the same title: {project.display_path(existing_plan.path)}; if you meant that one: {undo_command}",)


def _candidate_refs(project: Project, title: str) -> list[PlanRef]:
    """The open plans whose text holds the title's longest plain word, and the archived ones whose id holds the title."""
    title_words = "".join([char if char.isascii() and char.isalnum() else " " for char in title]).split()
    longest_word = max(title_words, key=len, default="").lower().encode()
    title_slug = slug(title)
    open_plans = [ref for ref in shelf.refs(project) if longest_word in _read_or_empty(project, ref).lower()]
    return open_plans + [ref for ref in shelf.refs(project, archive=True) if title_slug in ref.id]


def _read_or_empty(project: Project, ref: PlanRef) -> bytes:
    try:
        return shelf.read_bytes(project, ref.path)
    except ExecplanError:
        return b""


def _has_title(project: Project, ref: PlanRef, title: str) -> bool:
    return normalize_text(read_title(_read_or_empty(project, ref))) == normalize_text(title)
