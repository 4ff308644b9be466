"""The file of a baseline: read, held against what was found, and written anew."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.lint.baseline import count_by_mark, find_moved_plan, apply_baseline
from execplan.lint.fingerprint import compute_fingerprints
from execplan.lint.rule import GIT_NEEDS, RULES
from execplan.record import NamedTuple
from execplan.repo import homes, state
from execplan.repo.checking.reading import plan_of
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.home import ensure_inside
from execplan.text import disk, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.lint.baseline import BaselineCounts
    from execplan.repo.checking.one import Checked, Way
    from execplan.repo.home import Project

    Plans = dict[str, BaselineCounts]
    """What is known of each plan, by its path from the root."""

DEFAULT = os.path.join(".agent", "lint-baseline.json")
"""Where a baseline is written whose file is not named, from the folder of the home."""

_SCHEMA = "execplan-lint-baseline/1"
_LIMIT = 64 << 20


class Held(NamedTuple):
    """What was found, held against a baseline."""

    file: str
    """The baseline's, from the root."""
    checked: list[Checked]
    """The plans with what is new in them."""
    known: int
    gone: int
    """Entries that were not found again: of plans that were checked, or that are no longer there."""
    old: bytes
    new: bytes
    """The file as it is, and as it is to be when all that was found is known."""


def hold(checked: Sequence[Checked], file: str, way: Way, *, make: bool = False) -> Held:
    """Hold what was found against the baseline in a file, which `make` allows to be missing; raises ExecplanError."""
    path, home = _place(file)
    old = _read(file, missing=make)
    left = _plans(old, file) if old else {}

    def exists(plan: str) -> bool:
        return os.path.lexists(os.path.join(home.root, plan))

    now: Plans = {}
    shown = []
    known = gone = 0
    paths = {each.path for each in checked}
    homes_of: dict[str, Project] = {}
    for each in checked:
        name = each.path if each.path in left else find_moved_plan(each.path, left.keys() - paths, exists)
        found = compute_fingerprints(each.findings, plan_of(each) if each.findings else None)
        folder = os.path.dirname(os.path.join(home.root, each.path))
        if folder not in homes_of:
            homes_of[folder] = homes.find(folder)
        sifted = apply_baseline(left.pop(name, {}), each.findings, found, _ran(way, homes_of[folder], each.path))
        shown.append(each._replace(findings=sifted.new_findings))
        now[each.path] = _sum(sifted.unchecked, count_by_mark(each.findings, found))
        known += sifted.known_count
        gone += sum(sifted.resolved.values())
    for name, entries in left.items():
        if exists(name):
            now[name] = entries
        else:
            gone += sum(entries.values())
    return Held(home.display_path(path), shown, known, gone, old, _written(now))


def _ran(way: Way, home: Project, path: str) -> set[str]:
    """The rules that ran on a plan of a home, whatever was found."""
    history = wanted(home, way.selection).needs_history
    return {code for code in levels(home, way.selection, path) if RULES[code].needs not in GIT_NEEDS or history}


def _sum(some: BaselineCounts, others: BaselineCounts) -> BaselineCounts:
    return {mark: some.get(mark, 0) + others.get(mark, 0) for mark in some.keys() | others.keys()}


def write(held: Held, file: str) -> bool:
    """Write the baseline that makes all known that was found; False when that is how it is. Raises ExecplanError."""
    if held.new == held.old:
        return False
    path, home = _place(file)
    files.make_folder(os.path.dirname(path))
    with state.lock(home, path, f"lint --write-baseline of {held.file}"):
        if held.old:
            files.replace(path, held.old, held.new)
            return True
        if not files.create(path, held.new):
            raise disk.changed_underneath(held.file)
    return True


def default_file(start: str) -> str:
    """The file of the baseline that is not named, of the home that a folder lies in; raises ExecplanError."""
    return os.path.join(homes.find(start).base, DEFAULT)


def _place(file: str) -> tuple[str, Project]:
    """The path of a baseline, which is no link out of the repository, and the home that it lies in."""
    path = os.path.abspath(file)
    home = homes.find(os.path.dirname(path))
    if os.path.islink(path):
        ensure_inside(home, path)
    return path, home


def _read(file: str, *, missing: bool) -> bytes:
    """The bytes of the file; nothing where it may be missing and is."""
    if missing and not os.path.lexists(file):
        return b""
    try:
        data, size = disk.read(file, _LIMIT)
    except ExecplanError as error:
        if error.code == "no-such-file":
            error.hint = f"make it: {_renew(file)}"
        raise
    if size > _LIMIT:
        raise _bad(file, f"it has more than {_LIMIT:,} bytes")
    if not data:
        raise _bad(file, "it is empty")
    return data


def _plans(data: bytes, file: str) -> Plans:
    """What a baseline says; raises ExecplanError when it is none."""
    import json

    try:
        document = json.loads(data, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _bad(file, f"it is no JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != _SCHEMA:
        newer = isinstance(schema, str) and schema.startswith(_SCHEMA.rstrip("1"))
        raise _bad(file, "another version of execplan wrote it" if newer else f"it does not say {_SCHEMA}")
    plans = document.get("plans")
    if document.keys() != {"schema", "plans"} or not isinstance(plans, dict):
        raise _bad(file, "it holds something else than schema and plans")
    for path, entries in plans.items():
        if not isinstance(entries, dict) or not all([type(each) is int and each > 0 for each in entries.values()]):
            raise _bad(file, f"what it says of {path} is no list of findings with their numbers")
    return plans


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON none of whose names stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands in it twice")
    return found


def _written(plans: Plans) -> bytes:
    """The file that says it: sorted, a line for each finding, so that two branches merge."""
    import json

    known = {path: entries for path, entries in plans.items() if entries}
    return (json.dumps({"schema": _SCHEMA, "plans": known}, indent=1, sort_keys=True) + "\n").encode()


def _bad(file: str, why: str) -> ExecplanError:
    hint = f"check the name; a baseline that is broken is moved away, then written anew: {_renew(file)}"
    return ExecplanError("bad-baseline", f"{file} is no baseline: {why}", exit=INPUT, hint=hint)


def _renew(file: str) -> str:
    from shlex import quote

    return f"execplan lint --baseline {quote(file)} --write-baseline"
