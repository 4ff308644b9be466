"""Mentions of a moved plan in files outside the plans: finding, reporting and, on request, rewriting them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from execplan.core.archive.plan_references import spellings
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.path_rewriting import PathReplacement, apply_replacements
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import owned_path_prefixes
from execplan.core.project.project_settings import SETTINGS_FILE

Moves = Sequence[tuple[str, str]]
ConfirmRewrite = Callable[[Sequence["Mention"]], bool]

DOCUMENTS: Final = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt")
"""File extensions that may be rewritten; other files, such as source code, are only reported."""
_MAX_BYTES = 1 << 20
"""Maximum size in bytes of a file to search."""


class Mention(NamedTuple):
    """A file that mentions a moved path, with its lines and its new content."""

    path: str
    """Path from the repository root."""
    lines: tuple[int, ...]
    """Line numbers, counted from 1."""
    is_document: bool
    old: bytes
    new: bytes
    """Content of the file after a rewrite."""


def find_mentions(project: Project, moves: Moves) -> list[Mention]:
    """Find the files outside the plans that mention a moved path, tracked or not; raises ExecplanError."""
    names = list(dict.fromkeys([os.path.basename(old) for old, _ in moves]))
    own_prefixes = (
        project.display_path(os.path.join(project.base, ".agent/lint-baseline.json")),
        *owned_path_prefixes(project),
        *([project.display_path(os.path.join(project.base, SETTINGS_FILE))] if project.files else []),  # it names these
        project.display_path(os.path.join(project.base, ".agent/.state")) + "/",
    )
    mentions_found = []
    for path in _files_naming(project, names):
        if not path.startswith(own_prefixes):
            mention = _find_mention(project, path, moves)
            if mention is not None:
                mentions_found.append(mention)
    return mentions_found


class RewriteResult(NamedTuple):
    """The documents that were rewritten, and warnings about the others."""

    paths: tuple[str, ...]
    """Paths from the repository root."""
    old_contents: dict[str, bytes]
    """Old contents, by absolute path, of the documents that belong in the commit."""
    warnings: tuple[str, ...]


def rewrite_documents(project: Project, mentions: Sequence[Mention], *, commits: bool) -> RewriteResult:
    """Rewrite the documents; one with the user's uncommitted changes is left out of a commit. Raises ExecplanError."""
    documents = [mention for mention in mentions if mention.is_document]
    dirty: set[str] = set()
    if commits and documents:
        from execplan.core.git import git_commit

        dirty = set(
            git_commit.uncommitted_files(project, [os.path.join(project.root, document.path) for document in documents])
        )
    rewritten, old_contents, warnings = [], {}, []
    for document in documents:
        path = os.path.join(project.root, document.path)
        try:
            atomic_files.replace_if_unchanged(path, document.old, document.new, within=project.root)
        except ExecplanError as error:
            warnings.append(f"{document.path} still names the old path: {error.message}")
            continue
        rewritten.append(document.path)
        if document.path in dirty:
            warnings.append(f"{document.path} has uncommitted changes: it was rewritten, but is not in the commit")
        else:
            old_contents[path] = document.old
    return RewriteResult(tuple(rewritten), old_contents, tuple(warnings))


def _files_naming(project: Project, names: Sequence[str]) -> Iterator[str]:
    """Yield the files that may contain one of some names, as paths from the repository root."""
    from execplan.core.git import git_query

    args = [arg for name in names for arg in ("-e", name)]
    try:
        output = (
            git_query.output_or_none(project, "grep", "-lzIF", "--untracked", *args, "--", ":/", no_status=1) or b""
        )
    except ExecplanError:  # outside a repository, or without Git
        from execplan.core.project import directory_tree

        for folder, _, entries in directory_tree.walk_repository(project.base):
            paths = [os.path.join(folder, name) for name in entries if name.endswith(DOCUMENTS)]
            yield from [project.display_path(path) for path in paths]
        return
    yield from [os.fsdecode(path) for path in output.split(b"\0") if path]


def _find_mention(project: Project, path: str, moves: Moves) -> Mention | None:
    """Return a file's mention of the moved paths, or None if it has none, is a link, is too large or can't be read."""
    absolute = os.path.join(project.root, path)
    try:
        if os.path.islink(absolute):
            return None
        data, size = file_access.read(absolute, _MAX_BYTES)
    except ExecplanError:
        return None
    if size > _MAX_BYTES:
        return None
    folder = os.path.dirname(absolute)
    known_spellings = sorted(spellings(project, moves, folder, folder), key=lambda spelling: -len(spelling.old))
    new, lines = _rewrite_lines(data, known_spellings)
    if new == data:
        return None
    return Mention(path, tuple(lines), path.lower().endswith(DOCUMENTS), data, new)


def _rewrite_lines(data: bytes, known_spellings: list[PathReplacement]) -> tuple[bytes, list[int]]:
    """Return the bytes with the new paths, and the numbers of the changed lines."""
    new_lines, changed_lines = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.decode("utf-8", "surrogateescape")
        new_text = apply_replacements(text, known_spellings)
        new_lines.append(new_text.encode("utf-8", "surrogateescape"))
        if new_text != text:
            changed_lines.append(number)
    return b"\n".join(new_lines), changed_lines
