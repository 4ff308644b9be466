"""References from plans to another plan and its artifacts, relative to the repository, the project or the file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files.file_status import file_stat
from execplan.core.plan.path_rewriting import PathReplacement, replace_paths, rewrite_lines
from execplan.core.plan_store import plan_store

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from execplan.core.files.file_status import FileStat
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def reference_change(
    project: Project, moves: Sequence[tuple[str, str]], ids: tuple[str, str], old_folder: str, new_folder: str
) -> ChangeBuilder:
    """Return a change that updates the paths in a plan whose directory changes from `old_folder` to `new_folder`.

    `moves` are pairs of old and new absolute path; `ids` are the old and the new ID.
    """
    path_spellings = spellings(project, moves, old_folder, new_folder)
    if ids[0] != ids[1] and _is_distinct(ids[0]):
        path_spellings.append(PathReplacement(ids[0], ids[1], False))
    return replace_paths(path_spellings)


def spellings(
    project: Project, moves: Sequence[tuple[str, str]], old_folder: str, new_folder: str
) -> list[PathReplacement]:
    """Return each spelling of the old paths that a file in a directory may use, with its replacement."""
    by_old_text: dict[str, PathReplacement] = {}
    for old, new in moves:
        is_path = not old.endswith(".md")
        for start, end in ((project.root, project.root), (project.base, project.base), (old_folder, new_folder)):
            new_path = os.path.relpath(new, end)
            for old_path in _path_variants(old, start, project.root):
                if old_path.startswith("/"):
                    lead = "/"
                elif old_path.startswith("./") and new_path[:3] != "../":
                    lead = "./"
                else:
                    lead = ""
                for old_text, new_text in (
                    (old_path, lead + new_path),
                    (_quote_path(old_path), _quote_path(lead + new_path)),
                ):
                    if old_text != new_text:
                        by_old_text.setdefault(old_text, PathReplacement(old_text, new_text, is_path))
    return list(by_old_text.values())


def _path_variants(path: str, start: str, root: str) -> list[str]:
    """Return the spellings of a path relative to a directory, also by way of its parent directories."""
    relative = os.path.relpath(path, start)
    variants = [
        relative,
        *([f"/{relative}"] if start == root else []),
        *([f"./{relative}"] if relative[:3] != "../" else []),
    ]
    up = ""
    while start.startswith(root + "/"):
        start, up = os.path.dirname(start), up + "../"
        variants.append(up + os.path.relpath(path, start))
    return variants


def relink_change(moves: Sequence[tuple[str, str]], old_folder: str, new_folder: str) -> ChangeBuilder:
    """Return a change that keeps the targets of a plan's links when the plan moves to another directory."""

    def relinked(link: re.Match[str]) -> str:
        path, mark, rest = re.split(r"([?#]|$)", link[2], maxsplit=1)
        target = os.path.normpath(os.path.join(old_folder, unquote(path)))
        if not path or path.startswith("/") or ":" in path or not os.path.lexists(target):
            return link[0]
        for old, new in moves:
            if target == old or target.startswith(old + "/"):
                target = new + target[len(old) :]
                break
        new_path = os.path.relpath(target, new_folder)
        if os.path.normpath(path) != new_path:
            path = _quote_path(new_path) if path == _quote_path(unquote(path)) else new_path
        return link[1] + path + mark + rest

    import re
    from urllib.parse import unquote

    link = re.compile(r"(\]\(<?)([^()\s<>]+)")
    return rewrite_lines(lambda text: link.sub(relinked, text) if "](" in text else text)


def plans_naming(project: Project, ref: PlanRef, moves: Sequence[tuple[str, str]]) -> list[PlanRef]:
    """Return the other plans that may name a moved path, archived ones too, and those that can't be read from disk."""
    names = {os.fsencode(os.path.basename(old).removesuffix(".md")) for old, _ in moves}
    names |= {_quote_path(os.fsdecode(name)).encode() for name in names}
    refs, own_path = [], ref.real_path
    for other_ref in plan_store.all_refs(project):
        try:
            data = read_once(project, other_ref.path)
            is_named = any([name in data for name in names])
        except ExecplanError as error:
            is_named = error.exit == ENVIRONMENT  # the rewrite reports the error
        if is_named and other_ref.real_path != own_path:
            refs.append(other_ref)
    return refs


_read_versions: dict[str, tuple[FileStat, bytes]] = {}
"""The plans that this process has searched: a command that moves many plans searches all others for each of them."""


def read_once(project: Project, path: str) -> bytes:
    """Return the bytes of a plan, which is read again only if it has changed; raises ExecplanError."""
    try:
        status = file_stat(os.stat(path))
    except OSError:
        return plan_store.read_bytes(project, path)  # this raises the error
    version = _read_versions.get(path)
    if version is None or version[0] != status:
        version = _read_versions[path] = status, plan_store.read_bytes(project, path)
    return version[1]


def _is_distinct(name: str) -> bool:
    """Return whether an ID can't be mistaken for an ordinary word: it has a digit and a hyphen or underscore."""
    return any([char.isdigit() for char in name]) and any([char in "-_" for char in name])


def _quote_path(path: str) -> str:
    """Percent-encode a path as in a link."""
    from urllib.parse import quote

    return quote(path, safe="/-_.~", errors="surrogateescape")
