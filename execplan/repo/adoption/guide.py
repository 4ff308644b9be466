"""The guide for authors in a repository: which version it grew out of, and a newer one merged into it."""

from __future__ import annotations

import os

from execplan.errors import About, ExecplanError
from execplan.plan import reader
from execplan.record import NamedTuple
from execplan.repo import shelf, state, stock
from execplan.repo.amend import format_diff
from execplan.repo.commit import commit_paths
from execplan.text import files
from execplan.text.edit import Edit, apply
from execplan.text.lines import Text, digest
from execplan.text.merge import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project

_HEAD, _TAIL = "<!-- execplan guide ", " -->"
_ALIKE = 0.25
"""The part of a version's lines that a guide has at least if it grew out of it."""


class Conflict(NamedTuple):
    """Lines that a person and the new guide both changed; the person's are kept."""

    line_start: int
    line_end: int
    """The kept lines in the file, counted from 1; before `line_start` where none is left."""
    kept: tuple[str, ...]
    new: tuple[str, ...]
    """What the new guide says there."""


class Upgraded(NamedTuple):
    """What became of a guide, or would."""

    path: str
    """From the root of the repository."""
    before: int | None
    """The version that it grew out of; None for a guide that is not ours, or not there."""
    version: int
    """The version that the tool has."""
    changed: bool
    digest: str | None
    diff: str
    """Unified, in a dry run only."""
    commit: str | None
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]


def look(home: Project) -> Upgraded:
    """What an upgrade of the guide would do; nothing for a guide that can't be read."""
    home = home._replace(exists=True)
    try:
        return _upgraded(home, *_read(home), told=False)
    except ExecplanError:
        return _none(home)


def upgrade(home: Project, options: WriteOptions) -> Upgraded:
    """Merge the newest version into the guide, the person's words before ours; raises ExecplanError."""
    home = home._replace(exists=True)
    path = os.path.join(home.base, home.settings.guide)
    if not os.path.lexists(path):
        return _none(home)
    if options.dry_run:
        old, merged = _read(home)
        made = _upgraded(home, old, merged)
        return made._replace(diff=format_diff(old, merged.data, made.path) if made.changed else "")

    def once() -> tuple[bytes, Upgraded]:
        old, merged = _read(home)
        made = _upgraded(home, old, merged)
        if made.changed and files.replace(path, old, merged.data, within=home.root):
            made = made._replace(warnings=(*made.warnings, files.still_linked(made.path)))
        return old, made

    with state.lock(home, "home", "upgrade of the guide"):
        old, made = files.again(once, home.display_path(path))
    if made.changed and options.should_commit(home):
        real = os.path.realpath(path)
        words = f"upgrade the guide to version {made.version}"
        done = commit_paths(home, "init", [real], "init", words, {real: old}, "init")
        return made._replace(commit=done.digest, warnings=made.warnings + done.warnings)
    return made


class _Merged(NamedTuple):
    """A guide with the newest version in it."""

    data: bytes
    before: int | None
    conflicts: tuple[Conflict, ...]


def _read(home: Project) -> tuple[bytes, _Merged]:
    """The bytes of the guide as it is, and as it would be; raises ExecplanError."""
    path = os.path.join(home.base, home.settings.guide)
    with About(home.display_path(path)):
        data = shelf.read_bytes(home, path)
        return data, merged(reader.decode(data))


def merged(text: Text) -> _Merged:
    """A guide with the newest version merged in; as it is when there is nothing newer, or when it is not ours."""
    versions = _versions()
    newest = max(versions)
    marks = [at for at, line in enumerate(text.lines) if _number(line) is not None]
    number = _number(text.lines[marks[-1]]) if marks else None
    bare = apply(text, [Edit(at, at + 1, ()) for at in marks])
    end = len(bare.lines)
    while end and not bare.lines[end - 1].strip():
        end -= 1
    bare = apply(bare, [Edit(end, len(bare.lines), ())])
    known = number is not None and (number in versions or number > newest)
    before = number if known else _origin(bare.lines, versions)
    if before is None or before >= newest:
        return _Merged(text.to_bytes(), before, ())
    edits, conflicts = _edits(versions[before], bare.lines, versions[newest])
    made = apply(bare, edits)
    end = len(made.lines)
    made = apply(made, [Edit(end, end, ("", f"{_HEAD}{newest}{_TAIL}"))])
    return _Merged(made.to_bytes(), before, tuple(conflicts))


def _edits(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[Edit], list[Conflict]]:
    """The edits that bring into `ours` what only `theirs` changed, and the places that both did."""
    edits: list[Edit] = []
    conflicts: list[Conflict] = []
    at = line = 0
    for chunk in merge(base, ours, theirs):
        stays = chunk.ours if chunk.merged is None else chunk.merged
        if chunk.merged is None:
            conflicts.append(Conflict(line + 1, line + len(stays), stays, chunk.theirs))
        elif stays != chunk.ours:
            edits.append(Edit(at, at + len(chunk.ours), stays))
        at += len(chunk.ours)
        line += len(stays)
    return edits, conflicts


def _versions() -> dict[int, list[str]]:
    """Every version of the guide, without its mark, which the first had not, and the blank lines at its end."""
    versions = {}
    for name in ["PLANS.md", *[f"guides/{name}" for name in stock.list_names("guides")]]:
        lines = stock.read_text(name).rstrip("\n").split("\n")
        number = _number(lines[-1])
        if number is not None:
            lines.pop()
        while not lines[-1]:
            lines.pop()
        versions[1 if number is None else number] = lines
    return versions


def _number(line: str) -> int | None:
    """The version that a mark names; None for any other line."""
    line = line.strip()
    number = line.removeprefix(_HEAD).removesuffix(_TAIL)
    return int(number) if line == f"{_HEAD}{number}{_TAIL}" and number.isdecimal() and len(number) < 6 else None


def _origin(lines: Sequence[str], versions: dict[int, list[str]]) -> int | None:
    """The version that a guide without a mark grew out of, None if it is somebody's own."""
    there = set(lines)
    alike = {}
    for number, version in versions.items():
        words = [line for line in version if line.strip()]
        alike[number] = sum([line in there for line in words]) / len(words)
    best = max(versions, key=lambda number: (alike[number], -number))
    return best if alike[best] >= _ALIKE else None


def _upgraded(home: Project, old: bytes, made: _Merged, *, told: bool = True) -> Upgraded:
    path = home.display_path(os.path.join(home.base, home.settings.guide))
    warnings = []
    newest = max(_versions())
    if told and made.before is None:
        warnings.append(f"{path} is a guide of your own: it was left as it is")
    elif told and made.before and made.before > newest:
        warnings.append(f"{path} is from a newer execplan, version {made.before}: it was left as it is")
    for conflict in made.conflicts if told else ():
        first, last, kept, new = conflict
        where = f"{path}:{first}" + (f"-{last}" if last > first else "")
        said = f"says there: {' '.join([line.strip() for line in new])}" if new else "leaves this out"
        whose = "yours is kept" if kept else "what you took out stays out"
        warnings.append(f"{where}: changed by you and by the new guide, {whose}; the new guide {said}")
    changed = made.data != old
    return Upgraded(path, made.before, newest, changed, digest(made.data), "", None, made.conflicts, tuple(warnings))


def _none(home: Project) -> Upgraded:
    path = home.display_path(os.path.join(home.base, home.settings.guide))
    return Upgraded(
        path, None, max(_versions()), changed=False, digest=None, diff="", commit=None, conflicts=(), warnings=()
    )
