"""The table of the plan index: a row for each open plan, computed from the text of the plans alone.

Neither the time nor git is asked, so the table is the same before and after a commit, in every clone and after a rebase.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from execplan.core.plan.index_block import NO_PLANS
from execplan.core.plan.plan_dates import latest_date
from execplan.core.plan.plan_metadata import Links, read_metadata
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project.project import Project
from execplan.core.text.message_parts import printable_line, shorten
from execplan.core.timestamps import leading_date

_HEAD = ("| Plan | State | Done | Owner | Last change | Links |", "| --- | --- | --- | --- | --- | --- |")
_MAX_TITLE_LENGTH = 100
_MAX_CELL_LENGTH = 60
_MAX_LINKS = 5
"""Maximum number of links in a row."""
_SAFE_SCHEMES = ("http", "https")
_NUMBER_PATHS = {"issues": "#", "pull": "#", "pulls": "#", "pull-requests": "#", "merge_requests": "!"}
"""Parts of the URLs of issues and pull requests, with the sign that their numbers have in text."""


class IndexEntry(NamedTuple):
    """What the index says about a plan."""

    id: str
    path: str
    """Absolute path of the plan."""
    title: str
    state: str
    done: int
    total: int
    owner: str
    last_change: str
    """Latest date in the plan, as YYYY-MM-DD, or else the date when it was created; empty if neither is known."""
    links: Links

    def to_json(self, project: Project) -> dict[str, Any]:
        """Return the entry as JSON."""
        return {
            "id": self.id,
            "path": project.display_path(self.path),
            "title": self.title,
            "state": self.state,
            "counts": {"done": self.done, "total": self.total},
            "owner": self.owner,
            "updated": self.last_change,
            "links": {name: list(values) for name, values in self.links._asdict().items()},
        }


def make_entry(stored_plan: StoredPlan) -> IndexEntry:
    """Return the entry of a plan; of one that can't be read, with its name alone."""
    ref, plan = stored_plan.ref, stored_plan.plan
    if plan is None:
        return IndexEntry(ref.id, ref.path, ref.id, stored_plan.state, 0, 0, "", "", Links())
    metadata = read_metadata(plan)
    counts = plan.counts()
    last_change = max(latest_date(plan), leading_date(metadata.updated))
    return IndexEntry(
        ref.id,
        ref.path,
        plan_store.plan_title(stored_plan.project, ref, plan.title) or ref.id,
        stored_plan.state,
        counts["done"],
        counts["total"],
        metadata.owner,
        last_change or leading_date(metadata.created) or leading_date(ref.id),
        metadata.links,
    )


def index_lines(project: Project, entries: Iterable[IndexEntry], index_path: str) -> list[str]:
    """Return the lines of the index in a file, whose directory the links are relative to.

    The rows are in the order of the plans' paths, and no line depends on several plans, so that changes of different
    plans change different lines.
    """
    folder = os.path.dirname(index_path)
    rows = sorted([(_relative_url(entry.path, folder), entry) for entry in entries])
    archive = project.archives[0]
    archive_line = f"Archived plans: [{_cell_text(os.path.basename(archive))}]({_relative_url(archive, folder)}/)"
    tail = ["", archive_line] if plan_store.refs(project, archive=True) else []
    table = [*_HEAD, *[_format_row(entry, url, project, folder) for url, entry in rows]] if rows else [NO_PLANS]
    return [*table, *tail]


def _format_row(entry: IndexEntry, url: str, project: Project, folder: str) -> str:
    cells = (
        f"[{_cell_text(shorten(entry.title, _MAX_TITLE_LENGTH))}]({url})",
        entry.state,
        f"{entry.done}/{entry.total}" if entry.total else "",
        _cell_text(shorten(entry.owner, _MAX_CELL_LENGTH)),
        entry.last_change,
        ", ".join(_link_texts(entry.links, project, folder)),
    )
    return "| " + " | ".join(cells) + " |"


def _cell_text(text: str) -> str:
    """Return a text as one line that can't end a cell, a link or a comment; code spans stay code spans."""
    parts = printable_line(text, max(len(text) * _MAX_ESCAPE_LENGTH, 1)).split("`")
    has_code = len(parts) % 2
    escaped = [
        part.replace("|", "\\|") if has_code and at % 2 else "".join([_ESCAPES.get(char, char) for char in part])
        for at, part in enumerate(parts)
    ]
    return "`".join(escaped)


_ESCAPES = {char: f"\\{char}" for char in "\\|[]<>"}
_MAX_ESCAPE_LENGTH = 10
"""Maximum characters by which an invisible character is shown."""


def _link_texts(links: Links, project: Project, folder: str) -> Iterator[str]:
    """Yield the issues, pull requests and documents of a plan as links."""
    for value in [*links.issue, *links.pr, *links.docs][:_MAX_LINKS]:
        yield _format_link(value, project, folder)


def _format_link(value: str, project: Project, folder: str) -> str:
    """Return a link to a URL or to a file of the repository; any other text as it is."""
    if value.isdecimal():
        return f"#{value}"
    try:
        parts = urlsplit(value)
    except ValueError:
        return _cell_text(shorten(value, _MAX_CELL_LENGTH))
    if parts.scheme in _SAFE_SCHEMES:
        label = _url_label(parts.path) or parts.netloc
        return f"[{_cell_text(shorten(label, _MAX_CELL_LENGTH))}]({quote(value, safe=_URL_CHARACTERS)})"
    if parts.scheme or not _is_file_path(value):
        return _cell_text(shorten(value, _MAX_CELL_LENGTH))
    target = os.path.normpath(os.path.join(project.root, value))
    return f"[{_cell_text(shorten(os.path.basename(target), _MAX_CELL_LENGTH))}]({_relative_url(target, folder)})"


_URL_CHARACTERS = "/-_.~:?#@!$&'*+,;=%"
"""Characters of a URL that stay as they are; parentheses would end a link, and white space, too."""


def _is_file_path(value: str) -> bool:
    """Return whether a text is a path inside the repository rather than a number or a title."""
    is_relative = not value.startswith(("/", "#", "!")) and ".." not in value.split("/")
    return is_relative and " " not in value and "." in os.path.basename(value).strip(".")


def _url_label(path: str) -> str:
    """Return the number of an issue or a pull request with its sign, or else the last part of a path."""
    parts = path.rstrip("/").split("/")
    if len(parts) > 1 and parts[-1].isdecimal() and parts[-2] in _NUMBER_PATHS:
        return _NUMBER_PATHS[parts[-2]] + parts[-1]
    return parts[-1]


def _relative_url(path: str, folder: str) -> str:
    """Return the target of a link from a directory to a path."""
    return quote(os.path.relpath(path, folder), safe="/-_.~", errors="surrogateescape")


def entries_of(stored_plans: Sequence[StoredPlan]) -> list[IndexEntry]:
    """Return the entries of the plans outside the archive."""
    return [make_entry(stored_plan) for stored_plan in stored_plans if not stored_plan.ref.archived]
