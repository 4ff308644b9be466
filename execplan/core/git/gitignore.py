"""Check whether git ignores the plans of a project and by which pattern, and the .gitignore lines that fix it."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.core.git.ignored_paths import IgnoredPath
    from execplan.core.project.project import Project

_IGNORE_FILE = ".gitignore"
_PROBE_ID = "2026-01-01_probe"
"""ID of a plan that does not exist, used to query git about the file that it would have."""


class IgnoreFix(NamedTuple):
    """Lines that make git include the plans."""

    file: str
    """Ignore file to append the lines to, relative to the repository root."""
    lines: tuple[str, ...]


def find_ignored_project_paths(project: Project, *, is_new: bool = False) -> list[IgnoredPath]:
    """Return the plans directories, settings and guide of a project that git ignores.

    Except for a new plan, directories whose pattern also ignores tracked plans are omitted. Raises ExecplanError if git fails.
    """
    from execplan.core.git import git_query
    from execplan.core.git.ignored_paths import find_ignored_paths

    entries = find_ignored_paths(project, _probe_paths(project))
    folders = {entry.path.partition(_PROBE_ID)[0]: entry[1:3] for entry in entries if _is_plan(entry)}
    files = git_query.tracked_files(project) if folders and not is_new else []
    plans = [path for path in files if path.endswith(".md")]
    overridden = [pattern for folder, pattern in folders.items() if any([plan.startswith(folder) for plan in plans])]
    return [entry for entry in entries if not _is_plan(entry) or entry[1:3] not in overridden]


def ignore_warnings(project: Project, *, is_new: bool = False, with_settings: bool = False) -> tuple[str, ...]:
    """Return a warning if git ignores the plans, with the lines that fix it, or if git can't be used."""
    from execplan.core.git.git_query import GIT_UNUSABLE_CODES

    try:
        entries = find_ignored_project_paths(project, is_new=is_new)
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            return ()  # a warning must not stop anything
        return (f"couldn't check whether git ignores the plans: {error.message}; {error.hint}",)
    is_relevant = any([with_settings or _is_plan(entry) for entry in entries])
    return (f"{describe_ignored(entries)}; {suggest_fix(project, entries)}",) if is_relevant else ()


def describe_ignored(entries: Sequence[IgnoredPath]) -> str:
    """Describe the ignored paths and the pattern."""
    targets = ", ".join(_paths_to_track([entry for entry in entries if _is_plan(entry)] or entries))
    return f"git ignores {targets} because of the pattern {entries[0].pattern} in {_pattern_location(entries[0])}: it can't be committed"


def suggest_fix(project: Project, entries: Sequence[IgnoredPath]) -> str:
    """Describe the fix as an instruction."""
    fix = find_fix(project, entries)
    if fix is None:
        return f"change that pattern; see which one applies: git check-ignore -v {entries[0].path}"
    return f"add th{'is line' if len(fix.lines) == 1 else 'ese lines'} to the end of {fix.file}: {'  '.join(fix.lines)}"


def ensure_not_ignored(project: Project, path: str) -> None:
    """Raise ExecplanError for a plan that could not be committed, before it is written."""
    from execplan.core.git.ignored_paths import find_ignored_paths

    entries = find_ignored_paths(project, [path])
    if entries:
        raise ExecplanError(
            "ignored-by-git",
            f"git ignores {entries[0].path} because of the pattern {entries[0].pattern} in {_pattern_location(entries[0])}; nothing was written",
            hint=f"{suggest_fix(project, [*find_ignored_project_paths(project, is_new=True), *entries])}; or use --no-commit",
        )


def find_fix(project: Project, entries: Sequence[IgnoredPath]) -> IgnoreFix | None:
    """Find the fewest lines that make git include all paths, tested with git; return None if no attempt succeeds."""
    import tempfile

    file = entries[0].source if os.path.basename(entries[0].source) == _IGNORE_FILE else _IGNORE_FILE
    base = os.path.dirname(file)
    targets = _paths_to_track(entries)
    if any([base and not target.startswith(base + "/") for target in targets]):
        return None
    paths = [entry.path for entry in entries]
    with tempfile.TemporaryDirectory(prefix="execplan-") as tree:
        _copy_ignore_files(project, tree, [file, *paths])
        reinclude_lines = list(
            dict.fromkeys([line for target in targets for line in _reinclude_lines(project, tree, base, target)])
        )
        deep_lines = [f"!/{os.path.relpath(target, base or '.')}/**" for target in targets if not _is_file(target)]
        for lines in (reinclude_lines, deep_lines, [*reinclude_lines, *deep_lines]):
            if lines and not _is_still_ignored(project, tree, file, lines, paths):
                return IgnoreFix(file, tuple(lines))
    return None


def _paths_to_track(entries: Sequence[IgnoredPath]) -> list[str]:
    """Return the paths that git must include: files, and for plans their directories, without paths below others."""
    targets = list(dict.fromkeys([os.path.dirname(entry.path) if _is_plan(entry) else entry.path for entry in entries]))
    return [target for target in targets if not any([target.startswith(parent + "/") for parent in targets])]


def _probe_paths(project: Project) -> list[str]:
    """Return files of a project that must be tracked: a plan, an archived plan, the settings and the guide."""
    from execplan.core.project.project_settings import SETTINGS_FILE

    plans = [project.plan_file(folder, _PROBE_ID) for folder in (project.plans, *project.archives)]
    return [*plans, os.path.join(project.base, SETTINGS_FILE), os.path.join(project.base, project.settings.guide)]


def _is_plan(entry: IgnoredPath) -> bool:
    return _PROBE_ID in entry.path


def _pattern_location(entry: IgnoredPath) -> str:
    return f"{entry.source}:{entry.line}"


def _is_file(target: str) -> bool:
    return os.path.splitext(target)[1] in (".md", ".toml")


def _reinclude_lines(project: Project, tree: str, base: str, target: str) -> list[str]:
    """Return the lines that include a path again; git does not search a directory that is itself ignored."""
    from execplan.core.git.ignored_paths import check_ignore

    parts = os.path.relpath(target, base or ".").split("/")
    ancestors = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    hidden = {
        ancestor.path
        for ancestor in check_ignore(project, [os.path.join(base, ancestor) for ancestor in ancestors], tree=tree)
    }
    first_hidden = next(
        (at for at, ancestor in enumerate(ancestors) if os.path.join(base, ancestor) in hidden), len(ancestors) - 1
    )
    lines = []
    for ancestor in ancestors[first_hidden:-1]:
        lines += [f"!/{ancestor}/", f"/{ancestor}/*"]
    return [*lines, f"!/{ancestors[-1]}" + ("" if _is_file(target) else "/")]


def _copy_ignore_files(project: Project, tree: str, paths: Iterable[str]) -> None:
    """Create the directories of the paths in an empty directory, with the ignore files that apply to them."""
    folders = {""}
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(folders):
        os.makedirs(os.path.join(tree, folder), exist_ok=True)
        try:
            with open(file_access.open_regular(os.path.join(project.root, folder, _IGNORE_FILE)), "rb") as file:
                data = file.read()
        except OSError:
            continue
        with open(os.path.join(tree, folder, _IGNORE_FILE), "wb") as copy:
            copy.write(data)


def _is_still_ignored(project: Project, tree: str, file: str, lines: Sequence[str], paths: Sequence[str]) -> bool:
    """Return whether git ignores any of the paths if an ignore file of the tree has these additional lines."""
    from execplan.core.git.ignored_paths import check_ignore

    target = os.path.join(tree, file)
    old = b""
    if os.path.exists(target):
        with open(target, "rb") as original:
            old = original.read()
    try:
        with open(target, "wb") as trial:
            trial.write(old + "\n".join(["", *lines, ""]).encode())
        return bool(check_ignore(project, paths, tree=tree))
    finally:
        with open(target, "wb") as restored:
            restored.write(old)
