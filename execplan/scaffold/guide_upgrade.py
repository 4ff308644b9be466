"""The guide for authors in a repository: which version it grew out of, and a newer one merged into it."""

from __future__ import annotations

import os

from execplan.edits.plan_commit import commit_paths
from execplan.edits.plan_writer import format_diff
from execplan.errors import ErrorContext, ExecplanError
from execplan.files import atomic_files
from execplan.named_tuple import NamedTuple
from execplan.plan import reader
from execplan.plan_store import plan_store
from execplan.project import builtin_templates, project_state
from execplan.text.line_edit import Edit, apply_edits
from execplan.text.line_merge import merge_chunks
from execplan.text.text_lines import Text, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.edits.plan_writer import WriteOptions
    from execplan.project.project import Project

_MARK_PREFIX, _MARK_SUFFIX = "<!-- execplan guide ", " -->"
_MIN_SIMILARITY = 0.25
"""The part of a version's lines that a guide has at least if it grew out of it."""


class GuideConflict(NamedTuple):
    """Lines that a person and the new guide both changed; the person's are kept."""

    line_start: int
    line_end: int
    """The kept lines in the file, counted from 1; before `line_start` where none is left."""
    kept: tuple[str, ...]
    new: tuple[str, ...]
    """What the new guide says there."""


class GuideUpgrade(NamedTuple):
    """What became of a guide, or would."""

    path: str
    """From the root of the repository."""
    old_version: int | None
    """The version that it grew out of; None for a guide that is not ours, or not there."""
    version: int
    """The version that the tool has."""
    changed: bool
    digest: str | None
    diff: str
    """Unified, in a dry run only."""
    commit: str | None
    conflicts: tuple[GuideConflict, ...]
    warnings: tuple[str, ...]


def preview_upgrade(project: Project) -> GuideUpgrade:
    """What an upgrade of the guide would do; nothing for a guide that can't be read."""
    project = project._replace(exists=True)
    try:
        return _upgrade_result(project, *_read_and_merge(project), with_warnings=False)
    except ExecplanError:
        return _no_upgrade(project)


def upgrade_guide(project: Project, options: WriteOptions) -> GuideUpgrade:
    """Merge the newest version into the guide, the person's words before ours; raises ExecplanError."""
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
        if guide_upgrade.changed and atomic_files.replace(path, old_bytes, merged_guide.data, within=project.root):
            guide_upgrade = guide_upgrade._replace(
                warnings=(*guide_upgrade.warnings, atomic_files.hard_link_warning(guide_upgrade.path))
            )
        return old_bytes, guide_upgrade

    with project_state.lock(project, "home", "upgrade of the guide"):
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
    """A guide with the newest version in it."""

    data: bytes
    old_version: int | None
    conflicts: tuple[GuideConflict, ...]


def _read_and_merge(project: Project) -> tuple[bytes, _MergedGuide]:
    """The bytes of the guide as it is, and as it would be; raises ExecplanError."""
    path = os.path.join(project.base, project.settings.guide)
    with ErrorContext(project.display_path(path)):
        data = plan_store.read_bytes(project, path)
        return data, merge_newest_guide(reader.decode(data))


def merge_newest_guide(text: Text) -> _MergedGuide:
    """A guide with the newest version merged in; as it is when there is nothing newer, or when it is not ours."""
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
    """The edits that bring into `ours` what only `theirs` changed, and the places that both did."""
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
    """Every version of the guide, without its mark, which the first had not, and the blank lines at its end."""
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
    """The version that a mark names; None for any other line."""
    line = line.strip()
    digits = line.removeprefix(_MARK_PREFIX).removesuffix(_MARK_SUFFIX)
    return (
        int(digits)
        if line == f"{_MARK_PREFIX}{digits}{_MARK_SUFFIX}" and digits.isdecimal() and len(digits) < 6
        else None
    )


def _guess_version(lines: Sequence[str], versions: dict[int, list[str]]) -> int | None:
    """The version that a guide without a mark grew out of, None if it is somebody's own."""
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
        warnings.append(f"{path} is a guide of your own: it was left as it is")
    elif with_warnings and merged_guide.old_version and merged_guide.old_version > newest_version:
        warnings.append(f"{path} is from a newer execplan, version {merged_guide.old_version}: it was left as it is")
    for conflict in merged_guide.conflicts if with_warnings else ():
        first_line, last_line, kept_lines, new_lines = conflict
        location = f"{path}:{first_line}" + (f"-{last_line}" if last_line > first_line else "")
        action = f"says there: {' '.join([line.strip() for line in new_lines])}" if new_lines else "leaves this out"
        resolution = "yours is kept" if kept_lines else "what you took out stays out"
        warnings.append(f"{location}: changed by you and by the new guide, {resolution}; the new guide {action}")
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
