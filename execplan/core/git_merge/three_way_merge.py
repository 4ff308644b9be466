"""Three-way merge of plan versions, with git's own merge for prose, and of files with a plan index, row by row."""

from __future__ import annotations

import os
import sys

from execplan.core import trace
from execplan.core.errors import ErrorContext
from execplan.core.files import atomic_files, file_access
from execplan.core.git.git_command import prepare_git_command
from execplan.core.plan.index_block import find_index_block, replace_index
from execplan.core.plan.merge.index_merge import merge_index_lines
from execplan.core.plan.merge.plan_merge import MergeResult, merge_plans
from execplan.core.plan.reader import MAX_BYTES, decode, too_large_error
from execplan.core.text.line_merge import ConflictMarkers
from execplan.core.text.text_lines import BOM, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.index_block import IndexBlock

_FAILURE_STATUS = 128
"""Exit status from which nothing was merged; a lower one counts the conflicts."""
_NAMES = ("ours", "base", "theirs")
_MAX_BYTES = 1 << 30
"""Maximum bytes of a file that is overwritten; a plan is much smaller."""


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], marks: ConflictMarkers
) -> tuple[list[str], int]:
    """Merge lines as git does and count the conflicts; without git, use the built-in merge."""
    data = ["".join(side).encode("utf-8") for side in (base, ours, theirs)]
    git_merge = run_merge_file(data[0], data[1], data[2], marks)
    if git_merge is None:
        from execplan.core.text.line_merge import merge_with_markers

        return merge_with_markers(base, ours, theirs, marks)
    text, conflicts = git_merge
    return [line.decode("utf-8") for line in text.splitlines(keepends=True)], conflicts


def _run(command: list[str], environment: dict[str, str]) -> int:
    """Run a command and return its exit status, without importing subprocess where that is possible; raises OSError."""
    if sys.platform == "win32":
        import subprocess

        return subprocess.call(command, env=environment)  # noqa: S603 - `prepare_git_command` made it
    _, status = os.waitpid(os.posix_spawnp(command[0], command, environment), 0)
    return os.waitstatus_to_exitcode(status)


def run_merge_file(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> tuple[bytes, int] | None:
    """Run git's merge of three texts and count the conflicts; return None if git is missing or fails."""
    paths: list[str] = []
    try:
        folder = _make_private_directory()
        paths = [os.path.join(folder, name) for name in _NAMES]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as file:
                file.write(data)
        labels = [arg for label in (marks.ours, "base", marks.theirs) for arg in ("-L", label)]
        args = ["merge-file", "-q", f"--marker-size={marks.size}", *labels, *paths]
        trace.log(f"run git {' '.join(args)}")
        command, environment = prepare_git_command(folder, args)
        conflicts = _run(command, environment)
        with open(paths[0], "rb") as file:
            return (file.read(), conflicts) if 0 <= conflicts < _FAILURE_STATUS else None
    except OSError as error:
        trace.log(f"git merge-file did not run: {error}")
        return None
    finally:
        for path in paths:
            if os.path.lexists(path):
                os.unlink(path)
        if paths:
            os.rmdir(os.path.dirname(paths[0]))


def _make_private_directory() -> str:
    """Create a directory that no other user can read."""
    parent = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder is made here, by this process, or not used
    number = 0
    while True:
        path = os.path.join(parent, f"execplan-merge-{os.getpid()}-{number}")
        try:
            os.mkdir(path, 0o700)
            return path
        except FileExistsError:
            number += 1


def merge_versions(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> MergeResult:
    """Merge two versions of a plan; the base is empty if both sides added it.

    Raises ExecplanError if they can't be merged.
    """
    return merge_plans(base or None, ours, theirs, merge_lines, marks)


def merge_files(base: str, ours: str, theirs: str) -> tuple[MergeResult, bytes]:
    """Merge the plans in three files, labeled by file name, and also return the data of ours.

    Raises ExecplanError if a file can't be read or merged.
    """
    base_data = b"" if base == os.devnull else _read_plan(base, empty=True)
    our_data, their_data = _read_plan(ours), _read_plan(theirs)
    return merge_versions(
        base_data, our_data, their_data, ConflictMarkers(ours=_label(ours), theirs=_label(theirs))
    ), our_data


def _read_plan(path: str, *, empty: bool = False) -> bytes:
    """Read the bytes of a plan; only a base may be empty. Raises ExecplanError if the file is not a valid plan."""
    with ErrorContext(path):
        data, size = file_access.read(path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large_error(size)
        if data.strip() or not empty:
            decode(data)
    return data


def _label(path: str) -> str:
    return "".join([char if char.isprintable() else "?" for char in path])


def write_merged(path: str, data: bytes, *, dry_run: bool) -> tuple[bool, str]:
    """Create or replace a file, and return whether it changes; in a dry run, also the diff.

    Raises ExecplanError if the file can't be written.
    """
    from execplan.core.edits.plan_writer import format_diff
    from execplan.core.project import project_discovery, project_state

    project_discovery.ensure_no_link_out(path)
    old = file_access.read_if_exists(path, _MAX_BYTES)
    if dry_run:
        return old != data, format_diff(old or b"", data, path) if old != data else ""
    project = project_discovery.find_for_file(path)
    if not project.exists:
        return atomic_files.retry_on_change(lambda: _write_or_replace(path, data), path), ""
    with project_state.lock(project, os.path.realpath(path), f"merge into {project.display_path(path)}"):
        return atomic_files.retry_on_change(lambda: _write_or_replace(path, data), path), ""


def _write_or_replace(path: str, data: bytes) -> bool:
    old = file_access.read_if_exists(path, _MAX_BYTES)
    if old != data:
        atomic_files.replace_if_unchanged(path, old, data)
    return old != data


def merge_index_files(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> MergeResult | None:
    """Merge two versions of a file with a plan index; return None if one of them has no index.

    The index never conflicts. Raises ExecplanError if a version is not text, or if its markers don't match.
    """
    texts = [decode(data) if data.strip() else Text([], []) for data in (base, ours, theirs)]
    names = ("base", marks.ours, marks.theirs)
    blocks = [find_index_block(text, name) for text, name in zip(texts, names, strict=True)]
    if blocks[1] is None or blocks[2] is None:
        return None
    index_sides = [_index_lines(text, block) for text, block in zip(texts, blocks, strict=True)]
    merged_index = merge_index_lines(*index_sides)
    # With the same index on all sides, the line merge sees only the changes around it.
    base_lines, our_lines, their_lines = [
        _lines_with_ends(text if block is None else replace_index(text, block, merged_index.lines))
        for text, block in zip(texts, blocks, strict=True)
    ]
    lines, conflicts = merge_lines(base_lines, our_lines, their_lines, marks)
    note = "both sides changed the same rows of the plan index; correct them after the merge: execplan index --write"
    return MergeResult("".join(lines).encode("utf-8"), conflicts, (note,) if merged_index.contested else ())


def _index_lines(text: Text, block: IndexBlock | None) -> Sequence[str]:
    return text.lines[block.start + 1 : block.end - 1] if block is not None else ()


def _lines_with_ends(text: Text) -> list[str]:
    lines = [line + end for line, end in zip(text.lines, text.ends, strict=True)]
    if text.bom and lines:
        lines[0] = BOM + lines[0]
    return lines
