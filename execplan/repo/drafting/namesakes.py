"""Other plans with the title of a new one."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.plan.seek import fold
from execplan.repo import shelf
from execplan.repo.slug import slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


def plan_title(data: bytes) -> str:
    """The title in a plan's text; empty where there is none."""
    try:
        return reader.read(data).title or ""
    except ExecplanError:
        return ""


def same_title(home: Project, title: str, own: str) -> tuple[str, ...]:
    """A warning that names the plan that has the title of a new one already; `own` is the id of the new one."""
    if not title:
        return ()
    found = next((ref for ref in _candidates(home, title) if ref.id != own and _has(home, ref, title)), None)
    if found is None:
        return ()
    where = "archived" if found.archived else "open"
    way = f"execplan undo -p {shelf.PlanRef(own, '', archived=False).shell_name}"
    return (f"{found.id} is {where} and has the same title: {home.display_path(found.path)}; if you meant that one: {way}",)


def _candidates(home: Project, title: str) -> list[PlanRef]:
    """The open plans whose text holds the title's longest plain word, and the archived ones whose id holds the title."""
    words = "".join([char if char.isascii() and char.isalnum() else " " for char in title]).split()
    word = max(words, key=len, default="").lower().encode()
    short = slug(title)
    opened = [ref for ref in shelf.refs(home) if word in _data(home, ref).lower()]
    return opened + [ref for ref in shelf.refs(home, archive=True) if short in ref.id]


def _data(home: Project, ref: PlanRef) -> bytes:
    try:
        return shelf.read_bytes(home, ref.path)
    except ExecplanError:
        return b""


def _has(home: Project, ref: PlanRef, title: str) -> bool:
    return fold(plan_title(_data(home, ref))) == fold(title)
