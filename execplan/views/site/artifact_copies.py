"""The artifacts of a plan: which of them the site copies, under names that no browser runs as a page."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.files import file_access
from execplan.core.files.file_access import open_regular
from execplan.core.files.tree_walk import walk_tree
from execplan.core.plan_store.comment_location import ATTRIBUTES_FILE
from execplan.core.secrets.secret_files import is_secret_file
from execplan.views.site.link_resolver import is_image
from execplan.views.site.page_context import FILES_DIRECTORY, safe_file_name, sibling_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.views.site.redacted_records import RedactText

MAX_FILES: Final = 500
"""Maximum number of artifacts to list on a page."""
_MAX_TEXT_BYTES: Final = 1 << 20
_MAX_IMAGE_BYTES: Final = 5 << 20
_HEAD_BYTES: Final = 4096
"""Number of bytes that show whether a file is text."""
_TEXT_SUFFIX: Final = ".txt"
_SKIPPED_DIRECTORIES: Final = (".git", "node_modules", "__pycache__")


class Artifact(NamedTuple):
    """A file among the artifacts of a plan."""

    name: str
    """Path from the artifacts directory."""
    path: str
    """Absolute path."""
    size: int
    modified_ns: int
    """Time of the last change in nanoseconds since 1970."""
    target: str
    """Path of the copy in the site; empty if the file is only listed."""
    note: str
    """Why the file is only listed; empty for a copied one."""


def list_artifacts(project: Project, ref: PlanRef, page: str) -> list[Artifact]:
    """List the regular files among a plan's artifacts by name, without links; `page` is the plan's page in the site."""
    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    if folder in (project.plans, *project.archives):  # a plan without a directory of its own
        return []
    directory = f"{sibling_directory(page, FILES_DIRECTORY)}/{os.path.basename(page).removesuffix('.html')}"
    artifacts: list[Artifact] = []
    used_targets: set[str] = set()
    for path, status in _walk_files(folder):
        name = os.path.relpath(path, folder)
        if path == ref.path or name == ATTRIBUTES_FILE:
            continue
        note = _exclusion(name, status.st_size) or _binary_note(path)
        target = "" if note else _unused_name(f"{directory}/{_target_name(name)}", used_targets)
        artifacts.append(Artifact(name, path, status.st_size, status.st_mtime_ns, target, note))
        if len(artifacts) >= MAX_FILES:
            break
    return artifacts


def read_copy(artifact: Artifact, redact_text: RedactText) -> bytes | None:
    """Return the bytes of an artifact's copy, without secrets; None if the file is gone or has grown too large."""
    limit = _MAX_IMAGE_BYTES if is_image(artifact.name) else _MAX_TEXT_BYTES
    try:
        data, size = file_access.read_from(open_regular(artifact.path, os.O_RDONLY | file_access.NO_FOLLOW), limit)
    except OSError:
        return None
    if size > limit:
        return None
    if is_image(artifact.name):
        return data
    return redact_text(data.decode("utf-8", "replace")).encode("utf-8")


def _walk_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the regular files below a directory in order, with their status; links are not followed."""
    for directory, folders, names in walk_tree(folder):
        folders[:] = sorted([name for name in folders if name not in _SKIPPED_DIRECTORIES])
        for name in sorted(names):
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield path, status


def _exclusion(name: str, size: int) -> str:
    """Return why a file is not copied, judged by its name and size; empty if it may be copied."""
    if any([is_secret_file(part) for part in (name, f"/{name}")]):
        return "not copied: may contain secrets"
    limit = _MAX_IMAGE_BYTES if is_image(name) else _MAX_TEXT_BYTES
    return f"not copied: larger than {limit >> 20} MiB" if size > limit else ""


def _binary_note(path: str) -> str:
    """Return why a file is not copied, judged by its first bytes; empty for text and images."""
    if is_image(path):
        return ""
    try:
        data = file_access.read_start(path, _HEAD_BYTES)
    except OSError:
        return "not copied: can't be read"
    try:
        data.decode("utf-8")
        is_text = True
    except UnicodeDecodeError as error:
        is_text = error.start > len(data) - 4 and len(data) == _HEAD_BYTES  # a character was cut off at the end
    return "" if is_text and b"\0" not in data else "not copied: binary file"


def _unused_name(target: str, used_targets: set[str]) -> str:
    """Return the name of a copy, with a number before its suffix if another artifact's copy has this name."""
    stem, suffix = os.path.splitext(target)
    number, name = 1, target
    while name.casefold() in used_targets:
        number += 1
        name = f"{stem}-{number}{suffix}"
    used_targets.add(name.casefold())
    return name


def _target_name(name: str) -> str:
    """Return the name of a copy: images keep theirs, and all others become text files."""
    cleaned = "/".join(map(safe_file_name, name.split("/")))
    return cleaned if is_image(cleaned) or cleaned.endswith(_TEXT_SUFFIX) else cleaned + _TEXT_SUFFIX
