"""Many plans checked: from the cache what has not changed, the rest in as many processes as pay."""

from __future__ import annotations

import os

from execplan import trace
from execplan.errors import ExecplanError
from execplan.lint.recognition import NOT_A_PLAN
from execplan.lint.rule import NOTICE, Finding, Fix
from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.plan.reader import MAX_BYTES, too_large
from execplan.record import NamedTuple
from execplan.repo.checking.cache import NEVER, Cache, opened, stat_of
from execplan.repo.checking.one import Checked, check, given
from execplan.repo.checking.one import checked as of_findings
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.checking.spread import processes, spread
from execplan.repo.shelf import PlanRef
from execplan.text import disk
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.repo.checking.cache import Entry, Question, Row
    from execplan.repo.checking.one import Way
    from execplan.repo.checking.targets import Lot
    from execplan.repo.home import Project

FEW = 8
"""Up to so many plans are sooner judged than looked up."""


class _Open(NamedTuple):
    """A plan that must be read."""

    at: int
    """Its place among all."""
    lot: Lot
    name: str
    cache: Cache | None
    entry: Entry | None
    """What was found in it before."""
    safe: bool
    """Whether its folder lies in the repository."""


def check_all(
    lots: Sequence[Lot],
    way: Way,
    *,
    cached: bool = True,
    with_data: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> list[Checked]:
    """Check the plans, in order; `with_data` gives the bytes of those in which something was found.

    `tick` is told how many have been judged, of how many. Raises ExecplanError.
    """
    cached = cached and sum([len(lot.names) for lot in lots]) > FEW
    caches: dict[tuple[str, str], Cache | None] = {}
    checked: list[Checked] = []
    pending: list[_Open] = []
    for lot in lots:
        which = lot.home.root, lot.home.base
        if which not in caches:
            caches[which] = _opened(lot.home, way) if cached else None
        _recall(lot, way, caches[which], checked, pending, with_data=with_data)
    results = spread(
        lambda at: _judge(pending[at], way, with_data=with_data),
        len(pending),
        processes(len(pending)),
        lambda done: tick(done, len(pending)) if tick is not None else None,
    )
    judged = 0
    for each, (rows, data, entry, asked, known) in zip(pending, results, strict=True):
        judged += not known
        if rows:
            before = checked[each.at]
            checked[each.at] = of_findings(
                before.path, before.named, [_finding(row) for row in rows], data, before.fails
            )
        if each.cache is not None and entry is not None:
            each.cache.put(each.lot.folder, each.name, entry, asked, archived=each.lot.archived)
    if cached:
        trace.tell(f"{len(checked) - judged} of {len(checked)} plans from the cache")
    for cache in caches.values():
        if cache is not None:
            cache.save()
    return checked


def _opened(home: Project, way: Way) -> Cache | None:
    """The cache of a home, which knows what holds now; None when history is asked, of which the files say nothing."""
    if way.histories is not None:
        return None
    cache = opened(home, way)
    if cache is not None:
        cache.ask(given(home, PlanRef("", home.base, archived=False), way))
    return cache


def _recall(
    lot: Lot,
    way: Way,
    cache: Cache | None,
    checked: list[Checked],
    pending: list[_Open],
    *,
    with_data: bool,
) -> None:
    """Take what the cache knows of a folder's plans; the others are pending, and stand there without findings."""
    home = lot.home
    safe = f"{os.path.realpath(lot.folder)}/".startswith(home.root.rstrip("/") + "/")
    known: dict[str, Entry] = {}
    if cache is not None:
        known = cache.folder(lot.folder, archived=lot.archived)
        if lot.whole:
            cache.saw(lot.folder, lot.names, archived=lot.archived)
    shown = home.display_path(os.path.join(lot.folder, "x"))[:-1]
    fails = wanted(home, way.selection).failure_level
    folder = _folder(lot.folder) if known and safe else -1
    try:
        for name in lot.names:
            entry = known.get(name)
            found: list[Finding] = []
            # What git was asked about a plan is no part of what the cache knows.
            own = None if way.committed and os.path.join(lot.folder, name) in way.committed else cache
            if own is None or entry is None or not _is_known(own, entry, lot, name, folder, with_data=with_data):
                pending.append(_Open(len(checked), lot, name, own, entry if own is not None else None, safe))
            elif entry[2]:
                found = [_finding(row) for row in entry[2]]
            checked.append(of_findings(shown + name, lot.named + name, found, b"", fails))
    finally:
        if folder >= 0:
            os.close(folder)


def _is_known(cache: Cache, entry: Entry, lot: Lot, name: str, folder: int, *, with_data: bool) -> bool:
    """Whether what is kept of a file is all that is asked for."""
    if not _same(name, folder, entry) or not cache.holds(entry):
        return False
    return not lot.by_name if _is_skipped(entry[2]) else not (entry[2] and with_data)


def _folder(path: str) -> int:
    """A handle of a folder, or -1."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1


def _same(name: str, folder: int, entry: Entry) -> bool:
    """Whether a file of a folder is as it was when it was judged; a link never is what the file was that it leads to."""
    if folder < 0 or entry[0] is None:
        return False
    try:
        return stat_of(os.stat(name, dir_fd=folder, follow_symlinks=False)) == entry[0]
    except OSError:
        return False


def _judge(
    each: _Open, way: Way, *, with_data: bool
) -> tuple[tuple[Row, ...], bytes, Entry | None, tuple[Question, ...], bool]:
    """The findings of one plan as plain tuples, its bytes where they are asked for, what the cache may keep of it.

    Then what was asked, and whether all this was known.
    """
    target = each.lot.target(each.name)
    home, ref = target.home, target.ref
    if not each.safe or os.path.islink(ref.path):
        done = check(target, way)
        rows = (_plain(NOT_A_PLAN),) if done.skipped else _rows(done.findings)
        return rows, done.data if with_data and done.findings else b"", None, (), False
    try:
        data, size, status = disk.read_still(ref.path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large(size)
    except ExecplanError as error:
        return _rows([unreadable_finding(error)]), b"", None, (), False
    mark = _digest(data) if each.cache is not None else b""
    before = each.entry
    known = each.cache is not None and before is not None and before[1] == mark and each.cache.holds(before)
    path = home.display_path(ref.path)
    if known and each.cache is not None and before is not None:
        rows, low, high, asked = before[2], before[3], before[4], each.cache.questions(before)
    else:
        facts = given(home, ref, way, by_name=False)
        rows = _rows(lint_bytes(data, facts, levels(home, way.selection, path)))
        low, high = (facts.clock.low, facts.clock.high) if facts.clock is not None else (-NEVER, NEVER)
        asked = tuple([(*question, answer) for question, answer in facts.tree.answers.items()]) if facts.tree else ()
    entry = (stat_of(status) if status is not None else None), mark, rows, low, high, ()
    if _is_skipped(rows) and each.lot.by_name:  # the cache knows only that it is not a plan
        rows = _rows(lint_bytes(data, given(home, ref, way), levels(home, way.selection, path)))
    return rows, data if with_data and rows else b"", entry if each.cache is not None else None, asked, known


def _is_skipped(rows: tuple[Row, ...]) -> bool:
    """Whether these rows say that the file is not a plan."""
    return len(rows) == 1 and rows[0][1] == NOTICE


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # OpenSSL's, seven times as fast as Python's own

    return sha256(data).digest()


def _rows(findings: Sequence[Finding]) -> tuple[Row, ...]:
    """Findings as plain tuples."""
    return tuple([_plain(each) for each in findings])


def _plain(value: Any) -> Any:
    return tuple([_plain(each) for each in value]) if isinstance(value, tuple) else value


def _finding(row: Any) -> Finding:
    """The finding of a plain tuple."""
    finding = Finding._make(row)
    if finding.fix is None:
        return finding
    kind, edits = finding.fix
    return finding._replace(fix=Fix(kind, tuple([Edit(*edit) for edit in edits])))
