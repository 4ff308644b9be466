"""The authoring guide in a repository: the version it is based on, and the merge of a newer version."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_writer import WriteOptions, format_diff
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan_store import plan_store
from execplan.core.project import builtin_templates, project_state
from execplan.core.project.project import Project
from execplan.core.text.line_merge import merge_chunks
from execplan.core.text.text_lines import Edit, Text, apply_edits, digest

_MARK_PREFIX, _MARK_SUFFIX = "<!-- execplan guide ", " -->"
_MIN_SIMILARITY = 0.25
"""Minimum fraction of a version's lines in a guide that is based on it."""


class GuideConflict(NamedTuple):
    """Lines changed by both the user and the new guide; the user's lines are kept."""

    line_start: int
    line_end: int
    """Last of the kept lines in the file, counted from 1; less than `line_start` if no lines are left."""
    kept: tuple[str, ...]
    new: tuple[str, ...]
    """The lines of the new guide at this place."""


class GuideUpgrade(NamedTuple):
    """The result of a guide upgrade, or of its preview."""

    path: str
    """Path from the repository root."""
    old_version: int | None
    """Version that the guide is based on; None if the guide is missing or not based on ours."""
    version: int
    """Version included in the tool."""
    changed: bool
    digest: str | None
    diff: str
    """Unified diff, in a dry run only."""
    commit: str | None
    conflicts: tuple[GuideConflict, ...]
    warnings: tuple[str, ...]


def preview_upgrade(project: Project) -> GuideUpgrade:
    """Return the effects of an upgrade of the guide; no changes if the guide can't be read."""
    project = project._replace(exists=True)
    try:
        return _upgrade_result(project, *_read_and_merge(project), with_warnings=False)
    except ExecplanError:
        return _no_upgrade(project)


def upgrade_guide(project: Project, options: WriteOptions) -> GuideUpgrade:
    """Merge the newest version into the guide, keeping the user's lines on conflict.

    Raises ExecplanError on failure.
    """
    project = project._replace(exists=True)
    path = os.path.join(project.base, project.settings.guide)
    if not os.path.lexists(path):
        return _no_upgrade(project)
    if options.dry_run:
        old_bytes, merged_guide = _read_and_merge(project)
        guide_upgrade = _upgrade_result(project, old_bytes, merged_guide)
        return guide_upgrade._replace(
            diff=format_diff(old_bytes, merged_guide.data, guide_upgrade.path) if guide_upgrade.changed else ""
        )

    def once() -> tuple[bytes, GuideUpgrade]:
        old_bytes, merged_guide = _read_and_merge(project)
        guide_upgrade = _upgrade_result(project, old_bytes, merged_guide)
        if guide_upgrade.changed and atomic_files.replace_if_unchanged(
            path, old_bytes, merged_guide.data, within=project.root
        ):
            guide_upgrade = guide_upgrade._replace(
                warnings=(*guide_upgrade.warnings, atomic_files.hard_link_warning(guide_upgrade.path))
            )
        return old_bytes, guide_upgrade

    with project_state.lock(project, "project", "upgrade of the guide"):
        old_bytes, guide_upgrade = atomic_files.retry_on_change(once, project.display_path(path))
    if guide_upgrade.changed and options.should_commit(project):
        real_path = os.path.realpath(path)
        summary = f"upgrade the guide to version {guide_upgrade.version}"
        commit_result = commit_paths(project, "init", [real_path], "init", summary, {real_path: old_bytes}, "init")
        return guide_upgrade._replace(
            commit=commit_result.digest, warnings=guide_upgrade.warnings + commit_result.warnings
        )
    return guide_upgrade


class _MergedGuide(NamedTuple):
    """A guide with the newest version merged in."""

    data: bytes
    old_version: int | None
    conflicts: tuple[GuideConflict, ...]


def _read_and_merge(project: Project) -> tuple[bytes, _MergedGuide]:
    """Return the guide's bytes and the merged guide. Raises ExecplanError if the guide can't be read."""
    path = os.path.join(project.base, project.settings.guide)
    with ErrorContext(project.display_path(path)):
        data = plan_store.read_bytes(project, path)
        return data, merge_newest_guide(reader.decode(data))


def merge_newest_guide(text: Text) -> _MergedGuide:
    """Merge the newest version into a guide.

    Leaves it unchanged if there is no newer version or it is not based on ours.
    """
    versions = _guide_versions()
    newest_version = max(versions)
    mark_indexes = [index for index, line in enumerate(text.lines) if _parse_mark(line) is not None]
    marked_version = _parse_mark(text.lines[mark_indexes[-1]]) if mark_indexes else None
    unmarked = apply_edits(text, [Edit(index, index + 1, ()) for index in mark_indexes])
    end_line = len(unmarked.lines)
    while end_line and not unmarked.lines[end_line - 1].strip():
        end_line -= 1
    unmarked = apply_edits(unmarked, [Edit(end_line, len(unmarked.lines), ())])
    is_known = marked_version is not None and (marked_version in versions or marked_version > newest_version)
    old_version = marked_version if is_known else _guess_version(unmarked.lines, versions)
    if old_version is None or old_version >= newest_version:
        return _MergedGuide(text.to_bytes(), old_version, ())
    edits, conflicts = _merge_edits(versions[old_version], unmarked.lines, versions[newest_version])
    merged_text = apply_edits(unmarked, edits)
    end_line = len(merged_text.lines)
    merged_text = apply_edits(
        merged_text, [Edit(end_line, end_line, ("", f"{_MARK_PREFIX}{newest_version}{_MARK_SUFFIX}"))]
    )
    return _MergedGuide(merged_text.to_bytes(), old_version, tuple(conflicts))


def _merge_edits(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> tuple[list[Edit], list[GuideConflict]]:
    """Return the edits that apply the changes of only `theirs` to `ours`, and the conflicts."""
    edits: list[Edit] = []
    conflicts: list[GuideConflict] = []
    position = merged_line = 0
    for chunk in merge_chunks(base, ours, theirs):
        result_lines = chunk.ours if chunk.merged is None else chunk.merged
        if chunk.merged is None:
            conflicts.append(
                GuideConflict(merged_line + 1, merged_line + len(result_lines), result_lines, chunk.theirs)
            )
        elif result_lines != chunk.ours:
            edits.append(Edit(position, position + len(chunk.ours), result_lines))
        position += len(chunk.ours)
        merged_line += len(result_lines)
    return edits, conflicts


def _guide_versions() -> dict[int, list[str]]:
    """Return every version of the guide without its mark (version 1 has none) and without blank lines at the end."""
    versions = {}
    for name in ["PLANS.md", *[f"guides/{name}" for name in builtin_templates.list_names("guides")]]:
        lines = builtin_templates.read_text(name).rstrip("\n").split("\n")
        marked_version = _parse_mark(lines[-1])
        if marked_version is not None:
            lines.pop()
        while not lines[-1]:
            lines.pop()
        versions[1 if marked_version is None else marked_version] = lines
    return versions


def _parse_mark(line: str) -> int | None:
    """Return the version in a mark line, or None for any other line."""
    line = line.strip()
    digits = line.removeprefix(_MARK_PREFIX).removesuffix(_MARK_SUFFIX)
    if line == f"{_MARK_PREFIX}{digits}{_MARK_SUFFIX}" and digits.isdecimal() and len(digits) < 6:
        return int(digits)
    return None


def _guess_version(lines: Sequence[str], versions: dict[int, list[str]]) -> int | None:
    """Return the version that a guide without a mark is based on, or None if the guide is the user's own."""
    line_set = set(lines)
    similarity = {}
    for number, version in versions.items():
        text_lines = [line for line in version if line.strip()]
        similarity[number] = sum([line in line_set for line in text_lines]) / len(text_lines)
    best_version = max(versions, key=lambda number: (similarity[number], -number))
    return best_version if similarity[best_version] >= _MIN_SIMILARITY else None


def _upgrade_result(
    project: Project, old_bytes: bytes, merged_guide: _MergedGuide, *, with_warnings: bool = True
) -> GuideUpgrade:
    path = project.display_path(os.path.join(project.base, project.settings.guide))
    warnings = []
    newest_version = max(_guide_versions())
    if with_warnings and merged_guide.old_version is None:
        warnings.append(f"{path} is your own guide; it was left unchanged")
    elif with_warnings and merged_guide.old_version and merged_guide.old_version > newest_version:
        warnings.append(f"{path} is from a newer execplan, version {merged_guide.old_version}; it was left unchanged")
    for conflict in merged_guide.conflicts if with_warnings else ():
        first_line, last_line, kept_lines, new_lines = conflict
        location = f"{path}:{first_line}" + (f"-{last_line}" if last_line > first_line else "")
        action = f"has here: {' '.join([line.strip() for line in new_lines])}" if new_lines else "omits this"
        resolution = "your text is kept" if kept_lines else "your removal is kept"
        warnings.append(f"{location}: changed by you and by the new guide; {resolution}; the new guide {action}")
    is_changed = merged_guide.data != old_bytes
    return GuideUpgrade(
        path,
        merged_guide.old_version,
        newest_version,
        is_changed,
        digest(merged_guide.data),
        "",
        None,
        merged_guide.conflicts,
        tuple(warnings),
    )


def _no_upgrade(project: Project) -> GuideUpgrade:
    path = project.display_path(os.path.join(project.base, project.settings.guide))
    return GuideUpgrade(
        path, None, max(_guide_versions()), changed=False, digest=None, diff="", commit=None, conflicts=(), warnings=()
    )
